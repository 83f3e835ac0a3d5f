//! Tables of the report and their cells.

use std::fmt::Write as _;

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
    /// A measured number of any size, printed with three significant digits.
    Significant(f64),
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
            Self::Significant(x) if !x.is_finite() => "–".into(),
            Self::Significant(x) if x.abs() >= 1000.0 => thousands(x.abs().round() as u64),
            Self::Significant(x) if *x == 0.0 => "0".into(),
            Self::Significant(x) => {
                let decimals = (2 - x.abs().log10().floor() as i32).clamp(0, 9) as usize;
                format!("{x:.decimals$}")
            }
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
            Self::Number(x, _) | Self::Significant(x) | Self::Small(x) | Self::Share(x, _) => json!(x),
            Self::Empty => Value::Null,
        }
    }

    /// Whether it has words.
    pub(crate) fn is_text(&self) -> bool {
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
    command: Option<String>,
}

impl Table {
    /// An empty table. `name` and the columns are its keys in JSON.
    pub(crate) fn new(name: &'static str, title: impl Into<String>, columns: &[&'static str]) -> Self {
        let columns = columns.to_vec();
        Self { name, title: title.into(), columns, rows: Vec::new(), notes: Vec::new(), command: None }
    }

    /// The same with the command line that makes it.
    pub(crate) fn with_command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
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

    /// The title.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> &[&'static str] {
        &self.columns
    }

    /// The rows, each with a cell for each column.
    pub(crate) fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// The sentences below the table.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The command line that makes it.
    pub(crate) fn command(&self) -> Option<&str> {
        self.command.as_deref()
    }

    /// Whether every cell of a column has words.
    pub(crate) fn is_text(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].is_text())
    }

    /// Whether it has no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, in columns.
    pub(super) fn print(&self) -> String {
        let printed: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        let width = |column: usize| {
            let cells = printed.iter().map(|row| row[column].chars().count());
            cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
        };
        let line = |cells: &[String]| {
            let mut line = String::from(" ");
            for (column, cell) in cells.iter().enumerate() {
                let gap = " ".repeat(width(column) - cell.chars().count());
                if self.is_text(column) {
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

    /// The table as JSON.
    pub(super) fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| -> Value {
            let entries =
                self.columns.iter().zip(row).map(|(column, cell)| (column.replace(' ', "_"), cell.json()));
            Value::Object(entries.collect())
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        // As it is printed, the names of the columns first.
        let names: Vec<Value> = self.columns.iter().map(|column| json!(column)).collect();
        let texts = self.rows.iter().map(|row| row.iter().map(|cell| json!(cell.text())).collect::<Vec<_>>());
        let shown: Vec<Vec<Value>> = std::iter::once(names).chain(texts).collect();
        json!({
            "name": self.name,
            "title": self.title,
            "rows": rows,
            "shown": shown,
            "notes": self.notes,
            "command": self.command,
        })
    }
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
    fn tables_line_up() {
        let text = table().print();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "  scene      ns a pair  share");
        assert_eq!(lines[3], "  32 & more       12.3   25 %");
        assert_eq!(lines[4], "  8                  –      –");
    }

    #[test]
    fn significant_digits() {
        let text = |x: f64| Cell::Significant(x).text();
        assert_eq!(
            [0.0, 0.001234, 0.5, 12.345, 123.4, 1234.5].map(text),
            ["0", "0.00123", "0.500", "12.3", "123", "1,235"]
        );
        assert_eq!(text(f64::NAN), "–");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(49_995_000), "49,995,000");
    }
}
