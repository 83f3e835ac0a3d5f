//! Texts of files, parsed as numbers and quoted in messages.

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
    fn the_error_of_a_number_says_why() {
        assert_eq!(number("-1.5e3"), Ok(-1500.0_f32));
        assert_eq!(number("0.1"), Ok(0.1_f64));
        let error_of = |text| number::<f32>(text).unwrap_err();
        assert_eq!(error_of("x1"), "\"x1\" is not a number");
        assert_eq!(error_of(""), "\"\" is not a number");
        assert_eq!(error_of("nan"), "\"nan\" is not finite");
        assert_eq!(error_of("-inf"), "\"-inf\" is not finite");
        assert_eq!(error_of("1e39"), "1e39 is too large for a 32-bit float");
        assert_eq!(number("1e39"), Ok(1e39_f64));
        assert_eq!(number::<f64>("1e309").unwrap_err(), "1e309 is too large for a 64-bit float");
    }
}
