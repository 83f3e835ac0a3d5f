//! The report as an HTML page: one file that loads no other and runs no script.

use std::fmt::Write as _;

use crate::report::{Figure, Item, Report, Section, Table};

/// The style of the page.
const STYLE: &str = include_str!("page.css");
/// A longer text of a cell is broken into lines.
const LINE: usize = 36;
/// A page with more headings has a table of contents.
const MOST_HEADINGS: usize = 3;

impl Report {
    /// The report as a self-contained HTML page.
    pub(crate) fn to_html(&self) -> String {
        html(self)
    }
}

/// The page of a report.
pub(crate) fn html(report: &Report) -> String {
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>hullfield-bench</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>hullfield-bench</h1>\n"
    );
    text += &failures(report);
    text += "<div class=\"scroll\"><table class=\"machine\">\n";
    for (name, value) in report.header() {
        let _ = writeln!(text, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(value));
    }
    text += "</table></div>\n";
    text += &contents(report);
    let mut failure_count = 0;
    for (index, part) in report.sections().iter().enumerate() {
        text += &section(index, part, &mut failure_count);
    }
    text + "</body>\n</html>\n"
}

/// Escapes a text for HTML and SVG, in content and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            // XML has no place for other control characters.
            c if c.is_control() && c != '\n' && c != '\t' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The box of the failed checks, each with a link to its place.
fn failures(report: &Report) -> String {
    let failures = report.failures();
    if failures.is_empty() {
        return "<p>All checks passed.</p>\n".into();
    }
    let checks = if failures.len() == 1 { "check" } else { "checks" };
    let mut text = format!(
        "<div class=\"failures\">\n<p class=\"failure\">{} {checks} failed</p>\n<ul>\n",
        failures.len()
    );
    for (index, failure) in failures.iter().enumerate() {
        let _ = writeln!(text, "<li><a href=\"#f{index}\">{}</a></li>", escape(failure));
    }
    text + "</ul>\n</div>\n"
}

/// The links to all headings, or nothing if they are few.
fn contents(report: &Report) -> String {
    let mut count = 0;
    let mut link = |id: String, title: &str| {
        count += 1;
        format!("<a href=\"#{id}\">{}</a>", escape(title))
    };
    let mut list = String::new();
    for (index, section) in report.sections().iter().enumerate() {
        let mut inner = String::new();
        for (place, item) in section.items().iter().enumerate() {
            // What has the section's name is found by it.
            if let Some(title) = title_of(item).filter(|title| *title != section.heading()) {
                let _ = writeln!(inner, "<li>{}</li>", link(item_id(index, place), title));
            }
        }
        if section.heading().is_empty() {
            list += &inner;
        } else {
            let inner = if inner.is_empty() { inner } else { format!("\n<ul>\n{inner}</ul>") };
            let _ = writeln!(list, "<li>{}{inner}</li>", link(section_id(index), section.heading()));
        }
    }
    if count <= MOST_HEADINGS {
        return String::new();
    }
    format!("<nav aria-label=\"Contents\">\n<ul>\n{list}</ul>\n</nav>\n")
}

fn title_of(item: &Item) -> Option<&str> {
    match item {
        Item::Table(table) => Some(table.title()),
        Item::Figure(figure) => Some(figure.title()),
        Item::Failure(_) => None,
    }
}

fn section_id(section: usize) -> String {
    format!("s{section}")
}

fn item_id(section: usize, item: usize) -> String {
    format!("s{section}-{item}")
}

