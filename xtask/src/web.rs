//! The playground and the npm package: builds, serves and tests them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::record::{self, Step};
use crate::wasm::{self, Compiler, Optimized};
use crate::workspace::{root, target};
use crate::{all, install, junit, serve};

const CRATE: &str = "hullfield-web";

/// The readers of mesh files, which the page loads with the first file.
const READERS: &str = "hullfield-web-readers";

/// Builds the page and the package; with `--package` the package alone; with `--serve [PORT]` serves the page.
///
/// # Errors
/// What is missing, or what could not be built.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let port = match args {
        [] => None,
        [only] if only == "--package" => return package(Optimized::Together),
        [serve] if serve == "--serve" => Some(0),
        [serve, port] if serve == "--serve" => {
            Some(port.parse().map_err(|_| format!("--serve {port}: a port is a number to 65535"))?)
        }
        _ => return Err("`web` takes --package, or --serve [PORT], and nothing else".to_owned()),
    };
    let page = page(Optimized::Together)?;
    let Some(port) = port else { return package(Optimized::Together) };
    let (listener, address, folder) = serve::listen(&page, port)?;
    println!("http://{address}/");
    let _ = std::io::stdout().flush();
    serve::serve(&listener, &folder);
    Ok(())
}

/// Builds the page into `target/web/page`. It has three modules: bodies and flow fields, shortest paths, and the readers of files.
fn page(optimized: Optimized) -> Result<PathBuf, String> {
    let begin = Instant::now();
    let folder = target().join("web/page");
    let compiler = Compiler::ensure()?;
    let bind = |module: &Path, folder: &Path| {
        wasm::bind(module, folder)?;
        let name = module.file_stem().unwrap_or_default().to_string_lossy();
        report(&folder.join(format!("{name}_bg.wasm")), begin);
        Ok::<_, String>(())
    };
    let binder = wasm::begin_binder();
    let built = compiler.build([CRATE, READERS], "hullfield-web/playground-crowds", optimized);
    if let Some(mut binder) = binder {
        let _ = binder.wait();
    }
    let [crowds, readers] = built?;
    empty(&folder)?;
    copy(&root().join("web/page"), &folder)?;
    bind(&crowds, &folder)?;
    bind(&readers, &folder.join("readers"))?;
    // It has the first one's name, which is bound by now.
    let [paths] = compiler.build([CRATE], "hullfield-web/playground-paths", optimized)?;
    bind(&paths, &folder.join("paths"))?;
    Ok(folder)
}

/// Builds the npm package into `target/web/package`.
fn package(optimized: Optimized) -> Result<(), String> {
    let source = root().join("web/package");
    if !source.join("package.json").is_file() {
        return Ok(());
    }
    let begin = Instant::now();
    let folder = target().join("web/package");
    let [module] = Compiler::ensure()?.build([CRATE], "hullfield-web/api", optimized)?;
    empty(&folder)?;
    wasm::bind(&module, &folder)?;
    copy(&source, &folder)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let (from, to) = (root().join(licence), folder.join(licence));
        std::fs::copy(&from, to).map_err(|error| format!("{}: {error}", from.display()))?;
    }
    let module = folder.join("hullfield_web_bg.wasm");
    inline(&module, &folder.join("module.js"))?;
    report(&module, begin);
    Ok(())
}

/// Writes a module as a program that holds it in base64, for bundlers and pages that load no other file.
fn inline(module: &Path, to: &Path) -> Result<(), String> {
    let bytes = std::fs::read(module).map_err(|error| format!("{}: {error}", module.display()))?;
    let text = format!("// Made by `cargo xtask web`.\nexport default \"{}\";\n", base64(&bytes));
    std::fs::write(to, text).map_err(|error| format!("{}: {error}", to.display()))
}

/// Bytes in base64, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |at: usize| u32::from(part.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at > part.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

