//! `cargo xtask test`: the tests of the workspace, with those that need a GPU adapter.

use std::collections::{BTreeSet, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use crate::record::{self, Line, Step};

use crate::gpu_tests::{self, GpuTest, Program};
use crate::workspace::{cargo, is_set, root, target};
use crate::{driver, harness, install};

/// The short selection: for each kind of kernel a test of a few seconds on a software driver, most of it shader compilation.
/// They take two minutes with SwiftShader on two busy cores.
const SHORT: [&str; 9] = [
    "gpu::tests::scan_equals_the_host",
    "gpu::tests::several_frames_in_flight_and_dropped_ones",
    "gpu::tests::dispatches_take_their_groups_from_the_device",
    "adapters::gpu_takes_the_first_adapter",
    "engines::candidates_are_equal_on_both_engines",
    "engines_measure::many_windows_are_as_one",
    "encoded::encoded_measures_are_those_of_submit",
    "sweep_gpu::more_pairs_than_one_dispatch_has_groups",
    "crowd::agents_follow_their_own_field_of_a_batch",
];

/// Features that are off by default and have tests. Builds of the library with other features have none: what they choose is tested in this
/// one, and `cargo xtask ci` compiles them. So the sentences of a build without a back end, or without the feature `gpu`, are unit tests
/// (`src/gpu/adapter.rs`, `src/no_gpu/adapter.rs`, `cli/src/failure.rs`), and an engine trusts its shaders where a test asks it to.
pub(crate) const FEATURES: &str =
    "hullfield-tests/serde,hullfield-tests/tracing,hullfield-tests/trust-by-call,hullfield-web/playground";

/// The options of `cargo xtask test`.
#[derive(Debug, Default, PartialEq)]
struct Options {
    /// `--driver`: a name, or a manifest's path.
    driver: Option<String>,
    selection: Selection,
    /// `--if-there`: a missing driver is not a failure.
    if_there: bool,
    /// The arguments for `cargo test`.
    rest: Vec<String>,
}

/// The benches, whose dependencies take minutes to build: see [`benches`].
const BENCH_PACKAGE: &str = "hullfield-bench";

/// The packages whose tests are chores of their own, `--benches` and `--python`, and one that has none and takes long to build.
const APART: [&str; 3] = [BENCH_PACKAGE, "hullfield-python", "hullfield-bindgen"];

/// The packages of the browser, whose documentation has no examples.
const WITHOUT_EXAMPLES: [&str; 2] = ["hullfield-web", "hullfield-web-readers"];

/// The part of [`FEATURES`] that is theirs.
const WEB_FEATURE: &str = ",hullfield-web/playground";

/// The feature that makes optimized builds of several packages share the library: see `xtask/one-build`.
pub(crate) const ONE_BUILD: &str = "one-build";

/// The settings of cargo for the tests of the benches and of the wheel. Both share one build of the library, and take its dependencies from
/// the build of the other tests.
pub(crate) const OPTIMIZED: &str = "xtask/optimized.toml";

/// The level of optimization that the program of the benches reports there.
const OPTIMIZED_LEVEL: (&str, &str) = ("HULLFIELD_OPT_LEVEL", "3 for the library alone");

/// The selection of tests.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Selection {
    /// All but the long tests, which are marked `#[ignore]`, and those of [`BENCH_PACKAGE`]. Seeded sweeps run in part.
    #[default]
    Quick,
    /// All tests, with full sweeps: `HULLFIELD_LONG` is set.
    All,
    /// The tests that need an adapter, without the long ones.
    Gpu,
    /// The tests of [`SHORT`].
    Short,
}

