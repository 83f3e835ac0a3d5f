//! The file that counts are compared with.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::machine;
use crate::report;
use crate::watch::counter::{Counter, from_hex, hex};

/// The version of the file's format.
const FORMAT: u64 = 1;

/// What a case took, and what it answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) instructions: u64,
    pub(crate) checksum: u64,
}

/// What counts depend on besides the program's own code. Counts of different setups are not compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setup {
    pub(crate) counter: String,
    pub(crate) compiler: String,
    pub(crate) profile: String,
    pub(crate) system: String,
    /// The vector instructions that a counted process sees.
    pub(crate) vectors: String,
}

/// The counts of some version of the program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Baseline {
    pub(crate) setup: Setup,
    /// The program, its commit, and the counter's version. They are shown, not compared.
    pub(crate) program: String,
    pub(crate) commit: String,
    pub(crate) counter_version: String,
    /// The counts by the names of their cases.
    pub(crate) cases: Vec<(String, Count)>,
}

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Same,
    /// More instructions than the tolerance allows.
    More,
    /// Fewer, by more than the tolerance.
    Fewer,
    OtherAnswer,
    /// The baseline has no such case.
    New,
}

impl Setup {
    /// The setup of this program under a counter.
    pub(crate) fn here(counter: Counter, vectors: String) -> Self {
        let profile = if cfg!(debug_assertions) { "debug" } else { "release" };
        // What the whole program may use without asking is chosen by the compiler's flags.
        let assumed = if cfg!(target_feature = "avx2") { ", avx2 assumed" } else { "" };
        Self {
            counter: counter.name().into(),
            compiler: env!("HULLFIELD_RUSTC").into(),
            profile: format!("{profile}, opt-level {}{assumed}", env!("HULLFIELD_OPT_LEVEL")),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            vectors,
        }
    }

    /// The names and values of its parts, as in the file.
    pub(crate) fn parts(&self) -> [(&'static str, &str); 5] {
        [
            ("counter", &self.counter),
            ("compiler", &self.compiler),
            ("profile", &self.profile),
            ("system", &self.system),
            ("vectors", &self.vectors),
        ]
    }
}

impl Baseline {
    /// A baseline of this program.
    pub(crate) fn new(setup: Setup, counter_version: String, cases: Vec<(String, Count)>) -> Self {
        let program = format!("hullfield-bench {}", env!("CARGO_PKG_VERSION"));
        Self { setup, program, commit: machine::commit(), counter_version, cases }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// One sentence that names the file.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let named = |what: String| format!("{}: {what}", path.display());
        let text = std::fs::read_to_string(path)
            .map_err(|error| named(format!("{error}; {} writes a baseline", renewal(path))))?;
        let value: Value =
            serde_json::from_str(&text).map_err(|error| named(format!("it is not JSON: {error}")))?;
        Self::from_json(&value).map_err(|what| named(format!("{what}; {} writes it anew", renewal(path))))
    }

    fn from_json(value: &Value) -> Result<Self, String> {
        let version = value["version"].as_u64().ok_or("it is no baseline: it has no version")?;
        if version != FORMAT {
            return Err(format!("it has version {version}, and this program reads version {FORMAT}"));
        }
        let text = |key: &str| {
            let text = value[key].as_str().map(ToOwned::to_owned);
            text.ok_or_else(|| format!("it is no baseline: {key} is missing or no text"))
        };
        let cases = value["cases"].as_object().ok_or("it is no baseline: it has no cases")?;
        let count = |(name, value): (&String, &Value)| {
            let instructions = value["instructions"].as_u64().filter(|&count| count > 0);
            let checksum = value["checksum"].as_str().and_then(from_hex);
            match (instructions, checksum) {
                (Some(instructions), Some(checksum)) => Ok((name.clone(), Count { instructions, checksum })),
                _ => Err(format!("its case {name} has no number of instructions or no checksum")),
            }
        };
        Ok(Self {
            setup: Setup {
                counter: text("counter")?,
                compiler: text("compiler")?,
                profile: text("profile")?,
                system: text("system")?,
                vectors: text("vectors")?,
            },
            program: text("program")?,
            commit: text("commit")?,
            counter_version: text("counter_version")?,
            cases: cases.iter().map(count).collect::<Result<_, _>>()?,
        })
    }

