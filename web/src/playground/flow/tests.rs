//! Tests of the tab on the host.

use super::*;
use crate::playground::test_page::Page;

fn opened() -> Page {
    Page::new(create, [400.0, 300.0])
}

/// What the page was told of the field last.
fn field(page: &Page) -> Value {
    page.posted("field").pop().unwrap()
}

#[test]
fn the_check_passes() {
    let mut page = opened();
    let result = pollster::block_on(page.scene.check(&page.host)).unwrap();
    assert!(
        result["reached"].as_u64().unwrap() > 10_000 && result["changed"].as_u64().unwrap() > 100,
        "{result}"
    );
}

#[test]
fn a_painted_wall_changes_the_field_and_agents_arrive() {
    let mut page = opened();
    page.send(json!({"type": "set", "scene": "open", "size": 64, "agents": "500", "connectivity": "four"}));
    assert!(page.frame());
    let before = field(&page);
    assert_eq!((&before["goals"], &before["gpu"]), (&json!(1), &json!(false)));
    // A wall from above to below, left of the goal in the middle, cuts off what is left of it.
    page.drag([150.0, 0.0], [150.0, 300.0]);
    page.frame();
    let after = field(&page);
    assert!(after["reached"].as_u64() < before["reached"].as_u64().map(|count| count * 4 / 5), "{after}");
    for _ in 0..200 {
        assert!(page.frame());
    }
    assert!(field(&page)["arrived"].as_u64().unwrap() > 200);
    page.send(json!({"type": "reset"}));
    page.frame();
    assert_eq!(field(&page)["reached"], before["reached"]);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn a_grid_without_goals_is_drawn_and_a_new_goal_is_followed() {
    let mut page = opened();
    page.send(
        json!({"type": "set", "scene": "open", "size": 64, "agents": 100, "tool": "free", "brush": 10}),
    );
    page.frame();
    page.drag([200.0, 150.0], [200.0, 150.0]);
    assert!(!page.frame());
    assert_eq!((&field(&page)["goals"], &field(&page)["reached"]), (&json!(0), &json!(0)));
    page.send(json!({"type": "set", "tool": "one"}));
    page.drag([200.0, 150.0], [210.0, 150.0]);
    assert!(page.frame());
    assert_eq!(field(&page)["goals"], 1);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

const LARGE: &str = r#"{"type": "set", "scene": "map", "size": 320, "agents": 100}"#;

#[test]
fn the_field_of_a_large_grid_is_solved_by_the_second_worker_while_frames_go_on() {
    let mut page = opened();
    page.send(serde_json::from_str(LARGE).unwrap());
    page.frame();
    assert_eq!(field(&page)["reached"], 0);
    assert_eq!(page.answer(&KIND), 1);
    assert!(page.frame());
    let first = field(&page);
    assert!(first["reached"].as_u64().unwrap() > 10_000, "{first}");
    // Strokes while it is solved are one question, that for the last grid; until then agents follow the last field.
    page.drag([150.0, 20.0], [150.0, 100.0]);
    page.frame();
    for x in [180.0, 200.0, 220.0] {
        page.drag([x, 20.0], [x, 280.0]);
        assert!(page.frame());
        assert_eq!((&field(&page)["reached"], page.asked_count()), (&first["reached"], 1));
    }
    assert_eq!(page.answer(&KIND), 1);
    page.frame();
    assert_eq!(page.answer(&KIND), 1);
    page.frame();
    assert_eq!(page.answer(&KIND), 0);
    let last = field(&page);
    let mut other = opened();
    other.send(serde_json::from_str(LARGE).unwrap());
    other.frame();
    other.drag([150.0, 20.0], [150.0, 100.0]);
    for x in [180.0, 200.0, 220.0] {
        other.drag([x, 20.0], [x, 280.0]);
    }
    // The question before the strokes, and that after them.
    for _ in 0..2 {
        assert_eq!(other.answer(&KIND), 1);
        other.frame();
    }
    for name in ["free", "reached", "farthest", "goals"] {
        assert_eq!(last[name], field(&other)[name], "{name}");
    }
    assert_ne!(last["reached"], first["reached"]);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn the_field_of_a_grid_that_is_gone_is_not_taken() {
    let mut page = opened();
    page.send(serde_json::from_str(LARGE).unwrap());
    page.frame();
    page.send(json!({"type": "set", "seed": 8}));
    page.frame();
    assert_eq!(page.answer(&KIND), 1);
    assert!(!page.frame());
    assert_eq!(field(&page)["reached"], 0);
    // A smaller grid is solved at once, and the answer for the larger one comes too late.
    page.send(json!({"type": "set", "size": 64}));
    page.frame();
    assert_eq!(page.answer(&KIND), 1);
    page.frame();
    let reached = field(&page)["reached"].as_u64().unwrap();
    assert!(reached > 500 && reached < 64 * 64, "{reached}");
    // What is not solved is a sentence, and the next stroke asks again.
    page.send(json!({"type": "set", "size": 320}));
    page.frame();
    assert_eq!(page.forget_asked(), 1);
    page.send(json!({"type": "second", "error": "There is no field."}));
    page.frame();
    assert_eq!(page.posted("error").len(), 1);
    page.drag([150.0, 20.0], [150.0, 100.0]);
    page.frame();
    assert_eq!(page.answer(&KIND), 1);
    assert!(page.frame());
}

#[test]
fn keys_choose_move_and_paint() {
    let mut page = opened();
    page.send(json!({"type": "set", "scene": "open", "size": 64}));
    page.frame();
    let mut press = |keys: &[&str]| {
        for key in keys {
            page.send(json!({"type": "key", "key": key, "shift": false}));
        }
        page.frame();
        field(&page)
    };
    // What was there is taken away first.
    let free = press(&["ArrowLeft", "ArrowLeft", "ArrowUp", "f", " "]);
    let walled = press(&["w", "]", " "]);
    assert!(walled["free"].as_u64() < free["free"].as_u64(), "{free} {walled}");
    assert!(free["tool"] == "free" && walled["tool"] == "wall" && walled["brush"] == 2.0, "{walled}");
    for (key, tool) in [("f", "free"), ("g", "goal"), ("m", "one"), ("c", "cost")] {
        page.send(json!({"type": "key", "key": key}));
        page.frame();
        assert_eq!(field(&page)["tool"], tool);
    }
}

#[test]
fn the_state_is_that_of_the_link() {
    let mut page = opened();
    assert_eq!(page.scene.state(), json!({}));
    let fields = json!({
        "scene": "maze", "size": 128, "seed": 9, "agents": 50, "connectivity": "four", "corners": "one"
    });
    let mut message = fields.clone();
    message["type"] = json!("set");
    page.send(message);
    assert_eq!(page.scene.state(), fields);
    page.frame();
}

#[test]
fn a_link_keeps_what_was_painted() {
    let mut page = opened();
    let settings = json!({"type": "set", "scene": "open", "size": 64, "agents": 0});
    page.send(settings.clone());
    page.frame();
    let planned = field(&page)["free"].clone();
    page.drag([120.0, 40.0], [200.0, 260.0]);
    page.send(json!({"type": "set", "tool": "goal"}));
    page.drag([90.0, 90.0], [90.0, 90.0]);
    page.frame();
    let painted = field(&page);
    assert!(
        painted["kept"] == true && painted["goals"].as_u64() > Some(1) && painted["free"] != planned,
        "{painted}"
    );
    let state = page.scene.state();
    let mut message = state.clone();
    message["type"] = json!("set");
    let mut other = opened();
    other.send(message);
    other.frame();
    let again = field(&other);
    for name in ["free", "reached", "goals", "farthest"] {
        assert_eq!(again[name], painted[name], "{name}");
    }
    assert_eq!(other.scene.state(), state);
    // Painted anew it is the plan, and a link that is cut says so.
    other.send(json!({"type": "reset"}));
    other.frame();
    assert_eq!((&field(&other)["free"], other.scene.state().get("paint")), (&planned, None));
    other.send(json!({"type": "set", "paint": "8//"}));
    assert_eq!(other.posted("error").len(), 1);
    assert_eq!(other.scene.state().get("paint"), None);
}

#[test]
fn what_cannot_be_used_is_one_sentence_and_changes_nothing() {
    let mut page = opened();
    for (name, value) in [
        ("scene", json!("castle")),
        ("size", json!(63)),
        ("size", json!("many")),
        ("seed", json!(-1)),
        ("agents", json!(50_001)),
        ("connectivity", json!("six")),
        ("corners", json!(1)),
        ("tool", json!("hammer")),
        ("brush", json!(11)),
        ("speed", json!("1e999")),
        ("arrows", json!("perhaps")),
        ("paint", json!(7)),
        ("paint", json!("§")),
    ] {
        let count = page.posted("error").len();
        page.send(json!({"type": "set", name: value}));
        let errors = page.posted("error");
        assert_eq!(errors.len(), count + 1, "{name}");
        assert!(errors[count]["text"].as_str().unwrap().ends_with('.'));
    }
    assert_eq!(page.scene.state(), json!({}));
}
