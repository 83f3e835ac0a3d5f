//! What counts instructions: valgrind's cachegrind, or the processor through perf. The program is counted in a process of its own.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::error::Refusal;

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    /// Counts on a processor that it imitates, so it counts the same on other machines.
    Valgrind,
    /// Counts by the processor. Most virtual machines have no counters.
    Perf,
}

/// What a process says about itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// The checksum of the case's answer.
    pub(crate) checksum: u64,
    /// The vector instructions that it sees: by them the library chooses its code.
    pub(crate) vectors: String,
}

/// A counted process.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Counted {
    pub(crate) instructions: u64,
    pub(crate) answer: Answer,
}

impl Counter {
    pub(crate) const ALL: [Self; 2] = [Self::Valgrind, Self::Perf];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Valgrind => "valgrind",
            Self::Perf => "perf",
        }
    }

    /// Its version, where it is there and counts.
    pub(crate) fn version(self) -> Option<String> {
        let output = Command::new(self.name()).arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let is_there = output.status.success() && !version.is_empty();
        let counts = match self {
            Self::Valgrind => true,
            Self::Perf => {
                let output = self.command(&std::env::current_exe().ok()?).arg("--version").output().ok()?;
                self.parse(&String::from_utf8_lossy(&output.stderr)).is_ok()
            }
        };
        (is_there && counts).then_some(version)
    }

    /// The first that counts here, and its version.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn find() -> Result<(Self, String), String> {
        let found = Self::ALL.into_iter().find_map(|counter| Some((counter, counter.version()?)));
        found.ok_or_else(|| {
            "instructions cannot be counted here: there is no valgrind, and perf is missing or has no counter of instructions".into()
        })
    }

    /// Runs a program and counts it. The count goes to stderr.
    fn command(self, program: &PathBuf) -> Command {
        let mut command = Command::new(self.name());
        let options: &[&str] = match self {
            Self::Valgrind => &["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"],
            Self::Perf => &["stat", "-x,", "-e", "instructions:u", "--"],
        };
        // The count in plain digits, and a panic in few lines.
        command.args(options).arg(program).env("LC_ALL", "C").env("RUST_BACKTRACE", "0");
        command
    }

    /// Counts a process that runs a case so many times; with 0 it only says what it sees.
    ///
    /// # Errors
    /// One sentence: the process or its counter failed, or printed something else. [`Refusal::NotComparable`] where the counter does not know
    /// an instruction.
    pub(crate) fn count(self, case: &str, rounds: u32) -> Result<Counted, Refusal> {
        let program = std::env::current_exe().map_err(|error| format!("this program's own file: {error}"))?;
        let mut command = self.command(&program);
        command.args(["check", "--case", case, "--rounds", &rounds.to_string()]);
        let output = command.output().map_err(|error| format!("{} does not start: {error}", self.name()))?;
        self.read(case, &output)
    }

    fn read(self, case: &str, output: &Output) -> Result<Counted, Refusal> {
        let stderr = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            if let Some(bytes) = unknown_instruction(&stderr) {
                return Err(Refusal::NotComparable(format!(
                    "the case {case} uses an instruction that this {} does not know ({bytes}), so it is not counted; a newer one may know it",
                    self.name()
                )));
            }
            let ended = output.status.code().map_or("by a signal".into(), |code| format!("with code {code}"));
            let why = last_words(&stderr);
            return Err(format!("the case {case} ended {ended} under {}: {why}", self.name()).into());
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        let answer = Answer::from_json(&stdout).ok_or_else(|| {
            let line = stdout.lines().next().unwrap_or("nothing");
            format!("the case {case} gave no answer under {}; it printed: {line}", self.name())
        })?;
        let count = self.parse(&stderr);
        let instructions = count.map_err(|error| format!("the case {case} was not counted: {error}"))?;
        Ok(Counted { instructions, answer })
    }

    /// The number of instructions in what it printed.
    fn parse(self, text: &str) -> Result<u64, String> {
        let found = match self {
            Self::Valgrind => parse_valgrind(text),
            Self::Perf => parse_perf(text),
        };
        found.filter(|&count| count > 0).ok_or_else(|| {
            format!("{} printed no number of instructions, but: {}", self.name(), last_words(text))
        })
    }
}

impl Answer {
    pub(crate) fn to_json(&self) -> Value {
        json!({ "checksum": hex(self.checksum), "vectors": self.vectors })
    }

    fn from_json(text: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text.trim()).ok()?;
        let checksum = from_hex(value["checksum"].as_str()?)?;
        Some(Self { checksum, vectors: value["vectors"].as_str()?.to_owned() })
    }
}

/// A checksum as text.
pub(crate) fn hex(checksum: u64) -> String {
    format!("{checksum:016x}")
}

/// The checksum that a text stands for.
pub(crate) fn from_hex(text: &str) -> Option<u64> {
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// A line of cachegrind is `==18030== I   refs:      928,260`.
fn parse_valgrind(text: &str) -> Option<u64> {
    text.lines().rev().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "I", "refs:", count] => count.replace(',', "").parse().ok(),
            _ => None,
        }
    })
}

