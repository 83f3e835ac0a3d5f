//! `hullfield-bench all` on a few sizes, the commands over its reports, and their errors.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

fn run(args: &[&str]) -> Output {
    // Without a GPU: its pipelines would take most of the time.
    let mut command = Command::new(env!("CARGO_BIN_EXE_hullfield-bench"));
    command.env("VK_DRIVER_FILES", "/nonexistent").env("WGPU_BACKEND", "vulkan").args(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A folder of a test, which is removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hullfield-all-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn every_sweep_has_checked_rows_a_peer_and_its_command() {
    let folder = Folder::new("sweeps");
    let (json, html) = (folder.file("report.json"), folder.file("report.html"));
    let output =
        run(&["all", "--quick", "--budget", "10m", "--threads", "1", "--json", &json, "--html", &html]);
    assert!(output.status.success(), "{}{}", printed(&output), said(&output));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report["failures"], json!([]));
    let tables = report["tables"].as_array().unwrap();
    let names: Vec<&str> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
    for name in [
        "summary",
        "bodies",
        "pairs",
        "contacts",
        "vertices",
        "hulls",
        "rays",
        "compounds",
        "worlds",
        "cells",
        "volumes",
        "batches",
        "costs",
        "rooms",
        "surfaces",
        "builds",
        "scenes",
        "growth",
        "ends",
        "roofs",
        "shares",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for table in tables {
        let (name, rows) = (&table["name"], table["rows"].as_array().unwrap());
        assert!(
            table["command"].as_str().is_some_and(|text| text.starts_with("hullfield-bench all")),
            "{name}"
        );
        assert!(!rows.is_empty(), "{name}");
        if rows[0]["ms"].is_number() {
            let has = |word: &str| rows.iter().any(|row| row["who"].as_str().unwrap().starts_with(word));
            assert!(
                has("cpu, 1 thread")
                    && rows.iter().any(|row| !row["who"].as_str().unwrap().starts_with("cpu")),
                "{name}"
            );
            assert!(rows.iter().all(|row| row["ms"].as_f64().unwrap() > 0.0), "{name}");
        }
    }
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains("At a glance") && page.matches("<svg").count() > 20, "{}", page.len());
    // Nothing is loaded from elsewhere.
    for word in ["NaN", "=\"http", "url(", "<script", "<link"] {
        assert!(!page.replace("xmlns=\"http", "").contains(word), "{word}");
    }

    // The same report is unchanged; one with a slower row is not.
    assert!(run(&["compare", &json, &json]).status.success());
    let mut slower = report.clone();
    let rows =
        slower["tables"].as_array_mut().unwrap().iter_mut().find(|table| table["name"] == "cells").unwrap();
    for row in rows["rows"].as_array_mut().unwrap() {
        let (ms, runs) = (row["ms"].as_f64().unwrap(), row["runs"].as_u64().unwrap());
        let is_ours = row["who"].as_str().unwrap().starts_with("cpu");
        row["ms"] = json!(if is_ours && runs >= 3 { 9.0 * ms } else { ms });
        row["±"] = json!(0.01);
    }
    let after = folder.file("slower.json");
    std::fs::write(&after, slower.to_string()).unwrap();
    let output = run(&["compare", &json, &after]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    assert!(
        printed(&output).contains("cells") && printed(&output).contains("slower"),
        "{}",
        printed(&output)
    );

    // Tables between markers.
    let text = folder.file("tables.md");
    std::fs::write(&text, "# Speed\n\n<!-- bench: all/growth | of | exponent -->\n<!-- /bench -->\n")
        .unwrap();
    assert_eq!(run(&["write-tables", &json, "--in", &text, "--check"]).status.code(), Some(1));
    assert!(run(&["write-tables", &json, "--in", &text]).status.success());
    assert!(std::fs::read_to_string(&text).unwrap().contains("| of | exponent |\n|---|---|\n| "));
    assert!(run(&["write-tables", &json, "--in", &text, "--check"]).status.success());
}

#[test]
fn a_sweep_without_time_says_where_it_ends() {
    let output = run(&["all", "--only", "vertices", "--budget", "3s", "--threads", "1"]);
    assert!(output.status.success(), "{}{}", printed(&output), said(&output));
    let text = printed(&output);
    assert!(text.contains("would take about") || text.contains("no time was left"), "{text}");
}

#[test]
fn bad_arguments_are_one_clear_error() {
    let folder = Folder::new("errors");
    let (text, empty) = (folder.file("text.json"), folder.file("empty.json"));
    std::fs::write(&text, "no JSON").unwrap();
    std::fs::write(&empty, "{}").unwrap();
    let failed = folder.file("failed.json");
    let failed_run = r#"{"header": {"job": "all", "command": "hullfield-bench all"}, "tables": [], "failures": ["pairs: 3 are wrong"]}"#;
    std::fs::write(&failed, failed_run).unwrap();
    let stopped = folder.file("stopped.json");
    std::fs::write(&stopped, failed_run.replace(r#""failures""#, r#""is_complete": false, "failures""#))
        .unwrap();
    let unchecked = folder.file("unchecked.json");
    std::fs::write(&unchecked, failed_run.replace("failures", "others")).unwrap();
    let missing = folder.file("missing.json");
    let here = folder.file("");
    for (args, part) in [
        (&["all", "--only", "no such part"][..], "there are the parts roofline, kernels, bodies"),
        (&["all", "--budget", "2s"], "too short, as the first sizes take about"),
        (&["all", "--budget=soon"], "such as 8m"),
        (&["all", "--threads", "0"], "--threads must be above zero"),
        (
            &["all", "--html", "/no such folder/report.html"],
            "--html /no such folder/report.html: there is no folder",
        ),
        (&["all", "--json", &here], "it is a folder"),
        (&["all", "--json", "/proc/report.json"], "it cannot be written"),
        (&["all", "--python", "no such python"], "--python no such python: it cannot be started"),
        (&["compare", &missing, &text], "missing.json: "),
        (&["compare", &text, &text], "text.json is not JSON"),
        (&["compare", &empty, &empty], "empty.json is no report: it has no tables"),
        (&["compare", &empty, &empty, "--least", "much"], "such as 10% or 0.1"),
        (&["write-tables", &text], "text.json is not JSON"),
        (&["write-tables", &empty], "empty.json is no report of this version"),
        (&["write-tables"], "<REPORTS>"),
        (&["write-tables", &failed], "failed.json: checks failed in this run (1)"),
        (&["write-tables", &failed, "--in", &missing], "pairs: 3 are wrong"),
        (&["write-tables", &stopped], "stopped.json: this run was stopped before its end"),
        (&["write-tables", &unchecked], "unchecked.json has no list of failed checks"),
        (&["compare", &failed], "2 values required"),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{args:?}: {}", said(&output));
    }
}
