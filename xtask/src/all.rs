//! `cargo xtask all`: what CI runs, stage by stage, and at the end a table of where the time went. Each stage is a process of its own, as the
//! system tells the memory of a process's children only together. Two stages run at a time, each in its own lane. A stage that runs
//! alone leaves about a third of two cores idle: it links, waits for a browser, or runs its last long test.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Instant;

use crate::record::{self, Line, Usage};
use crate::workspace::{is_set, root, target};

/// A chore with arguments.
struct Stage {
    name: &'static str,
    args: &'static [&'static str],
}

/// It needs nothing that is downloaded, so it runs beside the downloads.
const CHECKS: Stage = Stage { name: "checks", args: &["ci"] };

/// What follows the checks, in this order. Their output is printed as it comes.
const FIRST_LANE: [Stage; 2] = [
    Stage { name: "tests", args: &["test", "--all"] },
    // It runs what the tests have built.
    Stage { name: "second driver", args: &["test", "--driver", "swiftshader", "--short", "--if-there"] },
];

/// What follows the downloads, in this order. Its output is printed between the stages of the first lane.
const SECOND_LANE: [Stage; 3] = [
    // The browser is first because it has a build folder of its own. Cargo runs one build at a time in the folder that the others share.
    Stage { name: "browser", args: &["test", "--web", "--quick-build"] },
    // It takes what the tests have built.
    Stage { name: "benches", args: &["test", "--benches"] },
    // It shares the benches' build of the library.
    Stage { name: "wheel", args: &["test", "--python"] },
];

/// How many tests the table has.
const SLOWEST: usize = 30;

/// Runs all stages.
///
/// # Errors
/// The names of the stages that failed.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(arg) = args.first() {
        return Err(format!("`all` takes no arguments, `{arg}` given"));
    }
    let folder = target().join("ci");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let seed = seed();
    match &seed {
        Some(seed) => println!("xtask: HULLFIELD_SEED={}", seed.to_string_lossy()),
        None => println!("xtask: no commit, so HULLFIELD_SEED is not set: the tests take their own seeds"),
    }
    // Asked for before anything is built: a build may put another program in its place.
    let program = std::env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let runner = Runner { program, folder, seed: seed.clone() };
    let begin = Instant::now();
    let rows = runner.all();
    let wall_seconds = begin.elapsed().as_secs_f64();
    print!("\n{}", table(&rows, wall_seconds));
    print!("\n{}", slowest_table(&slowest(&rows)));
    if let Some(path) = std::env::var_os("CI_TIMES") {
        let path = PathBuf::from(path);
        if let Err(error) = std::fs::write(&path, json(&rows, wall_seconds)) {
            eprintln!("xtask: CI_TIMES={}: {error}", path.display());
        }
    }
    println!();
    for row in &rows {
        for (message, is_allowed) in &row.missing {
            let why = if *is_allowed { "this stage may be left out" } else { "not run" };
            println!("xtask: {}: {why}: {message}", row.name);
        }
    }
    let failed: Vec<&str> =
        rows.iter().filter(|row| row.is_failure(is_set("CI"))).map(|row| row.name.as_str()).collect();
    if !failed.is_empty() {
        println!("xtask: failed: {}", failed.join(", "));
        if let Some(seed) = &seed {
            println!("xtask: repeat with HULLFIELD_SEED={}", seed.to_string_lossy());
        }
    }
    println!("{}", sum(&rows));
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// The seed that tests add to their own: from the environment, or from the commit.
fn seed() -> Option<OsString> {
    if let Some(seed) = std::env::var_os("HULLFIELD_SEED").filter(|seed| !seed.is_empty()) {
        return Some(seed);
    }
    let output = Command::new("git").arg("-C").arg(root()).args(["rev-parse", "HEAD"]).output().ok()?;
    let commit = String::from_utf8_lossy(&output.stdout).into_owned();
    seed_of(&commit).map(|seed| seed.to_string().into())
}

/// The first eight digits of a commit, as a number.
fn seed_of(commit: &str) -> Option<u32> {
    u32::from_str_radix(commit.get(..8)?, 16).ok()
}

/// Starts stages.
struct Runner {
    /// This program.
    program: PathBuf,
    /// The records and outputs of the stages.
    folder: PathBuf,
    seed: Option<OsString>,
}

/// What the second lane has said, until it is printed.
#[derive(Default)]
struct Said(Mutex<String>);

impl Said {
    fn add(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    }

