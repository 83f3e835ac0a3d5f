//! `hullfield-bench write-tables`: writes tables of reports between their markers in Markdown files.
//!
//! A table stands between the lines `<!-- bench: JOB/NAME -->` and `<!-- /bench -->`. `JOB` is the subcommand that made the report, `NAME` the
//! table's name in JSON; words after it, separated by `|`, name the columns that are shown, and leave out the notes. Tables of `collide`, `hulls`, `flow`, `room` and
//! `path` are also those of `tables`.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;

use crate::report;

const END: &str = "<!-- /bench -->";

/// The subcommands whose tables `tables` has too.
const PARTS_OF_TABLES: [&str; 5] = ["collide", "hulls", "flow", "room", "path"];

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// The reports, as JSON. A table that several of them have is that of the last.
    #[arg(required = true)]
    reports: Vec<PathBuf>,
    /// A file with markers; may be given several times.
    #[arg(long = "in", value_name = "FILE", default_values = ["README.md", "benches/README.md"])]
    files: Vec<PathBuf>,
    /// Changes no file. Exit code 1 if a table differs from the reports.
    #[arg(long)]
    check: bool,
}

/// Writes the tables. Those that no report has stay, and are named. With `--check` returns false where a file would change.
///
/// # Errors
/// A file that cannot be read or written, a report with failed checks, a marker that is broken, or reports that have none of the tables.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let read = |path: &PathBuf| {
        std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let mut reports = Vec::new();
    for path in &options.reports {
        let report: Value = serde_json::from_str(&read(path)?)
            .map_err(|error| format!("{} is not JSON: {error}", path.display()))?;
        if report["header"]["command"].is_null() || !report["tables"].is_array() {
            return Err(format!(
                "{} is no report of this version: it must be the JSON of a subcommand that measures, such as all, tables, gpu or accuracy",
                path.display()
            ));
        }
        if report["is_complete"] == false {
            return Err(format!(
                "{}: this run was stopped before its end, so none of its figures are written",
                path.display()
            ));
        }
        let failures = report["failures"].as_array();
        let failures = failures.ok_or_else(|| format!("{} has no list of failed checks", path.display()))?;
        if let Some(first) = failures.first() {
            return Err(format!(
                "{}: checks failed in this run ({}), so none of its figures are written; the first: {}",
                path.display(),
                failures.len(),
                first.as_str().unwrap_or_default()
            ));
        }
        reports.push(report);
    }
    // All files are made before the first one is written.
    let (mut is_same, mut count, mut new) = (true, 0, Vec::new());
    for path in &options.files {
        let text = read(path)?;
        let written = replaced(&text, &reports).map_err(|error| format!("{}: {error}", path.display()))?;
        let left = match written.left.as_slice() {
            [] => String::new(),
            left => format!(", left as they were: {}", left.join(", ")),
        };
        let state = if written.text == text { " (nothing changed)" } else { "" };
        report::say(format_args!("{}: {} tables{state}{left}\n", path.display(), written.count));
        is_same &= written.text == text;
        count += written.count;
        new.push((path, written.text));
    }
    if count == 0 {
        return Err("no marker names a table of these reports".into());
    }
    if !options.check {
        for (path, text) in new {
            report::write(path, &text)?;
        }
    }
    Ok(is_same || !options.check)
}

/// A text with new tables.
#[derive(Debug, PartialEq)]
struct Written {
    text: String,
    count: usize,
    /// The markers whose tables no report has.
    left: Vec<String>,
}

