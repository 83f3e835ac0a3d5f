//! The report: sections of tables and figures. It prints as text and writes JSON; `page.rs` makes the HTML page.

mod table;

use std::path::Path;

use serde_json::{Value, json};

pub(crate) use table::{Cell, Table};

/// A drawing with its legend and caption.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    title: String,
    svg: String,
    legend: String,
    caption: String,
    command: Option<String>,
}

impl Figure {
    /// A figure. `svg` and `legend` are HTML; the other texts are plain.
    pub(crate) fn new(
        title: impl Into<String>,
        svg: String,
        legend: String,
        caption: impl Into<String>,
    ) -> Self {
        Self { title: title.into(), svg, legend, caption: caption.into(), command: None }
    }

    /// The same with the command line that makes it.
    pub(crate) fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// The title.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The drawing, as SVG.
    pub(crate) fn svg(&self) -> &str {
        &self.svg
    }

    /// The legend, as HTML. Empty if there is none.
    pub(crate) fn legend(&self) -> &str {
        &self.legend
    }

    /// The sentences below the drawing.
    pub(crate) fn caption(&self) -> &str {
        &self.caption
    }

    /// The command line that makes it.
    pub(crate) fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    fn json(&self) -> Value {
        json!({ "title": self.title, "caption": self.caption, "command": self.command })
    }
}

/// A part of a section.
#[derive(Debug)]
pub(crate) enum Item {
    Table(Table),
    Figure(Figure),
    /// A check that failed.
    Failure(String),
}

/// A part of the report.
#[derive(Debug, Default)]
pub(crate) struct Section {
    heading: String,
    sentences: Vec<String>,
    items: Vec<Item>,
}

impl Section {
    /// The heading. It is empty for what comes before the first section.
    pub(crate) fn heading(&self) -> &str {
        &self.heading
    }

    /// The sentences below the heading.
    pub(crate) fn sentences(&self) -> &[String] {
        &self.sentences
    }

    /// The tables, figures and failed checks, in order.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }
}

/// The report of a run.
#[derive(Debug)]
pub(crate) struct Report {
    header: Vec<(&'static str, String)>,
    sections: Vec<Section>,
    failures: Vec<String>,
}

impl Report {
    /// A report with a header that describes the machine.
    pub(crate) fn new(header: Vec<(&'static str, String)>) -> Self {
        Self { header, sections: vec![Section::default()], failures: Vec::new() }
    }

    /// Adds a line to the header, and prints it.
    pub(crate) fn fact(&mut self, name: &'static str, value: String) {
        say(format_args!("{name:>13}  {value}\n"));
        self.header.push((name, value));
    }

    /// Adds a line to the header before it is printed.
    pub(crate) fn fact_silent(&mut self, name: &'static str, value: String) {
        self.header.push((name, value));
    }

    /// Adds a finished table, and prints it.
    pub(crate) fn table(&mut self, table: Table) {
        say(format_args!("{}", table.print()));
        self.add(Item::Table(table));
    }

    /// Begins a section, and prints its heading. What is added next belongs to it.
    pub(crate) fn section(&mut self, heading: impl Into<String>) {
        let heading = heading.into();
        say(format_args!("\n# {heading}\n"));
        self.sections.push(Section { heading, ..Section::default() });
    }

    /// Adds a sentence below the heading of the section, and prints it.
    pub(crate) fn sentence(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        say(format_args!("  {sentence}\n"));
        if let Some(section) = self.sections.last_mut() {
            section.sentences.push(sentence);
        }
    }

    /// Moves the last section to the front, where a summary belongs.
    pub(crate) fn move_last_section_to_front(&mut self) {
        if self.sections.len() > 2 {
            self.sections[1..].rotate_right(1);
        }
    }

    /// Adds a figure. Only the page shows it.
    pub(crate) fn figure(&mut self, figure: Figure) {
        self.add(Item::Figure(figure));
    }

    /// Adds a check that failed.
    pub(crate) fn fail(&mut self, failure: impl Into<String>) {
        let failure = failure.into();
        self.add(Item::Failure(failure.clone()));
        self.failures.push(failure);
    }

    fn add(&mut self, item: Item) {
        if let Some(section) = self.sections.last_mut() {
            section.items.push(item);
        }
    }

    /// The names and values of the header.
    pub(crate) fn header(&self) -> &[(&'static str, String)] {
        &self.header
    }

    /// The sections, in order. The first has no heading; it is empty if all items belong to others.
    pub(crate) fn sections(&self) -> &[Section] {
        &self.sections
    }

    fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|section| &section.items)
    }