    fn print(&self) {
        print!("{}", std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)));
    }
}

/// A stage that runs.
struct Running {
    name: &'static str,
    child: Child,
    begin: Instant,
    record: PathBuf,
    /// A file that takes its output; without one it is printed.
    output: Option<PathBuf>,
}

impl Runner {
    /// Runs all stages.
    fn all(&self) -> Vec<Row> {
        let said = Said::default();
        let (ended, downloads) = mpsc::channel();
        std::thread::scope(|scope| {
            let said = &said;
            let second = scope.spawn(move || {
                let mut rows = vec![self.beside("downloads", &["fetch"], said).into_downloads()];
                drop(ended);
                rows.extend(SECOND_LANE.iter().map(|stage| self.beside(stage.name, stage.args, said)));
                rows
            });
            let mut rows = vec![self.printed(&CHECKS, said)];
            // Nothing is ever sent: this returns when the other end is dropped.
            let _: Result<(), _> = downloads.recv();
            rows.extend(FIRST_LANE.iter().map(|stage| self.printed(stage, said)));
            let others = second
                .join()
                .unwrap_or_else(|_| vec![Row::failed("the second lane", "its thread panicked".to_owned())]);
            said.print();
            rows.extend(others);
            rows
        })
    }

    /// Runs a stage of the first lane.
    fn printed(&self, stage: &Stage, said: &Said) -> Row {
        println!("\nxtask: stage: {}", stage.name);
        let row = match self.begin(stage.name, stage.args, false) {
            Ok(running) => running.finish(),
            Err(message) => Row::failed(stage.name, message),
        };
        said.print();
        row
    }

    /// Runs a stage of the second lane, and keeps what it said.
    fn beside(&self, name: &'static str, args: &[&str], said: &Said) -> Row {
        let running = match self.begin(name, args, true) {
            Ok(running) => running,
            Err(message) => return Row::failed(name, message),
        };
        let output = running.output.clone();
        let row = running.finish();
        let text = output.and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
        said.add(&format!("\nxtask: stage, beside the others: {name}\n{}", String::from_utf8_lossy(&text)));
        row
    }

    fn begin(&self, name: &'static str, args: &[&str], is_beside: bool) -> Result<Running, String> {
        let file = |ending: &str| self.folder.join(format!("{}.{ending}", name.replace(' ', "-")));
        let record = file("times");
        let _ = std::fs::remove_file(&record);
        let mut command = Command::new(&self.program);
        command.args(args).env(record::VARIABLE, &record).stdin(Stdio::null());
        if let Some(seed) = &self.seed {
            command.env("HULLFIELD_SEED", seed);
        }
        let output = is_beside.then(|| file("txt"));
        if let Some(path) = &output {
            let create = || {
                let file = std::fs::File::create(path)?;
                Ok::<_, std::io::Error>((file.try_clone()?, file))
            };
            let (out, err) = create().map_err(|error| format!("{}: {error}", path.display()))?;
            command.stdout(out).stderr(err);
        }
        let begin = Instant::now();
        let child = command.spawn().map_err(|error| format!("{}: {error}", self.program.display()))?;
        Ok(Running { name, child, begin, record, output })
    }
}

impl Running {
    fn finish(mut self) -> Row {
        let status = self.child.wait();
        let is_passed = status.is_ok_and(|status| status.success());
        let text = std::fs::read_to_string(&self.record).unwrap_or_default();
        Row::new(self.name, is_passed, self.begin.elapsed().as_secs_f64(), record::parse(&text))
    }
}

/// How a stage ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Outcome {
    Ok,
    Failed,
    /// Something that it needs is missing.
    NotRun,
    /// The same, and `--if-there` allows it.
    LeftOut,
    Incomplete,
}

impl Outcome {
    fn text(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "FAILED",
            Self::NotRun => "not run",
            Self::LeftOut => "left out",
            Self::Incomplete => "incomplete",
        }
    }
}

/// A test program of a stage.
#[derive(Debug, PartialEq)]
struct Program {
    name: String,
    is_passed: bool,
    usage: Option<Usage>,
    wall_seconds: f64,
}

/// A part of a stage.
#[derive(Debug, PartialEq)]
struct Part {
    name: String,
    is_passed: bool,
    cpu_seconds: Option<f64>,
    wall_seconds: f64,
}

/// A test that has run.
#[derive(Debug, Clone, PartialEq)]
struct Test {
    seconds: f64,
    program: String,
    name: String,
}

