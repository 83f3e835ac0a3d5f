//! CSV tables with a line of column names. Unknown and missing columns, ragged rows and unreadable fields are errors.

use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::input::{Source, check_kind};
use super::text::{Real, excerpt, number};
use crate::failure::{Failure, Result};
use crate::progress::Bar;

/// Rows between updates of the progress bar.
const ROWS_PER_PROGRESS: u32 = 1 << 14;
/// The longest allowed row, in bytes, so that a large file without line ends is not read whole.
const MAX_ROW_BYTES: usize = 1 << 24;

/// A CSV file, read row by row.
///
/// Fields may be quoted, with doubled quotes and line ends inside. Space around fields, empty lines and a byte order mark are
/// ignored.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<String>,
    rows: Rows,
    /// Progress over the bytes of the file.
    bar: Bar,
    bytes_in_bar: u64,
    rows_since_update: u32,
}

/// The rows of a file, as fields of bytes.
#[derive(Debug)]
struct Rows {
    path: PathBuf,
    reader: BufReader<Source>,
    /// The row as it is in the file.
    raw: Vec<u8>,
    /// The row without quotes, if it has any.
    unquoted: Vec<u8>,
    is_quoted: bool,
    /// The ranges of the fields: in `unquoted` if the row has quotes, else in `raw`.
    fields: Vec<Range<usize>>,
    /// The line that the row begins on, from 1.
    line: u64,
    /// Lines read so far.
    line_count: u64,
    bytes_read: u64,
}

impl Rows {
    /// Reads the next row that is not empty; false at the end of the file.
    fn next(&mut self) -> Result<bool> {
        loop {
            self.raw.clear();
            self.line = self.line_count + 1;
            if !self.read_line()? {
                return Ok(false);
            }
            if self.line == 1 && self.raw.starts_with(b"\xef\xbb\xbf") {
                self.raw.drain(..3);
            }
            if !self.raw.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        self.is_quoted = self.raw.contains(&b'"');
        self.fields.clear();
        if self.is_quoted {
            return self.unquote().map(|()| true);
        }
        let mut begin = 0;
        for (at, _) in self.raw.iter().enumerate().filter(|(_, byte)| **byte == b',') {
            self.fields.push(trimmed(&self.raw, begin..at));
            begin = at + 1;
        }
        self.fields.push(trimmed(&self.raw, begin..self.raw.len()));
        Ok(true)
    }

    /// Appends a line to the row; false at the end of the file.
    fn read_line(&mut self) -> Result<bool> {
        let room = (MAX_ROW_BYTES - self.raw.len()) as u64;
        let read = self.reader.by_ref().take(room).read_until(b'\n', &mut self.raw);
        let read = read.map_err(|error| Failure::unreadable(&self.path, &error))?;
        if self.raw.len() >= MAX_ROW_BYTES {
            return Err(self.invalid(format!("the row is longer than {MAX_ROW_BYTES} bytes")));
        }
        self.line_count += u64::from(read > 0);
        self.bytes_read += read as u64;
        Ok(read > 0)
    }

    /// Splits a row with quotes, appending lines while a quote is open.
    fn unquote(&mut self) -> Result<()> {
        self.unquoted.clear();
        let mut at = 0;
        loop {
            while matches!(self.raw.get(at), Some(b' ' | b'\t')) {
                at += 1;
            }
            let begin = self.unquoted.len();
            if self.raw.get(at) == Some(&b'"') {
                at += 1;
                loop {
                    match (self.raw.get(at).copied(), self.raw.get(at + 1).copied()) {
                        (Some(b'"'), Some(b'"')) => {
                            self.unquoted.push(b'"');
                            at += 2;
                        }
                        (Some(b'"'), _) => {
                            at += 1;
                            break;
                        }
                        (Some(byte), _) => {
                            self.unquoted.push(byte);
                            at += 1;
                        }
                        (None, _) if self.read_line()? => {}
                        (None, _) => {
                            let count = self.fields.len() + 1;
                            return Err(self.invalid(format!("field {count} has no closing quote")));
                        }
                    }
                }
                self.fields.push(trimmed(&self.unquoted, begin..self.unquoted.len()));
                let end =
                    self.raw[at..].iter().position(|&byte| byte == b',').map_or(self.raw.len(), |n| at + n);
                if !self.raw[at..end].iter().all(u8::is_ascii_whitespace) {
                    let count = self.fields.len();
                    return Err(self.invalid(format!("field {count} continues after its closing quote")));
                }
                at = end;
            } else {
                let end =
                    self.raw[at..].iter().position(|&byte| byte == b',').map_or(self.raw.len(), |n| at + n);
                self.unquoted.extend_from_slice(&self.raw[at..end]);
                self.fields.push(trimmed(&self.unquoted, begin..self.unquoted.len()));
                at = end;
            }
            if at == self.raw.len() {
                return Ok(());
            }
            at += 1;
        }
    }

    fn field(&self, field: usize) -> &[u8] {
        let text = if self.is_quoted { &self.unquoted } else { &self.raw };
        self.fields.get(field).and_then(|range| text.get(range.clone())).unwrap_or_default()
    }

    fn invalid(&self, message: impl std::fmt::Display) -> Failure {
        Failure::line(&self.path, self.line, message)
    }
}

/// The range without the white space at its ends.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    while start < end && text[start].is_ascii_whitespace() {
        start += 1;
    }
    while start < end && text[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    start..end
}

