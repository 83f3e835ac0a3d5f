//! `hullfield-bench shaders`, where Mesa's RADV is installed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hullfield-bench")).arg("shaders").args(args).output().unwrap()
}

/// Runs the command; nothing where there is no RADV.
fn with_radv(args: &[&str]) -> Option<Output> {
    let output = run(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(2) && said.contains("no RADV") {
        eprintln!("skipped: {said}");
        return None;
    }
    Some(output)
}

#[test]
fn a_kernel_has_its_statistics() {
    let file = std::env::temp_dir().join(format!("hullfield-shaders-{}.json", std::process::id()));
    let json = file.to_str().unwrap();
    let args = ["--only", "gpu.scan", "--target", "navi21:32", "--target", "vega10:64", "--json", json];
    let Some(output) = with_radv(&args) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    let tables = value["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2);
    for (table, target) in tables.iter().zip(["navi21:32", "vega10:64"]) {
        let rows = table["rows"].as_array().unwrap();
        assert!(!rows.is_empty());
        for row in rows {
            assert_eq!(row["target"], target);
            for column in ["vgprs", "waves", "code_bytes", "instructions"] {
                assert!(row[column].as_u64().unwrap() > 0, "{column}: {row}");
            }
            assert_eq!(row["scratch_bytes"], 0, "{row}");
        }
    }
}

#[test]
fn bad_arguments_are_one_clear_error() {
    for (args, part) in [
        (&["--only", "no such kernel"][..], "no kernel has it in its name"),
        (&["--target", "navi21"], "FAMILY:SIZE"),
        (&["--target", "navi21:48"], "32 or 64"),
        (&["--manifest", "/nonexistent.json"], "there is no such file"),
    ] {
        let output = run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(part), "{args:?}: {said}");
    }
    let Some(output) = with_radv(&["--target", "none:32"]) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("none:32") && said.trim().lines().count() == 1, "{said}");
}