/// A stage that has run.
#[derive(Debug)]
struct Row {
    name: String,
    result: Outcome,
    wall_seconds: f64,
    usage: Option<Usage>,
    parts: Vec<Part>,
    programs: Vec<Program>,
    tests: Vec<Test>,
    passed: u64,
    failed: u64,
    skipped: u64,
    /// What is missing, and whether that is allowed.
    missing: Vec<(String, bool)>,
}

impl Row {
    fn new(name: &str, is_passed: bool, wall_seconds: f64, lines: Vec<Line>) -> Self {
        let mut row = Self {
            name: name.to_owned(),
            result: Outcome::Ok,
            wall_seconds,
            usage: None,
            parts: Vec::new(),
            programs: Vec::new(),
            tests: Vec::new(),
            passed: 0,
            failed: 0,
            skipped: 0,
            missing: Vec::new(),
        };
        for line in lines {
            match line {
                Line::Step { is_passed, cpu_seconds, wall_seconds, name } => {
                    row.parts.push(Part { name, is_passed, cpu_seconds, wall_seconds });
                }
                Line::Program { is_passed, usage, wall_seconds, name } => {
                    row.programs.push(Program { name, is_passed, usage, wall_seconds });
                }
                Line::Test { seconds, program, name } => row.tests.push(Test { seconds, program, name }),
                Line::Count { passed, failed, skipped } => {
                    row.passed += passed;
                    row.failed += failed;
                    row.skipped += skipped;
                }
                Line::Missing { message, is_allowed } => row.missing.push((message, is_allowed)),
                Line::Usage(usage) => row.usage = Some(usage),
            }
        }
        row.result = match (is_passed, row.missing.first()) {
            (true, Some((_, true))) if row.passed == 0 => Outcome::LeftOut,
            (true, _) => Outcome::Ok,
            (false, Some((_, false))) if row.failed == 0 => Outcome::NotRun,
            (false, _) => Outcome::Failed,
        };
        row
    }

    fn failed(name: &str, message: String) -> Self {
        eprintln!("xtask: {name}: {message}");
        Self::new(name, false, 0.0, Vec::new())
    }

    /// The row of the downloads. What could not be had is tried again by the stage that needs it, which tells what is missing: so it is no
    /// failure.
    fn into_downloads(mut self) -> Self {
        if self.result != Outcome::Ok {
            self.result = Outcome::Incomplete;
        }
        self.missing.clear();
        self
    }

    /// In CI nothing may be left out for want of a tool.
    fn is_failure(&self, is_ci: bool) -> bool {
        match self.result {
            Outcome::Failed => true,
            Outcome::NotRun => is_ci,
            Outcome::Ok | Outcome::LeftOut | Outcome::Incomplete => false,
        }
    }
}

/// A test program that ran for less is not in the table.
const SHORTEST_SECONDS: f64 = 1.0;

/// The table of stages, their parts, and their test programs. `wall_seconds` is the time from the first stage's start to the last one's end.
fn table(rows: &[Row], wall_seconds: f64) -> String {
    let mut text = line("stage", "result", "CPU s", "wall s", "peak MB");
    let seconds = |value: f64| format!("{value:.1}");
    let optional = |value: Option<f64>| value.map(seconds).unwrap_or_default();
    let peak = |usage: Option<Usage>| {
        usage.map(|usage| (usage.peak_bytes / 1_000_000).to_string()).unwrap_or_default()
    };
    let cpu = |usage: Option<Usage>| optional(usage.map(|usage| usage.cpu_seconds));
    let result = |is_passed: bool| if is_passed { "ok" } else { "FAILED" };
    for row in rows {
        let (used, wall) = (cpu(row.usage), seconds(row.wall_seconds));
        text += &line(&row.name, row.result.text(), &used, &wall, &peak(row.usage));
        for part in &row.parts {
            let (used, wall) = (optional(part.cpu_seconds), seconds(part.wall_seconds));
            text += &line(&format!("  {}", part.name), result(part.is_passed), &used, &wall, "");
        }
        let long = row.programs.iter().filter(|program| program.wall_seconds >= SHORTEST_SECONDS);
        for Program { name, is_passed, usage, wall_seconds } in long {
            let (used, wall) = (cpu(*usage), seconds(*wall_seconds));
            text += &line(&format!("    {name}"), result(*is_passed), &used, &wall, &peak(*usage));
        }
    }
    let cpu: Option<f64> = rows.iter().map(|row| row.usage.map(|usage| usage.cpu_seconds)).sum();
    text + &line("all, two stages at a time", "", &optional(cpu), &seconds(wall_seconds), "")
}

