//! CSV tables with a line of column names: what is unknown, missing, ragged or unreadable is an error with its place.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder, Trim};

use super::{number, shown};
use crate::failure::{Failure, Result};

/// A CSV file whose columns are known.
#[derive(Debug)]
pub(super) struct Table {
    path: PathBuf,
    reader: Reader<File>,
    columns: Vec<String>,
    record: ByteRecord,
    line: u64,
}

/// Where a column stands in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column(usize);

impl Table {
    /// Opens `path` and checks its columns against those that are `known`, and those that are planned but `not_built`.
    pub(super) fn open(path: &Path, known: &[&str], not_built: &[&str]) -> Result<Self> {
        let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
        // The line count of the `csv` crate is of a record's first line, and it skips empty lines by itself.
        let mut reader =
            ReaderBuilder::new().flexible(true).trim(Trim::All).buffer_capacity(1 << 18).from_reader(file);
        let headings = reader.byte_headers().map_err(|error| fault(path, &error))?.clone();
        let mut columns: Vec<String> = Vec::new();
        for heading in &headings {
            let name = String::from_utf8_lossy(heading).into_owned();
            let wrong = |message: String| Err(Failure::line(path, 1, message));
            if columns.contains(&name) {
                return wrong(format!("column {} stands there twice", shown(&name)));
            }
            if not_built.contains(&name.as_str()) {
                return wrong(format!("column {name} is not built yet"));
            }
            if !known.contains(&name.as_str()) {
                return wrong(format!("unknown column \"{}\", known are {}", shown(&name), known.join(", ")));
            }
            columns.push(name);
        }
        Ok(Self { path: path.to_owned(), reader, columns, record: ByteRecord::new(), line: 1 })
    }

    /// The column `name`, if the file has it.
    pub(super) fn column(&self, name: &str) -> Option<Column> {
        self.columns.iter().position(|column| column == name).map(Column)
    }

    /// The column `name`.
    pub(super) fn required(&self, name: &str) -> Result<Column> {
        let found = self.columns.join(", ");
        self.column(name).ok_or_else(|| {
            Failure::line(
                &self.path,
                1,
                format!("column {name} is missing, the columns are \"{}\"", shown(&found)),
            )
        })
    }

    /// Columns that come together: all of them, or none.
    pub(super) fn together<const N: usize>(&self, names: [&str; N]) -> Result<Option<[Column; N]>> {
        if names.iter().all(|name| self.column(name).is_none()) {
            return Ok(None);
        }
        let mut columns = [Column(0); N];
        for (column, name) in columns.iter_mut().zip(names) {
            *column = self.column(name).ok_or_else(|| {
                Failure::line(
                    &self.path,
                    1,
                    format!("column {name} is missing: {} come together", names.join(", ")),
                )
            })?;
        }
        Ok(Some(columns))
    }

    /// Goes to the next row; false at the end of the file.
    pub(super) fn next(&mut self) -> Result<bool> {
        if !self.reader.read_byte_record(&mut self.record).map_err(|error| fault(&self.path, &error))? {
            return Ok(false);
        }
        self.line = self.record.position().map_or(self.line + 1, csv::Position::line);
        let (found, expected) = (self.record.len(), self.columns.len());
        if found < expected {
            return Err(self
                .wrong(Column(found), format!("missing: the row has {found} fields, {expected} expected")));
        }
        if found > expected {
            return Err(Failure::line(&self.path, self.line, format!("{found} fields, {expected} expected")));
        }
        Ok(true)
    }

    /// A fault in a field of the row.
    pub(super) fn wrong(&self, column: Column, message: impl std::fmt::Display) -> Failure {
        let name = self.columns.get(column.0).map_or("?", String::as_str);
        Failure::field(&self.path, self.line, name, message)
    }

    /// A field as text.
    pub(super) fn text(&self, column: Column) -> Result<&str> {
        std::str::from_utf8(self.record.get(column.0).unwrap_or_default())
            .map_err(|_| self.wrong(column, "not valid UTF-8"))
    }

    /// A field that may not be empty.
    pub(super) fn name(&self, column: Column) -> Result<&str> {
        match self.text(column)? {
            "" => Err(self.wrong(column, "empty")),
            name => Ok(name),
        }
    }

    /// A field as a finite number.
    pub(super) fn number(&self, column: Column) -> Result<f32> {
        let text = self.text(column)?;
        number(text).map_err(|message| self.wrong(column, message))
    }

    /// Several fields as finite numbers.
    pub(super) fn numbers<const N: usize>(&self, columns: [Column; N]) -> Result<[f32; N]> {
        let mut values = [0.0; N];
        for (value, column) in values.iter_mut().zip(columns) {
            *value = self.number(column)?;
        }
        Ok(values)
    }

    /// A field as a row number from 0.
    pub(super) fn index(&self, column: Column) -> Result<u32> {
        let text = self.text(column)?;
        text.parse().map_err(|_| self.wrong(column, format!("\"{}\" is not a row number", shown(text))))
    }
}

fn fault(path: &Path, error: &csv::Error) -> Failure {
    match error.kind() {
        ErrorKind::Io(error) => Failure::unreadable(path, error),
        _ => Failure::file(path, error),
    }
}
