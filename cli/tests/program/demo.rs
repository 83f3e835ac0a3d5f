//! `demo`: small runs of the README's first command.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hullfield_oracle::seed;
use serde_json::Value;

use super::{Folder, backend, fast_backend};

/// A small demo: what it prints, the names in its folder, and its pictures.
pub(super) struct Demo {
    pub(super) object: Value,
    names: Vec<String>,
    pictures: BTreeMap<String, Vec<u8>>,
}

/// The demo that these tests judge. It takes seconds, most of them for the pictures, so it runs once.
pub(super) fn small_demo() -> &'static Demo {
    static DEMO: OnceLock<Demo> = OnceLock::new();
    DEMO.get_or_init(|| {
        let folder = Folder::new();
        let run = folder.run(&format!(
            "demo --frames 3 --bodies 400 --backend {} --size 160x100 --out pictures --json",
            backend()
        ));
        let object = serde_json::from_str(&run.good()).unwrap();
        let picture = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        };
        let pictures = std::fs::read_dir(folder.path("pictures")).unwrap().map(picture).collect();
        Demo { object, names: folder.names(), pictures }
    })
}

#[test]
fn a_small_demo_is_right_and_leaves_a_picture() {
    let Demo { object, names, pictures } = small_demo();
    assert_eq!(object["check"]["right"], true, "{object}");
    assert!(object["hulls"].as_array().unwrap().len() >= 12);
    assert!(object["counts"]["candidates"].as_u64().unwrap() > object["counts"]["hits"].as_u64().unwrap());
    assert!(object["counts"]["hits"].as_u64().unwrap() > 0);
    let contacts = &object["contacts"];
    assert_eq!(contacts["count"], object["counts"]["hits"], "{object}");
    assert!(contacts["deepest"].as_f64().unwrap() >= contacts["mean_depth"].as_f64().unwrap());
    assert!(contacts["mean_depth"].as_f64().unwrap() > 0.0);
    let bytes = &pictures["collide.png"];
    assert_eq!((&bytes[16..20], &bytes[20..24]), (&160u32.to_be_bytes()[..], &100u32.to_be_bytes()[..]));
    assert_eq!(object["flow"]["wrong"], 0);
    assert!(object["flow"]["reached"].as_u64().unwrap() > 10_000, "{object}");
    assert!(object["path"]["fault"].is_null(), "{object}");
    assert_eq!(object["path"]["methods"].as_array().unwrap().len(), 3);
    assert_eq!(names, &["pictures"]);
    assert_eq!(pictures.keys().collect::<Vec<_>>(), ["collide.png", "flow.png", "path.png"]);
    assert!(pictures.values().all(|bytes| bytes[..8] == *b"\x89PNG\r\n\x1a\n"));
}

#[test]
fn the_demo_prints_a_report_of_each_job() {
    let engine = [fast_backend(), "cpu"][seed(0) as usize % 2];
    let folder = Folder::new();
    let text = folder.run(&format!("demo --frames 2 --bodies 50 --size 160x100 --backend {engine}")).good();
    for part in [
        "engine: ",
        "candidates",
        "median: ",
        "contacts of the last frame: ",
        "check:  last frame against ",
        "collide.png",
        "field: ",
        "agents: ",
        "flow.png",
        "model: ",
        "geodesic: ",
        "path.png",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn a_warm_demo_finds_the_same_hits() {
    let folder = Folder::new();
    let run = folder.run("demo --frames 3 --bodies 400 --backend cpu --size 80x50 --json --warm");
    let warm: Value = serde_json::from_str(&run.good()).unwrap();
    let cold = &small_demo().object;
    assert_eq!((&cold["warm"], &warm["warm"]), (&false.into(), &true.into()));
    assert_eq!(
        (&cold["counts"]["hits"], &warm["check"]["right"]),
        (&warm["counts"]["hits"], &true.into()),
        "{warm}"
    );
    assert_eq!(cold["counts"]["skipped"], 0);
    assert!(
        warm["counts"]["skipped"].as_u64().unwrap() <= warm["counts"]["candidates"].as_u64().unwrap(),
        "{warm}"
    );
}