/// Runs the tests.
///
/// # Errors
/// Arguments that conflict, an adapter that is missing and cannot be installed, or a failed test.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = parse(args)?;
    let driver = match &options.driver {
        None => {
            let found = install::ensure_adapter().map_err(record::missing)?;
            eprintln!("xtask: GPU adapter: {found}");
            None
        }
        Some(name) => match driver::find(name) {
            Ok(driver) => Some(driver),
            Err(message) if options.if_there => {
                eprintln!("xtask: tests on {name}: SKIPPED, {message}");
                record::missing_but_allowed(&message);
                return Ok(());
            }
            Err(message) => return Err(record::missing(message)),
        },
    };
    let selected = match options.selection {
        Selection::Quick | Selection::All => Vec::new(),
        Selection::Gpu => gpu_tests::all(root())?.into_iter().filter(|test| !test.is_long).collect(),
        Selection::Short => short(gpu_tests::all(root())?)?,
    };
    if let Some(driver) = &driver {
        eprintln!("xtask: Vulkan driver: {}", driver.manifest.display());
    }
    let runs = if selected.is_empty() {
        cargo_args(options.selection, &options.rest)
    } else {
        vec![selecting_args(&selected, &options.rest)]
    };
    let start = Instant::now();
    let mut totals = Totals::default();
    let mut seen = Seen::default();
    let mut failed = None;
    let runner = harness::option()?;
    for args in runs {
        if selected.is_empty() {
            eprintln!("xtask: HULLFIELD_REQUIRE_GPU=1 cargo {}", args.join(" "));
        } else {
            eprintln!(
                "xtask: HULLFIELD_REQUIRE_GPU=1 cargo test, {} tests that need an adapter",
                selected.len()
            );
        }
        let prepared = |args: &[String]| {
            let mut command = cargo();
            if let Some(driver) = &driver {
                driver.bind(&mut command);
            }
            if options.selection == Selection::All {
                command.env("HULLFIELD_LONG", "1");
            }
            command.args(args);
            command
        };
        let is_doc = args.iter().any(|arg| arg == "--doc");
        let name = if is_doc { "the documentation" } else { "the programs" };
        if record::is_on() && !is_doc {
            // Apart from the tests, so that the table has both times.
            let step = Step::begin(format!("build of {name}"));
            let status = run_cargo(&mut prepared(&building(&args)), &mut totals, &mut seen)?;
            if !step.end(status.success()) {
                failed = Some(status);
                continue;
            }
        }
        // rustdoc would call it for each example.
        let args = if is_doc { args } else { [&args[..1], &runner[..], &args[1..]].concat() };
        let step = record::is_on().then(|| Step::begin(format!("tests of {name}")));
        let status = run_cargo(&mut prepared(&args), &mut totals, &mut seen)?;
        if let Some(step) = step {
            step.end(status.success());
        }
        if !status.success() {
            // One failure must not hide the next.
            failed = Some(status);
        }
    }
    record::append(&Line::Count { passed: totals.passed, failed: totals.failed, skipped: totals.ignored });
    // In CI cargo's own lines are last.
    if !is_set("CI") {
        let seconds = start.elapsed().as_secs_f64();
        eprintln!(
            "xtask: {} passed, {} failed, {} ignored in {seconds:.0} s",
            totals.passed, totals.failed, totals.ignored
        );
    }
    if let Some(status) = failed {
        let names: Vec<&str> = seen.failed.iter().map(String::as_str).collect();
        return Err(match names.as_slice() {
            [] => format!("tests failed ({status})"),
            names => format!("tests failed ({status}): {}", names.join(", ")),
        });
    }
    let wanted = selected.iter().map(|test| test.name.as_str());
    let missing: Vec<&str> = wanted.filter(|&name| !seen.run.contains(name)).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("found in the sources, but not run: {}", missing.join(", ")))
    }
}

/// The arguments that build what a run of tests needs.
fn building(args: &[String]) -> Vec<String> {
    let cut = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    args[..cut].iter().cloned().chain(["--no-run".to_owned()]).collect()
}

