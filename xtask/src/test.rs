//! `cargo xtask test`: the tests of the workspace, GPU ones included.

use std::collections::{BTreeSet, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use crate::gpu_tests::{self, GpuTest, Program};
use crate::workspace::{cargo, is_set, root};
use crate::{driver, install};

/// The short selection: of each kind of kernel a test that takes seconds on a software driver, most of them the driver's to
/// compile; two minutes in all with SwiftShader on two busy cores.
const SHORT: [&str; 9] = [
    "gpu::tests::scan_equals_the_host",
    "gpu::tests::several_frames_in_flight_and_dropped_ones",
    "gpu::tests::dispatches_take_their_groups_from_the_device",
    "kinds::gpu_takes_the_first_adapter",
    "engines::candidates_are_equal_on_both_engines",
    "engines_measure::many_windows_are_as_one",
    "encoded::encoded_measures_are_those_of_submit",
    "sweep_gpu::more_pairs_than_one_dispatch_has_groups",
    "crowd::agents_follow_their_own_field_of_a_batch",
];

/// What is off by default and has tests of its own.
const FEATURES: &str = "hullfield-tests/serde,hullfield-tests/tracing";

/// Tests of what is left out of a build without some features, by what builds them: `--all` runs them.
const REDUCED: [(&str, &[&str]); 3] = [
    (
        "-p hullfield-tests --features gpu --test engine",
        &["kinds::the_feature_gpu_without_a_back_end_is_an_error_that_names_the_back_ends"],
    ),
    (
        "-p hullfield-tests --features threads --test engine",
        &["kinds::without_the_feature_gpu_auto_is_the_cpu_and_gpu_is_an_error_that_names_it"],
    ),
    (
        "-p hullfield-cli --test program",
        &["bad_input::backend_gpu_without_the_feature_is_an_error_of_the_call"],
    ),
];

/// What `cargo xtask test` was asked for.
#[derive(Debug, Default, PartialEq)]
struct Options {
    /// `--driver`: a name, or a manifest's path.
    driver: Option<String>,
    tests: Tests,
    /// `--if-there`: where the driver is not there, nothing runs and nothing failed.
    if_there: bool,
    /// `cargo test`'s own.
    rest: Vec<String>,
}

/// The package whose tests run with `--all` alone: the peers that it is measured against take minutes to build.
const PEERS: &str = "hullfield-bench";

/// Which tests run.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Tests {
    /// Every one but the long ones, which are marked `#[ignore]`, and those of [`PEERS`]; of seeded sweeps a part.
    #[default]
    Quick,
    /// Every one, the sweeps in full: `HULLFIELD_LONG` is set.
    All,
    /// Those that need an adapter, but for the long ones.
    Gpu,
    /// A few of those.
    Short,
}