    fn to_json(&self) -> Value {
        let mut file = Map::new();
        file.insert("version".into(), json!(FORMAT));
        for (name, text) in [("program", &self.program), ("commit", &self.commit)] {
            file.insert(name.into(), json!(text));
        }
        for (name, text) in self.setup.parts() {
            file.insert(name.into(), json!(text));
        }
        file.insert("counter_version".into(), json!(self.counter_version));
        let cases = self.cases.iter().map(|(name, count)| {
            (name.clone(), json!({ "instructions": count.instructions, "checksum": hex(count.checksum) }))
        });
        file.insert("cases".into(), Value::Object(cases.collect()));
        Value::Object(file)
    }

    /// Writes the file, as a whole or not at all.
    ///
    /// # Errors
    /// One sentence that names the file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        report::write(path, &format!("{:#}\n", self.to_json()))
    }

    /// The count of a case.
    pub(crate) fn count(&self, name: &str) -> Option<Count> {
        self.cases.iter().find(|(other, _)| other == name).map(|&(_, count)| count)
    }

    /// Whether its counts may be compared with those of a setup. `path` is where it came from.
    ///
    /// # Errors
    /// One sentence that says what differs, and how to renew it.
    pub(crate) fn check_setup(&self, here: &Setup, path: &Path) -> Result<(), String> {
        let pairs = self.setup.parts().into_iter().zip(here.parts());
        let differences: Vec<String> = pairs
            .filter(|(there, here)| there.1 != here.1)
            .map(|((name, there), (_, here))| format!("{name} `{there}`, here `{here}`"))
            .collect();
        if differences.is_empty() {
            return Ok(());
        }
        Err(format!(
            "{} was counted with another setup ({}), so its counts are not compared; {} renews it",
            path.display(),
            differences.join("; "),
            renewal(path)
        ))
    }

    /// Takes over the counts of another baseline of the same setup; cases that it doesn't have stay.
    pub(crate) fn take_over(&mut self, newer: Self) {
        let cases = std::mem::take(&mut self.cases);
        *self = Self { cases, ..newer.clone() };
        for (name, count) in newer.cases {
            match self.cases.iter_mut().find(|(other, _)| *other == name) {
                Some(place) => place.1 = count,
                None => self.cases.push((name, count)),
            }
        }
    }
}

/// The command that writes a baseline.
pub(crate) fn renewal(path: &Path) -> String {
    format!("`hullfield-bench check --renew --baseline {}`", machine::shell_word(&path.to_string_lossy()))
}

/// The change of the number of instructions, relative to the baseline.
pub(crate) fn change(before: Count, now: Count) -> f64 {
    now.instructions as f64 / before.instructions as f64 - 1.0
}

