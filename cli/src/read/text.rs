//! The texts that files consist of: as numbers, and as messages show them.

use std::fmt::Display;
use std::str::FromStr;

/// What a number of a file is read as: the one nearest to what the file says.
pub(crate) trait Real: Copy + Display + FromStr + Send {
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

/// A finite number, or what is wrong with it.
pub(crate) fn number<T: Real>(text: &str) -> Result<T, String> {
    let value: T = text.parse().map_err(|_| format!("\"{}\" is not a number", shown(text)))?;
    if value.is_real() {
        return Ok(value);
    }
    // A decimal number that only overflowed is told apart from one that says so itself.
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        Err(format!("{} is too large for a {}-bit float", shown(text), T::BITS))
    } else {
        Err(format!("\"{}\" is not finite", shown(text)))
    }
}

/// Whether a text is a number above zero, if only too small for a float.
pub(super) fn is_more_than_zero(text: &str) -> bool {
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    !digits.starts_with('-') && digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

/// A text as it can stand in a message: not longer than a line, without control characters.
pub(super) fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_say_why() {
        assert_eq!(number("-1.5e3"), Ok(-1500.0_f32));
        assert_eq!(number("0.1"), Ok(0.1_f64));
        let fault = |text| number::<f32>(text).unwrap_err();
        assert_eq!(fault("x1"), "\"x1\" is not a number");
        assert_eq!(fault(""), "\"\" is not a number");
        assert_eq!(fault("nan"), "\"nan\" is not finite");
        assert_eq!(fault("-inf"), "\"-inf\" is not finite");
        assert_eq!(fault("1e39"), "1e39 is too large for a 32-bit float");
        assert_eq!(number("1e39"), Ok(1e39_f64));
        assert_eq!(number::<f64>("1e309").unwrap_err(), "1e309 is too large for a 64-bit float");
    }
}
