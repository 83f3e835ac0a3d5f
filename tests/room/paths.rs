//! Paths and rays in rooms: public inputs with known answers, and seeded rooms against a visibility graph.

use std::path::PathBuf;

use hullfield::navigate::Reach;
use hullfield::navigate::room::{Method, Options as RoomOptions, Path as RoomPath, PathOptions, Room, Strip};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::{extent, seed};

/// A file of the corpus; `None` where `HULLFIELD_CORPUS` is unset.
fn corpus(name: &str) -> Option<String> {
    let folder = std::env::var_os("HULLFIELD_CORPUS").filter(|folder| !folder.is_empty());
    let Some(folder) = folder else {
        eprintln!("HULLFIELD_CORPUS is unset: rooms/{name} is not read, seeded rooms alone are tested");
        return None;
    };
    let mut path = PathBuf::from(folder).join("rooms").join(name);
    if !path.exists() {
        path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path);
    }
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The numbers of a CSV file, without its header.
fn rows(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|word| word.parse().unwrap()).collect()).collect()
}

fn rings(text: &str) -> Vec<Vec<[f64; 2]>> {
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    serde_json::from_value(value["coordinates"].clone()).unwrap()
}

fn room_of(rings: &[Vec<[f64; 2]>], options: RoomOptions) -> hullfield::Result<Room> {
    Room::new(&rings[0], &rings[1..], options)
}

/// Checks that the parts of a path agree: points, corners, neighbouring cells, crossings on their edges.
fn check_path(room: &Room, path: &RoomPath, scale: f64) {
    assert!(path.is_reached());
    assert_eq!(path.corners.len() + 2, path.points.len());
    assert_eq!(path.crossings.len() + 1, path.cells.len());
    let vertices: Vec<[f64; 2]> = room.vertices().collect();
    for (corner, point) in path.corners.iter().zip(&path.points[1..]) {
        assert_eq!(vertices[*corner as usize], *point);
    }
    let sum: f64 = path.points.windows(2).map(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1])).sum();
    assert!((sum - path.length).abs() <= 1e-12 * sum);
    for (i, crossing) in path.crossings.iter().enumerate() {
        let [left, right] = crossing.edge.map(|v| vertices[v as usize]);
        let p = crossing.point;
        let along = (right[0] - left[0]).hypot(right[1] - left[1]);
        let split = (p[0] - left[0]).hypot(p[1] - left[1]) + (p[0] - right[0]).hypot(p[1] - right[1]);
        assert!((split - along).abs() <= 1e-9 * scale, "crossing {i} is off its edge by {}", split - along);
        let (from, to) = (path.cells[i], path.cells[i + 1]);
        // The edge from the cell to the next, left end first; or a point of both.
        let corners: Vec<u32> = room.cell(from).collect();
        let is_joined = room
            .neighbours(from)
            .enumerate()
            .any(|(k, n)| n == Some(to) && crossing.edge == [corners[(k + 1) % corners.len()], corners[k]]);
        let is_point = crossing.edge[0] == crossing.edge[1]
            && corners.contains(&crossing.edge[0])
            && room.cell(to).any(|v| v == crossing.edge[0]);
        assert!(is_joined || is_point, "cells {from} and {to} do not meet in {:?}", crossing.edge);
    }
    // The crossings are on the path, in order.
    let mut way = 0.0;
    let mut at = path.points[0];
    for point in path.crossings.iter().map(|c| c.point).chain([path.points[path.points.len() - 1]]) {
        way += (point[0] - at[0]).hypot(point[1] - at[1]);
        at = point;
    }
    assert!(
        way <= path.length + 1e-9 * scale,
        "the crossings make a way of {way}, the path has {}",
        path.length
    );
}

/// Lengths agree to 1e-9 relative; very short ones to 1e-12.
fn agrees(length: f64, truth: f64) -> bool {
    (length - truth).abs() <= 1e-9 * truth.max(1e-3)
}

