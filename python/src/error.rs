//! Errors of the library as Python's exceptions, with the same text.

use hullfield::Error;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// The name of the class in `hullfield._errors` for an error.
fn class_name(error: &Error) -> &'static str {
    match error {
        Error::Value { .. }
        | Error::Missing { .. }
        | Error::Count { .. }
        | Error::TooMany { .. }
        | Error::Invalid { .. } => "InvalidInputError",
        Error::NoGpu { .. } => "NoGpuError",
        Error::MemoryLimit { .. } | Error::OutOfMemory { .. } => "MemoryLimitError",
        Error::NoGoals { .. } => "NoGoalsError",
        Error::DistanceOverflow { .. } => "DistanceOverflowError",
        Error::Io { .. } => "FileError",
        Error::Cancelled => "CancelledError",
        Error::DeviceLost { .. } => "DeviceLostError",
        _ => "InternalError",
    }
}

/// The exception for an error of the library.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, class_name(error), &error.to_string())
}

/// The exception of a class of `hullfield._errors`.
pub(crate) fn exception(py: Python<'_>, class: &str, message: &str) -> PyErr {
    let make = || {
        let class = py.import("hullfield._errors")?.getattr(class)?;
        class.call1((PyString::new(py, message),))
    };
    match make() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// An exception for input that no function of the library has seen.
pub(crate) fn invalid(py: Python<'_>, message: &str) -> PyErr {
    exception(py, "InvalidInputError", message)
}

/// Turns the library's errors into exceptions.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for hullfield::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| raised(py, &error))
    }
}