/// A section. `failure_count` counts the failed checks before it, and then those in it too.
fn section(index: usize, section: &Section, failure_count: &mut usize) -> String {
    let mut text = String::from("<section>\n");
    let has_heading = !section.heading().is_empty();
    if has_heading {
        let _ = writeln!(text, "<h2 id=\"{}\">{}</h2>", section_id(index), escape(section.heading()));
    }
    let level = if has_heading { 3 } else { 2 };
    for sentence in section.sentences() {
        let _ = writeln!(text, "<p>{}</p>", escape(sentence));
    }
    // Figures that follow each other share a grid.
    let mut is_in_grid = false;
    for (place, item) in section.items().iter().enumerate() {
        let is_figure = matches!(item, Item::Figure(_));
        if is_figure != is_in_grid {
            text += if is_figure { "<div class=\"figures\">\n" } else { "</div>\n" };
            is_in_grid = is_figure;
        }
        let heading = |title: &str| {
            if title == section.heading() {
                return String::new();
            }
            format!("<h{level} id=\"{}\">{}</h{level}>\n", item_id(index, place), escape(title))
        };
        match item {
            Item::Table(of) => text += &(heading(of.title()) + &table(of)),
            Item::Figure(of) => text += &figure(&heading(of.title()), of),
            Item::Failure(failure) => {
                let _ = writeln!(
                    text,
                    "<p class=\"failure\" id=\"f{failure_count}\">failed: {}</p>",
                    escape(failure)
                );
                *failure_count += 1;
            }
        }
    }
    text += if is_in_grid { "</div>\n" } else { "" };
    text + "</section>\n"
}

