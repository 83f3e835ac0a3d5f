//! How the program fails: one line, and an exit code.

use std::path::Path;

/// Why a command stopped. The message is one clear line naming the file, the line and the field where there are any.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// Something that was given is not right. Exit code 2.
    #[error("{0}")]
    Input(String),
    /// A check came out wrong, or the machine failed. Exit code 1.
    #[error("{0}")]
    Failed(String),
    /// Whoever read the output has gone; nothing is wrong and nothing is said.
    #[error("the reader of the output has gone")]
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

    /// Bad input: what is wrong.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input(message.into())
    }

    /// Bad input in a file as a whole; a file called `-` is stdin.
    pub(crate) fn file(path: &Path, message: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: {message}", input_name(path)))
    }

    /// Bad input in one line of a file, counted from 1.
    pub(crate) fn line(path: &Path, line: u64, message: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: line {line}: {message}", input_name(path)))
    }

    /// Bad input in one field of one line of a file: a column's name or what the number means.
    pub(crate) fn field(path: &Path, line: u64, field: &str, message: impl std::fmt::Display) -> Self {
        Self::Input(format!("{}: line {line}, column {field}: {message}", input_name(path)))
    }

    /// A file with nothing in it.
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
            | std::io::ErrorKind::NotADirectory => {
                Self::Input(format!("{}: cannot be written: {error}", path.display()))
            }
            _ => Self::Failed(format!("{}: cannot be written: {error}", path.display())),
        }
    }

    /// The message on one line, whatever line breaks a cause had in it.
    pub(crate) fn one_line(&self) -> String {
        self.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// What an input is called in messages.
pub(crate) fn input_name(path: &Path) -> std::path::Display<'_> {
    if path.as_os_str() == "-" { Path::new("stdin").display() } else { path.display() }
}

impl From<hullfield::Error> for Failure {
    fn from(error: hullfield::Error) -> Self {
        use hullfield::Error;
        match error {
            // Without the feature no machine can do what was asked; with it, it is this machine that has no GPU.
            Error::NoGpu { .. } if cfg!(feature = "gpu") => Self::Failed(error.to_string()),
            Error::OutOfMemory { .. } | Error::DeviceLost { .. } | Error::Internal { .. } => {
                Self::Failed(error.to_string())
            }
            _ => Self::Input(error.to_string()),
        }
    }
}