    /// The checks that failed.
    pub(crate) fn failures(&self) -> &[String] {
        &self.failures
    }

    /// Prints the header.
    pub(crate) fn print_header(&self) {
        for (name, value) in &self.header {
            say(format_args!("{name:>13}  {value}\n"));
        }
    }

    /// Prints the failed checks, or that all passed.
    pub(crate) fn print_failures(&self) {
        say(format_args!("\n"));
        for failure in &self.failures {
            say(format_args!("FAILED: {failure}\n"));
        }
        if self.failures.is_empty() {
            say(format_args!("all checks passed\n"));
        }
    }

    /// The report as JSON.
    pub(crate) fn to_json(&self) -> String {
        format!("{:#}\n", self.to_value())
    }

    /// The report as a value of JSON.
    pub(crate) fn to_value(&self) -> Value {
        let header = self.header.iter().map(|(name, value)| (name.replace(' ', "_"), json!(value))).collect();
        let tables = self.items().filter_map(|item| match item {
            Item::Table(table) => Some(table.json()),
            _ => None,
        });
        let figures = self.items().filter_map(|item| match item {
            Item::Figure(figure) => Some(figure.json()),
            _ => None,
        });
        json!({
            "header": Value::Object(header),
            "tables": tables.collect::<Vec<_>>(),
            "figures": figures.collect::<Vec<_>>(),
            "failures": self.failures,
        })
    }
}

/// Checks before a run that a file can be written where it shall be. `option` names it on the command line.
///
/// # Errors
/// A message that names the file.
pub(crate) fn check_writable(option: &str, path: &Path) -> Result<(), String> {
    let named = |what: &str| format!("{option} {}: {what}", path.display());
    if path.is_dir() {
        return Err(named("it is a folder"));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && !folder.is_dir()
    {
        return Err(named(&format!("there is no folder {}", folder.display())));
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let done = std::fs::write(&part, "").and_then(|()| std::fs::remove_file(&part));
    done.map_err(|error| named(&format!("it cannot be written: {error}")))
}

/// Writes a file as a whole or not at all.
///
/// # Errors
/// A message that names the file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let done = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, path));
    done.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        format!("{}: {error}", path.display())
    })
}

/// Writes to stdout. A reader that has gone, as `head` does, is no fault: the bench goes on, and its exit code and its files say the rest.
pub(crate) fn say(text: std::fmt::Arguments<'_>) {
    use std::io::Write as _;
    let _ = std::io::stdout().write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("t", "A table", &["scene", "ns a pair", "share"]);
        table.row(["32 & more".into(), Cell::Number(12.345, 1), Cell::Share(0.25, 0)]);
        table.row(["8".into(), Cell::Number(f64::NAN, 1)]);
        table
    }

    #[test]
    fn json_has_every_number_and_null_for_nan() {
        let mut report = Report::new(vec![("cpu", "some".into())]);
        report.table(table());
        report.section("More");
        report.figure(Figure::new("F", String::new(), String::new(), "A line.").with_command("draw it"));
        report.table(table().with_command("run it"));
        report.fail("a check");
        let value: Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(value["tables"][0]["rows"][0]["ns_a_pair"], 12.345);
        assert_eq!(value["tables"][0]["rows"][1]["ns_a_pair"], Value::Null);
        assert_eq!(value["tables"][0]["command"], Value::Null);
        assert_eq!(value["tables"][1]["command"], "run it");
        assert_eq!(value["figures"][0], json!({ "title": "F", "caption": "A line.", "command": "draw it" }));
        assert_eq!(value["failures"], json!(["a check"]));
        assert_eq!(value["header"]["cpu"], "some");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_found_before_the_run() {
        let folder = std::env::temp_dir();
        let check = |path: &Path| check_writable("--json", path);
        assert_eq!(check(&folder.join("hullfield-report-test.json")), Ok(()));
        assert!(check(&folder).unwrap_err().contains("it is a folder"));
        let missing = check(&folder.join("no such folder/gpu.json")).unwrap_err();
        assert!(missing.contains("there is no folder") && missing.contains("no such folder"), "{missing}");
        let unwritable = check(Path::new("/proc/gpu.json")).unwrap_err();
        assert!(unwritable.contains("cannot be written"), "{unwritable}");
    }
}
