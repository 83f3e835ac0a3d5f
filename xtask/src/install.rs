//! Installs a software Vulkan driver with apt-get, or says what to install.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::adapter::{self, Search};
use crate::workspace::is_set;

/// Mesa's drivers, with llvmpipe, and the loader.
const PACKAGES: [&str; 2] = ["mesa-vulkan-drivers", "libvulkan1"];

/// Finds an adapter, or installs a driver.
///
/// # Errors
/// A message that says what to install, if that is not possible here or not permitted.
pub(crate) fn ensure_adapter() -> Result<Search, String> {
    let found = adapter::search();
    if found.is_adapter() {
        return Ok(found);
    }
    eprintln!("xtask: GPU adapter: {found}");
    if let Search::Overridden { variable, .. } = found {
        return Err(format!("unset {variable}, or let it name a driver's manifest"));
    }
    let Some(apt_get) = program("apt-get") else { return Err(advice()) };
    let question = format!(
        "Install {} with apt-get now (a software Vulkan driver, runs on the CPU)?",
        PACKAGES.join(" ")
    );
    match permission(is_root(), is_set("CI"), std::io::stdin().is_terminal()) {
        Permission::Given => {}
        Permission::Ask if ask(&question) => {}
        Permission::Ask | Permission::Withheld => return Err(advice()),
    }
    // If the package lists cannot be updated, the old ones may do.
    if let Err(message) = apt(&apt_get, &["update"]) {
        eprintln!("xtask: {}", message.lines().next().unwrap_or_default());
    }
    let install = ["install", "-y", "--no-install-recommends"];
    apt(&apt_get, &install.into_iter().chain(PACKAGES).collect::<Vec<_>>())?;
    let found = adapter::search();
    if found.is_adapter() {
        Ok(found)
    } else {
        Err(format!("{} installed, but GPU adapter: {found}", PACKAGES.join(" ")))
    }
}

/// Installs packages of Debian or Ubuntu, where root or CI asks, or a person agrees. `what` says what they are for.
///
/// # Errors
/// A sentence that says what is missing, if that is not possible here or not permitted.
pub(crate) fn packages(names: &[&str], what: &str) -> Result<(), String> {
    let list = names.join(" ");
    let missing = || format!("{what} needs {list}: sudo apt-get install {list}");
    let apt_get = program("apt-get").ok_or_else(missing)?;
    match permission(is_root(), is_set("CI"), std::io::stdin().is_terminal()) {
        Permission::Given => {}
        Permission::Ask if ask(&format!("Install {list} with apt-get now ({what})?")) => {}
        Permission::Ask | Permission::Withheld => return Err(missing()),
    }
    // If the package lists cannot be updated, the old ones may do.
    if let Err(message) = apt(&apt_get, &["update"]) {
        eprintln!("xtask: {}", message.lines().next().unwrap_or_default());
    }
    let install = ["install", "-y", "--no-install-recommends"];
    apt(&apt_get, &install.into_iter().chain(names.iter().copied()).collect::<Vec<_>>())
        .map_err(|_| missing())
}

/// Whether the system's packages have one of this name.
pub(crate) fn has_package(name: &str) -> bool {
    let shown = Command::new("apt-cache").args(["show", name]).stderr(Stdio::null()).output();
    shown.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
}

/// Debian's package with SwiftShader: 32 MB, of which two files are used. They need no other package.
const SWIFTSHADER: &str = "chromium-common";

/// The folder of the drivers that [`fetch`] downloads.
pub(crate) fn fetched_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target
        .unwrap_or_else(|| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("target"))
        .join("drivers")
}

/// Fetches a missing driver: installs Mesa's, or unpacks SwiftShader's package below `target`, which does not change the
/// system. Returns false, after a message, if that is not possible here or not permitted.
pub(crate) fn fetch(driver: &str) -> bool {
    if driver == "lavapipe" {
        return ensure_adapter().is_ok();
    }
    let (Some(apt_get), Some(dpkg_deb)) = (program("apt-get"), program("dpkg-deb")) else { return false };
    let question = format!("Download {SWIFTSHADER} (32 MB, for SwiftShader) and unpack it below target now?");
    match permission(is_root(), is_set("CI"), std::io::stdin().is_terminal()) {
        Permission::Given => {}
        Permission::Ask if ask(&question) => {}
        Permission::Ask | Permission::Withheld => return false,
    }
    let done = download(&apt_get, &dpkg_deb);
    if let Err(message) = &done {
        eprintln!("xtask: {message}");
    }
    done.is_ok()
}