/// Runs cargo, passes its output on, and records the results of the test harness.
fn run_cargo(command: &mut Command, totals: &mut Totals, seen: &mut Seen) -> Result<ExitStatus, String> {
    // Without it Mesa prints a message for each device.
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    // The first build of a clone is a tenth faster without files for incremental builds.
    if std::env::var_os("CARGO_INCREMENTAL").is_none() && !root().join("target/debug/incremental").exists() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    let mut child = command
        .env("HULLFIELD_REQUIRE_GPU", "1")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if let Some(output) = child.stdout.take() {
        // Bytes, not text: the tests' output is passed on unchanged.
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        let mut stdout = std::io::stdout().lock();
        while output.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&line);
            if let Some(program) = text.strip_prefix(harness::MARK) {
                program.trim_end().clone_into(&mut seen.program);
            } else {
                totals.count(&text);
                seen.record(&text);
                let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
            }
            line.clear();
        }
    }
    child.wait().map_err(|error| format!("cargo could not be waited for: {error}"))
}

/// Parses the options at the beginning; the rest is for `cargo test`.
fn parse(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut chosen: Option<Selection> = None;
    let mut rest = args;
    while let [first, after @ ..] = rest {
        let (name, mut value) = match first.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (first.as_str(), None),
        };
        let selection = match name {
            "--gpu" => Some(Selection::Gpu),
            "--short" => Some(Selection::Short),
            "--all" => Some(Selection::All),
            "--driver" | "--if-there" => None,
            _ => break,
        };
        rest = after;
        if name == "--driver" {
            if value.is_none() {
                let Some((next, after)) = after.split_first() else {
                    return Err("--driver needs a name or the path of a manifest".into());
                };
                (value, rest) = (Some(next.clone()), after);
            }
            options.driver = value;
            continue;
        }
        if let Some(value) = value {
            return Err(format!("{name} takes no value, `{value}` given"));
        }
        options.if_there |= name == "--if-there";
        if selection.is_some() && chosen.is_some_and(|chosen| Some(chosen) != selection) {
            return Err("only one of --all, --gpu and --short can be used".into());
        }
        chosen = selection.or(chosen);
    }
    options.rest = rest.to_vec();
    if options.if_there && options.driver.is_none() {
        return Err("--if-there needs --driver".into());
    }
    // Arguments for cargo select the tests themselves.
    let default = if options.driver.is_some() && rest.is_empty() { Selection::Gpu } else { Selection::Quick };
    options.selection = chosen.unwrap_or(default);
    let is_plain =
        rest.iter().all(|arg| ["--", "--release", "--nocapture", "--no-capture"].contains(&arg.as_str()));
    if matches!(options.selection, Selection::Gpu | Selection::Short) && !is_plain {
        let given = rest.join(" ");
        return Err(format!(
            "--gpu and --short select the tests: they go with --release and --nocapture, not with `{given}`"
        ));
    }
    Ok(options)
}

/// The tests of [`SHORT`].
fn short(mut all: Vec<GpuTest>) -> Result<Vec<GpuTest>, String> {
    for name in SHORT {
        if !all.iter().any(|test| test.name == name) {
            return Err(format!(
                "the short selection names `{name}`, which is not a test that needs an adapter"
            ));
        }
    }
    all.retain(|test| SHORT.contains(&test.name.as_str()));
    Ok(all)
}

/// The names of the tests whose results were seen.
#[derive(Debug, Default)]
struct Seen {
    run: HashSet<String>,
    /// In the order of the output. They are named at the end: a log that is cut off often lacks the harness's own list.
    failed: Vec<String>,
    /// The program whose results come.
    program: String,
}

impl Seen {
    /// Records a line of the harness's output.
    fn record(&mut self, line: &str) {
        let Some((name, result, seconds)) = test_result(line) else {
            return;
        };
        if result == "FAILED" {
            self.failed.push(name.to_owned());
        }
        if let Some(seconds) = seconds {
            record::append(&Line::Test { seconds, program: self.program.clone(), name: name.to_owned() });
        }
        self.run.insert(name.to_owned());
    }
}

