//! The command line.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

/// Says what share of mutants the tests kill.
///
/// One build holds all mutants, and an environment variable chooses one when a test program runs. Each mutant is tested by the tests
/// that reach it, the shortest first. The tests are those of hullfield, hullfield-tests and hullfield-cli; those of the Python
/// package, the playground, the benches and the documentation don't run.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask mutants", bin_name = "cargo xtask mutants")]
pub(crate) struct Options {
    /// How many mutants of `src`
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) rust: usize,
    /// How many mutants of `shaders`
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) wgsl: usize,
    /// The seed of the sample
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The folder of the instrumented copy, its build and the results; relative to the workspace's root
    #[arg(long, value_name = "DIR", default_value = "target/mutants")]
    pub(crate) out: PathBuf,
    /// The workspace that is tested, such as an older commit's; relative to this one's root
    #[arg(long, value_name = "PATH", default_value = ".")]
    pub(crate) tree: PathBuf,
    /// Go on with a run that was stopped; of one that is complete, print the report. Without it the results of the last run are
    /// kept as `results.old.json`
    #[arg(long)]
    pub(crate) resume: bool,
    /// Mutants of one language only
    #[arg(long, value_name = "LANGUAGE")]
    pub(crate) only: Option<Language>,
    /// Long tests too, and sweeps in full
    #[arg(long)]
    pub(crate) long: bool,
    /// The results of another run: report what differs between the two
    #[arg(long, value_name = "RESULTS.json")]
    pub(crate) compare: Option<PathBuf>,
}

/// What a mutant is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    Wgsl,
}

impl Options {
    /// Reads the command line, with paths made absolute and the count of what `--only` leaves out set to 0.
    pub(crate) fn read() -> Self {
        let mut options = Self::parse();
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let absolute = |path: &Path| root.join(path).components().collect::<PathBuf>();
        options.out = absolute(&options.out);
        options.tree = absolute(&options.tree);
        options.compare = options.compare.as_deref().map(absolute);
        match options.only {
            Some(Language::Rust) => options.wgsl = 0,
            Some(Language::Wgsl) => options.rust = 0,
            None => {}
        }
        options
    }

    /// The file of the results.
    pub(crate) fn results(&self) -> PathBuf {
        self.out.join("results.json")
    }
}
