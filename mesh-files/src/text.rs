//! Texts of files: their lines, their numbers, and what of them is quoted in messages.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

/// A floating-point type to read numbers as.
pub trait Real: Copy + Display + FromStr + Send {
    /// Bits of the format.
    const BITS: u32;

    /// Neither infinite nor NaN.
    fn is_real(self) -> bool;
}

impl Real for f32 {
    const BITS: u32 = 32;

    fn is_real(self) -> bool {
        self.is_finite()
    }
}

impl Real for f64 {
    const BITS: u32 = 64;

    fn is_real(self) -> bool {
        self.is_finite()
    }
}

/// Reads a finite number. An error is a message.
pub fn number<T: Real>(text: &str) -> Result<T, String> {
    let value: T = text.parse().map_err(|_| format!("\"{}\" is not a number", excerpt(text)))?;
    if value.is_real() {
        return Ok(value);
    }
    // With digits it is a number that overflowed; without, "inf" or "nan".
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        Err(format!("{} is too large for a {}-bit float", excerpt(text), T::BITS))
    } else {
        Err(format!("\"{}\" is not finite", excerpt(text)))
    }
}

/// A text for a message: at most 40 characters, control characters replaced.
pub fn excerpt(text: &str) -> String {
    shortened(text, 40)
}

/// A text for a message: at most `most` characters, control characters replaced.
pub fn shortened(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(most).is_some() {
        short.push('…');
    }
    short
}

/// The byte order mark of UTF-8.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes without a byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
}

/// The text of bytes, without a byte order mark. Bytes that are no UTF-8 become replacement characters.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(without_mark(bytes))
}

/// The lines of a text with their numbers, from 1. A line ends with a line feed, a carriage return, or both.
#[derive(Debug, Clone)]
pub(crate) struct Lines<'a> {
    rest: &'a str,
    number: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text, number: 0 }
    }

    /// The number of the line that was read last; 0 before the first.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (&'a str, u64);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.bytes().position(|byte| byte == b'\n' || byte == b'\r');
        let end = end.unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.strip_prefix("\r\n").or_else(|| rest.get(1..)).unwrap_or_default();
        self.number += 1;
        Some((line, self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_number_says_why() {
        assert_eq!(number("-1.5e3"), Ok(-1500.0_f32));
        assert_eq!(number("0.1"), Ok(0.1_f64));
        for (text, value) in [(".5", 0.5), ("-.25", -0.25), ("3.", 3.0), ("+1", 1.0), ("2.e1", 20.0)] {
            assert_eq!(number(text), Ok(value), "{text}");
        }
        let error_of = |text| number::<f32>(text).unwrap_err();
        assert_eq!(error_of("x1"), "\"x1\" is not a number");
        assert_eq!(error_of(""), "\"\" is not a number");
        assert_eq!(error_of("nan"), "\"nan\" is not finite");
        assert_eq!(error_of("-inf"), "\"-inf\" is not finite");
        assert_eq!(error_of("1e39"), "1e39 is too large for a 32-bit float");
        assert_eq!(number("1e39"), Ok(1e39_f64));
        assert_eq!(number::<f64>("1e309").unwrap_err(), "1e309 is too large for a 64-bit float");
    }

    #[test]
    fn a_line_ends_with_either_or_both_characters() {
        let lines = |text| Lines::new(text).collect::<Vec<_>>();
        assert_eq!(lines("a\r\nb\rc\n\nd"), [("a", 1), ("b", 2), ("c", 3), ("", 4), ("d", 5)]);
        assert_eq!(lines("a\r\r\n"), [("a", 1), ("", 2)]);
        assert_eq!(lines("\n"), [("", 1)]);
        assert_eq!(lines(""), []);
        assert_eq!(decoded(b"\xef\xbb\xbfv\xff"), "v\u{fffd}");
    }
}