fn table(table: &Table) -> String {
    let mut text = String::from("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
    for (index, column) in table.columns().iter().enumerate() {
        let class = if table.is_text(index) { "" } else { " class=\"n\"" };
        let _ = write!(text, "<th scope=\"col\"{class}>{}</th>", escape(column));
    }
    text += "</tr></thead>\n<tbody>\n";
    for row in table.rows() {
        text += "<tr>";
        for (index, cell) in row.iter().enumerate() {
            let words = cell.text();
            let class = match cell.is_text() || table.is_text(index) {
                true if words.chars().count() > LINE => " class=\"long\"",
                true => "",
                false => " class=\"n\"",
            };
            let _ = write!(text, "<td{class}>{}</td>", escape(&words));
        }
        text += "</tr>\n";
    }
    text += "</tbody>\n</table></div>\n";
    for note in table.notes() {
        let _ = writeln!(text, "<p class=\"note\">{}</p>", escape(note));
    }
    text + &command(table.command())
}

fn figure(heading: &str, figure: &Figure) -> String {
    let mut text = format!(
        "<figure>\n{heading}<div class=\"scroll\" tabindex=\"0\">\n{}</div>\n{}",
        figure.svg(),
        figure.legend()
    );
    if !figure.caption().is_empty() {
        let _ = writeln!(text, "<figcaption>{}</figcaption>", escape(figure.caption()));
    }
    text + &command(figure.command()) + "</figure>\n"
}

fn command(command: Option<&str>) -> String {
    let shown = |command| format!("<p class=\"command\"><code>{}</code></p>\n", escape(command));
    command.map(shown).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Cell;

    fn table(title: &str) -> Table {
        let mut table = Table::new("t", title, &["scene <s>", "ms"]);
        table.row(["32 & more".into(), Cell::Number(1.5, 1)]);
        table
    }

    /// A report of two sections, with a table before them.
    fn report() -> Report {
        let mut report = Report::new(vec![("cpu", "<some> \"cpu\"".into()), ("seed", "7".into())]);
        report.table(table("Before"));
        report.section("Growth");
        report.sentence("Times grow.");
        let figure = Figure::new("A figure", "<svg></svg>\n".into(), "<ul></ul>\n".into(), "A caption.");
        report.figure(figure.with_command("hullfield-bench growth --only a"));
        report.fail("a & b differ");
        report.table(table("A <table>").with_command("hullfield-bench pairs > 'x'"));
        report.section("Memory");
        report.table(table("Bytes"));
        report
    }

    /// Where the parts of a text begin; each is after the one before.
    fn are_in_order(text: &str, parts: &[&str]) -> bool {
        let mut rest = text;
        parts.iter().all(|part| {
            let found = rest.split_once(part);
            rest = found.map_or("", |(_, after)| after);
            found.is_some()
        })
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(escape("<a b=\"c\" d='e'>&\u{1}"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\u{fffd}");
        let html = html(&report());
        for part in [
            "A &lt;table&gt;",
            "32 &amp; more",
            "scene &lt;s&gt;",
            "&lt;some&gt; &quot;cpu&quot;",
            "a &amp; b differ",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("<table>\"") && !html.contains("& "));
    }

    #[test]
    fn sections_come_in_order() {
        let html = report().to_html();
        let body = html.split_once("</nav>").unwrap().1;
        let parts = [
            "<h2 id=\"s0-0\">Before</h2>",
            "<h2 id=\"s1\">Growth</h2>",
            "<p>Times grow.</p>",
            "<h3 id=\"s1-0\">A figure</h3>",
            "<svg></svg>",
            "<ul></ul>",
            "<figcaption>A caption.</figcaption>",
            "failed: a &amp; b differ",
            "<h3 id=\"s1-2\">A &lt;table&gt;</h3>",
            "<h2 id=\"s2\">Memory</h2>",
            "<h3 id=\"s2-0\">Bytes</h3>",
        ];
        assert!(are_in_order(body, &parts));
        assert!(!are_in_order(body, &[parts[1], parts[0]]));
    }

    #[test]
    fn contents_link_to_every_heading() {
        let html = html(&report());
        let (before, rest) = html.split_once("<nav").unwrap();
        let (nav, body) = rest.split_once("</nav>").unwrap();
        assert!(before.contains("class=\"machine\""));
        let ids: Vec<&str> =
            nav.split("href=\"#").skip(1).map(|link| link.split_once('"').unwrap().0).collect();
        assert_eq!(ids, ["s0-0", "s1", "s1-0", "s1-2", "s2", "s2-0"]);
        for id in ids {
            assert!(body.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }

    #[test]
    fn few_headings_have_no_contents() {
        let mut report = Report::new(Vec::new());
        for title in ["a", "b", "c"] {
            assert!(!html(&report).contains("<nav"));
            report.table(table(title));
        }
        assert!(!html(&report).contains("<nav"));
        report.table(table("d"));
        assert!(html(&report).contains("<nav"));
    }

    #[test]
    fn commands_stand_below_what_they_make() {
        let html = html(&report());
        let parts = [
            "A figure</h3>",
            "<code>hullfield-bench growth --only a</code>",
            "</figure>",
            "A &lt;table&gt;</h3>",
            "</table>",
            "<code>hullfield-bench pairs &gt; &#39;x&#39;</code>",
            "Memory</h2>",
        ];
        assert!(are_in_order(html.split_once("</nav>").unwrap().1, &parts));
        assert_eq!(html.matches("<code>").count(), 2);
    }

    #[test]
    fn failed_checks_stand_at_the_top_and_at_their_place() {
        let failed = html(&report());
        let parts =
            ["1 check failed", "<a href=\"#f0\">a &amp; b differ</a>", "class=\"machine\"", "id=\"f0\""];
        assert!(are_in_order(&failed, &parts));
        assert!(!failed.contains("All checks passed"));
        let passed = html(&Report::new(Vec::new()));
        assert!(passed.contains("All checks passed") && !passed.contains("class=\"failure"));
    }

    #[test]
    fn the_page_loads_nothing() {
        let html = html(&report());
        for word in ["<script", "<link", "src=", "@import", "url("] {
            assert!(!html.contains(word), "{word}");
        }
    }

    /// The relative luminance of a colour (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn texts_have_contrast_in_every_theme() {
        let blocks: Vec<&str> =
            STYLE.split(":root {").skip(1).map(|b| b.split_once('}').unwrap().0).collect();
        assert_eq!(blocks.len(), 3);
        for block in blocks {
            let colour = |name: &str| {
                let (_, rest) = block.split_once(&format!("--{name}: ")).unwrap();
                luminance(rest.split_once(';').unwrap().0)
            };
            let texts = ["ink", "quiet", "link", "bad", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
            let pairs = texts.map(|text| (text, "paper"));
            for (text, ground) in
                pairs.into_iter().chain([("ink", "shade"), ("bad", "bad-paper"), ("link", "bad-paper")])
            {
                let [a, b] = [colour(text), colour(ground)];
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{text} on {ground}: {contrast:.2}");
            }
        }
    }
}
