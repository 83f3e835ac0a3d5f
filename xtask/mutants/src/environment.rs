//! The programs that are started, and what they find in their environment.

use std::path::Path;
use std::process::Command;

/// The cargo that started this program, in `tree`.
pub(crate) fn cargo(tree: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(tree);
    // Those are of this program's package.
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    command
}

/// Sets what the tests find in CI, and where their temporary files go.
pub(crate) fn prepare_test(command: &mut Command, scratch: &Path, is_long: bool) {
    command.env("HULLFIELD_REQUIRE_GPU", "1");
    if is_long {
        command.env("HULLFIELD_LONG", "1");
    } else {
        command.env_remove("HULLFIELD_LONG");
    }
    for name in ["HULLFIELD_MUTANT", "HULLFIELD_MUTANT_TRACE", "HULLFIELD_MUTANT_SHADER"] {
        command.env_remove(name);
    }
    // A property that fails has killed its mutant: no smaller case is needed, and no later run may begin with this one.
    command.env("PROPTEST_MAX_SHRINK_ITERS", "0").env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1");
    // To find the lines of a panic takes longer than most tests.
    command.env("RUST_BACKTRACE", "0");
    for name in ["TMPDIR", "TMP", "TEMP"] {
        command.env(name, scratch);
    }
    // Without it Mesa prints a message for each device.
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", scratch);
    }
}
