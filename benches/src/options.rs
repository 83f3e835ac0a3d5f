//! The options that all benches take.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Writes everything measured as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Writes everything measured as one HTML page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Threads of the CPU engine where it is not measured on one; all cores if not given.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Pairs in each scene that is timed against the peer, or judged at each scale.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) pairs: usize,
    /// Small scenes and few repetitions: does it run, not how fast.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only the parts whose name begins so; `flow --only huge` solves one field of 16384², which takes 1.5 GiB and is left
    /// out otherwise.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
}

impl Options {
    /// True where a part is wanted.
    pub(crate) fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| part.starts_with(only.as_str()))
    }
}