/// The test that a line of the harness gives the result of, the result, and the seconds that it took where the harness was asked for them.
fn test_result(line: &str) -> Option<(&str, &str, Option<f64>)> {
    let (name, result) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let result = result.trim_end();
    let timed = result.strip_suffix("s>").and_then(|text| text.rsplit_once(" <"));
    let timed = timed.and_then(|(result, seconds)| Some((result, seconds.parse().ok()?)));
    Some(timed.map_or((name, result, None), |(result, seconds)| (name, result, Some(seconds))))
}

/// Cargo's arguments to run tests by name. They select the whole workspace, as for all tests: with fewer packages cargo would
/// choose other features of dependencies, and build everything again.
fn selecting_args(tests: &[GpuTest], rest: &[String]) -> Vec<String> {
    let mut args: Vec<String> = ["test", "--workspace"].map(String::from).to_vec();
    args.extend(APART.iter().flat_map(|package| ["--exclude", package]).map(String::from));
    args.extend(["--features", FEATURES, "--no-fail-fast"].map(String::from));
    args.extend(rest.iter().filter(|arg| *arg == "--release").cloned());
    let programs: BTreeSet<&Program> = tests.iter().map(|test| &test.program).collect();
    for program in programs {
        match program {
            Program::Library => args.push("--lib".into()),
            Program::Binaries => args.push("--bins".into()),
            Program::Test(name) => args.extend(["--test".into(), name.clone()]),
        }
    }
    args.extend(["--", "--exact"].map(String::from));
    args.extend(rest.iter().filter(|arg| arg.contains("capture")).cloned());
    args.extend(tests.iter().map(|test| test.name.clone()).collect::<BTreeSet<String>>());
    args
}

/// Runs the tests of the benches, which are built as [`OPTIMIZED`] says with the features that the wheel's build has, and counts the instructions of a few
/// cases. `args` are passed to `cargo test`.
///
/// # Errors
/// An adapter that is missing and cannot be installed, a failed test, or a case that takes more instructions than it did.
pub(crate) fn benches(args: &[String]) -> Result<(), String> {
    let found = install::ensure_adapter().map_err(record::missing)?;
    eprintln!("xtask: GPU adapter: {found}");
    let mut tests: Vec<String> = [
        "test",
        "--config",
        OPTIMIZED,
        "--package",
        BENCH_PACKAGE,
        "--features",
        ONE_BUILD,
        "--no-fail-fast",
    ]
    .map(String::from)
    .to_vec();
    tests.extend(args.iter().cloned());
    if args.is_empty() {
        tests.extend(["--", "--include-ignored"].map(String::from));
    }
    let (mut totals, mut seen) = (Totals::default(), Seen::default());
    let mut prepared = |args: &[String]| {
        let mut command = cargo();
        command.env("HULLFIELD_LONG", "1").env(OPTIMIZED_LEVEL.0, OPTIMIZED_LEVEL.1).args(args);
        run_cargo(&mut command, &mut totals, &mut seen)
    };
    let step = Step::begin("build of the benches");
    if !step.end(prepared(&building(&tests))?.success()) {
        return Err("the benches were not built".to_owned());
    }
    let tests = [&tests[..1], &harness::option()?, &tests[1..]].concat();
    let step = Step::begin("tests of the benches");
    let is_passed = step.end(prepared(&tests)?.success());
    record::append(&Line::Count { passed: totals.passed, failed: totals.failed, skipped: totals.ignored });
    let step = Step::begin("instruction counts");
    let program = target().join("debug").join(format!("{BENCH_PACKAGE}{}", std::env::consts::EXE_SUFFIX));
    let status = Command::new(&program).current_dir(root()).args(["check", "--tolerance", "10%"]).status();
    let status = status.map_err(|error| format!("{}: {error}", program.display()))?;
    if status.code() == Some(NOT_COMPARABLE) {
        eprintln!("xtask: the instruction counts were not compared");
    }
    let is_counted = step.end(status.success() || status.code() == Some(NOT_COMPARABLE));
    match (is_passed, is_counted) {
        (true, true) => Ok(()),
        (false, _) => Err(format!("tests of the benches failed: {}", seen.failed.join(", "))),
        (true, false) => Err("a case takes more instructions than it did".to_owned()),
    }
}

