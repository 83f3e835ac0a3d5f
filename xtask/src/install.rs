//! Installs a software Vulkan driver through the system's package manager, or says what to install.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::adapter::{self, Found};
use crate::workspace::is_set;

/// Mesa's drivers, llvmpipe among them, and the loader that opens them.
const PACKAGES: [&str; 2] = ["mesa-vulkan-drivers", "libvulkan1"];

/// Makes sure of an adapter: returns one that is there, or installs a driver.
///
/// # Errors
/// A sentence that says what to install, where that can't be done here or was not wished.
pub(crate) fn ensure_adapter() -> Result<Found, String> {
    let found = adapter::search();
    if found.is_adapter() {
        return Ok(found);
    }
    eprintln!("xtask: GPU adapter: {found}");
    if let Found::Overridden { variable, .. } = found {
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
    // Where the lists can't be renewed, those that are there may do.
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

/// Debian's package that brings SwiftShader: 32 MB, two files of which are wanted and need no other package.
const SWIFTSHADER: &str = "chromium-common";

/// Where [`fetch`] puts what it downloads.
pub(crate) fn fetched_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    target
        .unwrap_or_else(|| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("target"))
        .join("drivers")
}

/// Gets a driver that is not there: Mesa's is installed, SwiftShader's package is only unpacked below `target`, so nothing
/// of the system changes. False where that can't be done here or was not wished; why is said.
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
        // A mirror that does not answer must not hold up the tests; apt's own user may not write here.
        command.args(["-qq", "-o", "Acquire::http::Timeout=20", "-o", "Acquire::Retries=1"]);
        command.args(["-o", "APT::Sandbox::User=root", "download", SWIFTSHADER]);
        let status = command.current_dir(&folder).stdout(std::io::stderr()).status();
        status.is_ok_and(|status| status.success())
    };
    // Without lists, or with old ones, there is nothing to download; root can renew them.
    let renewed = || is_root() && apt(apt_get, &["update"]).is_ok();
    let is_got = get() || (renewed() && get());
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

/// May packages be installed?
#[derive(Debug, Clone, Copy, PartialEq)]
enum Permission {
    Given,
    Ask,
    Withheld,
}

/// Root and CI have said yes; a person is asked; a script that is neither gets no surprise.
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
        // Nobody is there to type a password in CI.
        if is_set("CI") {
            command.arg("-n");
        }
        command.args(["env", "DEBIAN_FRONTEND=noninteractive"]).arg(apt_get);
        command
    };
    eprintln!("xtask: apt-get {}", args.join(" "));
    // Standard output belongs to the tests.
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
(plain `cargo test` runs without one and skips what needs it)"
        .into()
}

/// The effective user is root. Asked of `id`, since the standard library does not know.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// A program on the path.
fn program(name: &str) -> Option<PathBuf> {
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
