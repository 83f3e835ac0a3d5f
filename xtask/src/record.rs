//! What a stage of `cargo xtask all` tells about itself: its steps, the time of each test, and sums. A stage is a process of its own. It
//! appends lines to the file that [`VARIABLE`] names; without that variable it tells nothing.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

/// Names the file.
pub(crate) const VARIABLE: &str = "HULLFIELD_RECORD";

/// What the children of this process have used so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Usage {
    /// Of the process too.
    pub(crate) cpu_seconds: f64,
    /// Of the largest child.
    pub(crate) peak_bytes: u64,
}

/// Asks the system. It knows of the children that have ended, and of theirs.
#[cfg(unix)]
pub(crate) fn usage() -> Option<Usage> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;
    let children = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    let own = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let times = [children.user_time(), children.system_time(), own.user_time(), own.system_time()];
    let cpu_seconds = times.iter().map(|time| time.num_milliseconds() as f64 / 1e3).sum();
    // Darwin counts bytes, the others KiB.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Some(Usage { cpu_seconds, peak_bytes: u64::try_from(children.max_rss()).unwrap_or(0) * unit })
}

/// There is no safe way to ask.
#[cfg(not(unix))]
pub(crate) fn usage() -> Option<Usage> {
    None
}

/// The begin of a step.
#[derive(Debug)]
pub(crate) struct Step {
    name: String,
    begin: Instant,
    cpu_seconds: Option<f64>,
}

impl Step {
    /// Begins a step.
    pub(crate) fn begin(name: impl Into<String>) -> Self {
        let cpu_seconds = usage().map(|usage| usage.cpu_seconds);
        Self { name: name.into(), begin: Instant::now(), cpu_seconds }
    }

    /// Ends it: prints a line, and records one.
    pub(crate) fn end(self, is_passed: bool) -> bool {
        let seconds = self.begin.elapsed().as_secs_f64();
        eprintln!("xtask: {}: {} in {seconds:.1} s", self.name, if is_passed { "ok" } else { "FAILED" });
        let cpu_seconds = usage().zip(self.cpu_seconds).map(|(now, before)| now.cpu_seconds - before);
        append(&Line::Step { is_passed, cpu_seconds, wall_seconds: seconds, name: self.name });
        is_passed
    }
}

/// A line of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// A part of the stage.
    Step { is_passed: bool, cpu_seconds: Option<f64>, wall_seconds: f64, name: String },
    /// A test program that has run, in one process or several.
    Program { is_passed: bool, usage: Option<Usage>, wall_seconds: f64, name: String },
    /// A test that has run.
    Test { seconds: f64, program: String, name: String },
    /// Tests that have passed, failed, and were skipped.
    Count { passed: u64, failed: u64, skipped: u64 },
    /// What could not run, and how to get it.
    Missing { message: String, is_allowed: bool },
    /// What the stage has used, at its end.
    Usage(Usage),
}

impl Line {
    fn text(&self) -> String {
        // Tabs separate the fields of a line.
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut line = String::new();
        let done = match self {
            Self::Step { is_passed, cpu_seconds, wall_seconds, name } => {
                let cpu_seconds = cpu_seconds.unwrap_or(-1.0);
                write!(line, "step\t{is_passed}\t{cpu_seconds:.3}\t{wall_seconds:.3}\t{}", plain(name))
            }
            Self::Program { is_passed, usage, wall_seconds, name } => {
                let (cpu, peak) = usage.map_or((-1.0, 0), |usage| (usage.cpu_seconds, usage.peak_bytes));
                write!(line, "program\t{is_passed}\t{cpu:.3}\t{peak}\t{wall_seconds:.3}\t{}", plain(name))
            }
            Self::Test { seconds, program, name } => {
                write!(line, "test\t{seconds:.3}\t{}\t{}", plain(program), plain(name))
            }
            Self::Count { passed, failed, skipped } => write!(line, "count\t{passed}\t{failed}\t{skipped}"),
            Self::Missing { message, is_allowed } => {
                write!(line, "missing\t{is_allowed}\t{}", plain(message))
            }
            Self::Usage(Usage { cpu_seconds, peak_bytes }) => {
                write!(line, "usage\t{cpu_seconds:.3}\t{peak_bytes}")
            }
        };
        let _ = done;
        line
    }