/// The exit code of `hullfield-bench check` where the counts of this machine can't be compared with the baseline's.
const NOT_COMPARABLE: i32 = 3;

/// Cargo's arguments for each run.
fn cargo_args(selection: Selection, args: &[String]) -> Vec<Vec<String>> {
    let args = args.strip_prefix(&["--".to_string()]).unwrap_or(args);
    let cut = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (cargo_part, harness_part) = args.split_at(cut);
    let names_packages =
        cargo_part.iter().any(|arg| arg == "-p" || arg == "--package" || arg.starts_with("--package="));
    let mut all = vec!["test".to_string()];
    if !names_packages {
        all.extend(["--workspace", "--features", FEATURES].map(String::from));
        for package in APART {
            all.extend(["--exclude".into(), package.into()]);
        }
    }
    // One failure must not hide the next.
    if !cargo_part.iter().any(|arg| arg == "--no-fail-fast") {
        all.push("--no-fail-fast".into());
    }
    let mut harness: Vec<String> = harness_part.to_vec();
    if selection == Selection::All {
        if harness.is_empty() {
            harness.push("--".into());
        }
        harness.insert(1, "--include-ignored".into());
    }
    // By default cargo also builds the examples, which no test runs: `cargo xtask ci` lints them. With targets named, it leaves out the tests
    // in the documentation, so these are a run of their own.
    let targets: &[&[&str]] = match selection {
        Selection::Quick | Selection::All if args.is_empty() => {
            &[&["--lib", "--bins", "--tests"], &["--doc"]]
        }
        _ => &[&[]],
    };
    let run = |targets: &&[&str]| {
        let mut run = all.clone();
        if targets == &["--doc"] {
            // They have no tests in their documentation, and cargo would build them as libraries for it.
            run.extend(WITHOUT_EXAMPLES.iter().flat_map(|package| ["--exclude", package]).map(String::from));
            for argument in run.iter_mut().filter(|argument| *argument == FEATURES) {
                *argument = argument.replace(WEB_FEATURE, "");
            }
        }
        run.extend(targets.iter().map(|&target| target.to_owned()));
        run.into_iter().chain(cargo_part.iter().cloned()).chain(harness.clone()).collect()
    };
    targets.iter().map(run).collect()
}

