//! Errors as text, for the report and the user.

use std::any::Any;
use std::fmt;

/// The message of an error.
pub(crate) fn message(error: impl fmt::Display) -> String {
    error.to_string()
}

/// What a panic said.
pub(crate) fn panic_text(panic: &Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    format!("a panic: {}", text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message"))
}

/// Why counts were not compared with a baseline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    /// This machine counts no instructions, or the baseline is of another setup: counts of the two say nothing about each other.
    NotComparable(String),
    /// Anything else.
    Failed(String),
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

/// Why a measurement on a device did not end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    /// It needs more memory than the device or the host has, or more items than the library can index.
    TooLarge(String),
    /// The device was lost.
    Lost(String),
    /// Anything else.
    Failed(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::TooLarge(text) | Self::Lost(text) | Self::Failed(text)) = self;
        f.write_str(text)
    }
}

impl From<hullfield::Error> for Trouble {
    fn from(error: hullfield::Error) -> Self {
        use hullfield::Error::{DeviceLost, MemoryLimit, OutOfMemory, TooMany};
        let text = error.to_string();
        match error {
            MemoryLimit { .. } | OutOfMemory { .. } | TooMany { .. } => Self::TooLarge(text),
            DeviceLost { .. } => Self::Lost(text),
            _ => Self::Failed(text),
        }
    }
}

impl From<String> for Trouble {
    fn from(text: String) -> Self {
        Self::Failed(text)
    }
}

impl From<&str> for Trouble {
    fn from(text: &str) -> Self {
        Self::Failed(text.into())
    }
}

impl From<Trouble> for String {
    fn from(trouble: Trouble) -> Self {
        trouble.to_string()
    }
}