#[test]
fn the_checks_detect_bad_paths() {
    let pillar = vec![[4.0, 4.0], [4.0, 6.0], [6.0, 6.0], [6.0, 4.0]];
    let rings = Rings { rings: vec![vec![[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]], pillar] };
    let room = room_of(&rings.rings, RoomOptions { merge: false, ..RoomOptions::default() }).unwrap();
    let path = room.path([1.0, 5.0], [9.0, 5.0], &PathOptions::default()).unwrap();
    let truth = rings.shortest([1.0, 5.0], [9.0, 5.0]);
    check_path(&room, &path, 10.0);
    assert!(agrees(path.length, truth));
    assert!(!agrees(path.length * (1.0 + 2e-9), truth) && !agrees(path.length * (1.0 - 2e-9), truth));
    assert!(!agrees(f64::INFINITY, truth) && !agrees(f64::NAN, truth));
    let is_free = |path: &RoomPath| path.points.windows(2).all(|p| rings.sees(p[0], p[1]));
    assert!(is_free(&path));
    let spoilt = |spoil: &dyn Fn(&mut RoomPath)| {
        let mut other = path.clone();
        spoil(&mut other);
        other
    };
    // A bend left out, and a bend an ulp inside the wall.
    assert!(!is_free(&spoilt(&|path| path.points = vec![path.points[0], path.points[3]])));
    assert!(!is_free(&spoilt(&|path| path.points[1][0] = path.points[1][0].next_up())));
    let is_caught = |spoil: &dyn Fn(&mut RoomPath)| {
        let other = spoilt(spoil);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check_path(&room, &other, 10.0))).is_err()
    };
    assert!(!is_caught(&|_| {}));
    assert!(is_caught(&|path| path.length += 1e-9));
    assert!(is_caught(&|path| path.corners[0] ^= 1));
    assert!(is_caught(&|path| path.points[1][1] += 1e-12));
    assert!(is_caught(&|path| path.cells.truncate(1)));
    assert!(is_caught(&|path| path.cells.swap(0, 2)));
    assert!(is_caught(&|path| path.crossings[1].point[0] += 1e-6));
    assert!(is_caught(&|path| path.crossings.swap(0, 1)));
}

#[test]
fn the_corpus_meshes_have_their_any_angle_optima() {
    for (mesh, answers) in [
        ("arena.mesh", "arena_optimal.csv"),
        ("arena-merged.mesh", "arena_optimal.csv"),
        ("aurora-merged.mesh", "aurora_optimal.csv"),
    ] {
        let (Some(mesh), Some(answers)) = (corpus(mesh), corpus(answers)) else { return };
        let room = Room::from_polyanya_mesh(&mesh, RoomOptions::default()).unwrap();
        let rows = rows(&answers);
        let queries: Vec<[[f64; 2]; 2]> = rows.iter().map(|r| [[r[1], r[2]], [r[3], r[4]]]).collect();
        let paths = room.paths(&queries, &Method::Optimal.into()).unwrap().rows;
        let funnels = room.paths(&queries, &Method::Funnel(Strip::Dijkstra).into()).unwrap().rows;
        for ((row, path), funnel) in rows.iter().zip(&paths).zip(&funnels) {
            assert!((path.length - row[5]).abs() <= 1e-9 * row[5], "{row:?}: {}", path.length);
            check_path(&room, path, 1e3);
            check_path(&room, funnel, 1e3);
            assert!(
                funnel.length >= path.length * (1.0 - 1e-12),
                "{row:?}: {} {}",
                funnel.length,
                path.length
            );
        }
        let back: Vec<[[f64; 2]; 2]> = queries.iter().map(|&[a, b]| [b, a]).collect();
        for (path, back) in paths.iter().zip(room.paths(&back, &Method::Optimal.into()).unwrap().rows) {
            assert!((path.length - back.length).abs() <= 1e-12 * path.length);
        }
    }
}

#[test]
fn the_corpus_polygons_have_their_exact_lengths() {
    for (name, may_differ) in [("building", 0), ("issue34", 0), ("eberly-3", 2)] {
        let (Some(polygon), Some(answers)) =
            (corpus(&format!("{name}.geojson")), corpus(&format!("{name}.csv")))
        else {
            return;
        };
        for (squeeze, merge) in [(false, true), (true, true), (false, false), (true, false)] {
            let room =
                room_of(&rings(&polygon), RoomOptions { squeeze, merge, ..RoomOptions::default() }).unwrap();
            let mut differ = 0;
            for row in rows(&answers) {
                let path = room.path([row[0], row[1]], [row[2], row[3]], &PathOptions::default()).unwrap();
                if (path.length - row[4]).abs() > 1e-9 * row[4] {
                    assert!(path.length > row[4], "{name} {row:?}: {}", path.length);
                    differ += 1;
                } else {
                    check_path(&room, &path, 3e3);
                }
            }
            assert_eq!(
                differ,
                if squeeze { 0 } else { may_differ },
                "{name}, squeeze {squeeze}, merge {merge}"
            );
        }
    }
}