/// Runs the tests.
///
/// # Errors
/// Arguments that do not go together, no adapter and no way to get one, or a test that failed.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let options = options(args)?;
    let driver = match &options.driver {
        None => {
            let found = install::ensure_adapter()?;
            eprintln!("xtask: GPU adapter: {found}");
            None
        }
        Some(wanted) => match driver::find(wanted) {
            Ok(driver) => Some(driver),
            Err(message) if options.if_there => {
                eprintln!("xtask: tests on {wanted}: SKIPPED, {message}");
                return Ok(());
            }
            Err(message) => return Err(message),
        },
    };
    let selected = match options.tests {
        Tests::Quick | Tests::All => Vec::new(),
        Tests::Gpu => gpu_tests::all(root())?.into_iter().filter(|test| !test.is_long).collect(),
        Tests::Short => short(gpu_tests::all(root())?)?,
    };
    if let Some(driver) = &driver {
        eprintln!("xtask: Vulkan driver: {}", driver.manifest.display());
    }
    // Whoever hands something to cargo has chosen already.
    let is_whole = options.tests == Tests::All && options.rest.is_empty() && driver.is_none();
    let reduced: &[_] = if is_whole { &REDUCED } else { &[] };
    let mut runs = if selected.is_empty() {
        cargo_args(options.tests, &options.rest)
    } else {
        vec![selecting_args(&selected, &options.rest)]
    };
    runs.extend(reduced.iter().map(|(build, names)| reduced_args(build, names)));
    let start = Instant::now();
    let mut sum = Sum::default();
    let mut seen: HashSet<String> = HashSet::new();
    let mut failed = None;
    for args in runs {
        if selected.is_empty() {
            eprintln!("xtask: HULLFIELD_REQUIRE_GPU=1 cargo {}", args.join(" "));
        } else {
            eprintln!(
                "xtask: HULLFIELD_REQUIRE_GPU=1 cargo test, {} tests that need an adapter",
                selected.len()
            );
        }
        let mut command = cargo();
        if let Some(driver) = &driver {
            driver.bind(&mut command);
        }
        if options.tests == Tests::All {
            command.env("HULLFIELD_LONG", "1");
        }
        let status = read(command.args(&args), &mut sum, &mut seen)?;
        if !status.success() {
            // One failure should not hide the next.
            failed = Some(status);
        }
    }
    // In CI the last lines are cargo's own.
    if !is_set("CI") {
        let seconds = start.elapsed().as_secs_f64();
        eprintln!(
            "xtask: {} passed, {} failed, {} ignored in {seconds:.0} s",
            sum.passed, sum.failed, sum.ignored
        );
    }
    if let Some(status) = failed {
        return Err(format!("tests failed ({status})"));
    }
    let wanted = selected.iter().map(|test| test.name.as_str());
    let wanted = wanted.chain(reduced.iter().flat_map(|(_, names)| names.iter().copied()));
    let missing: Vec<&str> = wanted.filter(|&name| !seen.contains(name)).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("found in the sources, but did not run: {}", missing.join(", ")))
    }
}

/// Runs cargo, hands on what it prints, and notes what the test harness says.
fn read(command: &mut Command, sum: &mut Sum, seen: &mut HashSet<String>) -> Result<ExitStatus, String> {
    // Mesa says so on stderr, once a device, where it is not set.
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    // The first build of a clone: files for later builds would cost it a tenth.
    if std::env::var_os("CARGO_INCREMENTAL").is_none() && !root().join("target/debug/incremental").exists() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    let mut child = command
        .env("HULLFIELD_REQUIRE_GPU", "1")
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if let Some(output) = child.stdout.take() {
        // Bytes, not text: what the tests print goes through untouched.
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        let mut stdout = std::io::stdout().lock();
        while output.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
            let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
            let text = String::from_utf8_lossy(&line);
            sum.count(&text);
            seen.extend(test_name(&text).map(str::to_owned));
            line.clear();
        }
    }
    child.wait().map_err(|error| format!("cargo was lost: {error}"))
}

/// Takes the options in front from the arguments; what comes after is `cargo test`'s.
fn options(args: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut chosen: Option<Tests> = None;
    let mut rest = args;
    while let [first, after @ ..] = rest {
        let (name, mut value) = match first.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (first.as_str(), None),
        };
        let tests = match name {
            "--gpu" => Some(Tests::Gpu),
            "--short" => Some(Tests::Short),
            "--all" => Some(Tests::All),
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
        if tests.is_some() && chosen.is_some_and(|chosen| Some(chosen) != tests) {
            return Err("of --all, --gpu and --short only one can be used".into());
        }
        chosen = tests.or(chosen);
    }
    options.rest = rest.to_vec();
    if options.if_there && options.driver.is_none() {
        return Err("--if-there goes with --driver".into());
    }
    // Whoever hands something to cargo has chosen already.
    let default = if options.driver.is_some() && rest.is_empty() { Tests::Gpu } else { Tests::Quick };
    options.tests = chosen.unwrap_or(default);
    let is_plain =
        rest.iter().all(|arg| ["--", "--release", "--nocapture", "--no-capture"].contains(&arg.as_str()));
    if matches!(options.tests, Tests::Gpu | Tests::Short) && !is_plain {
        let given = rest.join(" ");
        return Err(format!(
            "--gpu and --short choose the tests: beside them --release and --nocapture may be given, not `{given}`"
        ));
    }
    Ok(options)
}

