//! `demo`: small runs of the README's first command.

use super::{Folder, backend, fast_backend};

#[test]
fn a_small_demo_is_right_and_leaves_a_picture() {
    let folder = Folder::new();
    let run = folder.run(&format!(
        "demo --frames 3 --bodies 400 --backend {} --size 320x200 --out pictures --json",
        backend()
    ));
    let object: serde_json::Value = serde_json::from_str(&run.good()).unwrap();
    assert_eq!(object["check"]["right"], true, "{object}");
    assert!(object["hulls"].as_array().unwrap().len() >= 12);
    assert!(object["counts"]["candidates"].as_u64().unwrap() > object["counts"]["hits"].as_u64().unwrap());
    assert!(object["counts"]["hits"].as_u64().unwrap() > 0);
    let contacts = &object["contacts"];
    assert_eq!(contacts["count"], object["counts"]["hits"], "{object}");
    assert!(contacts["deepest"].as_f64().unwrap() >= contacts["mean_depth"].as_f64().unwrap());
    assert!(contacts["mean_depth"].as_f64().unwrap() > 0.0);
    let bytes = std::fs::read(folder.path("pictures").join("collide.png")).unwrap();
    assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!((&bytes[16..20], &bytes[20..24]), (&320u32.to_be_bytes()[..], &200u32.to_be_bytes()[..]));
    assert_eq!(object["flow"]["wrong"], 0);
    assert!(object["flow"]["reached"].as_u64().unwrap() > 10_000, "{object}");
    assert!(object["path"]["fault"].is_null(), "{object}");
    assert_eq!(object["path"]["methods"].as_array().unwrap().len(), 3);
    for picture in ["flow.png", "path.png"] {
        let bytes = std::fs::read(folder.path("pictures").join(picture)).unwrap();
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
    }
    assert_eq!(folder.names(), ["pictures"]);
    assert_eq!(std::fs::read_dir(folder.path("pictures")).unwrap().count(), 3);
}

#[test]
fn the_demo_prints_a_report_of_each_job() {
    let folder = Folder::new();
    let text = folder
        .run(&format!("demo --frames 2 --bodies 50 --size 160x100 --backend {}", fast_backend()))
        .good();
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
    let object = |flags: &str| -> serde_json::Value {
        let run =
            folder.run(&format!("demo --frames 4 --bodies 400 --backend cpu --size 80x50 --json{flags}"));
        serde_json::from_str(&run.good()).unwrap()
    };
    let (cold, warm) = (object(""), object(" --warm"));
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