#[test]
fn every_polygon_of_the_corpus_is_answered() {
    let names = [
        "bad-diagonals",
        "bad-hole",
        "building",
        "degenerate",
        "eberly-3",
        "eberly-6",
        "empty-square",
        "filtered-bridge-jhl",
        "hole-touching-outer",
        "infinite-loop-jhl",
        "issue142",
        "issue149",
        "issue16",
        "issue17",
        "issue29",
        "issue34",
        "issue35",
        "issue45",
        "issue83",
        "outside-ring",
        "self-touching",
        "shared-points",
        "simplified-us-border",
        "steiner",
        "touching-holes",
        "water-huge",
        "water",
        "water2",
        "water3",
        "water3b",
    ];
    for name in names {
        let Some(polygon) = corpus(&format!("{name}.geojson")) else { return };
        let rings = rings(&polygon);
        match room_of(&rings, RoomOptions::default()) {
            Ok(room) => {
                assert!(room.area() > 0.0, "{name}");
                let mut random = Random::new(seed(1));
                let mut reached = 0;
                for _ in 0..50 {
                    let cell = |random: &mut Random| random.below(room.cell_count()) as u32;
                    let middle = |cell: u32| {
                        let vertices: Vec<[f64; 2]> = room.vertices().collect();
                        let own: Vec<[f64; 2]> = room.cell(cell).map(|v| vertices[v as usize]).collect();
                        [0, 1].map(|k: usize| own.iter().map(|p| p[k]).sum::<f64>() / own.len() as f64)
                    };
                    let (a, b) = (middle(cell(&mut random)), middle(cell(&mut random)));
                    let path = room.path(a, b, &PathOptions::default()).unwrap();
                    let back = room.path(b, a, &PathOptions::default()).unwrap();
                    assert!(path.reach.name() == back.reach.name(), "{name}: {path:?}");
                    if path.is_reached() {
                        reached += 1;
                        assert!((path.length - back.length).abs() <= 1e-9 * path.length, "{name}");
                        let funnel = room.path(a, b, &Method::Funnel(Strip::BreadthFirst).into()).unwrap();
                        assert!(funnel.length >= path.length * (1.0 - 1e-9), "{name}");
                    }
                }
                assert!(reached > 0, "{name}");
                println!(
                    "{name}: area {}, {} cells, {} repairs",
                    room.area(),
                    room.cell_count(),
                    room.repairs().len()
                );
            }
            Err(error) => {
                println!("{name}: {error}");
                let without_area = ["degenerate", "empty-square", "infinite-loop-jhl", "issue83"];
                assert!(without_area.contains(&name), "{name}: {error}");
            }
        }
    }
}

#[test]
fn every_tiny_mesh_of_the_corpus_is_solved() {
    for name in [
        "bad-ambig",
        "bad-collinear",
        "bad-collinear2-rot0",
        "bad-collinear2-rot45",
        "bad-collinear2-rot90",
        "hard",
        "square",
    ] {
        let Some(text) = corpus(&format!("{name}.mesh")) else { return };
        let room = Room::from_polyanya_mesh(&text, RoomOptions::default()).unwrap();
        let vertices: Vec<[f64; 2]> = room.vertices().collect();
        let mut count = 0;
        for &a in &vertices {
            for &b in &vertices {
                let path = room.path(a, b, &PathOptions::default()).unwrap();
                let back = room.path(b, a, &PathOptions::default()).unwrap();
                assert_eq!(path.is_reached(), back.is_reached(), "{name} {a:?} {b:?}");
                if path.is_reached() {
                    count += 1;
                    check_path(&room, &path, 10.0);
                    assert!(
                        (path.length - back.length).abs() <= 1e-12 * (1.0 + path.length),
                        "{name} {a:?} {b:?}"
                    );
                    let funnel = room.path(a, b, &Method::Funnel(Strip::Dijkstra).into()).unwrap();
                    assert!(funnel.length >= path.length - 1e-12, "{name} {a:?} {b:?}");
                }
            }
        }
        assert!(count > vertices.len(), "{name}");
    }
}

