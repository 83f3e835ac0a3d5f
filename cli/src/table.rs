//! Text tables for people: columns are padded to their widest cell, numbers are right-aligned.

use std::io::{self, Write};

/// A table under one line of headings.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub(crate) fn new(headings: &[&str]) -> Self {
        Self { rows: vec![headings.iter().map(|&heading| heading.to_owned()).collect()] }
    }

    /// Adds a row of as many cells as there are headings.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes the table.
    pub(crate) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let column_count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let column = |i: usize| self.rows.iter().filter_map(move |row| row.get(i));
        let widths: Vec<usize> = (0..column_count)
            .map(|i| column(i).map(|cell| cell.chars().count()).max().unwrap_or(0))
            .collect();
        let numeric: Vec<bool> = (0..column_count)
            .map(|i| {
                column(i)
                    .skip(1)
                    .all(|cell| cell.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+'))
            })
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            for (i, cell) in row.iter().enumerate() {
                let padding = " ".repeat(widths[i] - cell.chars().count());
                if i > 0 {
                    line.push_str("  ");
                }
                if numeric[i] {
                    line.push_str(&padding);
                    line.push_str(cell);
                } else {
                    line.push_str(cell);
                    line.push_str(&padding);
                }
            }
            writeln!(writer, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["name", "points"]);
        table.row(vec!["box".into(), "8".into()]);
        table.row(vec!["a rock".into(), "128".into()]);
        let mut text = Vec::new();
        table.write(&mut text).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "name    points\nbox          8\na rock     128\n");
    }
}
