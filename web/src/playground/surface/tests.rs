//! Tests of the tab on the host.

use std::ops::{Deref, DerefMut};

use glam::DVec3;

use super::*;
use crate::playground::test_page;

struct Page(test_page::Page<SurfaceScene>);

impl Deref for Page {
    type Target = test_page::Page<SurfaceScene>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Page {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Page {
    fn new() -> Self {
        Self(test_page::Page::new(|_| scene(), [500.0, 400.0]))
    }

    fn frame(&mut self) {
        assert!(!self.0.frame());
    }

    /// Answers the questions to the second worker until there are none, with a frame after each. Returns how many there were.
    fn answer(&mut self) -> usize {
        let mut count = 0;
        loop {
            self.frame();
            match self.0.answer(&KIND) {
                0 => return count,
                answered => count += answered,
            }
        }
    }

    /// What the page was told of the path last.
    fn path(&mut self) -> Value {
        self.answer();
        self.posted("path").pop().unwrap()
    }

    /// The sentences of the page's bar.
    fn errors(&self) -> Vec<String> {
        let texts =
            self.posted("error").into_iter().map(|message| message["text"].as_str().unwrap().to_owned());
        texts.filter(|text| !text.is_empty()).collect()
    }

    fn pointer(&mut self, action: &str, at: [f32; 2], moved: [f32; 2], is_down: bool) {
        let ([x, y], [dx, dy]) = (at, moved);
        self.send(
            json!({"type": "pointer", "action": action, "x": x, "y": y, "dx": dx, "dy": dy, "down": is_down}),
        );
    }

    fn drag(&mut self, from: [f32; 2], to: [f32; 2]) {
        self.pointer("down", from, [0.0; 2], true);
        for step in 1..=5 {
            let share = step as f32 / 5.0;
            let at = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
            self.pointer("move", at, [0, 1].map(|axis| (to[axis] - from[axis]) / 5.0), true);
            self.frame();
        }
        self.pointer("up", to, [0.0; 2], false);
        self.frame();
    }

    fn at(&self, end: usize) -> [f64; 3] {
        self.scene.ends[end].at.unwrap().position
    }

    fn load(&mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Value {
        self.send_bytes(json!({"type": "file", "name": name}), bytes.into());
        self.path()
    }
}

/// A square in an OBJ file, in these units and at this place.
fn square(unit: f64, place: f64) -> String {
    let at = |x: f64, y: f64| format!("v {} {} {}\n", place + unit * x, place + unit * y, place);
    format!("{}{}{}{}f 1 2 3 4\n", at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0))
}

#[test]
fn the_check_passes_and_funnels_are_longer() {
    let result = check::check().unwrap();
    assert!(result["known"] == 4 && result["longer"].as_u64().unwrap() > 20, "{result}");
}

#[test]
fn every_model_has_a_path_a_funnel_that_is_not_shorter_and_bands_as_far_as_it() {
    for (name, _) in SHAPES {
        let mut page = Page::new();
        page.send(json!({"type": "set", "model": name, "triangles": 2000}));
        let path = page.path();
        let [geodesic, funnel, far, band] =
            ["geodesic", "funnel", "far", "band"].map(|name| path[name].as_f64().unwrap());
        assert!(geodesic > 0.5 && geodesic <= funnel * (1.0 + 1e-3) && geodesic <= far * 1.001, "{path}");
        assert!(band > 0.0 && band < far / 8.0, "{path}");
        // The colour at the goal is that of the path's length.
        let loaded = page.scene.loaded.as_ref().unwrap();
        let goal = page.scene.ends[1].at.unwrap();
        let corners = loaded.surface.triangles()[goal.triangle as usize];
        let bands = page.scene.solver.bands().unwrap();
        for vertex in corners {
            let edge = DVec3::from(loaded.surface.vertices().nth(vertex as usize).unwrap());
            let far = edge.distance(goal.position.into());
            let value = f64::from(bands.values[vertex as usize]);
            assert!((value - geodesic).abs() <= far + 2e-3 * geodesic, "{value} {geodesic} {far}");
        }
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}

#[test]
fn an_end_follows_the_pointer_and_the_background_turns_the_camera() {
    let mut page = Page::new();
    page.send(json!({"type": "set", "model": "stone", "triangles": 2000}));
    let before = page.path()["geodesic"].as_f64().unwrap();
    let (start, goal, yaw) = (page.scene.place(0).unwrap(), page.at(1), page.scene.camera.yaw);
    let to = [start[0] + 60.0, start[1] - 30.0];
    page.drag(start, to);
    let seen = page.scene.place(0).unwrap();
    assert!((seen[0] - to[0]).hypot(seen[1] - to[1]) < 0.5, "{seen:?} {to:?}");
    let path = page.path();
    assert!(path["geodesic"].as_f64().unwrap() != before && path["chosen"] == "start", "{path}");
    assert_eq!((page.at(1), page.scene.camera.yaw), (goal, yaw));
    // The drag of the background.
    page.drag([5.0, 5.0], [105.0, 5.0]);
    assert!(page.scene.camera.yaw != yaw && page.at(1) == goal);
    // A click brings the chosen end, and one beside the model brings nothing.
    page.send(json!({"type": "key", "key": "g", "shift": false}));
    page.drag([250.0, 200.0], [250.0, 200.0]);
    let seen = page.scene.place(1).unwrap();
    assert!((seen[0] - 250.0).hypot(seen[1] - 200.0) < 0.5, "{seen:?}");
    let goal = page.at(1);
    page.drag([2.0, 2.0], [2.0, 2.0]);
    assert_eq!(page.at(1), goal);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
fn keys_move_the_chosen_end_over_the_surface() {
    let mut page = Page::new();
    page.load("square.obj", square(1.0, 0.0));
    page.scene.camera = Camera { yaw: 0.0, pitch: 0.0, ..page.scene.camera };
    let moved = |page: &mut Page, end: usize, keys: &[(&str, bool)]| {
        let before = page.at(end);
        for &(key, shift) in keys {
            page.send(json!({"type": "key", "key": key, "shift": shift}));
        }
        page.frame();
        [0, 1, 2].map(|axis| page.at(end)[axis] - before[axis])
    };
    let goal = page.at(1);
    let coarse = moved(&mut page, 0, &[("s", false), ("ArrowRight", false)]);
    let fine = moved(&mut page, 0, &[("ArrowRight", true)]);
    assert!(coarse[0] > 0.01 && (fine[0] / coarse[0] - 0.1).abs() < 1e-3, "{coarse:?} {fine:?}");
    assert!(moved(&mut page, 0, &[("ArrowUp", false)])[1] > 0.01);
    assert_eq!(page.at(1), goal);
    assert!(moved(&mut page, 1, &[("Enter", false), ("ArrowLeft", false)])[0] < -0.01);
    // The border is a wall.
    assert!(moved(&mut page, 1, &[("ArrowRight", false); 90])[0] < 1.1);
    assert_eq!(page.at(1)[0], 1.0);
}

#[test]
fn the_second_worker_solves_what_is_slow_and_the_first_one_goes_on_without_it() {
    let mut page = Page::new();
    page.send(json!({"type": "set", "model": "knot", "triangles": 50_000}));
    page.frame();
    let asked: Vec<Value> = page.asked().iter().map(|data| data["ask"].clone()).collect();
    assert_eq!(asked, ["take", "solve"]);
    assert_eq!(page.posted("path").pop().unwrap()["waiting"], true);
    let path = page.path();
    assert!(path["waiting"] == false && path["bands_by"] == "second", "{path}");
    assert!(path["geodesic"].as_f64() <= path["far"].as_f64(), "{path}");
    // The worker ends: it is said once, and the path is found in the frame.
    let top = page.scene.loaded.as_ref().unwrap().nearest(DVec3::Y).unwrap();
    page.scene.move_to(top);
    page.frame();
    let mut question = page.asked().pop().unwrap();
    page.forget_asked();
    (question["type"], question["lost"], question["error"]) =
        (json!("second"), json!(true), json!("The second worker has ended."));
    page.send(question);
    let path = page.path();
    assert_eq!(page.errors(), ["The second worker has ended."]);
    assert!(path["geodesic"].as_f64().is_some() && path["waiting"] == false, "{path}");
}

#[test]
fn files_of_any_units_are_fitted_and_read() {
    for (unit, place) in [(1.0, 0.0), (1e-5, 0.0), (1e6, -3e6), (1e-3, 1e4)] {
        let mut page = Page::new();
        let path = page.load("dir/square.OBJ", square(unit, place));
        assert!(path["file"] == "dir/square.OBJ" && path["file_triangles"] == 2, "{path}");
        assert!(
            path["triangles"].as_f64().is_some_and(|count| (2000.0..20_000.0).contains(&count)),
            "{path}"
        );
        let far = DVec3::from(page.at(0)).distance(page.at(1).into());
        let length = path["geodesic"].as_f64().unwrap();
        assert!((length / far - 1.0).abs() < 1e-6 && length < 1.5 * unit, "{length} {far}");
        let mesh = &page.scene.loaded.as_ref().unwrap().mesh;
        let far = mesh.positions.iter().map(|&at| Vec3::from(at).length()).fold(0.0, f32::max);
        assert!((far - 1.0).abs() < 1e-3, "{far}");
        assert_eq!(page.errors(), Vec::<String>::new());
        // Bands begin with 0 at the start.
        let least = page.scene.solver.bands().unwrap().values.iter().copied().fold(f32::INFINITY, f32::min);
        assert!(f64::from(least) < 0.03 * unit, "{least}");
        assert_eq!(page.scene.state(), json!({}));
        assert_eq!(page.errors(), Vec::<String>::new());
        // The page's own model again.
        page.send(json!({"type": "set", "model": "knot"}));
        assert!(page.path()["file"].is_null());
    }
}

#[test]
fn what_is_no_surface_is_one_sentence_and_the_scene_stays() {
    let mut page = Page::new();
    page.load("square.obj", square(2.0, 0.0));
    let files: [(&str, &str, &str); 8] = [
        (
            "notes.txt",
            "hello",
            "notes.txt: unknown format by its extension: obj, stl, ply, off, gltf or glb is read.",
        ),
        ("none.obj", "", "none.obj: the file is empty."),
        ("a.obj", "v 0 0 0\nv 1 x 0\n", "a.obj: line 2, column 5: y of a vertex: \"x\" is not a number."),
        ("a.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n", "a.obj: it has no faces."),
        ("a.stl", "solid\nfacet\n", "a.stl: line 2: the file ends before \"endsolid\"."),
        ("a.glb", "glTF", "a.glb: a GLB of 12 bytes by its header, this file has 4: it is cut short."),
        (
            "a.gltf",
            r#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
            "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],
            "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],
            "bufferViews":[{"buffer":0,"byteLength":36}],"buffers":[{"byteLength":36,"uri":"a.bin"}]}"#,
            "a.gltf: mesh 0, primitive 0: its buffer \"a.bin\" is another file, and one file is read here: save it as GLB.",
        ),
        ("a.obj", "v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n", ""),
    ];
    for (name, bytes, sentence) in files {
        let count = page.errors().len();
        let path = page.load(name, bytes);
        let errors = page.errors();
        assert_eq!(errors.len(), count + 1, "{name} {errors:?}");
        assert!(errors[count].ends_with('.') && !errors[count].ends_with(".."), "{}", errors[count]);
        assert!(sentence.is_empty() || errors[count] == sentence, "{}", errors[count]);
        assert!(path["file"] == "square.obj" && path["geodesic"].as_f64().is_some(), "{path}");
        let progress = page.posted("progress").pop().map(|bar| bar["done"] == bar["total"]);
        assert_ne!(progress, Some(false));
    }
    // The ends can still be moved.
    page.send(json!({"type": "key", "key": "ArrowUp", "shift": false}));
    page.frame();
    assert!(page.scene.ends[0].is_moved);
}

#[test]
fn a_goal_on_another_part_is_said() {
    let mut page = Page::new();
    let two = format!("{}v 3 0 0\nv 4 0 0\nv 4 1 0\nf 5 6 7\n", square(1.0, 0.0));
    let path = page.load("two.obj", two);
    assert_eq!(path["islands"], 2);
    for (end, at) in [(0, [0.5, 0.5, 0.0]), (1, [3.5, 0.2, 0.0])] {
        page.scene.choose(end);
        let point = page.scene.loaded.as_ref().unwrap().surface.nearest_point(at).unwrap().unwrap();
        page.scene.move_to(point);
    }
    let path = page.path();
    assert!(path["text"].as_str().unwrap().contains("nearest point that can be reached"), "{path}");
    // To the middle of the square's side.
    assert!((path["geodesic"].as_f64().unwrap() - 0.5_f64.hypot(0.3)).abs() < 1e-3, "{path}");
}

#[test]
fn the_state_is_that_of_the_link() {
    let mut page = Page::new();
    page.path();
    assert_eq!(page.scene.state(), json!({}));
    let fields = json!({
        "model": "hills", "triangles": 1500, "bands": false, "funnel": false,
        "start": "120,0.25,0.5", "goal": "1000,0,0.125"
    });
    let mut message = fields.clone();
    message["type"] = json!("set");
    page.send(message);
    page.path();
    assert_eq!(page.scene.state(), fields);
    assert_eq!(page.errors(), Vec::<String>::new());
    // More triangles: the ends stay where they are.
    let before = page.at(0);
    page.send(json!({"type": "set", "triangles": 6000}));
    page.path();
    assert!(DVec3::from(before).distance(page.at(0).into()) < 0.1);
}

#[test]
fn what_cannot_be_used_is_one_sentence_and_changes_nothing() {
    let mut page = Page::new();
    page.path();
    for (name, value) in [
        ("model", json!("teapot")),
        ("triangles", json!(999)),
        ("triangles", json!("many")),
        ("bands", json!("perhaps")),
        ("start", json!("12")),
        ("goal", json!("12,0.5,1.5")),
        ("start", json!("99999999,0.5,0.25")),
        ("goal", json!("3,0.75,0.5")),
    ] {
        let count = page.errors().len();
        page.send(json!({"type": "set", name: value}));
        page.path();
        let errors = page.errors();
        assert_eq!(errors.len(), count + 1, "{name}");
        assert!(errors[count].ends_with('.'));
    }
    assert_eq!(page.scene.state(), json!({}));
}

#[test]
fn what_no_edges_connect_is_welded_on_request() {
    let mut page = Page::new();
    // Two squares side by side, a little apart.
    let gap = |x: f64| format!("v {x} 0 0\nv {} 0 0\nv {} 1 0\nv {x} 1 0\n", x + 1.0, x + 1.0);
    let squares = format!("{}{}f 1 2 3 4\nf 5 6 7 8\n", gap(0.0), gap(1.0 + 1e-5));
    assert_eq!(page.path()["weld"], Value::Null);
    page.load("gap.obj", squares);
    let ends = [[0.25, 0.5, 0.0], [1.75, 0.5, 0.0]];
    let place = |page: &mut Page| {
        for (end, at) in ends.into_iter().enumerate() {
            let point = page.scene.loaded.as_ref().unwrap().surface.nearest_point(at).unwrap();
            page.scene.ends[end].at = point;
        }
        page.scene.solver.change();
        page.path()
    };
    let apart = place(&mut page);
    assert!(apart["connected"] == false && apart["geodesic"].as_f64().unwrap() < 0.8, "{apart}");
    assert!(apart["text"].as_str().unwrap().starts_with("No edges connect"), "{apart}");
    let by = apart["weld"].as_f64().unwrap();
    assert!(by > 1e-5 && by < 0.01, "{by}");
    page.send(json!({"type": "weld"}));
    page.answer();
    let welded = place(&mut page);
    assert!(
        welded["connected"] == true && (welded["geodesic"].as_f64().unwrap() - 1.5).abs() < 1e-4,
        "{welded}"
    );
    assert_eq!((&welded["file"], &welded["text"]), (&json!("gap.obj"), &json!("")));
    assert_eq!(page.errors(), Vec::<String>::new());
}