fn line(name: &str, result: &str, cpu: &str, wall: &str, peak: &str) -> String {
    let line = format!("{name:<58} {result:<10} {cpu:>8} {wall:>8} {peak:>8}");
    format!("{}\n", line.trim_end())
}

/// The slowest tests, the slowest first.
fn slowest(rows: &[Row]) -> Vec<Test> {
    let mut tests: Vec<Test> = rows.iter().flat_map(|row| row.tests.iter().cloned()).collect();
    tests.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.name.cmp(&b.name)));
    tests.truncate(SLOWEST);
    tests
}

fn slowest_table(tests: &[Test]) -> String {
    let mut text = format!("{:>8}  {:<32} test, of the slowest {}\n", "seconds", "program", tests.len());
    for test in tests {
        let _ = writeln!(text, "{:>8.2}  {:<32} {}", test.seconds, test.program, test.name);
    }
    text
}

/// The line that counts all tests.
fn sum(rows: &[Row]) -> String {
    let sum = |count: fn(&Row) -> u64| rows.iter().map(count).sum::<u64>();
    let (passed, failed, skipped) = (sum(|row| row.passed), sum(|row| row.failed), sum(|row| row.skipped));
    let skipped = if skipped == 0 { String::new() } else { format!(", {skipped} skipped") };
    format!("{passed} passed, {failed} failed{skipped}")
}

/// Both tables as JSON.
fn json(rows: &[Row], wall_seconds: f64) -> String {
    let seconds = |value: Option<f64>| value.map_or("null".to_owned(), |value| format!("{value:.3}"));
    let fields = |name: &str, result: &str, usage: Option<Usage>, wall_seconds: f64| {
        format!(
            "\"name\": {}, \"result\": {}, \"cpu_s\": {}, \"wall_s\": {wall_seconds:.3}, \"peak_bytes\": {}",
            quoted(name),
            quoted(result),
            seconds(usage.map(|usage| usage.cpu_seconds)),
            usage.map_or("null".to_owned(), |usage| usage.peak_bytes.to_string())
        )
    };
    let stages = rows.iter().map(|row| {
        let parts = row.parts.iter().map(|part| {
            format!(
                "{{\"name\": {}, \"result\": {}, \"cpu_s\": {}, \"wall_s\": {:.3}}}",
                quoted(&part.name),
                quoted(if part.is_passed { "ok" } else { "FAILED" }),
                seconds(part.cpu_seconds),
                part.wall_seconds
            )
        });
        let programs = row.programs.iter().map(|program| {
            let result = if program.is_passed { "ok" } else { "FAILED" };
            format!("{{{}}}", fields(&program.name, result, program.usage, program.wall_seconds))
        });
        format!(
            "{{{}, \"parts\": {}, \"programs\": {}}}",
            fields(&row.name, row.result.text(), row.usage, row.wall_seconds),
            list(parts, "    "),
            list(programs, "    ")
        )
    });
    let tests = slowest(rows).into_iter().map(|test| {
        format!(
            "{{\"name\": {}, \"program\": {}, \"seconds\": {:.3}}}",
            quoted(&test.name),
            quoted(&test.program),
            test.seconds
        )
    });
    let sum = |count: fn(&Row) -> u64| rows.iter().map(count).sum::<u64>();
    format!(
        "{{\n  \"wall_s\": {wall_seconds:.3},\n  \"passed\": {},\n  \"failed\": {},\n  \"skipped\": {},\n  \"stages\": {},\n  \"slowest\": {}\n}}\n",
        sum(|row| row.passed),
        sum(|row| row.failed),
        sum(|row| row.skipped),
        list(stages, "  "),
        list(tests, "  ")
    )
}

fn list(items: impl Iterator<Item = String>, indent: &str) -> String {
    let items: Vec<String> = items.map(|item| format!("{indent}  {item}")).collect();
    if items.is_empty() { "[]".to_owned() } else { format!("[\n{}\n{indent}]", items.join(",\n")) }
}

/// A text of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' | '\\' => quoted.extend(['\\', sign]),
            sign if sign < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", u32::from(sign));
            }
            sign => quoted.push(sign),
        }
    }
    quoted + "\""
}