/// The index of a column in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column(usize);

impl Table {
    /// Opens `path` and checks that its columns are among the `known` ones.
    pub(super) fn open(path: &Path, known: &[&str]) -> Result<Self> {
        let (file, size) = Source::open(path).map_err(|error| Failure::unreadable(path, &error))?;
        let mut rows = Rows {
            path: path.to_owned(),
            reader: BufReader::with_capacity(1 << 18, file),
            raw: Vec::new(),
            unquoted: Vec::new(),
            is_quoted: false,
            fields: Vec::new(),
            line: 1,
            line_count: 0,
            bytes_read: 0,
        };
        let first = rows.reader.fill_buf().map_err(|error| Failure::unreadable(path, &error))?;
        check_kind(path, first)?;
        let mut columns: Vec<String> = Vec::new();
        if !rows.next()? {
            return Err(Failure::empty(path));
        }
        for field in 0..rows.fields.len() {
            let name = String::from_utf8_lossy(rows.field(field)).into_owned();
            if columns.contains(&name) {
                return Err(rows.invalid(format!("column {} is there twice", excerpt(&name))));
            }
            if !known.contains(&name.as_str()) {
                let known = known.join(", ");
                return Err(rows.invalid(format!("unknown column \"{}\", known are {known}", excerpt(&name))));
            }
            columns.push(name);
        }
        let bar = Bar::new("bytes read", size);
        Ok(Self { columns, rows, bar, bytes_in_bar: 0, rows_since_update: 0 })
    }

    /// The column `name`, if the file has it.
    pub(super) fn column(&self, name: &str) -> Option<Column> {
        self.columns.iter().position(|column| column == name).map(Column)
    }

    /// The column `name`.
    pub(super) fn required(&self, name: &str) -> Result<Column> {
        let found = self.columns.join(", ");
        self.column(name).ok_or_else(|| {
            self.rows.invalid(format!("column {name} is missing, the columns are \"{}\"", excerpt(&found)))
        })
    }

    /// Columns that a file has all of, or none.
    pub(super) fn together<const N: usize>(&self, names: [&str; N]) -> Result<Option<[Column; N]>> {
        if names.iter().all(|name| self.column(name).is_none()) {
            return Ok(None);
        }
        let mut columns = [Column(0); N];
        for (column, name) in columns.iter_mut().zip(names) {
            *column = self.column(name).ok_or_else(|| {
                self.rows.invalid(format!("column {name} is missing: {} go together", names.join(", ")))
            })?;
        }
        Ok(Some(columns))
    }

    /// Reads the next row; false at the end of the file.
    pub(super) fn next(&mut self) -> Result<bool> {
        if !self.rows.next()? {
            return Ok(false);
        }
        self.rows_since_update += 1;
        if self.rows_since_update == ROWS_PER_PROGRESS {
            self.rows_since_update = 0;
            self.bar.step(self.rows.bytes_read - self.bytes_in_bar);
            self.bytes_in_bar = self.rows.bytes_read;
        }
        let (found, expected) = (self.rows.fields.len(), self.columns.len());
        if found < expected {
            return Err(self.invalid(
                Column(found),
                format!("missing: the row has {found} fields, {expected} expected"),
            ));
        }
        if found > expected {
            return Err(self.rows.invalid(format!("{found} fields, {expected} expected")));
        }
        Ok(true)
    }

    /// The line that the row begins on.
    pub(super) fn line(&self) -> u64 {
        self.rows.line
    }

    /// An error in a field of the row.
    pub(super) fn invalid(&self, column: Column, message: impl std::fmt::Display) -> Failure {
        let name = self.columns.get(column.0).map_or("?", String::as_str);
        Failure::field(&self.rows.path, self.rows.line, name, message)
    }