#[test]
fn random_rooms_agree_with_a_visibility_graph() {
    let room_count = extent(400, 1000);
    let mut random = Random::new(seed(5));
    let mut bends = 0;
    for k in 0..room_count {
        let rings = Rings::random(&mut random, k % 3);
        let merged = room_of(&rings.rings, RoomOptions::default()).unwrap();
        let triangles =
            room_of(&rings.rings, RoomOptions { merge: false, ..RoomOptions::default() }).unwrap();
        assert!(merged.cell_count() <= triangles.cell_count());
        for _ in 0..3 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let truth = rings.shortest(a, b);
            for (room, kind) in [(&merged, "merged"), (&triangles, "triangles")] {
                let path = room.path(a, b, &PathOptions::default()).unwrap();
                assert!(
                    agrees(path.length, truth),
                    "room {k}, {kind}, {a:?} {b:?}: {} instead of {truth}\n{rings:?}",
                    path.length
                );
                check_path(room, &path, 50.0);
                bends += path.corners.len();
                let mut lengths = vec![path.length];
                for strip in [Strip::BreadthFirst, Strip::Dijkstra] {
                    let funnel = room.path(a, b, &Method::Funnel(strip).into()).unwrap();
                    check_path(room, &funnel, 50.0);
                    assert!(funnel.length >= truth * (1.0 - 1e-12), "room {k}: {} {truth}", funnel.length);
                    assert!(
                        funnel.points.windows(2).all(|p| rings.sees(p[0], p[1])),
                        "room {k}, {kind}, {strip:?} {a:?} {b:?}: {funnel:?}"
                    );
                    lengths.push(funnel.length);
                }
                assert!(path.points.windows(2).all(|p| rings.sees(p[0], p[1])), "room {k}, {kind}: {path:?}");
                let back = room.path(b, a, &PathOptions::default()).unwrap();
                assert!((back.length - path.length).abs() <= 1e-12 * (1.0 + path.length), "room {k}");
            }
        }
    }
    assert!(bends > room_count as usize, "the rooms are too simple: {bends}");
}

#[test]
fn squeezing_through_touching_holes_agrees_with_a_visibility_graph() {
    // Squares and triangles on a lattice, many of which touch in corners.
    let mut random = Random::new(seed(17));
    let (mut squeezed, mut compared) = (0, 0);
    for k in 0..250 {
        let (columns, rows) = (3 + random.below(5), 3 + random.below(5));
        let mut taken = vec![vec![false; rows + 2]; columns + 2];
        let mut all = vec![vec![
            [0.0, 0.0],
            [columns as f64 + 2.0, 0.0],
            [columns as f64 + 2.0, rows as f64 + 2.0],
            [0.0, rows as f64 + 2.0],
        ]];
        for column in 1..=columns {
            for row in 1..=rows {
                let has_neighbour = taken[column - 1][row] || taken[column][row - 1];
                if has_neighbour || random.chance(0.3) {
                    continue;
                }
                taken[column][row] = true;
                let (x, y) = (column as f64, row as f64);
                let mut ring = vec![[x, y], [x, y + 1.0], [x + 1.0, y + 1.0], [x + 1.0, y]];
                if random.chance(0.4) {
                    ring.remove(random.below(4));
                }
                all.push(ring);
            }
        }
        if k % 2 == 0 {
            let (sin, cos) = random.between(0.0, 6.0).sin_cos();
            for p in all.iter_mut().flatten() {
                *p = [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1]];
            }
        }
        let rings = Rings { rings: all };
        let merge = k % 4 < 2;
        let through =
            room_of(&rings.rings, RoomOptions { squeeze: true, merge, ..RoomOptions::default() }).unwrap();
        let around = room_of(&rings.rings, RoomOptions { merge, ..RoomOptions::default() }).unwrap();
        for _ in 0..12 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let truth = rings.shortest(a, b);
            let path = through.path(a, b, &PathOptions::default()).unwrap();
            assert!(
                agrees(path.length, truth),
                "room {k}, {a:?} {b:?}: {} instead of {truth}\n{path:?}\n{rings:?}",
                path.length
            );
            check_path(&through, &path, 10.0);
            compared += 1;
            let longer = around.path(a, b, &PathOptions::default()).unwrap();
            assert!(!longer.is_reached() || longer.length >= truth * (1.0 - 1e-12));
            squeezed += u32::from(path.crossings.iter().any(|c| c.edge[0] == c.edge[1]));
        }
    }
    assert!(squeezed > 300 && compared == 3000, "{squeezed} of {compared}");
}

