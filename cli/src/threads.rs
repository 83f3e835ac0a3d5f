//! The number of threads that the environment asks for.

use std::ffi::OsStr;

use crate::failure::{Failure, Result};

/// rayon reads it.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// The most threads that the library takes.
const MOST: u16 = 4096;

/// Refuses a number that no one can mean: rayon would ignore a text, and make each thread of a large number.
///
/// # Errors
/// Bad input, with the variable, its value, and what is allowed.
pub(crate) fn check() -> Result<()> {
    std::env::var_os(VARIABLE).map_or(Ok(()), |value| judge(&value))
}

fn judge(value: &OsStr) -> Result<()> {
    let text = value.to_string_lossy();
    let is_count = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // An empty variable is as good as none.
    if text.is_empty() || is_count && text.parse::<u16>().is_ok_and(|count| count <= MOST) {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{VARIABLE} is {text:?}: a whole number from 0 to 4,096 is allowed, where 0 is one thread for each core"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_to_the_most_are_allowed() {
        for value in ["", "0", "1", "004", "4096"] {
            assert!(judge(OsStr::new(value)).is_ok(), "{value}");
        }
        for value in ["-1", "x", "+1", "1.5", " 1", "4097", "100000", "99999999999999999999", "\u{661}"] {
            let failure = judge(OsStr::new(value)).unwrap_err();
            assert_eq!(failure.code(), 2);
            let line = failure.one_line();
            assert!(line.contains("RAYON_NUM_THREADS") && line.contains("4,096"), "{line}");
        }
    }
}