    /// A field as text.
    pub(super) fn text(&self, column: Column) -> Result<&str> {
        std::str::from_utf8(self.rows.field(column.0)).map_err(|_| self.invalid(column, "not valid UTF-8"))
    }

    /// A field that may not be empty.
    pub(super) fn name(&self, column: Column) -> Result<&str> {
        match self.text(column)? {
            "" => Err(self.invalid(column, "empty")),
            name => Ok(name),
        }
    }

    /// A field as a finite number.
    pub(super) fn number<T: Real>(&self, column: Column) -> Result<T> {
        let text = self.text(column)?;
        number(text).map_err(|message| self.invalid(column, message))
    }

    /// Several fields as finite numbers.
    pub(super) fn numbers<T: Real + Default, const N: usize>(&self, columns: [Column; N]) -> Result<[T; N]> {
        let mut values = [T::default(); N];
        for (value, column) in values.iter_mut().zip(columns) {
            *value = self.number(column)?;
        }
        Ok(values)
    }

    /// A field as a set of 32 bits.
    pub(super) fn bits(&self, column: Column) -> Result<u32> {
        self.whole(column)
    }

    /// A field as a whole number from 0.
    pub(super) fn whole(&self, column: Column) -> Result<u32> {
        let text = self.text(column)?;
        text.parse().map_err(|_| {
            self.invalid(
                column,
                format!("\"{}\" is not a whole number from 0 to {}", excerpt(text), u32::MAX),
            )
        })
    }

    /// A field as a row number from 0.
    pub(super) fn index(&self, column: Column) -> Result<u32> {
        let text = self.text(column)?;
        text.parse().map_err(|_| self.invalid(column, format!("\"{}\" is not a row number", excerpt(text))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of a text, each with its line. The first error is the last entry.
    fn rows(name: &str, text: impl AsRef<[u8]>) -> Vec<String> {
        let path = std::env::temp_dir().join(format!("hullfield-table-{}-{name}.csv", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let mut found = Vec::new();
        match Table::open(&path, &["a", "b"]) {
            Err(failure) => found.push(failure.to_string()),
            Ok(mut table) => loop {
                match table.next() {
                    Ok(false) => break,
                    Ok(true) => {
                        let [a, b] = [0, 1].map(|i| table.text(Column(i)).unwrap());
                        found.push(format!("{}: [{a}] [{b}]", table.line()));
                    }
                    Err(failure) => {
                        found.push(failure.to_string());
                        break;
                    }
                }
            },
        }
        std::fs::remove_file(&path).unwrap();
        found.into_iter().map(|line| line.split(".csv: ").last().unwrap().to_owned()).collect()
    }

    /// A CSV crate that skips empty lines itself miscounted the lines after them.
    #[test]
    fn lines_are_counted_whatever_ends_them() {
        let expected = ["2: [1] [2]", "5: [3] [4]", "6: [5] [6]"];
        assert_eq!(rows("lf", "a,b\n1,2\n\n\n3,4\n5,6\n"), expected);
        assert_eq!(rows("crlf", "\u{feff}a,b\r\n1,2\r\n \r\n\r\n3,4\r\n5,6"), expected);
        assert_eq!(rows("head", "\n\na,b\n1,2\n"), ["4: [1] [2]"]);
        assert_eq!(rows("none", "a,b"), [""; 0]);
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_ends() {
        let text = "a,b\n\"x, \"\"y\"\"\" ,\"two\nlines\"\n 1 , \"2\"\nin \"the\" middle,\"\"\n";
        let expected = ["2: [x, \"y\"] [two\nlines]", "4: [1] [2]", "5: [in \"the\" middle] []"];
        assert_eq!(rows("quotes", text), expected);
        assert_eq!(rows("open", "a,b\n1,\"2\n3,4\n"), ["line 2: field 2 has no closing quote"]);
        assert_eq!(rows("on", "a,b\n\"1\"2,3\n"), ["line 2: field 1 continues after its closing quote"]);
        assert_eq!(rows("last", "a,b\n\"1\",\"2\""), ["2: [1] [2]"]);
        assert_eq!(rows("comma", "a,b\n\"1\",\n"), ["2: [1] []"]);
    }

    #[test]
    fn a_row_that_is_too_long_is_not_read_to_its_end() {
        let mut text = b"a,b\n".to_vec();
        text.resize(MAX_ROW_BYTES + 100, b'1');
        assert_eq!(rows("long", &text), [format!("line 2: the row is longer than {MAX_ROW_BYTES} bytes")]);
        text[4] = b'"';
        text[5..].fill(b'\n');
        assert_eq!(
            rows("open-long", &text),
            [format!("line 2: the row is longer than {MAX_ROW_BYTES} bytes")]
        );
    }
}