    /// A line that [`text`](Self::text) made; none for anything else.
    fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.split('\t').collect();
        Some(match fields[..] {
            ["step", is_passed, cpu, wall, name] => Self::Step {
                is_passed: is_passed.parse().ok()?,
                cpu_seconds: cpu.parse().ok().filter(|seconds| *seconds >= 0.0),
                wall_seconds: wall.parse().ok()?,
                name: name.to_owned(),
            },
            ["program", is_passed, cpu, peak, wall, name] => {
                let (cpu_seconds, peak_bytes) = (cpu.parse().ok()?, peak.parse().ok()?);
                Self::Program {
                    is_passed: is_passed.parse().ok()?,
                    usage: (cpu_seconds >= 0.0).then_some(Usage { cpu_seconds, peak_bytes }),
                    wall_seconds: wall.parse().ok()?,
                    name: name.to_owned(),
                }
            }
            ["test", seconds, program, name] => Self::Test {
                seconds: seconds.parse().ok()?,
                program: program.to_owned(),
                name: name.to_owned(),
            },
            ["count", passed, failed, skipped] => Self::Count {
                passed: passed.parse().ok()?,
                failed: failed.parse().ok()?,
                skipped: skipped.parse().ok()?,
            },
            ["missing", is_allowed, message] => {
                Self::Missing { message: message.to_owned(), is_allowed: is_allowed.parse().ok()? }
            }
            ["usage", cpu, peak] => {
                Self::Usage(Usage { cpu_seconds: cpu.parse().ok()?, peak_bytes: peak.parse().ok()? })
            }
            _ => return None,
        })
    }
}

/// Whether something is recorded.
pub(crate) fn is_on() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Appends a line to the file.
pub(crate) fn append(line: &Line) {
    let Some(path) = std::env::var_os(VARIABLE) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    // A stage does not fail because its times are lost.
    let _ = file.and_then(|mut file| writeln!(file, "{}", line.text()));
}

/// Tells that the stage could not run: `message` says what is missing, and how to get it. Returns the message.
pub(crate) fn missing(message: String) -> String {
    append(&Line::Missing { message: message.clone(), is_allowed: false });
    message
}

/// Tells the same where `--if-there` was given.
pub(crate) fn missing_but_allowed(message: &str) {
    append(&Line::Missing { message: message.to_owned(), is_allowed: true });
}

/// The lines of a file.
pub(crate) fn parse(text: &str) -> Vec<Line> {
    text.lines().filter_map(Line::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let lines = [
            Line::Step {
                is_passed: true,
                cpu_seconds: Some(1.5),
                wall_seconds: 0.75,
                name: "a build".to_owned(),
            },
            Line::Step { is_passed: false, cpu_seconds: None, wall_seconds: 2.0, name: "types".to_owned() },
            Line::Program {
                is_passed: true,
                usage: Some(Usage { cpu_seconds: 2.5, peak_bytes: 5000 }),
                wall_seconds: 1.25,
                name: "hullfield-tests flow".to_owned(),
            },
            Line::Program { is_passed: false, usage: None, wall_seconds: 1.0, name: "p".to_owned() },
            Line::Test { seconds: 0.125, program: "flow".to_owned(), name: "fields::a".to_owned() },
            Line::Count { passed: 3, failed: 0, skipped: 1 },
            Line::Missing { message: "install it: apt-get".to_owned(), is_allowed: true },
            Line::Usage(Usage { cpu_seconds: 12.25, peak_bytes: 1 << 33 }),
        ];
        let text: String = lines.iter().map(|line| line.text() + "\n").collect();
        assert_eq!(parse(&text), lines);
    }

    #[test]
    fn a_line_that_is_cut_off_is_left_out() {
        assert_eq!(parse("test\t0.1\tflow\ncount\t1\t0\t0\nstep\tmaybe\t1\t1\tx\n").len(), 1);
        let name = Line::Test { seconds: 1.0, program: "p".to_owned(), name: "a\tb\nc".to_owned() };
        assert_eq!(parse(&name.text()).len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_child_has_used_memory() {
        std::process::Command::new("true").status().unwrap();
        let usage = usage().unwrap();
        assert!(usage.peak_bytes > 100_000 && usage.cpu_seconds >= 0.0, "{usage:?}");
    }
}