fn replaced(text: &str, reports: &[Value]) -> Result<Written, String> {
    let mut written = Written { text: String::new(), count: 0, left: Vec::new() };
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        written.text += line;
        written.text.push('\n');
        let Some(words) = line.trim().strip_prefix("<!-- bench:").and_then(|rest| rest.strip_suffix("-->"))
        else {
            continue;
        };
        let at_line = |error: String| format!("line {}: {error}", number + 1);
        let marker = words.split('|').next().unwrap_or_default().trim();
        let columns: Vec<&str> = words.split('|').skip(1).map(str::trim).collect();
        let (job, name) = marker.split_once('/').ok_or_else(|| {
            at_line(format!("the marker must be JOB/NAME, as all/growth, but is \"{marker}\""))
        })?;
        let found = reports.iter().rev().find_map(|report| Some((report, table(report, job, name)?)));
        let old: Vec<&str> =
            lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != END).collect();
        // Without its end a marker would take the rest of the text.
        if !text.lines().skip(number + 1 + old.len()).any(|line| line.trim() == END)
            || old.iter().any(|line| line.trim().starts_with("<!-- bench:"))
        {
            return Err(at_line(format!("the marker has no end: {END}")));
        }
        match found {
            Some((report, table)) => {
                written.text += &markdown(report, table, &columns).map_err(at_line)?;
                written.text += &machine(report);
                written.count += 1;
            }
            None => {
                old.iter().for_each(|line| {
                    written.text += line;
                    written.text.push('\n');
                });
                written.left.push(marker.to_owned());
            }
        }
        written.text += END;
        written.text.push('\n');
    }
    Ok(written)
}

/// The table that a marker names.
fn table<'r>(report: &'r Value, job: &str, name: &str) -> Option<&'r Value> {
    let made_by = report["header"]["job"].as_str()?;
    let is_job = made_by == job || job == "tables" && PARTS_OF_TABLES.contains(&made_by);
    report["tables"].as_array()?.iter().find(|table| is_job && table["name"] == name)
}

/// What the report was measured on.
fn machine(report: &Value) -> String {
    let fact = |name: &str| report["header"][name].as_str().unwrap_or("unknown").to_owned();
    let day = fact("date").chars().take(10).collect::<String>();
    let compiler = fact("compiler").split(' ').take(2).collect::<Vec<_>>().join(" ");
    let [cpu, instructions, cores, profile] = ["cpu", "instructions", "cores", "profile"].map(fact);
    format!("- {cpu}, {instructions}, {cores} cores, {compiler}, {profile}, {day}\n")
}

