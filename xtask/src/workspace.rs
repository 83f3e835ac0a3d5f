//! What the chores run in: the workspace, its cargo, and the variables of the environment.

use std::path::Path;
use std::process::Command;

/// Cargo, as the one that started this program, in the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The workspace's root.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// True where a variable is set to anything but nothing, `0` or `false`.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