#[test]
fn one_of_two_paths_that_differ_by_less_than_an_ulp_is_found() {
    // The room is symmetric about the line from start to goal. The path found second was shorter up to its last bend, but not as a whole.
    // An earlier version dropped each path because of the other.
    let rings = [
        vec![
            [0.0, 0.0],
            [-2.200332008327537, 5.58198343361294],
            [-8.7126460142093, 3.0149294238974806],
            [-6.5123140058817635, -2.5670540097154597],
        ],
        vec![
            [-4.454766291851139, 0.39377313898595534],
            [-4.821488293239062, 1.3241037112547789],
            [-3.891157720970239, 1.6908257126427018],
        ],
        vec![
            [-2.0304965764325917, 2.4242697154185473],
            [-2.960827148701415, 2.0575477140306244],
            [-2.3972185778205146, 3.3546002876873704],
        ],
        vec![
            [-5.751818865507885, 0.957381709866856],
            [-6.682149437776709, 0.5906597084789333],
            [-7.048871439164632, 1.5209902807477564],
            [-6.118540866895808, 1.887712282135679],
        ],
        vec![
            [-4.257879722358162, 2.6211562849115246],
            [-5.188210294626985, 2.2544342835236018],
            [-5.554932296014908, 3.184764855792425],
        ],
    ];
    let (a, b) = ([-4.906406009186535, 2.9029605703519747], [-6.216984151642297, 0.7740207091728947]);
    for merge in [true, false] {
        let room = room_of(&rings, RoomOptions { merge, ..RoomOptions::default() }).unwrap();
        for (from, to) in [(a, b), (b, a)] {
            let path = room.path(from, to, &PathOptions::default()).unwrap();
            assert!((path.length - 3.443174758686337).abs() < 1e-14, "{path:?}");
        }
    }
}

#[test]
fn a_start_that_is_the_goal_has_a_path_of_length_zero() {
    let room = Room::new(
        &[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]],
        &[[[1.0, 1.0], [2.0, 1.0], [1.0, 2.0]]],
        RoomOptions::default(),
    )
    .unwrap();
    for p in [[0.0, 0.0], [0.5, 0.5], [1.0, 1.0], [1.5, 1.5], [4.0, 2.0]] {
        for method in [Method::Optimal, Method::Funnel(Strip::Dijkstra), Method::Funnel(Strip::BreadthFirst)]
        {
            let path = room.path(p, p, &method.into()).unwrap();
            assert_eq!((path.length, path.points.len()), (0.0, 2), "{p:?} {method:?}");
        }
    }
}

#[test]
fn a_comb_of_a_hundred_thousand_corners_is_crossed_from_end_to_end() {
    // Teeth from below and above in turn, four corners each: the path bends at every one of them.
    let teeth = 12_500;
    let end = 4.0 * f64::from(teeth);
    let mut outer = Vec::new();
    for k in 0..teeth {
        let x = 4.0 * f64::from(k);
        outer.extend([[x + 1.0, 0.0], [x + 1.0, 8.0], [x + 1.5, 8.0], [x + 1.5, 0.0]]);
    }
    outer.extend([[end, 0.0], [end, 10.0]]);
    for k in (0..teeth).rev() {
        let x = 4.0 * f64::from(k);
        outer.extend([[x + 3.5, 10.0], [x + 3.5, 2.0], [x + 3.0, 2.0], [x + 3.0, 10.0]]);
    }
    outer.extend([[0.0, 10.0], [0.0, 0.0]]);
    let none: [Vec<[f64; 2]>; 0] = [];
    let room = Room::new(&outer, &none, RoomOptions::default()).unwrap();
    let (start, goal) = ([0.5, 0.0], [end - 0.1, 0.1]);
    let path = room.path(start, goal, &PathOptions::default()).unwrap();
    assert!(path.is_reached());
    check_path(&room, &path, end);
    assert!(path.corners.len() > 49_000, "{}", path.corners.len());
    let funnel = room.path(start, goal, &Method::Funnel(Strip::Dijkstra).into()).unwrap();
    assert!((funnel.length - path.length).abs() <= 1e-9 * path.length, "{} {}", funnel.length, path.length);
}