/// A table in Markdown, with its title, its notes and the command that makes it.
fn markdown(report: &Value, table: &Value, columns: &[&str]) -> Result<String, String> {
    let shown =
        table["shown"].as_array().ok_or("the report is of another version: its tables have no text")?;
    let names: Vec<&str> =
        shown.first().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let index = |column: &&str| {
        names
            .iter()
            .position(|name| name == column)
            .ok_or_else(|| format!("the table has no column \"{column}\"; it has {}", names.join(", ")))
    };
    let indices: Vec<usize> = if columns.is_empty() {
        (0..names.len()).collect()
    } else {
        columns.iter().map(index).collect::<Result<_, _>>()?
    };
    let mut text = format!("{}.\n\n", table["title"].as_str().unwrap_or_default().trim_end_matches('.'));
    for (at, row) in shown.iter().filter_map(Value::as_array).enumerate() {
        let cell =
            |&index: &usize| row.get(index).and_then(Value::as_str).unwrap_or_default().replace('|', "\\|");
        text += &format!("| {} |\n", indices.iter().map(cell).collect::<Vec<_>>().join(" | "));
        if at == 0 {
            text += &format!("|{}\n", "---|".repeat(indices.len()));
        }
    }
    text.push('\n');
    // Notes may tell of columns that are not shown.
    let notes = table["notes"].as_array().filter(|_| columns.is_empty());
    for note in notes.into_iter().flatten().filter_map(Value::as_str) {
        text += &format!("- {note}\n");
    }
    let command = table["command"].as_str().or_else(|| report["header"]["command"].as_str());
    text += &format!("- `{}`\n", command.unwrap_or("unknown"));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report() -> Value {
        let header = json!({"cpu": "A CPU", "instructions": "avx2", "cores": "2", "compiler": "rustc 1.95.0 (x)", "profile": "release", "date": "2026-01-02 03:04", "job": "all", "command": "hullfield-bench all --quick"});
        json!({"header": header, "tables": [{
            "name": "growth",
            "title": "Growth",
            "shown": [["of", "exponent"], ["pairs | x", "1.02"]],
            "notes": ["A note."],
            "command": "hullfield-bench all",
        }], "failures": []})
    }

    #[test]
    fn a_table_takes_the_place_of_the_old_one() {
        let text = "# Speed\n\n<!-- bench: all/growth -->\nold\n<!-- /bench -->\n\nAfter.\n";
        let Written { text: new, count, left } = replaced(text, &[report()]).unwrap();
        let table = "Growth.\n\n| of | exponent |\n|---|---|\n| pairs \\| x | 1.02 |\n\n- A note.\n- `hullfield-bench all`\n- A CPU, avx2, 2 cores, rustc 1.95.0, release, 2026-01-02\n";
        assert_eq!(new, format!("# Speed\n\n<!-- bench: all/growth -->\n{table}<!-- /bench -->\n\nAfter.\n"));
        assert_eq!((count, left.len()), (1, 0));
        // Once more changes nothing.
        assert_eq!(replaced(&new, &[report()]).unwrap().text, new);
    }

    #[test]
    fn a_table_without_a_command_names_its_report() {
        let mut bare = report();
        bare["tables"][0]["command"] = Value::Null;
        let text = "<!-- bench: all/growth -->\n<!-- /bench -->\n";
        assert!(
            replaced(text, &[bare]).unwrap().text.contains("- A note.\n- `hullfield-bench all --quick`\n")
        );
    }

    #[test]
    fn a_marker_may_choose_columns() {
        let text = "<!-- bench: all/growth | exponent -->\n<!-- /bench -->\n";
        assert!(
            replaced(text, &[report()])
                .unwrap()
                .text
                .contains("| exponent |\n|---|\n| 1.02 |\n\n- `hullfield-bench all`\n")
        );
        let wrong = "<!-- bench: all/growth | slope -->\n<!-- /bench -->\n";
        assert_eq!(
            replaced(wrong, &[report()]).unwrap_err(),
            "line 1: the table has no column \"slope\"; it has of, exponent"
        );
    }

    #[test]
    fn a_table_that_no_report_has_stays() {
        let text = "<!-- bench: tables/pairs -->\nold\n<!-- /bench -->\n<!-- bench: all/growth -->\n<!-- /bench -->\n";
        let Written { text: new, count, left } = replaced(text, &[report()]).unwrap();
        assert!(new.starts_with("<!-- bench: tables/pairs -->\nold\n<!-- /bench -->\n"), "{new}");
        assert_eq!((count, left), (1, vec!["tables/pairs".to_owned()]));
    }

    #[test]
    fn a_part_of_tables_has_its_tables() {
        let mut part = report();
        part["header"]["job"] = json!("collide");
        let text = "<!-- bench: tables/growth -->\n<!-- /bench -->\n";
        assert_eq!(replaced(text, &[part.clone()]).unwrap().count, 1);
        assert_eq!(replaced(text, &[report()]).unwrap().count, 0);
        // The last report that has the table counts.
        let mut newer = part.clone();
        newer["tables"][0]["title"] = json!("Newer");
        assert!(replaced(text, &[part, newer]).unwrap().text.contains("Newer.\n"));
    }

    #[test]
    fn a_broken_marker_is_named() {
        for text in [
            "\n<!-- bench: all/growth -->\n",
            "\n<!-- bench: all/other -->\nold\n",
            "\n<!-- bench: all/growth -->\n<!-- bench: all/growth -->\n<!-- /bench -->\n",
        ] {
            assert_eq!(
                replaced(text, &[report()]).unwrap_err(),
                "line 2: the marker has no end: <!-- /bench -->"
            );
        }
        assert_eq!(
            replaced("<!-- bench: growth -->\n<!-- /bench -->\n", &[report()]).unwrap_err(),
            "line 1: the marker must be JOB/NAME, as all/growth, but is \"growth\""
        );
    }
}
