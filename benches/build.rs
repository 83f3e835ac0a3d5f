//! Passes the compiler's version and the level of optimization to the program, for the report's header. Where the library has a level of its own, the
//! environment says it.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    println!("cargo:rustc-env=HULLFIELD_RUSTC={}", version.unwrap_or_else(|_| "unknown".into()));
    println!("cargo:rerun-if-env-changed=HULLFIELD_OPT_LEVEL");
    let level = std::env::var("HULLFIELD_OPT_LEVEL").or_else(|_| std::env::var("OPT_LEVEL"));
    println!("cargo:rustc-env=HULLFIELD_OPT_LEVEL={}", level.unwrap_or_default());
}