/// The tests of [`SHORT`].
fn short(mut all: Vec<GpuTest>) -> Result<Vec<GpuTest>, String> {
    for name in SHORT {
        if !all.iter().any(|test| test.name == name) {
            return Err(format!(
                "the short selection names `{name}`, which is no test that needs an adapter"
            ));
        }
    }
    all.retain(|test| SHORT.contains(&test.name.as_str()));
    Ok(all)
}

/// The name of a test of which the harness says how it went.
fn test_name(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.split_once(" ... ")?.0;
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

/// Runs tests by their names. Of the whole workspace, as all tests are run: other packages would let cargo build others of
/// their dependencies' features, and all of them again.
fn selecting_args(tests: &[GpuTest], rest: &[String]) -> Vec<String> {
    let mut args: Vec<String> =
        ["test", "--workspace", "--features", FEATURES, "--no-fail-fast"].map(String::from).to_vec();
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

/// Runs tests by their names, in a build with no other features than those that are named.
fn reduced_args(build: &str, names: &[&str]) -> Vec<String> {
    let words = ["test", "--no-default-features"].into_iter().chain(build.split(' '));
    words.chain(["--", "--exact"]).chain(names.iter().copied()).map(String::from).collect()
}

/// What cargo is asked, one run after another.
fn cargo_args(tests: Tests, args: &[String]) -> Vec<Vec<String>> {
    let args = args.strip_prefix(&["--".to_string()]).unwrap_or(args);
    let cut = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (of_cargo, of_harness) = args.split_at(cut);
    let names_packages =
        of_cargo.iter().any(|arg| arg == "-p" || arg == "--package" || arg.starts_with("--package="));
    let mut all = vec!["test".to_string()];
    if !names_packages {
        all.extend(["--workspace", "--features", FEATURES].map(String::from));
        if tests != Tests::All {
            all.extend(["--exclude".into(), PEERS.into()]);
        }
    }
    // One failure should not hide the next.
    if !of_cargo.iter().any(|arg| arg == "--no-fail-fast") {
        all.push("--no-fail-fast".into());
    }
    let mut harness: Vec<String> = of_harness.to_vec();
    if tests == Tests::All {
        if harness.is_empty() {
            harness.push("--".into());
        }
        harness.insert(1, "--include-ignored".into());
    }
    // Without more words cargo builds the examples too, which no test runs; told what to build it leaves out those in the
    // documentation.
    let targets: &[&[&str]] = match tests {
        Tests::Quick if args.is_empty() => &[&["--lib", "--bins", "--tests"], &["--doc"]],
        _ => &[&[]],
    };
    let run = |targets: &&[&str]| {
        let targets = targets.iter().map(|&target| target.to_owned());
        all.iter().cloned().chain(targets).chain(of_cargo.iter().cloned()).chain(harness.clone()).collect()
    };
    targets.iter().map(run).collect()
}

/// Totals of the `test result:` lines.
#[derive(Debug, Default, PartialEq)]
struct Sum {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Sum {
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
    fn arguments_go_through_as_they_are() {
        let of = |tests: Tests, args: &[&str]| -> Vec<String> {
            cargo_args(tests, &strings(args)).iter().map(|run| run.join(" ")).collect()
        };
        let all = "test --workspace --features hullfield-tests/serde,hullfield-tests/tracing";
        let quick = format!("{all} --exclude hullfield-bench --no-fail-fast");
        assert_eq!(
            of(Tests::Quick, &[]),
            [format!("{quick} --lib --bins --tests"), format!("{quick} --doc")]
        );
        assert_eq!(
            of(Tests::Quick, &["--", "gjk", "--", "--nocapture"]),
            [format!("{quick} gjk -- --nocapture")]
        );
        assert_eq!(of(Tests::Quick, &["--", "--", "-p"]), [format!("{quick} -- -p")]);
        let named = ["-p", "hullfield", "--no-fail-fast"];
        assert_eq!(of(Tests::Quick, &named), ["test -p hullfield --no-fail-fast"]);
        assert_eq!(of(Tests::All, &[]), [format!("{all} --no-fail-fast -- --include-ignored")]);
        assert_eq!(
            of(Tests::All, &["-p", "hullfield", "--", "--nocapture"]),
            ["test --no-fail-fast -p hullfield -- --include-ignored --nocapture"]
        );
    }

    #[test]
    fn a_driver_is_taken_from_the_arguments_in_front() {
        let of = |args: &[&str]| options(&strings(args));
        assert_eq!(of(&["-p", "hullfield"]).unwrap().rest, strings(&["-p", "hullfield"]));
        let found = of(&["--driver", "swiftshader"]).unwrap();
        assert_eq!((found.driver.as_deref(), found.tests), (Some("swiftshader"), Tests::Gpu));
        let found = of(&["--driver=lavapipe", "--short", "--if-there"]).unwrap();
        assert_eq!((found.driver.as_deref(), found.tests), (Some("lavapipe"), Tests::Short));
        assert!(found.if_there);
        // What is named to cargo is chosen.
        let found = of(&["--driver", "lavapipe", "--", "--test", "flow"]).unwrap();
        assert_eq!((found.tests, found.rest), (Tests::Quick, strings(&["--", "--test", "flow"])));
        // Past the first of cargo's own nothing is ours.
        assert_eq!(of(&["-p", "xtask", "--short"]).unwrap().rest.len(), 3);
        assert_eq!(of(&["--gpu", "--release"]).unwrap().tests, Tests::Gpu);
        assert_eq!(of(&[]).unwrap().tests, Tests::Quick);
        assert_eq!(of(&["--driver", "lavapipe", "--all"]).unwrap().tests, Tests::All);
        for (args, part) in [
            (&["--driver"][..], "needs a name"),
            (&["--if-there"], "goes with --driver"),
            (&["--short", "--gpu"], "only one"),
            (&["--short=1"], "takes no value"),
            (&["--gpu", "--test", "flow"], "--test flow"),
        ] {
            let message = of(args).unwrap_err();
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
        let expected = "test --workspace --features hullfield-tests/serde,hullfield-tests/tracing --no-fail-fast --release --lib --test flow -- --exact b c gpu::tests::a";
        assert_eq!(selecting_args(&tests, &strings(&["--release"])).join(" "), expected);
    }

    #[test]
    fn names_are_read_from_what_the_harness_says() {
        assert_eq!(test_name("test gpu::tests::a ... ok\n"), Some("gpu::tests::a"));
        assert_eq!(test_name("test b - should panic ... ok\n"), Some("b"));
        assert_eq!(test_name("test result: ok. 1 passed\n"), None);
    }

    #[test]
    fn tests_of_a_reduced_build_are_asked_for_by_their_names() {
        let (build, names) = REDUCED[0];
        let wanted = "test --no-default-features -p hullfield-tests --features gpu --test engine -- --exact";
        assert_eq!(reduced_args(build, names).join(" "), format!("{wanted} {}", names[0]));
        // A test that is renamed must be renamed there too.
        for name in REDUCED.iter().flat_map(|(_, names)| names.iter()) {
            let (module, test) = name.split_once("::").unwrap();
            let file = ["tests/engine", "cli/tests/program"]
                .map(|folder| root().join(folder).join(format!("{module}.rs")))
                .into_iter()
                .find(|file| file.is_file());
            let text = std::fs::read_to_string(file.unwrap()).unwrap();
            assert!(text.contains(&format!("fn {test}()")), "{name} does not exist");
        }
    }

    /// A test that is renamed must be renamed in the short selection too.
    #[test]
    fn the_short_selection_exists() {
        let all = gpu_tests::all(root()).unwrap();
        assert_eq!(short(all).unwrap().len(), SHORT.len());
    }

    #[test]
    fn results_add_up() {
        let mut sum = Sum::default();
        sum.count("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.10s\n");
        sum.count("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s\n");
        sum.count("something about 5 passed\n");
        assert_eq!(sum, Sum { passed: 13, failed: 2, ignored: 1 });
    }
}