/// A report that a test runner writes for this stage; none where nothing is recorded.
pub(crate) fn report(name: &str) -> Option<PathBuf> {
    std::env::var_os(record::VARIABLE)?;
    let path = target().join("ci").join(name);
    let _ = std::fs::remove_file(&path);
    // Tools that run in other folders get it.
    std::path::absolute(&path).ok().or_else(|| Some(Path::new(&path).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::parse as lines;

    fn rows() -> Vec<Row> {
        let text = "step\ttrue\t10.500\t6.000\ta build\nstep\tfalse\t-1.000\t0.500\ttypes\n\
            program\ttrue\t90.000\t734003200\t50.000\thullfield-tests collide\nprogram\ttrue\t0.5\t9\t0.9\tshort\n\
            test\t0.500\tflow\tfields::a\ntest\t7.250\tcollide\tb \"x\"\ncount\t2\t1\t3\nusage\t100.250\t734003200\n";
        let mut rows = vec![Row::new("tests", false, 61.0, lines(text))];
        rows.push(Row::new("wheel", false, 1.0, lines("missing\tfalse\tinstall Python\n")));
        rows.push(Row::new("second driver", true, 2.0, lines("missing\ttrue\tinstall it\n")));
        rows
    }

    #[test]
    fn the_table_has_stages_and_their_parts() {
        let text = table(&rows(), 63.5);
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[1], ["tests", "FAILED", "100.2", "61.0", "734"]);
        assert_eq!(words[2], ["a", "build", "ok", "10.5", "6.0"]);
        assert_eq!(words[3], ["types", "FAILED", "0.5"]);
        assert_eq!(words[4], ["hullfield-tests", "collide", "ok", "90.0", "50.0", "734"]);
        assert_eq!(words[5], ["wheel", "not", "run", "1.0"]);
        assert_eq!(words[6], ["second", "driver", "left", "out", "2.0"]);
        assert_eq!(words[7], ["all,", "two", "stages", "at", "a", "time", "63.5"]);
    }

    #[test]
    fn the_slowest_tests_come_first() {
        let found = slowest(&rows());
        assert_eq!((found[0].seconds, found[0].program.as_str()), (7.25, "collide"));
        assert_eq!(found.len(), 2);
        let many: String = (0..40).map(|at| format!("test\t{at}.0\tp\tt{at}\n")).collect();
        let found = slowest(&[Row::new("tests", true, 1.0, lines(&many))]);
        assert_eq!((found.len(), found[0].seconds, found[29].seconds), (30, 39.0, 10.0));
        assert!(slowest_table(&found).lines().nth(1).unwrap().ends_with("t39"));
    }

    #[test]
    fn the_last_line_counts_all_tests() {
        assert_eq!(sum(&rows()), "2 passed, 1 failed, 3 skipped");
        assert_eq!(sum(&[Row::new("tests", true, 1.0, lines("count\t5\t0\t0\n"))]), "5 passed, 0 failed");
    }

    #[test]
    fn what_is_missing_fails_in_ci_only() {
        let rows = rows();
        let failures = |is_ci| rows.iter().map(|row| row.is_failure(is_ci)).collect::<Vec<_>>();
        assert_eq!(failures(true), [true, true, false]);
        assert_eq!(failures(false), [true, false, false]);
        // The stage that needs it says so.
        let downloads =
            Row::new("downloads", false, 1.0, lines("missing\tfalse\tinstall it\n")).into_downloads();
        assert!(!downloads.is_failure(true) && downloads.missing.is_empty());
    }

    #[test]
    fn the_json_has_both_tables() {
        let text = json(&rows(), 93.5);
        for part in [
            r#""wall_s": 93.500"#,
            r#""failed": 1"#,
            r#""name": "tests", "result": "FAILED", "cpu_s": 100.250, "wall_s": 61.000, "peak_bytes": 734003200"#,
            r#"{"name": "types", "result": "FAILED", "cpu_s": null, "wall_s": 0.500}"#,
            r#"{"name": "short", "result": "ok", "cpu_s": 0.500, "wall_s": 0.900, "peak_bytes": 9}"#,
            r#"{"name": "b \"x\"", "program": "collide", "seconds": 7.250}"#,
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(json(&[], 0.0).contains("\"stages\": []"));
        assert_eq!(quoted("a\\\n"), "\"a\\\\\\u000a\"");
    }

    #[test]
    fn the_seed_is_the_first_digits_of_the_commit() {
        assert_eq!(seed_of("00ff00ff1234567890\n"), Some(0x00ff_00ff));
        assert_eq!(seed_of("fatal"), None);
    }
}
