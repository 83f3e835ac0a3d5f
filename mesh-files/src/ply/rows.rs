//! The rows of a PLY file, as text or as bytes.

use std::borrow::Cow;

use super::header::{Element, Kind, Property, Scalar};
use crate::text::{excerpt, number};

/// What a property is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Axis(usize),
    Corners,
    Nothing,
}

/// What was read of a row.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) point: [f64; 3],
    pub(super) corners: Vec<i64>,
}

/// A fault of a row: the property, and a message.
type Fault = (String, String);

/// The rows of a file, one after the other.
pub(super) trait Rows {
    /// Says what is wrong if so many rows cannot be there.
    fn check(&self, element: &Element) -> Result<(), String>;

    /// Skips all rows of an element, if their size is known.
    fn skip(&mut self, element: &Element) -> bool;

    /// Reads a row. Its corners are added to those that are there.
    fn next(&mut self, element: &Element, uses: &[Use], row: &mut Row) -> Result<(), Fault>;

    /// The line of the last row, in text.
    fn line(&self) -> Option<u64>;

    /// The first line with more numbers than the header announces, in text.
    fn first_longer_line(&self) -> Option<u64>;

    /// What is left after all rows, if anything is.
    fn rest(&mut self) -> Option<String>;
}

/// Rows of text: a line each, blank lines aside.
#[derive(Debug)]
pub(super) struct Text<'a> {
    rest: &'a [u8],
    line: u64,
    first_longer_line: Option<u64>,
}

impl<'a> Text<'a> {
    /// Rows after a header of `line` lines.
    pub(super) fn new(bytes: &'a [u8], line: u64) -> Self {
        Self { rest: bytes, line, first_longer_line: None }
    }

    /// The next line that is not blank. A line ends with a line feed, a carriage return, or both.
    fn next_line(&mut self) -> Option<Cow<'a, str>> {
        while !self.rest.is_empty() {
            let end = self.rest.iter().position(|&byte| byte == b'\n' || byte == b'\r');
            let (line, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            self.rest = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
            self.line += 1;
            if !line.trim_ascii().is_empty() {
                return Some(String::from_utf8_lossy(line));
            }
        }
        None
    }
}

impl Rows for Text<'_> {
    fn check(&self, _: &Element) -> Result<(), String> {
        Ok(())
    }

    fn skip(&mut self, _: &Element) -> bool {
        false
    }

    fn next(&mut self, element: &Element, uses: &[Use], row: &mut Row) -> Result<(), Fault> {
        let Some(line) = self.next_line() else {
            self.line += 1;
            let message = format!(
                "the file ends before the {} rows of element {}",
                element.count,
                excerpt(&element.name)
            );
            return Err((String::new(), message));
        };
        let mut words = line.split_whitespace();
        for (Property { name, kind }, used) in element.properties.iter().zip(uses) {
            let fault = |message: String| (name.clone(), message);
            let mut word = || words.next().ok_or_else(|| fault("missing".to_owned()));
            match kind {
                Kind::Number(_) => {
                    let word = word()?;
                    if let Use::Axis(axis) = used {
                        row.point[*axis] = number(word).map_err(fault)?;
                    } else {
                        check_number(word).map_err(fault)?;
                    }
                }
                Kind::List { .. } => {
                    let count = word()?;
                    let count: u64 =
                        count.parse().map_err(|_| fault(format!("\"{}\" is not a count", excerpt(count))))?;
                    for _ in 0..count {
                        let word = word()?;
                        if *used == Use::Corners {
                            let corner = word.parse();
                            row.corners.push(corner.map_err(|_| {
                                fault(format!("\"{}\" is not a vertex number", excerpt(word)))
                            })?);
                        } else {
                            check_number(word).map_err(fault)?;
                        }
                    }
                }
            }
        }
        // Some programs write more than they announce (MeshLab, colours of corners).
        for word in words {
            check_number(word).map_err(|_| {
                let message = format!("\"{}\" follows the values that the header announces", excerpt(word));
                (String::new(), message)
            })?;
            self.first_longer_line = self.first_longer_line.or(Some(self.line));
        }
        Ok(())
    }

    fn line(&self) -> Option<u64> {
        Some(self.line)
    }

    fn first_longer_line(&self) -> Option<u64> {
        self.first_longer_line
    }

    fn rest(&mut self) -> Option<String> {
        let first = self.next_line().map(|_| self.line)?;
        Some(format!("lines from {first} on stand"))
    }
}