/// Totals of the `test result:` lines.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Totals {
    fn count(&mut self, line: &str) {
        if !line.starts_with("test result:") {
            return;
        }
        for (name, total) in
            [("passed", &mut self.passed), ("failed", &mut self.failed), ("ignored", &mut self.ignored)]
        {
            let mut words = line.split([' ', ';', '\n']).filter(|word| !word.is_empty()).peekable();
            while let Some(word) = words.next() {
                if words.peek() == Some(&name) {
                    *total += word.parse::<u64>().unwrap_or(0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(args: &[&str]) -> Vec<String> {
        args.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arguments_are_passed_to_cargo() {
        let runs = |selection: Selection, args: &[&str]| -> Vec<String> {
            cargo_args(selection, &strings(args)).iter().map(|run| run.join(" ")).collect()
        };
        let all = "test --workspace --features hullfield-tests/serde,hullfield-tests/tracing,hullfield-tests/trust-by-call,hullfield-web/playground --exclude hullfield-bench --exclude hullfield-python --exclude hullfield-bindgen";
        let quick = format!("{all} --no-fail-fast");
        let doc = quick.replace(WEB_FEATURE, "");
        let doc = format!("{doc} --exclude hullfield-web --exclude hullfield-web-readers --doc");
        assert_eq!(runs(Selection::Quick, &[]), [format!("{quick} --lib --bins --tests"), doc.clone()]);
        assert_eq!(
            runs(Selection::Quick, &["--", "gjk", "--", "--nocapture"]),
            [format!("{quick} gjk -- --nocapture")]
        );
        assert_eq!(runs(Selection::Quick, &["--", "--", "-p"]), [format!("{quick} -- -p")]);
        let named = ["-p", "hullfield", "--no-fail-fast"];
        assert_eq!(runs(Selection::Quick, &named), ["test -p hullfield --no-fail-fast"]);
        assert_eq!(
            runs(Selection::All, &[]),
            [
                format!("{quick} --lib --bins --tests -- --include-ignored"),
                format!("{doc} -- --include-ignored"),
            ]
        );
        assert_eq!(
            runs(Selection::All, &["-p", "hullfield", "--", "--nocapture"]),
            ["test --no-fail-fast -p hullfield -- --include-ignored --nocapture"]
        );
    }

    #[test]
    fn options_are_parsed_up_to_the_first_argument_for_cargo() {
        let parsed = |args: &[&str]| parse(&strings(args));
        assert_eq!(parsed(&["-p", "hullfield"]).unwrap().rest, strings(&["-p", "hullfield"]));
        let found = parsed(&["--driver", "swiftshader"]).unwrap();
        assert_eq!((found.driver.as_deref(), found.selection), (Some("swiftshader"), Selection::Gpu));
        let found = parsed(&["--driver=lavapipe", "--short", "--if-there"]).unwrap();
        assert_eq!((found.driver.as_deref(), found.selection), (Some("lavapipe"), Selection::Short));
        assert!(found.if_there);
        // Arguments for cargo select the tests.
        let found = parsed(&["--driver", "lavapipe", "--", "--test", "flow"]).unwrap();
        assert_eq!((found.selection, found.rest), (Selection::Quick, strings(&["--", "--test", "flow"])));
        // After the first argument for cargo, all are for cargo.
        assert_eq!(parsed(&["-p", "xtask", "--short"]).unwrap().rest.len(), 3);
        assert_eq!(parsed(&["--gpu", "--release"]).unwrap().selection, Selection::Gpu);
        assert_eq!(parsed(&[]).unwrap().selection, Selection::Quick);
        assert_eq!(parsed(&["--driver", "lavapipe", "--all"]).unwrap().selection, Selection::All);
        for (args, part) in [
            (&["--driver"][..], "needs a name"),
            (&["--if-there"], "needs --driver"),
            (&["--short", "--gpu"], "only one"),
            (&["--short=1"], "takes no value"),
            (&["--gpu", "--test", "flow"], "--test flow"),
        ] {
            let message = parsed(args).unwrap_err();
            assert!(message.contains(part), "{args:?}: {message}");
        }
    }

    #[test]
    fn tests_are_selected_by_program_and_name() {
        let test = |program: Program, name: &str| GpuTest { program, name: name.into(), is_long: false };
        let tests = [
            test(Program::Library, "gpu::tests::a"),
            test(Program::Test("flow".into()), "b"),
            test(Program::Test("flow".into()), "c"),
        ];
        let expected = "test --workspace --exclude hullfield-bench --exclude hullfield-python --exclude hullfield-bindgen --features hullfield-tests/serde,hullfield-tests/tracing,hullfield-tests/trust-by-call,hullfield-web/playground --no-fail-fast --release --lib --test flow -- --exact b c gpu::tests::a";
        assert_eq!(selecting_args(&tests, &strings(&["--release"])).join(" "), expected);
    }

    #[test]
    fn test_names_are_read_from_the_harness() {
        let mut seen = Seen::default();
        for line in [
            "test gpu::tests::a ... ok\n",
            "test b - should panic ... ok\n",
            "test c ... FAILED\n",
            "test result: FAILED. 2 passed\n",
        ] {
            seen.record(line);
        }
        assert_eq!(seen.run, ["gpu::tests::a", "b", "c"].map(String::from).into());
        assert_eq!(seen.failed, ["c"]);
    }

    #[test]
    fn times_are_read_from_the_harness() {
        assert_eq!(test_result("test a::b ... ok <0.003s>\n"), Some(("a::b", "ok", Some(0.003))));
        assert_eq!(test_result("test c ... FAILED <12.500s>\n"), Some(("c", "FAILED", Some(12.5))));
        assert_eq!(test_result("test d ... ignored, long\n"), Some(("d", "ignored, long", None)));
        assert_eq!(test_result("test e ... ok <odd>\n"), Some(("e", "ok <odd>", None)));
        assert_eq!(test_result("test f has been running for over 60 seconds\n"), None);
    }

    #[test]
    fn a_build_has_no_arguments_for_the_harness() {
        let args = strings(&["test", "--workspace", "--", "--include-ignored"]);
        assert_eq!(building(&args), strings(&["test", "--workspace", "--no-run"]));
    }

    /// The packages of a build, each with its sets of features.
    fn features(edges: &str, args: &str) -> std::collections::BTreeMap<String, BTreeSet<String>> {
        let always = ["tree", "--edges", edges, "--prefix", "none", "--format", "{p}\t{f}"];
        let output = cargo().args(always).args(args.split(' ')).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{args}");
        let mut packages = std::collections::BTreeMap::<_, BTreeSet<String>>::new();
        // Lines without a tab name a kind of dependency, not a package.
        for (package, features) in text.lines().filter_map(|line| line.split_once('\t')) {
            let features = features.trim_end_matches(" (*)");
            packages
                .entry(package.trim_end_matches(" (*)").to_owned())
                .or_default()
                .insert(features.to_owned());
        }
        packages
    }

    /// Else cargo would compile the library and wgpu once more.
    #[test]
    fn optimized_builds_share_the_library_and_what_it_depends_on() {
        let closure = features("normal,build", "--package hullfield --features serde,inspect");
        let builds = ["hullfield-bench", "hullfield-python", "hullfield-cli"]
            .map(|package| features("normal,build", &format!("--package {package} --features {ONE_BUILD}")));
        for package in closure.keys() {
            let sets: Vec<_> = builds.iter().map(|build| build.get(package)).collect();
            assert!(
                sets.iter().all(|set| set == &sets[0]),
                "{package} has other features in each build: {sets:?}. Add them to xtask/one-build/Cargo.toml"
            );
        }
        assert!(closure.len() > 50 && closure.keys().any(|package| package.starts_with("wgpu-core ")));
        // They take it from the build of the tests.
        let apart = APART.map(|package| format!("--exclude {package}")).join(" ");
        let tests = features("normal,build,dev", &format!("--workspace {apart} --features {FEATURES}"));
        for package in closure.keys().filter(|package| !package.starts_with("hullfield ")) {
            let (of_tests, optimized) = (tests.get(package), builds[0].get(package));
            assert!(
                of_tests.is_some() && of_tests.zip(optimized).is_none_or(|(all, some)| some.is_subset(all)),
                "{package} has other features in the build of the tests: {of_tests:?}, here {optimized:?}. Add them to xtask/one-build/Cargo.toml"
            );
        }
    }

    /// A renamed test must be renamed in the short selection too.
    #[test]
    fn every_test_of_the_short_selection_exists() {
        let all = gpu_tests::all(root()).unwrap();
        assert_eq!(short(all).unwrap().len(), SHORT.len());
    }

    #[test]
    fn results_are_summed() {
        let mut totals = Totals::default();
        totals.count("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.10s\n");
        totals.count("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n");
        totals.count("something about 5 passed\n");
        assert_eq!(totals, Totals { passed: 13, failed: 2, ignored: 1 });
    }
}
