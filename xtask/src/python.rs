//! The Python package: its virtual environment, its build and its tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::record::{self, Step};
use crate::test::{ONE_BUILD, OPTIMIZED};
use crate::workspace::{is_set, root, target};
use crate::{all, install, junit};

/// What the tests need beside numpy.
const NEEDED: [&str; 11] = [
    "maturin>=1.9,<2",
    "numpy",
    "pytest",
    "pytest-timeout",
    "mypy",
    "ruff",
    "pdoc",
    "pandas",
    "scipy",
    "trimesh",
    "matplotlib",
];
/// Ray is not there for every Python and system, so its tests are skipped where it can't be had; not in CI.
const RAY: &str = "ray[data]";
/// Peers that answers are compared with. Tests that miss one are skipped.
const PEERS: [&str; 10] = [
    "scikit-image",
    "coal",
    "pygeodesic",
    "potpourri3d",
    "shapely",
    "h5py",
    "pyarrow",
    "xarray",
    "rasterio",
    "rioxarray",
];

/// Builds the package in a virtual environment of its own, checks its types and its style, makes the pages of its interface, and runs its tests. `args` are passed to pytest.
///
/// # Errors
/// What could not be found, installed, built, or what failed.
pub(crate) fn test(args: &[String]) -> Result<(), String> {
    let found = install::ensure_adapter()?;
    eprintln!("xtask: GPU adapter: {found}");
    let environment = prepare()?;
    let folder = root().join("python");
    let mut failed = Vec::new();
    let mut step = |name: &str, command: &mut Command| {
        let step = Step::begin(format!("python, {name}"));
        let passed = command
            .current_dir(&folder)
            .env("HULLFIELD_REQUIRE_GPU", "1")
            .stdin(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !step.end(passed) {
            failed.push(name.to_owned());
        }
        passed
    };
    let mut build = environment.command("maturin");
    // With the library that the benches' tests use, which is optimized as in a wheel for users.
    build.args(["develop", "--profile", "dev", "--features", ONE_BUILD]);
    build.arg("--config").arg(root().join(OPTIMIZED));
    if !step("build", &mut build) {
        return Err("the Python package could not be built".to_owned());
    }
    step("types", environment.command("mypy").args(["--strict", "hullfield"]));
    step("style", environment.command("ruff").args(["check", "--quiet", "."]));
    step("format", environment.command("ruff").args(["format", "--check", "--quiet", "."]));
    let page = environment.folder.with_file_name("python-docs");
    let mut pages = environment.command("pdoc");
    pages.arg("--output-directory").arg(&page).args(["hullfield", "hullfield.work"]);
    // It imports Ray.
    let has_ray = environment.command("python").args(["-c", "import ray"]).stderr(Stdio::null()).status();
    if has_ray.is_ok_and(|status| status.success()) {
        pages.arg("hullfield.ray");
    }
    if step("pages of the interface", &mut pages) {
        eprintln!("xtask: python, pages of the interface: {}", page.join("index.html").display());
    }
    let report = all::report("pytest.xml");
    let mut tests = environment.command("pytest");
    tests.args(["-q", "--timeout=600"]).args(args);
    if let Some(report) = &report {
        tests.arg("--junitxml").arg(report);
    }
    step("tests", &mut tests);
    if let Some(report) = &report {
        junit::record(report, "pytest");
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("the Python package failed: {}", failed.join(", "))) }
}

/// Makes and fills the virtual environment.
///
/// # Errors
/// What could not be found or installed.
pub(crate) fn fetch() -> Result<(), String> {
    prepare().map(drop)
}

/// A virtual environment.
struct Environment {
    folder: PathBuf,
}

impl Environment {
    fn programs(&self) -> PathBuf {
        self.folder.join(if cfg!(windows) { "Scripts" } else { "bin" })
    }

    /// A program of the environment.
    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs().join(name));
        command.env("VIRTUAL_ENV", &self.folder).env_remove("PYTHONHOME").env_remove("PYTHONPATH");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(self.programs()).chain(std::env::split_paths(&path));
        if let Ok(path) = std::env::join_paths(paths) {
            command.env("PATH", path);
        }
        command
    }
}

/// The environment below `target`, made and filled where it is missing.
fn prepare() -> Result<Environment, String> {
    let environment = Environment { folder: target().join("python") };
    if !environment.programs().join("python").exists() && !environment.programs().join("python.exe").exists()
    {
        let python = find().map_err(record::missing)?;
        eprintln!("xtask: {} -m venv {}", python.display(), environment.folder.display());
        run(Command::new(&python).args(["-m", "venv"]).arg(&environment.folder), "the virtual environment")?;
    }
    let step = Step::begin("python, packages");
    let pip = |packages: &[&str]| {
        let mut command = environment.command("python");
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        run(&mut command, &format!("pip install {}", packages.join(" ")))
    };
    // One call asks for all packages, because starting pip takes most of a call. If one can't be had, each is asked for alone.
    let peers = PEERS.join(",");
    let all = [&NEEDED[..], &[RAY], &PEERS, &["--only-binary", &peers]].concat();
    if let Err(message) = pip(&all) {
        eprintln!("xtask: {message}: one by one");
        pip(&NEEDED).map_err(record::missing)?;
        if let Err(message) = pip(&[RAY]) {
            if is_set("CI") {
                return Err(record::missing(message));
            }
            eprintln!("xtask: {message}; the tests of hullfield.ray are skipped");
        }
        for peer in PEERS {
            if let Err(message) = pip(&["--only-binary", ":all:", peer]) {
                eprintln!("xtask: {message}; its comparisons are skipped");
            }
        }
    }
    step.end(true);
    Ok(environment)
}

/// A Python that is new enough.
fn find() -> Result<PathBuf, String> {
    let check = "import sys, venv; sys.exit(sys.version_info < (3, 10))";
    let is_fine = |name: &&str| {
        let mut command = Command::new(name);
        command.args(["-c", check]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let names = ["python3", "python", "python3.13", "python3.12", "python3.11", "python3.10"];
    let found = names.into_iter().find(is_fine).map(|name| Path::new(name).to_owned());
    found.ok_or_else(|| {
        "no Python 3.10 or newer with the module venv was found: install it (Debian: python3-venv)".to_owned()
    })
}

fn run(command: &mut Command, what: &str) -> Result<(), String> {
    match command.stdin(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed ({status})")),
        Err(error) => Err(format!("{what} could not be started: {error}")),
    }
}