fn download(apt_get: &Path, dpkg_deb: &Path) -> Result<(), String> {
    let folder = fetched_folder();
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let get = || {
        eprintln!("xtask: apt-get download {SWIFTSHADER}");
        let mut command = Command::new(apt_get);
        // A timeout, so that a dead mirror does not block the tests. apt's sandbox user may not write here.
        command.args(["-qq", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1"]);
        command.args(["-o", "APT::Sandbox::User=root", "download", SWIFTSHADER]);
        let status = command.current_dir(&folder).stdout(std::io::stderr()).status();
        status.is_ok_and(|status| status.success())
    };
    // Without current package lists the download fails; root can update them.
    let updated = || is_root() && apt(apt_get, &["update"]).is_ok();
    let is_got = get() || (updated() && get());
    if !is_got {
        return Err(format!("apt-get could not download {SWIFTSHADER}"));
    }
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let is_package = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "deb");
    for package in entries.flatten().map(|entry| entry.path()).filter(is_package) {
        let unpacked = Command::new(dpkg_deb).arg("-x").arg(&package).arg(&folder).status();
        let _ = std::fs::remove_file(&package);
        if !unpacked.is_ok_and(|status| status.success()) {
            return Err(format!("dpkg-deb could not unpack {}", package.display()));
        }
    }
    Ok(())
}

/// Whether packages may be installed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Permission {
    Given,
    Ask,
    Withheld,
}

/// Root and CI have permission; a person is asked; any other script has none.
fn permission(is_root: bool, is_ci: bool, is_terminal: bool) -> Permission {
    match (is_root || is_ci, is_terminal) {
        (true, _) => Permission::Given,
        (false, true) => Permission::Ask,
        (false, false) => Permission::Withheld,
    }
}

fn ask(question: &str) -> bool {
    eprint!("{question} [y/N] ");
    let _ = std::io::stderr().flush();
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes" | "Yes")
}

fn apt(apt_get: &Path, args: &[&str]) -> Result<(), String> {
    let mut command = if is_root() {
        let mut command = Command::new(apt_get);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command
    } else {
        let sudo = program("sudo").ok_or_else(|| format!("not root, and no sudo here; {}", advice()))?;
        let mut command = Command::new(sudo);
        // In CI nobody can type a password.
        if is_set("CI") {
            command.arg("-n");
        }
        command.args(["env", "DEBIAN_FRONTEND=noninteractive"]).arg(apt_get);
        command
    };
    eprintln!("xtask: apt-get {}", args.join(" "));
    // stdout is for the tests.
    command.args(["-qq", "-o", "DPkg::Lock::Timeout=120"]).args(args).stdout(std::io::stderr());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("apt-get {} ended with {status}; {}", args.join(" "), advice())),
        Err(error) => Err(format!("apt-get could not be started: {error}; {}", advice())),
    }
}

fn advice() -> String {
    "the tests need a Vulkan driver; a software one will do:
  Debian, Ubuntu   sudo apt-get install mesa-vulkan-drivers libvulkan1
  Fedora           sudo dnf install mesa-vulkan-drivers vulkan-loader
  Arch             sudo pacman -S vulkan-swrast vulkan-icd-loader
  Alpine           sudo apk add mesa-vulkan-swrast vulkan-loader
(plain `cargo test` runs without one and skips the tests that need it)"
        .into()
}

/// Whether the effective user is root, by `id`, as the standard library does not know.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// The path of a program in `PATH`.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_and_ci_install_unasked() {
        assert_eq!(permission(true, false, false), Permission::Given);
        assert_eq!(permission(true, false, true), Permission::Given);
        assert_eq!(permission(false, true, false), Permission::Given);
        assert_eq!(permission(false, false, true), Permission::Ask);
        assert_eq!(permission(false, false, false), Permission::Withheld);
    }

    #[test]
    fn a_program_that_is_not_there_is_none() {
        assert_eq!(program("hullfield-no-such-program"), None);
    }
}
