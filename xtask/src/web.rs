//! The playground and the npm package: builds, serves and tests them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::install;
use crate::serve;
use crate::wasm::{self, Compiler};
use crate::workspace::{root, target};

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
        [only] if only == "--package" => return package(),
        [serve] if serve == "--serve" => Some(0),
        [serve, port] if serve == "--serve" => {
            Some(port.parse().map_err(|_| format!("--serve {port}: a port is a number to 65535"))?)
        }
        _ => return Err("`web` takes --package, or --serve [PORT], and nothing else".to_owned()),
    };
    let page = page()?;
    let Some(port) = port else { return package() };
    let (listener, address, folder) = serve::listen(&page, port)?;
    println!("http://{address}/");
    let _ = std::io::stdout().flush();
    serve::serve(&listener, &folder);
    Ok(())
}

/// Builds the page into `target/web/page`.
fn page() -> Result<PathBuf, String> {
    let begin = Instant::now();
    let folder = target().join("web/page");
    let modules = Compiler::ensure()?.build([CRATE, READERS], "hullfield-web/playground")?;
    empty(&folder)?;
    copy(&root().join("web/page"), &folder)?;
    let folders = [folder.clone(), folder.join("readers")];
    for (module, folder) in modules.iter().zip(&folders) {
        wasm::bind(module, folder)?;
    }
    report(&folder.join("hullfield_web_bg.wasm"), begin);
    report(&folder.join("readers/hullfield_web_readers_bg.wasm"), begin);
    Ok(folder)
}

/// Builds the npm package into `target/web/package`.
fn package() -> Result<(), String> {
    let source = root().join("web/package");
    if !source.join("package.json").is_file() {
        return Ok(());
    }
    let begin = Instant::now();
    let folder = target().join("web/package");
    let [module] = Compiler::ensure()?.build([CRATE], "hullfield-web/api")?;
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

/// Builds the page, and runs its tests in headless Chromium. `args` are files of `web/tests`; without them all run.
///
/// # Errors
/// What is missing, or that a test failed.
pub(crate) fn test(args: &[String]) -> Result<(), String> {
    let chromium = ensure(browser, &["chromium"], "a test of the playground")?;
    let node = ensure(node, &["nodejs"], "a test of the playground")?;
    let page = page()?;
    package()?;
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
    let begin = Instant::now();
    let mut command = Command::new(node);
    // One after the other: a software GPU takes all cores.
    command.args(["--test", "--test-concurrency=1", "--test-reporter=spec"]).args(&files);
    command.env("HULLFIELD_PAGE", format!("http://{address}/"));
    command.env("HULLFIELD_PACKAGE", target().join("web/package"));
    command.env("HULLFIELD_CHROMIUM", chromium);
    command.env("HULLFIELD_SCREENSHOTS", target().join("web/screenshots"));
    let passed = command.stdin(Stdio::null()).status().is_ok_and(|status| status.success());
    eprintln!(
        "xtask: web, tests: {} in {:.0} s",
        if passed { "ok" } else { "FAILED" },
        begin.elapsed().as_secs_f64()
    );
    if passed { Ok(()) } else { Err("the tests of the playground failed".to_owned()) }
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

/// Chromium, or a browser that is built from it.
fn browser() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from).filter(|path| path.is_file());
    let names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge"];
    named.or_else(|| names.into_iter().find_map(install::program))
}

/// A node whose test runner has what the tests use.
fn node() -> Option<PathBuf> {
    let is_new = |path: &PathBuf| {
        let output = Command::new(path).arg("--version").output();
        let version =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let major =
            version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
        major.is_some_and(|major| major >= 18)
    };
    ["node", "nodejs"].into_iter().filter_map(install::program).find(is_new)
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
