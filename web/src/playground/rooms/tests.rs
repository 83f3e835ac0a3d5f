//! Tests of the tab on the host.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::playground::host::Link;
use crate::playground::stage::Stage;

#[derive(Clone, Default)]
struct Record(Rc<RefCell<Vec<Value>>>);

impl Link for Record {
    fn post(&self, message: &Value, _: &[u8]) {
        self.0.borrow_mut().push(message.clone());
    }

    fn ask(&self, _: &Value, _: &[u8]) {}

    fn wake(&self) {}
}

struct Page {
    scene: Box<dyn Scene>,
    host: Host,
    record: Record,
    stage: Stage,
}

impl Page {
    fn new() -> Self {
        let record = Record::default();
        let host = Host::new(Box::new(record.clone()));
        let mut stage = Stage::default();
        (stage.size, stage.density) = ([528.0, 378.0], 1.0);
        Self { scene: create(&host), host, record, stage }
    }

    fn send(&mut self, data: Value) {
        self.scene.message(&Message::new(data, Vec::new()), &self.host);
    }

    /// Draws, and returns what the page was told of the path last.
    fn frame(&mut self) -> Value {
        let mut frame = Frame { now: 0.0, step: 0.1, stage: &mut self.stage, host: &self.host };
        assert!(!self.scene.frame(&mut frame, &self.host));
        self.posted("path").pop().unwrap()
    }

    fn posted(&self, kind: &str) -> Vec<Value> {
        self.record.0.borrow().iter().filter(|message| message["type"] == kind).cloned().collect()
    }

    fn drag(&mut self, from: [f64; 2], to: [f64; 2]) {
        let fit = Fit::new(self.stage.size, 1.0);
        for (action, at, is_down) in [("down", from, true), ("move", to, true), ("up", to, false)] {
            let [x, y] = fit.to_pixels(at);
            self.send(json!({"type": "pointer", "action": action, "x": x, "y": y, "down": is_down}));
        }
    }
}

#[test]
fn the_check_passes_and_funnels_are_longer_at_times() {
    let result = check::check().unwrap();
    assert!(result["paths"] == 180 && result["longer"].as_u64().unwrap() > 10, "{result}");
}

#[test]
fn both_lengths_are_told_and_the_optimal_one_is_not_longer() {
    let mut page = Page::new();
    let path = page.frame();
    let [optimal, funnel] = ["optimal", "funnel"].map(|name| path[name].as_f64().unwrap());
    assert!(optimal > 80.0 && optimal <= funnel + 1e-9, "{path}");
    page.send(json!({"type": "set", "method": "funnel", "strip": "cells"}));
    let path = page.frame();
    assert!(path["optimal"].is_null() && path["funnel"].as_f64().unwrap() >= optimal - 1e-9, "{path}");
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn an_end_is_dragged_and_one_off_the_room_is_moved_and_said() {
    let mut page = Page::new();
    page.send(json!({"type": "set", "pillars": 0, "radius": 0}));
    let before = page.frame();
    assert_eq!(before["text"], "");
    page.drag(DEFAULTS.handles[START], [40.0, 20.0]);
    let path = page.frame();
    assert_eq!(page.scene.state()["sx"], 40.0);
    assert!(path["optimal"].as_f64() < before["optimal"].as_f64() && path["chosen"] == "start", "{path}");
    // Into the obstacle.
    page.drag([40.0, 20.0], [50.0, 36.0]);
    let text = page.frame()["text"].as_str().unwrap().to_owned();
    assert!(
        text.starts_with("The start is off the room: it is moved ")
            && text.ends_with("to the nearest point."),
        "{text}"
    );
    // A press elsewhere brings the nearer end there.
    page.drag([80.0, 60.0], [70.0, 50.0]);
    page.frame();
    assert_eq!([&page.scene.state()["gx"], &page.scene.state()["gy"]], [&json!(70.0), &json!(50.0)]);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn the_obstacle_is_dragged_out_of_the_way() {
    let mut page = Page::new();
    page.send(json!({"type": "set", "pillars": 0, "sx": 30, "sy": 35, "gx": 70, "gy": 35}));
    assert!(page.frame()["optimal"].as_f64().unwrap() > 40.5);
    page.drag([50.0, 35.0], [50.0, 55.0]);
    let path = page.frame();
    assert!(
        (path["optimal"].as_f64().unwrap() - 40.0).abs() < 1e-9 && path["chosen"] == "obstacle",
        "{path}"
    );
    for key in ["s", "ArrowRight", "ArrowRight"] {
        page.send(json!({"type": "key", "key": key, "shift": false}));
    }
    let path = page.frame();
    assert!((path["optimal"].as_f64().unwrap() - 38.0).abs() < 1e-9 && path["chosen"] == "start", "{path}");
}

#[test]
fn a_goal_that_cannot_be_reached_is_said() {
    let mut page = Page::new();
    // A radius that shuts gaps leaves islands, and some goal is on one.
    let mut is_said = false;
    for seed in 1..12 {
        let (x, y) = (20.0 + 5.0 * f64::from(seed), 30.0);
        page.send(
            json!({"type": "set", "pillars": 150, "radius": 1.5, "seed": seed, "gx": x, "gy": y, "oy": 72}),
        );
        let path = page.frame();
        is_said |= path["text"].as_str().unwrap().contains("can't be reached");
        assert!(path["optimal"].as_f64().is_some(), "{path}");
    }
    assert!(is_said);
    assert_eq!(page.posted("error"), Vec::<Value>::new());
}

#[test]
fn the_state_is_that_of_the_link() {
    let mut page = Page::new();
    assert_eq!(page.scene.state(), json!({}));
    let fields = json!({
        "seed": 5, "pillars": 12, "radius": 1.25, "method": "optimal", "strip": "cells",
        "sx": 20.5, "sy": 11.25, "gx": 60.0, "gy": 44.0, "ox": 30.0, "oy": 31.0
    });
    let mut message = fields.clone();
    message["type"] = json!("set");
    page.send(message);
    assert_eq!(page.scene.state(), fields);
    page.frame();
}

#[test]
fn what_cannot_be_used_is_one_sentence_and_changes_nothing() {
    let mut page = Page::new();
    for (name, value) in [
        ("seed", json!("x")),
        ("pillars", json!(301)),
        ("radius", json!(-0.1)),
        ("method", json!("magic")),
        ("strip", json!(2)),
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