/// Removes what an earlier build has left.
fn empty(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Copies the files of a folder, and those of its folders.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copy(&path, &to.join(name))?;
        } else {
            std::fs::copy(&path, to.join(name)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Prints the size of a module, and how much of it goes over the network.
fn report(module: &Path, begin: Instant) {
    let bytes = std::fs::metadata(module).map_or(0, |metadata| metadata.len());
    let packed = Command::new("gzip").args(["-9", "-c"]).arg(module).stderr(Stdio::null()).output();
    let packed = packed.ok().filter(|output| output.status.success()).map(|output| output.stdout.len());
    let packed = packed.map_or(String::new(), |bytes| format!(", {} kB with gzip", bytes / 1000));
    eprintln!(
        "xtask: {}: {} kB{packed}, in {:.0} s",
        module.display(),
        bytes / 1000,
        begin.elapsed().as_secs_f64()
    );
}

/// Builds the page, and runs its tests in headless Chromium. `args` are files of `web/tests`; without them all run. With `--if-there` before them,
/// a program that is missing and cannot be installed is no failure; with `--quick-build` the modules are not optimized as a whole.
///
/// # Errors
/// What is missing, or that a test failed.
pub(crate) fn test(args: &[String]) -> Result<(), String> {
    let is_option = |arg: &&String| arg.starts_with("--");
    let (options, args) = args.split_at(args.iter().take_while(is_option).count());
    let (mut if_there, mut optimized) = (false, Optimized::Together);
    for option in options {
        match option.as_str() {
            "--if-there" => if_there = true,
            "--quick-build" => optimized = Optimized::Apart,
            _ => return Err(format!("--web takes --if-there and --quick-build, `{option}` given")),
        }
    }
    let (chromium, node) = match programs() {
        Err(message) if if_there => {
            eprintln!("xtask: web, tests: skipped: {message}");
            record::missing_but_allowed(&message);
            return Ok(());
        }
        found => found.map_err(record::missing)?,
    };
    let step = Step::begin("web, the page");
    let page = page(optimized);
    step.end(page.is_ok());
    let page = page?;
    let step = Step::begin("web, the package");
    let made = package(optimized);
    step.end(made.is_ok());
    made?;
    let folder = root().join("web/tests");
    let mut files: Vec<PathBuf> = if args.is_empty() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let is_test = |path: &PathBuf| path.to_string_lossy().ends_with(".test.mjs");
        entries.flatten().map(|entry| entry.path()).filter(is_test).collect()
    } else {
        args.iter().map(|name| folder.join(name)).collect()
    };
    files.sort();
    let (listener, address, served) = serve::listen(&page, 0)?;
    std::thread::spawn(move || serve::serve(&listener, &served));
    let step = Step::begin("web, tests");
    let mut command = Command::new(&node);
    if let Some(folder) = typescript() {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(folder).chain(std::env::split_paths(&paths));
        command.env("PATH", std::env::join_paths(all).map_err(|error| error.to_string())?);
    }
    // One after the other: a software GPU takes all cores.
    command.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]);
    let report =
        all::report("browser.xml").filter(|_| major(&node).is_some_and(|major| major >= WRITES_JUNIT));
    if let Some(report) = &report {
        command.args(["--test-reporter-destination=stdout", "--test-reporter=junit"]);
        command.arg(format!("--test-reporter-destination={}", report.display()));
    }
    command.args(&files);
    command.env("HULLFIELD_PAGE", format!("http://{address}/"));
    command.env("HULLFIELD_PACKAGE", target().join("web/package"));
    command.env("HULLFIELD_CHROMIUM", chromium);
    command.env("HULLFIELD_SCREENSHOTS", target().join("web/screenshots"));
    let passed = command.stdin(Stdio::null()).status().is_ok_and(|status| status.success());
    if let Some(report) = &report {
        junit::record(report, "browser");
    }
    if step.end(passed) { Ok(()) } else { Err("the tests of the playground failed".to_owned()) }
}

/// Chromium and node, and a compiler for the browser: found or installed.
fn programs() -> Result<(PathBuf, PathBuf), String> {
    let what = "a test of the playground";
    let chromium = ensure(browser, &["chromium"], what)?;
    let node = ensure(node, &["nodejs"], what)?;
    Compiler::ensure()?;
    Ok((chromium, node))
}

/// Installs what the tests of the playground need.
///
/// # Errors
/// What is missing.
pub(crate) fn fetch() -> Result<(), String> {
    programs()?;
    typescript();
    Ok(())
}

/// Finds a program, or installs its packages.
fn ensure(find: fn() -> Option<PathBuf>, packages: &[&str], what: &str) -> Result<PathBuf, String> {
    if let Some(found) = find() {
        return Ok(found);
    }
    install::packages(packages, what)?;
    find().ok_or_else(|| {
        format!("{what} needs {}, and what was installed is another program, or too old", packages.join(" "))
    })
}

/// The folder of TypeScript's compiler, which npm installs below `target` where there is none. Without npm there is none, and the test that
/// needs it is skipped.
fn typescript() -> Option<PathBuf> {
    if let Some(found) = install::program("tsc") {
        return found.parent().map(Path::to_path_buf);
    }
    let folder = target().join("web/tools");
    let programs = folder.join("node_modules/.bin");
    if !programs.join("tsc").exists() {
        let npm = install::program("npm")?;
        std::fs::create_dir_all(&folder).ok()?;
        let mut command = Command::new(npm);
        command
            .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
            .arg(&folder)
            .arg("typescript@5");
        if !command.stdin(Stdio::null()).status().is_ok_and(|status| status.success()) {
            eprintln!("xtask: npm could not install typescript: the types of the package are not compiled");
            return None;
        }
    }
    Some(programs)
}

/// Chromium, or a browser that is built from it.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from).filter(|path| path.is_file());
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge"];
    named.or_else(|| names.into_iter().find_map(install::program))
}

/// A node whose test runner has what the tests use.
fn node() -> Option<PathBuf> {
    let is_new = |path: &PathBuf| major(path).is_some_and(|major| major >= 18);
    ["node", "nodejs"].into_iter().filter_map(install::program).find(is_new)
}

/// The first node that writes a report of its tests.
const WRITES_JUNIT: u32 = 20;

/// The first number of a node's version.
fn major(node: &Path) -> Option<u32> {
    let output = Command::new(node).arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_pads_what_is_no_multiple_of_three_bytes() {
        let texts = [b"".as_slice(), b"f", b"fo", b"foo", b"foob"].map(base64);
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
    }
}
