//! What is wrong with a file, in one line.

use std::fmt::Display;
use std::path::Path;

/// What is wrong with a file, in one line that names the file, and in text files the line and the field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// The result of a reader.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with this message, which names the file.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Bad input in a file as a whole.
    pub(crate) fn file(name: &str, message: impl Display) -> Self {
        Self(format!("{name}: {message}"))
    }

    /// Bad input in one line of a file, counted from 1.
    pub(crate) fn line(name: &str, line: u64, message: impl Display) -> Self {
        Self(format!("{name}: line {line}: {message}"))
    }

    /// Bad input in one field of one line of a file. `field` is the column's name, or the meaning of the number.
    pub(crate) fn field(name: &str, line: u64, field: &str, message: impl Display) -> Self {
        Self(format!("{name}: line {line}, column {field}: {message}"))
    }
}

/// A file's name without folder and extension: the name of an object without another.
pub(crate) fn stem(name: &str) -> String {
    Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}