#[test]
fn a_spiral_turns_past_full_circles() {
    // A corridor of width 1 that winds inwards ten times.
    let turns = 10;
    let arm = |radius_offset: f64| {
        (0..=16 * turns)
            .map(|k| {
                let angle = std::f64::consts::TAU * f64::from(k) / 16.0;
                let radius = 40.0 - 2.0 * angle / std::f64::consts::TAU - radius_offset;
                [radius * angle.cos(), radius * angle.sin()]
            })
            .collect::<Vec<_>>()
    };
    let mut outer = arm(0.0);
    outer.extend(arm(1.0).into_iter().rev());
    let none: [Vec<[f64; 2]>; 0] = [];
    let room = Room::new(&outer, &none, RoomOptions::default()).unwrap();
    let rings = {
        let mut outer = outer.clone();
        let area: f64 = (0..outer.len())
            .map(|i| {
                let (a, b) = (outer[i], outer[(i + 1) % outer.len()]);
                a[0] * b[1] - b[0] * a[1]
            })
            .sum();
        if area < 0.0 {
            outer.reverse();
        }
        Rings { rings: vec![outer] }
    };
    let (a, b) = ([39.5, 0.0], [19.5, 0.0]);
    let truth = rings.shortest(a, b);
    for method in [Method::Optimal, Method::Funnel(Strip::Dijkstra), Method::Funnel(Strip::BreadthFirst)] {
        let path = room.path(a, b, &method.into()).unwrap();
        assert!((path.length - truth).abs() <= 1e-9 * truth, "{method:?}: {} {truth}", path.length);
    }
}

#[test]
fn unreachable_and_off_the_room_are_told_apart() {
    // Two squares in one ring that touch in a corner.
    let outer =
        [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [4.0, 2.0], [4.0, 4.0], [2.0, 4.0], [2.0, 2.0], [0.0, 2.0]];
    let none: [Vec<[f64; 2]>; 0] = [];
    let room = Room::new(&outer, &none, RoomOptions::default()).unwrap();
    assert_eq!(room.island_count(), 2);
    let path = room.path([1.0, 1.0], [3.0, 3.0], &PathOptions::default()).unwrap();
    assert_eq!(path.reach, Reach::Unreachable { nearest: [2.0, 2.0] });
    assert!(path.length.is_infinite() && path.points.is_empty());
    let nearest = room
        .path([1.0, 1.0], [3.0, 3.0], &PathOptions { to_nearest: true, ..PathOptions::default() })
        .unwrap();
    assert!((nearest.length - 2f64.sqrt()).abs() < 1e-12 && nearest.is_reached());
    let off = room.path([1.0, 1.0], [3.0, 1.0], &PathOptions::default()).unwrap();
    assert!(
        matches!(off.reach, Reach::Off { end: hullfield::navigate::PathEnd::Goal, distance, .. } if distance == 1.0)
    );
    let squeezed =
        room_of(&[outer.to_vec()], RoomOptions { squeeze: true, ..RoomOptions::default() }).unwrap();
    assert_eq!(squeezed.island_count(), 1);
    let path = squeezed.path([1.0, 1.0], [3.0, 3.0], &PathOptions::default()).unwrap();
    assert!((path.length - 8f64.sqrt()).abs() < 1e-12, "{path:?}");
    check_path(&squeezed, &path, 4.0);
}

