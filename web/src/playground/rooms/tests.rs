//! Tests of the tab on the host.

use super::*;
use crate::playground::test_page::Page;

fn opened() -> Page {
    Page::new(create, [528.0, 378.0])
}

/// Draws, and returns what the page was told of the path last.
fn path_of_frame(page: &mut Page) -> Value {
    assert!(!page.frame());
    page.posted("path").pop().unwrap()
}

/// Drags from one point of the room to another.
fn drag(page: &mut Page, from: [f64; 2], to: [f64; 2]) {
    let fit = Fit::new(page.size(), 1.0, Lens::default());
    page.drag(fit.to_pixels(from), fit.to_pixels(to));
}

#[test]
fn the_check_passes_and_funnels_are_longer_at_times() {
    let result = check::check().unwrap();
    assert!(result["paths"] == 180 && result["longer"].as_u64().unwrap() > 10, "{result}");
}

#[test]
fn both_lengths_are_told_and_the_optimal_one_is_not_longer() {
    let mut page = opened();
    let path = path_of_frame(&mut page);
    let [optimal, funnel] = ["optimal", "funnel"].map(|name| path[name].as_f64().unwrap());
    assert!(optimal > 80.0 && optimal <= funnel + 1e-9, "{path}");
    page.send(json!({"type": "set", "method": "funnel", "strip": "cells"}));
    let path = path_of_frame(&mut page);
    assert!(path["optimal"].is_null() && path["funnel"].as_f64().unwrap() >= optimal - 1e-9, "{path}");
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn an_end_is_dragged_and_one_off_the_room_is_moved_and_said() {
    let mut page = opened();
    page.send(json!({"type": "set", "pillars": 0, "radius": 0}));
    let before = path_of_frame(&mut page);
    assert_eq!(before["text"], "");
    drag(&mut page, DEFAULTS.handles[START], [40.0, 20.0]);
    let path = path_of_frame(&mut page);
    assert_eq!(page.scene.state()["sx"], 40.0);
    assert!(path["optimal"].as_f64() < before["optimal"].as_f64() && path["chosen"] == "start", "{path}");
    // Into the obstacle.
    drag(&mut page, [40.0, 20.0], [50.0, 36.0]);
    let text = path_of_frame(&mut page)["text"].as_str().unwrap().to_owned();
    assert!(
        text.starts_with("The start is off the room: it is moved ")
            && text.ends_with("to the nearest point."),
        "{text}"
    );
    // A press elsewhere brings the nearer end there.
    drag(&mut page, [80.0, 60.0], [70.0, 52.0]);
    path_of_frame(&mut page);
    assert_eq!([&page.scene.state()["gx"], &page.scene.state()["gy"]], [&json!(70.0), &json!(52.0)]);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn the_obstacle_is_dragged_out_of_the_way() {
    let mut page = opened();
    page.send(json!({"type": "set", "pillars": 0, "sx": 30, "sy": 35, "gx": 70, "gy": 35}));
    assert!(path_of_frame(&mut page)["optimal"].as_f64().unwrap() > 40.5);
    drag(&mut page, [50.0, 35.0], [50.0, 55.0]);
    let path = path_of_frame(&mut page);
    assert!(
        (path["optimal"].as_f64().unwrap() - 40.0).abs() < 1e-9 && path["chosen"] == "obstacle",
        "{path}"
    );
    for key in ["s", "ArrowRight", "ArrowRight"] {
        page.send(json!({"type": "key", "key": key, "shift": false}));
    }
    let path = path_of_frame(&mut page);
    assert!((path["optimal"].as_f64().unwrap() - 38.0).abs() < 1e-9 && path["chosen"] == "start", "{path}");
}

#[test]
fn a_click_on_a_door_shuts_it_and_the_path_goes_by_another() {
    let mut page = opened();
    page.send(json!({"type": "set", "pillars": 3, "sx": 20, "sy": 35, "gx": 60, "gy": 35, "oy": 72}));
    let open = path_of_frame(&mut page);
    assert_eq!((&open["doors"], &open["shut"], &open["text"]), (&json!(3), &json!(0), &json!("")));
    let middle = |door: &[[f64; 2]; 2]| [0, 1].map(|axis| (door[0][axis] + door[1][axis]) / 2.0);
    let doors: Vec<[f64; 2]> = Layout::new(DEFAULTS.seed.into(), 3).doors.iter().map(middle).collect();
    drag(&mut page, doors[1], doors[1]);
    let around = path_of_frame(&mut page);
    assert!(
        around["shut"] == 2 && around["optimal"].as_f64() > open["optimal"].as_f64().map(|far| far + 10.0),
        "{around}"
    );
    assert_eq!(page.scene.state()["shut"], 2);
    drag(&mut page, doors[0], doors[0]);
    drag(&mut page, doors[2], doors[2]);
    let shut = path_of_frame(&mut page);
    assert!(shut["shut"] == 7 && shut["text"].as_str().unwrap().contains("can't be reached"), "{shut}");
    // The nearest door of the start is that in the middle.
    page.send(json!({"type": "key", "key": "d"}));
    assert_eq!(path_of_frame(&mut page)["optimal"], open["optimal"]);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn a_wheel_zooms_and_ends_are_dragged_where_they_are_seen() {
    let mut page = opened();
    page.send(json!({"type": "set", "pillars": 300}));
    assert_eq!(path_of_frame(&mut page)["is_dense"], true);
    let [x, y] = Fit::new(page.size(), 1.0, Lens::default()).to_pixels(DEFAULTS.handles[START]);
    for _ in 0..12 {
        page.send(json!({"type": "pointer", "action": "zoom", "x": x, "y": y, "zoom": 0.8}));
    }
    page.drag([x, y], [x + 40.0, y]);
    let path = path_of_frame(&mut page);
    assert_eq!(path["is_dense"], false);
    let moved = page.scene.state()["sx"].as_f64().unwrap() - DEFAULTS.handles[START][0];
    assert!(moved > 0.3 && moved < 1.5, "{moved}");
}

#[test]
fn a_goal_that_cannot_be_reached_is_said() {
    let mut page = opened();
    // A radius that shuts gaps leaves islands, and some goal is on one.
    let mut is_said = false;
    for seed in 1..12 {
        let (x, y) = (20.0 + 5.0 * f64::from(seed), 30.0);
        page.send(
            json!({"type": "set", "pillars": 150, "radius": 1.5, "seed": seed, "gx": x, "gy": y, "oy": 72}),
        );
        let path = path_of_frame(&mut page);
        is_said |= path["text"].as_str().unwrap().contains("can't be reached");
        assert!(path["optimal"].as_f64().is_some(), "{path}");
    }
    assert!(is_said);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn the_state_is_that_of_the_link() {
    let mut page = opened();
    assert_eq!(page.scene.state(), json!({}));
    let fields = json!({
        "seed": 5, "pillars": 12, "radius": 1.25, "method": "optimal", "strip": "cells", "shut": 5,
        "sx": 20.5, "sy": 11.25, "gx": 60.0, "gy": 44.0, "ox": 30.0, "oy": 31.0
    });
    let mut message = fields.clone();
    message["type"] = json!("set");
    page.send(message);
    assert_eq!(page.scene.state(), fields);
    path_of_frame(&mut page);
}

#[test]
fn what_cannot_be_used_is_one_sentence_and_changes_nothing() {
    let mut page = opened();
    for (name, value) in [
        ("seed", json!("x")),
        ("pillars", json!(301)),
        ("radius", json!(-0.1)),
        ("method", json!("magic")),
        ("strip", json!(2)),
        ("shut", json!(8)),
        ("sx", json!(200)),
        ("gy", json!("high")),
        ("cells", json!("perhaps")),
    ] {
        let count = page.posted("error").len();
        page.send(json!({"type": "set", name: value}));
        let errors = page.posted("error");
        assert_eq!(errors.len(), count + 1, "{name}");
        assert!(errors[count]["text"].as_str().unwrap().ends_with('.'));
    }
    assert_eq!(page.scene.state(), json!({}));
}
