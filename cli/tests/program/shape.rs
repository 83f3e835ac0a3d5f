//! The fields that `--json` has in every subcommand.

use hullfield_oracle::seed;
use serde_json::Value;

use super::demo::small_demo;
use super::{BODIES, Folder, box_obj, fast_backend};

/// One parser can read `engine`, `times_ms` and `counts` of every subcommand.
#[test]
fn engine_times_and_counts_have_one_shape_in_every_subcommand() {
    let folder = Folder::new();
    folder
        .write("box.obj", box_obj())
        .write("bodies.csv", BODIES)
        .write("a.map", "type octile\nheight 2\nwidth 3\nmap\n.@.\n...\n")
        .write("a.scen", "version 1\n0 a.map 3 2 0 0 0 1 1\n")
        .write("room.geojson", r#"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4],[0,0]]]}"#);
    // Each subcommand on either engine, by turns.
    let mut turn = seed(0) as usize % 2;
    let mut engine = || {
        turn += 1;
        format!("--backend {}", [fast_backend(), "cpu"][turn % 2])
    };
    let calls = [
        ("devices".to_owned(), vec!["adapters"]),
        ("hull box.obj".to_owned(), vec!["hulls", "points", "vertices"]),
        (
            format!("collide --hulls box.obj --bodies bodies.csv {}", engine()),
            vec!["bodies", "hits", "rows", "touching"],
        ),
        (
            format!("collide --hulls box.obj --bodies bodies.csv {} --out o.csv", engine()),
            vec!["bodies", "hits", "rows"],
        ),
        (
            format!("collide --hulls box.obj --bodies bodies.csv {} --trace 0,1", engine()),
            vec!["bodies", "steps"],
        ),
        (
            format!("collide --hulls box.obj --bodies bodies.csv {} --query sweep --duration 1", engine()),
            vec!["hit", "miss", "touching"],
        ),
        (
            format!("flow a.map --goal 0,0 {}", engine()),
            vec!["cells", "goals", "reached", "levels", "rounds"],
        ),
        (
            format!("flow a.map --scenarios a.scen {}", engine()),
            vec!["scenarios", "fields", "matched", "reached"],
        ),
        ("room room.geojson".to_owned(), vec!["queries", "reached"]),
        ("room room.geojson --from 1,1 --to 2,2".to_owned(), vec!["queries", "reached"]),
        ("path box.obj".to_owned(), vec!["models", "faces", "queries", "reached"]),
        ("path box.obj --field-from 0.5,0,0".to_owned(), vec!["models", "queries"]),
        ("demo".to_owned(), vec!["bodies", "frames", "hits"]),
    ];
    let mut tested: Vec<String> = Vec::new();
    for (call, counts) in calls {
        tested.push(call.split(' ').next().unwrap().to_owned());
        let value: Value = match &call[..] {
            "demo" => small_demo().object.clone(),
            _ => serde_json::from_str(&folder.run(&format!("{call} --json")).good()).unwrap(),
        };
        let fields =
            |name: &str| value[name].as_object().unwrap_or_else(|| panic!("{call}: {name}: {value}"));
        let mut keys: Vec<&String> = fields("engine").keys().collect();
        // Cargo features of other packages can change the order of keys.
        keys.sort();
        assert_eq!(keys, ["adapter", "backend", "reason"], "{call}");
        assert!(["cpu", "gpu"].contains(&value["engine"]["backend"].as_str().unwrap()), "{call}");
        let is_gpu = value["engine"]["backend"] == "gpu";
        assert_eq!(value["engine"]["adapter"].is_string(), is_gpu, "{call}");
        assert!(!value["engine"]["reason"].as_str().unwrap().is_empty(), "{call}");
        assert!(fields("times_ms").contains_key("wall"), "{call}");
        assert!(
            fields("times_ms").values().all(|ms| ms.as_f64().is_some_and(|ms| ms >= 0.0)),
            "{call}: {value}"
        );
        assert!(fields("counts").values().all(Value::is_u64), "{call}: {value}");
        for count in counts {
            assert!(fields("counts").contains_key(count), "{call}: {count}");
            // A count is in `counts` only.
            assert!(value.get(count).is_none_or(|other| !other.is_number()), "{call}: {count}");
        }
    }
    // The test covers every subcommand with --json.
    let help = folder.run("--help").good();
    let list = help.split("Commands:").nth(1).unwrap().split("Options:").next().unwrap();
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|&name| name != "help") {
        let has_json = folder.run(&format!("{name} --help")).good().contains("--json");
        assert_eq!(has_json, tested.iter().any(|called| called == name), "{name}");
    }
}
