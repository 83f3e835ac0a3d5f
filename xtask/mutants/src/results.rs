//! The results, as they are kept in a file from step to step.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::mutant::Mutant;
use crate::options::Options;
use crate::programs::Program;

/// What is known of a run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) sample: Sample,
    pub(crate) programs: Vec<Program>,
    pub(crate) tests: Vec<Test>,
    /// A mutant that changes nothing.
    pub(crate) control: Option<Outcome>,
    pub(crate) mutants: Vec<Entry>,
    /// Mutants that came before the last one of the sample and could not be used.
    pub(crate) refused: Vec<Refused>,
    /// Whether the sample of WGSL has been chosen: that takes the tests.
    pub(crate) has_wgsl: bool,
}

/// What the results are of.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) rust: usize,
    pub(crate) wgsl: usize,
    pub(crate) seed: u64,
    pub(crate) is_long: bool,
    /// A hash of the tree.
    pub(crate) tree: String,
}

/// A test, and what it does without a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Test {
    /// Its program's place in the list.
    pub(crate) program: usize,
    pub(crate) name: String,
    pub(crate) baseline: Option<Baseline>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Baseline {
    pub(crate) passes: bool,
    /// Of the processors.
    pub(crate) seconds: f64,
    /// The numbers of the Rust mutants that it reaches.
    pub(crate) mutants: BTreeSet<usize>,
    /// The shaders that its kernels have.
    pub(crate) shaders: BTreeSet<String>,
}

/// A mutant of the sample.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Of a Rust mutant: its number in the instrumented copy.
    pub(crate) number: usize,
    pub(crate) mutant: Mutant,
    pub(crate) diff: String,
    pub(crate) outcome: Option<Outcome>,
}

/// What the tests said of a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) verdict: Verdict,
    /// The test that failed.
    pub(crate) by: String,
    /// By the clock.
    pub(crate) seconds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// A test failed.
    Killed,
    /// A test did not end; killed too.
    Timeout,
    /// All tests that reach it passed.
    Survived,
    /// No test reaches it.
    Unreached,
}

/// A mutant that could not be used.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Refused {
    pub(crate) key: String,
    pub(crate) reason: String,
}

impl Verdict {
    /// Whether the tests found the mutant.
    pub(crate) fn is_killed(self) -> bool {
        matches!(self, Self::Killed | Self::Timeout)
    }
}

impl Sample {
    pub(crate) fn new(options: &Options, tree: u64) -> Self {
        let &Options { rust, wgsl, seed, long, .. } = options;
        Self { rust, wgsl, seed, is_long: long, tree: format!("{tree:016x}") }
    }
}

impl Results {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or is of another form.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Writes the file, in whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        let new = path.with_extension("new");
        std::fs::write(&new, text).map_err(failed)?;
        std::fs::rename(&new, path).map_err(failed)
    }
}
