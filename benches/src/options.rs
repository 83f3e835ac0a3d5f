//! The options of all benches.

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
    /// Threads of the CPU engine in benches of many threads [default: all cores].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Pairs in each scene that is timed against a peer, or checked at each scale.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) pairs: usize,
    /// Small scenes and few repetitions, to check that everything runs.
    #[arg(long)]
    pub(crate) quick: bool,
    /// All combinations in the parts that run only some of them: the regimes of pairs.
    #[arg(long)]
    pub(crate) full: bool,
    /// Runs only the parts whose names begin with NAME. `flow --only huge` solves a field of 16384², which takes 1.5 GiB and is
    /// not run otherwise.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Option<String>,
    /// Of the regimes of pairs, only those whose rows have all of these words, for a profile of one: `"yes,fresh,16 hulls,8 vertices,deep"`.
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub(crate) regime: Vec<String>,
    /// Interleaved repetitions of each regime [default: 11].
    #[arg(long, value_name = "N")]
    pub(crate) repetitions: Option<usize>,
}

impl Options {
    /// Whether a part is selected.
    pub(crate) fn selects(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| part.starts_with(only.as_str()))
    }

    /// Whether a regime is selected: its row has all words, each at the beginning of a word.
    pub(crate) fn selects_regime(&self, row: &str) -> bool {
        let row = format!(" {row}");
        self.regime.iter().all(|words| row.contains(&format!(" {words}")))
    }
}
