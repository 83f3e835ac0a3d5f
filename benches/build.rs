//! Passes the compiler's version and optimisation level to the program, for the report's header.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    println!("cargo:rustc-env=HULLFIELD_RUSTC={}", version.unwrap_or_else(|_| "unknown".into()));
    println!("cargo:rustc-env=HULLFIELD_OPT_LEVEL={}", std::env::var("OPT_LEVEL").unwrap_or_default());
}
