//! Installs a software Vulkan driver through the system's package manager, or says what to install.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::adapter::{self, Found};
use crate::is_set;

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
    match permission(is_root(), is_set("CI"), std::io::stdin().is_terminal()) {
        Permission::Given => {}
        Permission::Ask if ask() => {}
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

fn ask() -> bool {
    eprint!(
        "Install {} with apt-get now (a software Vulkan driver, runs on the CPU)? [y/N] ",
        PACKAGES.join(" ")
    );
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