#[test]
fn bad_numbers_are_refused_by_name() {
    let none: [Vec<[f64; 2]>; 0] = [];
    let nan =
        Room::new(&[[0.0, 0.0], [1.0, f64::NAN], [1.0, 1.0]], &none, RoomOptions::default()).unwrap_err();
    assert_eq!(
        nan.to_string(),
        "ring 0, point 1: position is (1, NaN), its coordinates must be finite and at most 1e60"
    );
    assert!(Room::new(&[[0.0, 0.0], [1.0, 1.0]], &none, RoomOptions::default()).is_err());
    assert!(Room::new(&[], &none, RoomOptions::default()).is_err());
    let flat = Room::new(&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], &none, RoomOptions::default()).unwrap_err();
    assert!(flat.to_string().contains("no room is left"), "{flat}");
    let room = Room::new(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], &none, RoomOptions::default()).unwrap();
    assert!(room.path([0.0, f64::INFINITY], [0.5, 0.1], &PathOptions::default()).is_err());
    let query =
        room.paths(&[[[0.5, 0.1]; 2], [[0.5, 0.1], [f64::NAN, 0.0]]], &Method::Optimal.into()).unwrap_err();
    assert!(query.to_string().starts_with("query 1: goal is (NaN, 0)"), "{query}");
    let crossing = [[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]];
    assert_eq!(Room::new(&crossing, &none, RoomOptions::default()).unwrap().repairs().len(), 1);
    let strict = RoomOptions { repair: false, ..RoomOptions::default() };
    assert!(Room::new(&crossing, &none, strict).unwrap_err().to_string().contains("at (1, 1)"));
}

#[test]
fn rays_see_what_the_visibility_graph_sees() {
    let mut random = Random::new(seed(11));
    let mut exact_count = 0;
    let mut seen = 0;
    for k in 0..600 {
        let rings = Rings::random(&mut random, k % 3);
        let room =
            room_of(&rings.rings, RoomOptions { merge: k % 2 == 0, ..RoomOptions::default() }).unwrap();
        for _ in 0..10 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let by = [b[0] - a[0], b[1] - a[1]];
            let direction = if a == b { [1.0, 0.0] } else { by };
            let hit =
                room.raycast(a, direction, by[0].hypot(by[1])).unwrap().expect("the start is in the room");
            let is_seen = rings.sees(a, b);
            seen += u32::from(is_seen);
            // The ray's direction is the rounded difference. It leads to `b` itself only where nothing is rounded.
            let is_exact = (0..2).all(|i| {
                let back = by[i] - b[i];
                (b[i] - (by[i] - back)) + (-a[i] - back) == 0.0
            });
            if is_exact {
                exact_count += 1;
                assert_eq!(hit.wall.is_none(), is_seen, "room {k}: {a:?} {b:?} {hit:?} {rings:?}");
            }
            let moved = room.move_along(a, by).unwrap().unwrap().position;
            if is_seen && is_exact {
                let goal = [a[0] + by[0], a[1] + by[1]];
                assert_eq!((hit.point, moved), (goal, goal));
            }
            // No move is longer than the straight line, or leaves the room.
            let way = |p: [f64; 2], q: [f64; 2]| (p[0] - q[0]).hypot(p[1] - q[1]);
            assert!(way(a, moved) <= way(a, b) * (1.0 + 1e-12), "room {k}: {a:?} {b:?} {moved:?}");
            assert!(room.locate(moved).unwrap().is_some(), "room {k}: {a:?} {b:?} {moved:?}");
            let path = room.path(a, moved, &PathOptions::default()).unwrap();
            assert!(path.length <= way(a, b) * (1.0 + 1e-9), "room {k}: {} {}", path.length, way(a, b));
            let wall = room.distance_to_wall(a).unwrap().unwrap();
            let nearest = rings.rings.iter().flat_map(|ring| {
                (0..ring.len()).map(|i| {
                    let (p, q) = (ring[i], ring[(i + 1) % ring.len()]);
                    let [dx, dy] = [q[0] - p[0], q[1] - p[1]];
                    let t = (((a[0] - p[0]) * dx + (a[1] - p[1]) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
                    way(a, [p[0] + t * dx, p[1] + t * dy])
                })
            });
            let nearest = nearest.fold(f64::INFINITY, f64::min);
            assert!((wall.distance - nearest).abs() <= 1e-12, "room {k}: {a:?} {wall:?} {nearest}");
            let uniform = [random.unit(), random.unit(), random.unit()];
            let point = room.random_point(uniform).unwrap().expect("the room has an area");
            assert!(room.locate(point.position).unwrap().is_some());
        }
    }
    assert!((500..5500).contains(&seen), "{seen}");
    assert!(exact_count > 100, "{exact_count}");
}
