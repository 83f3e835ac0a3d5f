//! The report: text tables for people, JSON for programs, an HTML page for a browser.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

/// A cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Words.
    Text(String),
    /// A count.
    Count(u64),
    /// A measured number, and the decimals to print.
    Number(f64, usize),
    /// A small number, printed in scientific notation.
    Small(f64),
    /// A share of 1, printed in per cent, and the decimals to print.
    Share(f64, usize),
    /// Not measured, or not applicable.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl Cell {
    /// As in the table.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => thousands(*count),
            Self::Number(x, _) if !x.is_finite() => "–".into(),
            Self::Number(x, decimals) => format!("{x:.decimals$}"),
            Self::Small(x) => format!("{x:.1e}"),
            Self::Share(x, _) if !x.is_finite() => "–".into(),
            Self::Share(x, decimals) => format!("{:.decimals$} %", 100.0 * x),
            Self::Empty => "–".into(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Count(count) => json!(count),
            // Numbers that are not finite become null.
            Self::Number(x, _) | Self::Small(x) | Self::Share(x, _) => json!(x),
            Self::Empty => Value::Null,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A table of measurements.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    name: &'static str,
    title: String,
    columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
    notes: Vec<String>,
}

impl Table {
    /// An empty table. `name` and the columns are its keys in JSON.
    pub(crate) fn new(name: &'static str, title: impl Into<String>, columns: &[&'static str]) -> Self {
        Self { name, title: title.into(), columns: columns.to_vec(), rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a row with a cell for each column.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().collect();
        row.resize(self.columns.len(), Cell::Empty);
        self.rows.push(row);
    }

    /// Adds a sentence below the table.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Whether it has no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn print(&self) -> String {
        let printed: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        let width = |column: usize| {
            let cells = printed.iter().map(|row| row[column].chars().count());
            cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
        };
        let is_text = |column: usize| self.rows.iter().all(|row| row[column].is_text());
        let line = |cells: &[String]| {
            let mut line = String::from(" ");
            for (column, cell) in cells.iter().enumerate() {
                let gap = " ".repeat(width(column) - cell.chars().count());
                if is_text(column) {
                    let _ = write!(line, " {cell}{gap} ");
                } else {
                    let _ = write!(line, " {gap}{cell} ");
                }
            }
            line.trim_end().to_string() + "\n"
        };
        let mut text = format!("\n{}\n", self.title);
        text += &line(&self.columns.iter().map(ToString::to_string).collect::<Vec<_>>());
        for row in &printed {
            text += &line(row);
        }
        for note in &self.notes {
            let _ = writeln!(text, "  {note}");
        }
        text
    }

    fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| -> Value {
            let entries =
                self.columns.iter().zip(row).map(|(column, cell)| (column.replace(' ', "_"), cell.json()));
            Value::Object(entries.collect())
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({ "name": self.name, "title": self.title, "rows": rows, "notes": self.notes })
    }

    fn html(&self) -> String {
        let mut text = format!("<h2>{}</h2>\n<table>\n<tr>", escape(&self.title));
        for column in &self.columns {
            let _ = write!(text, "<th>{}</th>", escape(column));
        }
        text += "</tr>\n";
        for row in &self.rows {
            text += "<tr>";
            for cell in row {
                let class = if cell.is_text() { "" } else { " class=\"n\"" };
                let _ = write!(text, "<td{class}>{}</td>", escape(&cell.text()));
            }
            text += "</tr>\n";
        }
        text += "</table>\n";
        for note in &self.notes {
            let _ = writeln!(text, "<p>{}</p>", escape(note));
        }
        text
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The report of a run.
#[derive(Debug)]
pub(crate) struct Report {
    header: Vec<(&'static str, String)>,
    tables: Vec<Table>,
    failures: Vec<String>,
}

impl Report {
    /// A report with a header that describes the machine.
    pub(crate) fn new(header: Vec<(&'static str, String)>) -> Self {
        Self { header, tables: Vec::new(), failures: Vec::new() }
    }

    /// Adds a line to the header, and prints it.
    pub(crate) fn fact(&mut self, name: &'static str, value: String) {
        say(format_args!("{name:>13}  {value}\n"));
        self.header.push((name, value));
    }

    /// Adds a finished table, and prints it.
    pub(crate) fn table(&mut self, table: Table) {
        say(format_args!("{}", table.print()));
        self.tables.push(table);
    }

    /// Adds a check that failed.
    pub(crate) fn fail(&mut self, failure: impl Into<String>) {
        self.failures.push(failure.into());
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
        json!({
            "header": Value::Object(header),
            "tables": self.tables.iter().map(Table::json).collect::<Vec<_>>(),
            "failures": self.failures,
        })
    }

    /// The report as a self-contained HTML page.
    pub(crate) fn to_html(&self) -> String {
        let mut text = String::from(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>hullfield-bench</title>\n<style>\n\
             body { font: 15px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }\n\
             table { border-collapse: collapse; margin: .5em 0; }\n\
             th, td { padding: .2em .8em; border-bottom: 1px solid #8884; text-align: left; }\n\
             td.n { text-align: right; font-variant-numeric: tabular-nums; }\n\
             p { margin: .3em 0; color: #666; }\n.bad { color: #b00; font-weight: bold; }\n</style>\n\
             <h1>hullfield-bench</h1>\n<table>\n",
        );
        for (name, value) in &self.header {
            let _ = writeln!(text, "<tr><th>{}</th><td>{}</td></tr>", escape(name), escape(value));
        }
        text += "</table>\n";
        for table in &self.tables {
            text += &table.html();
        }
        for failure in &self.failures {
            let _ = writeln!(text, "<p class=\"bad\">failed: {}</p>", escape(failure));
        }
        text + "</html>\n"
    }
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

    fn report() -> Report {
        let mut table = Table::new("t", "A <table>", &["scene", "ns a pair", "share"]);
        table.row(["32 & more".into(), Cell::Number(12.345, 1), Cell::Share(0.25, 0)]);
        table.row(["8".into(), Cell::Number(f64::NAN, 1)]);
        let mut report = Report::new(vec![("cpu", "some".into())]);
        report.tables.push(table);
        report
    }

    #[test]
    fn tables_line_up() {
        let text = report().tables[0].print();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "  scene      ns a pair  share");
        assert_eq!(lines[3], "  32 & more       12.3   25 %");
        assert_eq!(lines[4], "  8                  –      –");
    }

    #[test]
    fn json_has_every_number_and_null_for_nan() {
        let value: Value = serde_json::from_str(&report().to_json()).unwrap();
        assert_eq!(value["tables"][0]["rows"][0]["ns_a_pair"], 12.345);
        assert_eq!(value["tables"][0]["rows"][1]["ns_a_pair"], Value::Null);
        assert_eq!(value["header"]["cpu"], "some");
    }

    #[test]
    fn html_is_escaped() {
        let html = report().to_html();
        assert!(html.contains("A &lt;table&gt;") && html.contains("32 &amp; more"));
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(49_995_000), "49,995,000");
    }
}