/// A number that is not used may be anything that floats are.
fn check_number(word: &str) -> Result<(), String> {
    match word.parse::<f64>() {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("\"{}\" is not a number", excerpt(word))),
    }
}

/// Rows of bytes.
#[derive(Debug)]
pub(super) struct Binary<'a> {
    rest: &'a [u8],
    is_big_endian: bool,
}

impl<'a> Binary<'a> {
    pub(super) fn new(bytes: &'a [u8], is_big_endian: bool) -> Self {
        Self { rest: bytes, is_big_endian }
    }

    /// The next bytes of this number.
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(count).ok()?)?;
        self.rest = rest;
        Some(taken)
    }

    /// The number in these bytes, as a float and, where it is one, as a whole number.
    fn value(&self, scalar: Scalar, bytes: &[u8]) -> (f64, i64) {
        let mut buffer = [0; 8];
        // The bytes in little-endian order, at the beginning.
        for (i, to) in buffer.iter_mut().take(bytes.len()).enumerate() {
            *to = bytes[if self.is_big_endian { bytes.len() - 1 - i } else { i }];
        }
        let wide = u64::from_le_bytes(buffer);
        let whole = match scalar {
            Scalar::I8 => i64::from(wide as i8),
            Scalar::I16 => i64::from(wide as i16),
            Scalar::I32 => i64::from(wide as i32),
            Scalar::U8 | Scalar::U16 | Scalar::U32 => wide as i64,
            Scalar::F32 => return (f64::from(f32::from_bits(wide as u32)), 0),
            Scalar::F64 => return (f64::from_bits(wide), 0),
        };
        (whole as f64, whole)
    }
}

impl Rows for Binary<'_> {
    fn check(&self, element: &Element) -> Result<(), String> {
        let least = element.least_bytes();
        let has = self.rest.len();
        if element.count.checked_mul(least).is_some_and(|bytes| bytes <= has as u64) {
            return Ok(());
        }
        let (name, count) = (excerpt(&element.name), element.count);
        let at_least = if element.has_lists() { "at least " } else { "" };
        Err(format!(
            "{count} rows of element {name} take {at_least}{least} bytes each, {has} bytes are left: it is cut short"
        ))
    }

    fn skip(&mut self, element: &Element) -> bool {
        !element.has_lists() && self.take(element.count * element.least_bytes()).is_some()
    }

    fn next(&mut self, element: &Element, uses: &[Use], row: &mut Row) -> Result<(), Fault> {
        for (Property { name, kind }, used) in element.properties.iter().zip(uses) {
            let fault = |message: String| (name.clone(), message);
            let cut = || fault("it reaches past the end of the file: it is cut short".to_owned());
            match *kind {
                Kind::Number(scalar) => {
                    let bytes = self.take(scalar.bytes()).ok_or_else(cut)?;
                    if let Use::Axis(axis) = used {
                        let (value, _) = self.value(scalar, bytes);
                        if !value.is_finite() {
                            return Err(fault(format!("{value} is not finite")));
                        }
                        row.point[*axis] = value;
                    }
                }
                Kind::List { count, item } => {
                    let bytes = self.take(count.bytes()).ok_or_else(cut)?;
                    let (_, length) = self.value(count, bytes);
                    let length =
                        u64::try_from(length).map_err(|_| fault(format!("a list of {length} numbers")))?;
                    let too_long = || {
                        fault(format!(
                            "a list of {length} numbers reaches past the end of the file: it is cut short"
                        ))
                    };
                    let items = length
                        .checked_mul(item.bytes())
                        .and_then(|bytes| self.take(bytes))
                        .ok_or_else(too_long)?;
                    if *used == Use::Corners {
                        let each = items.chunks_exact(item.bytes() as usize);
                        row.corners.extend(each.map(|bytes| self.value(item, bytes).1));
                    }
                }
            }
        }
        Ok(())
    }

    fn line(&self) -> Option<u64> {
        None
    }

    fn first_longer_line(&self) -> Option<u64> {
        None
    }

    fn rest(&mut self) -> Option<String> {
        let count = self.rest.len();
        (count > 0).then(|| format!("{count} bytes stand"))
    }
}
