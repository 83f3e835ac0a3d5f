//! How errors reach the report and the user: as their text.

/// The text of an error.
pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
