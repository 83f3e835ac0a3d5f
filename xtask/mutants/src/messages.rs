//! Reads the JSON messages of cargo and the compiler.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::Deserialize;

/// A line of cargo's output.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason")]
pub(crate) enum Message {
    #[serde(rename = "compiler-message")]
    Compiler { message: Diagnostic },
    #[serde(rename = "compiler-artifact")]
    Artifact(Artifact),
    #[serde(other)]
    Other,
}

/// An error or a warning.
#[derive(Debug, Deserialize)]
pub(crate) struct Diagnostic {
    pub(crate) level: String,
    pub(crate) code: Option<Code>,
    pub(crate) spans: Vec<Span>,
    pub(crate) rendered: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Code {
    pub(crate) code: String,
}

/// A part of a file.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Span {
    pub(crate) file_name: String,
    pub(crate) byte_start: usize,
    pub(crate) byte_end: usize,
    pub(crate) line_start: usize,
    pub(crate) is_primary: bool,
    expansion: Option<Box<Expansion>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Expansion {
    span: Span,
}

/// What was built.
#[derive(Debug, Deserialize)]
pub(crate) struct Artifact {
    pub(crate) target: Target,
    pub(crate) profile: Profile,
    pub(crate) manifest_path: PathBuf,
    pub(crate) executable: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Profile {
    pub(crate) test: bool,
}

impl Diagnostic {
    pub(crate) fn is_error(&self) -> bool {
        self.level.starts_with("error")
    }

    /// Its places, the main ones first, each followed by the calls of macros that it came from.
    pub(crate) fn places(&self) -> Vec<&Span> {
        let (main, others): (Vec<&Span>, Vec<&Span>) = self.spans.iter().partition(|span| span.is_primary);
        main.into_iter().chain(others).flat_map(Span::with_expansions).collect()
    }
}

impl Span {
    fn with_expansions(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |span| span.expansion.as_deref().map(|expansion| &expansion.span))
    }
}

/// Runs cargo with messages as JSON, and returns them with whether it succeeded. What is not JSON goes to this program's output.
///
/// # Errors
/// Cargo cannot be run, or was ended from outside, or its messages are of another form.
pub(crate) fn run(command: &mut Command) -> Result<(Vec<Message>, bool), String> {
    let mut child = command
        .arg("--message-format=json")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo: {error}"))?;
    let mut messages = Vec::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| format!("cargo: {error}"))?;
            messages
                .push(serde_json::from_str(&line).map_err(|error| format!("cargo said {line}: {error}"))?);
        }
    }
    let status = child.wait().map_err(|error| format!("cargo: {error}"))?;
    let is_error = |message: &Message| matches!(message, Message::Compiler { message } if message.is_error());
    if !status.success() && !messages.iter().any(is_error) {
        return Err(format!("cargo failed without an error of the compiler: {status}"));
    }
    Ok((messages, status.success()))
}
