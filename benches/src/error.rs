//! Errors as text, for the report and the user.

/// The message of an error.
pub(crate) fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}
