//! The program's errors: one line and an exit code each.

use std::path::Path;

/// Why a command stopped. The message is one line; it names the file, the line and the field if there are any.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Bad input. Exit code 2.
    #[error("{0}")]
    Input(String),
    /// A check failed, or the machine did. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// The reader of the output has closed it. Not an error: exit code 0 and no message.
    #[error("the reader has closed the output")]
    ReaderGone,
}

/// The program's result.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The exit code of the process.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Failed(_) => 1,
            Self::ReaderGone => 0,
        }
    }

    /// Bad input, with a message.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input(message.into())
    }

    /// Bad input in a file as a whole; `-` is stdin.
    pub(crate) fn file(path: &Path, message: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: {message}", input_name(path)))
    }

    /// Bad input in one line of a file, counted from 1.
    pub(crate) fn line(path: &Path, line: u64, message: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: line {line}: {message}", input_name(path)))
    }

    /// Bad input in one field of one line of a file. `field` is the column's name, or the meaning of the number.
    pub(crate) fn field(path: &Path, line: u64, field: &str, message: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: line {line}, column {field}: {message}", input_name(path)))
    }

    /// An empty file.
    pub(crate) fn empty(path: &Path) -> Self {
        Self::file(path, "the file is empty")
    }

    /// A file that could not be read.
    pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        Self::Input(format!("{}: cannot be read: {error}", input_name(path)))
    }

    /// A file that could not be written.
    pub(crate) fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::ReaderGone;
        }
        match error.kind() {
            std::io::ErrorKind::NotFound
            | std::io::ErrorKind::PermissionDenied
            | std::io::ErrorKind::AlreadyExists
            | std::io::ErrorKind::IsADirectory
            | std::io::ErrorKind::InvalidFilename
            | std::io::ErrorKind::NotADirectory => {
                Self::Input(format!("{}: cannot be written: {error}", path.display()))
            }
            _ => Self::Failed(format!("{}: cannot be written: {error}", path.display())),
        }
    }

    /// The message on one line: line breaks of a cause become spaces.
    pub(crate) fn one_line(&self) -> String {
        self.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The name of an input in messages.
pub(crate) fn input_name(path: &Path) -> std::path::Display<'_> {
    if path.as_os_str() == "-" { Path::new("stdin").display() } else { path.display() }
}

impl From<hullfield_mesh_files::Error> for Failure {
    fn from(error: hullfield_mesh_files::Error) -> Self {
        Self::Input(error.to_string())
    }
}

impl From<hullfield::Error> for Failure {
    fn from(error: hullfield::Error) -> Self {
        Self::of_library(&error, cfg!(feature = "gpu"))
    }
}

impl Failure {
    /// An error of the library, in a build with or without the feature `gpu`.
    fn of_library(error: &hullfield::Error, has_gpu: bool) -> Self {
        use hullfield::Error;
        match error {
            // With the feature it is this machine that lacks a GPU; without it the request itself is wrong.
            Error::NoGpu { .. } if has_gpu => Self::Failed(error.to_string()),
            Error::OutOfMemory { .. }
            | Error::DeviceLost { .. }
            | Error::Io { .. }
            | Error::Internal { .. } => Self::Failed(error.to_string()),
            _ => Self::Input(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without the feature no machine can run it, so it is an error of the call.
    #[test]
    fn a_gpu_that_is_not_there_is_the_machines_fault_and_one_that_was_not_built_is_the_callers() {
        let error = hullfield::Error::NoGpu { message: "without the feature gpu".to_owned() };
        assert_eq!(Failure::of_library(&error, true).code(), 1);
        let failure = Failure::of_library(&error, false);
        assert_eq!(failure.code(), 2);
        assert!(failure.one_line().contains("the feature gpu"));
    }
}
