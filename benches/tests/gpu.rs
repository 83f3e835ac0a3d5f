//! `hullfield-bench gpu` on a software driver, in its smallest form, and its errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hullfield-bench")).arg("gpu").args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command; nothing where there is no adapter.
fn with_adapter(args: &[&str]) -> Option<Output> {
    let output = run(args);
    if output.status.code() == Some(2) && said(&output).contains("no GPU adapter was found") {
        let is_required = std::env::var("HULLFIELD_REQUIRE_GPU").is_ok_and(|value| value == "1");
        assert!(!is_required, "HULLFIELD_REQUIRE_GPU=1, but: {}", said(&output));
        eprintln!("skipped: {}", said(&output));
        return None;
    }
    Some(output)
}

#[test]
fn a_part_runs_and_writes_its_rows() {
    let file = std::env::temp_dir().join(format!("hullfield-gpu-{}.json", std::process::id()));
    let json = file.to_str().unwrap();
    let args = ["--software", "--reduced", "--only", "agents", "--budget", "60s", "--json", json];
    let Some(output) = with_adapter(&args) else { return };
    assert!(output.status.success(), "{}", said(&output));
    let value: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(value["is_complete"], true);
    for key in ["adapter", "driver", "limits", "features", "commit", "date", "cpu"] {
        assert!(value["header"][key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {value}");
    }
    assert_eq!((&value["parts"][0]["name"], &value["parts"][0]["state"]), (&"agents".into(), &"done".into()));
    let rows = value["tables"][0]["rows"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["step_ms"].as_f64().unwrap() > 0.0), "{rows:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("all checks passed"));
}

#[test]
fn what_does_not_fit_into_a_second_is_named() {
    let args = ["--software", "--reduced", "--only", "f", "--budget", "1s"];
    let Some(output) = with_adapter(&args) else { return };
    assert!(output.status.success(), "{}", said(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("What did not run, and why") && table.contains("budget"), "{table}");
    assert!(!table.contains("all checks passed") && table.contains("jobs were skipped"), "{table}");
}

#[test]
fn bad_arguments_are_one_clear_error() {
    let folder = std::env::temp_dir();
    let folder = folder.to_str().unwrap();
    for (args, part) in [
        (&["--only", "no such part"][..], "there are the parts roofline, parity"),
        (&["--json", "/no such folder/gpu.json"], "there is no folder /no such folder"),
        (&["--json", folder], "it is a folder"),
        (&["--json", "/proc/gpu.json"], "it cannot be written"),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{args:?}: {}", said(&output));
        assert_eq!(said(&output).trim().lines().count(), 1, "{}", said(&output));
    }
    for budget in ["0", "soon", "-8m"] {
        let output = run(&[&format!("--budget={budget}")]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("such as 8m"), "{}", said(&output));
    }
    let none = Command::new(env!("CARGO_BIN_EXE_hullfield-bench"))
        .arg("gpu")
        .envs([
            ("VK_DRIVER_FILES", "/nonexistent"),
            ("VK_ICD_FILENAMES", "/nonexistent"),
            ("WGPU_BACKEND", "vulkan"),
        ])
        .output()
        .unwrap();
    assert_eq!(none.status.code(), Some(2), "{}", said(&none));
    assert!(said(&none).contains("no GPU adapter was found"), "{}", said(&none));
    let Some(output) = with_adapter(&["--software", "--adapter", "no such card"]) else { return };
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("no adapter has this in its name"), "{}", said(&output));
}