/// A line of perf is `12345,,instructions:u,…`. A processor of two kinds of cores has a line for each, and counts on some of them.
fn parse_perf(text: &str) -> Option<u64> {
    let counts = text.lines().filter_map(|line| {
        let mut fields = line.split(',');
        let count = fields.next()?.parse::<u64>().ok()?;
        fields.nth(1)?.contains("instructions").then_some(count)
    });
    counts.fold(None, |sum: Option<u64>, count| sum.unwrap_or(0).checked_add(count))
}

/// The bytes of an instruction that valgrind cannot imitate, where a process ended by one.
fn unknown_instruction(text: &str) -> Option<&str> {
    text.lines().find_map(|line| Some(line.split_once("unhandled instruction bytes:")?.1.trim()))
}

/// The last line that is neither the counter's own nor a hint.
fn last_words(text: &str) -> &str {
    let is_own = |line: &str| line.starts_with("==") || line.starts_with("--") || line.starts_with("note:");
    text.lines().map(str::trim).rfind(|line| !line.is_empty() && !is_own(line)).unwrap_or("nothing")
}

/// The vector instructions that this process may use, of those by which the library and the C library choose their code.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
pub(crate) fn vectors() -> String {
    let found = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx", is_x86_feature_detected!("avx")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512dq", is_x86_feature_detected!("avx512dq")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
    ];
    let names: Vec<&str> = found.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
    if names.is_empty() { "sse2".into() } else { names.join(" ") }
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
pub(crate) fn vectors() -> String {
    std::env::consts::ARCH.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CACHEGRIND: &str = "==18030== Cachegrind, a cache and branch-prediction profiler\n\
        ==18030== Command: /tmp/wb check --case hulls\n==18030== \n\
        --18030-- warning: L3 cache found, using its data for the LL simulation.\n\
        ==18030== \n==18030== I   refs:      1,928,260\n";

    #[test]
    fn counts_of_cachegrind() {
        assert_eq!(Counter::Valgrind.parse(CACHEGRIND), Ok(1_928_260));
        assert_eq!(Counter::Valgrind.parse("==1== I refs:        7\n"), Ok(7));
        for text in ["", "==1== I   refs:      ", "==1== I   refs:      none", "==1== I   refs:      0"] {
            let error = Counter::Valgrind.parse(text).unwrap_err();
            assert!(error.contains("valgrind printed no number of instructions"), "{error}");
        }
        let error = Counter::Valgrind.parse("==1== Cachegrind\nvalgrind: no such tool\n").unwrap_err();
        assert!(error.ends_with("valgrind: no such tool"), "{error}");
    }

    #[test]
    fn counts_of_perf() {
        assert_eq!(Counter::Perf.parse("123456,,instructions:u,987,100.00,,\n"), Ok(123_456));
        let cores =
            "100,,cpu_core/instructions:u/,9,50.00,,\n<not counted>,,cpu_atom/instructions:u/,0,0.00,,\n";
        assert_eq!(Counter::Perf.parse(cores), Ok(100));
        assert_eq!(Counter::Perf.parse("5,,instructions:u,1,1,,\n6,,instructions:u,1,1,,"), Ok(11));
        for text in ["", "<not supported>,,instructions:u,0,100.00,,\n", "7,,cycles:u,9,100.00,,\n"] {
            assert!(Counter::Perf.parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn answers_go_from_process_to_process() {
        let answer = Answer { checksum: 0xab, vectors: "sse4.2 avx2".into() };
        assert_eq!(Answer::from_json(&format!("{}\n", answer.to_json())), Some(answer));
        for text in ["", "hello", "{}", r#"{"checksum": "ab", "vectors": ""}"#, r#"{"checksum": 7}"#] {
            assert_eq!(Answer::from_json(text), None, "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_fails_is_told_in_a_sentence() {
        use std::os::unix::process::ExitStatusExt as _;
        let output = |status: i32, stdout: &str, stderr: &str| Output {
            status: std::process::ExitStatus::from_raw(status),
            stdout: stdout.into(),
            stderr: stderr.into(),
        };
        let read = |output: Output| Counter::Valgrind.read("rays", &output);
        let good = r#"{"checksum": "00000000000000ab", "vectors": "avx2"}"#;
        let answer = Answer { checksum: 0xab, vectors: "avx2".into() };
        assert_eq!(read(output(0, good, CACHEGRIND)), Ok(Counted { instructions: 1_928_260, answer }));
        for (output, wanted) in [
            (
                output(101 << 8, "", "thread 'main' panicked at a.rs:1:1:\nno way\nnote: run with\n==7== \n"),
                "ended with code 101 under valgrind: no way",
            ),
            (output(11, "", "==7== \n"), "ended by a signal under valgrind: nothing"),
            (
                output(
                    4,
                    "",
                    "vex amd64->IR: unhandled instruction bytes: 0xC5 0x79 0xD6\nvex amd64->IR:   VEX=1\n",
                ),
                "uses an instruction that this valgrind does not know (0xC5 0x79 0xD6), so it is not counted",
            ),
            (output(0, "what?\n", CACHEGRIND), "gave no answer under valgrind; it printed: what?"),
            (output(0, good, "==7== \n"), "was not counted: valgrind printed no number"),
        ] {
            let error = read(output).unwrap_err();
            let (Refusal::NotComparable(text) | Refusal::Failed(text)) = error;
            assert!(text.starts_with("the case rays ") && text.contains(wanted), "{text}");
        }
    }

    #[test]
    fn some_vector_instructions_are_named() {
        assert!(!vectors().is_empty());
    }
}