/// Compares a count with that of the baseline.
pub(crate) fn judge(before: Option<Count>, now: Count, tolerance: f64) -> Verdict {
    match before {
        None => Verdict::New,
        Some(before) if before.checksum != now.checksum => Verdict::OtherAnswer,
        Some(before) if change(before, now) > tolerance => Verdict::More,
        Some(before) if change(before, now) < -tolerance => Verdict::Fewer,
        Some(_) => Verdict::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(instructions: u64) -> Count {
        Count { instructions, checksum: u64::MAX - 1 }
    }

    fn baseline() -> Baseline {
        let setup = Setup::here(Counter::Valgrind, "sse4.2 avx2".into());
        Baseline::new(setup, "valgrind-3.19.0".into(), vec![("a".into(), count(100)), ("b".into(), count(7))])
    }

    #[test]
    fn every_verdict() {
        let other = Count { checksum: 3, ..count(100) };
        assert_eq!(judge(None, count(100), 0.03), Verdict::New);
        assert_eq!(judge(Some(other), count(100), 0.03), Verdict::OtherAnswer);
        assert_eq!(judge(Some(count(100)), count(104), 0.03), Verdict::More);
        assert_eq!(judge(Some(count(100)), count(96), 0.03), Verdict::Fewer);
        for now in [98, 100, 102] {
            assert_eq!(judge(Some(count(100)), count(now), 0.03), Verdict::Same);
        }
        assert_eq!(judge(Some(count(100)), count(100), 0.0), Verdict::Same);
        assert_eq!(judge(Some(count(100)), count(101), 0.0), Verdict::More);
    }

    #[test]
    fn what_is_written_is_read() {
        let path = std::env::temp_dir().join(format!("hullfield-baseline-{}.json", std::process::id()));
        baseline().write(&path).unwrap();
        assert_eq!(Baseline::read(&path), Ok(baseline()));
        std::fs::remove_file(&path).unwrap();
        let missing = Baseline::read(&path).unwrap_err();
        assert!(
            missing.contains("check --renew --baseline") && missing.contains("hullfield-baseline"),
            "{missing}"
        );
    }

    #[test]
    fn other_files_are_refused() {
        let with = |key: &str, new: Value| {
            let mut value = baseline().to_json();
            value[key] = new;
            Baseline::from_json(&value).unwrap_err()
        };
        assert!(with("version", json!(2)).contains("version 2, and this program reads version 1"));
        assert!(with("version", Value::Null).contains("no version"));
        assert!(with("vectors", json!(7)).contains("vectors is missing"));
        assert!(with("cases", json!([])).contains("no cases"));
        for case in [json!({}), json!({"instructions": 0, "checksum": hex(1)}), json!({"instructions": 9})] {
            assert!(with("cases", json!({ "a": case })).contains("case a has no number"));
        }
    }

    #[test]
    fn another_setup_is_refused_by_its_parts() {
        let path = Path::new("some/baseline.json");
        let base = baseline();
        assert_eq!(base.check_setup(&base.setup, path), Ok(()));
        let avx512 = Setup { vectors: "avx2 avx512f".into(), ..base.setup.clone() };
        let refused = base.check_setup(&avx512, path).unwrap_err();
        assert!(refused.contains("vectors `sse4.2 avx2`, here `avx2 avx512f`"), "{refused}");
        assert!(refused.contains("check --renew --baseline some/baseline.json"), "{refused}");
        assert!(!refused.contains("compiler"), "{refused}");
        for (name, other) in [
            ("counter", Setup { counter: "perf".into(), ..base.setup.clone() }),
            ("compiler", Setup { compiler: "rustc 1.0.0".into(), ..base.setup.clone() }),
            ("profile", Setup { profile: "release, opt-level 1".into(), ..base.setup.clone() }),
            ("system", Setup { system: "linux aarch64".into(), ..base.setup.clone() }),
        ] {
            assert!(base.check_setup(&other, path).unwrap_err().contains(name));
        }
        // Another version of the program is what the counts are compared for.
        let older = Baseline { program: "hullfield-bench 0.0.1".into(), ..baseline() };
        assert_eq!(older.check_setup(&base.setup, path), Ok(()));
    }

    #[test]
    fn some_cases_are_renewed_and_the_others_stay() {
        let mut base = baseline();
        let newer = Baseline {
            cases: vec![("c".into(), count(5)), ("b".into(), count(9))],
            commit: "new".into(),
            ..baseline()
        };
        base.take_over(newer);
        assert_eq!(base.commit, "new");
        assert_eq!(
            ["a", "b", "c", "d"].map(|name| base.count(name)),
            [Some(count(100)), Some(count(9)), Some(count(5)), None]
        );
    }
}
