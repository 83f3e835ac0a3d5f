//! The feature `serde`: rooms with their doors and obstacles, options and paths, written and read again.

use hullfield::navigate::room::{Method, Options, Path, PathOptions, Room, Strip};
use hullfield::navigate::{PathEnd, Reach};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;

use crate::wire::{all_refused, comes_back, damage_is_survived, there_and_back};

/// Everything of a room that can be asked for without a question, bit for bit.
fn bits(room: &Room) -> impl PartialEq + std::fmt::Debug + use<> {
    let cell = |cell: u32| {
        (room.cell(cell).collect::<Vec<_>>(), room.neighbours(cell).collect::<Vec<_>>(), room.island(cell))
    };
    (
        room.vertices().map(|point| point.map(f64::to_bits)).collect::<Vec<_>>(),
        (0..room.cell_count() as u32).map(cell).collect::<Vec<_>>(),
        (room.island_count(), room.area().to_bits(), room.door_count()),
        room.repairs().to_vec(),
    )
}

/// Asserts that two rooms answer alike, bit for bit.
fn answer_alike(room: &Room, other: &Room, rings: &Rings, random: &mut Random) {
    for _ in 0..6 {
        let (a, b) = (rings.random_point(random), rings.random_point(random));
        for method in [Method::Optimal, Method::Funnel(Strip::BreadthFirst), Method::Funnel(Strip::Dijkstra)]
        {
            let options = PathOptions { method, ..PathOptions::default() };
            let path = room.path(a, b, &options).unwrap();
            assert_eq!(path, other.path(a, b, &options).unwrap());
            comes_back(&path);
        }
        assert_eq!(room.distance_to_wall(a), other.distance_to_wall(a));
        assert_eq!(room.locate(a), other.locate(a));
    }
}

#[test]
fn rooms_come_back_bit_for_bit() {
    let mut random = Random::new(61);
    for k in 0..30 {
        let rings = Rings::random(&mut random, k % 3);
        let doors = vec![[rings.random_point(&mut random), rings.random_point(&mut random)]];
        let options = Options {
            radius: if k % 4 == 0 { 0.2 } else { 0.0 },
            squeeze: k % 5 == 0,
            merge: k % 2 == 0,
            doors: if k % 3 == 0 { doors } else { Vec::new() },
            ..Options::default()
        };
        let Ok(mut room) = Room::new(&rings.rings[0], &rings.rings[1..], options) else { continue };
        if room.door_count() > 0 {
            room.set_doors(&[(0, false)]).unwrap();
        }
        for back in there_and_back(&room) {
            assert_eq!(bits(&back), bits(&room), "room {k}");
            answer_alike(&room, &back, &rings, &mut random);
        }
    }
}

#[test]
fn rooms_of_cells_and_of_mesh_files_come_back_bit_for_bit() {
    let points: Vec<[f64; 2]> =
        (0..4).flat_map(|x| [[f64::from(x) / 3.0, 0.0], [f64::from(x) / 3.0, 1.0]]).collect();
    let mut room =
        Room::from_cells(&points, &[[0, 2, 3, 1], [2, 4, 5, 3], [4, 6, 7, 5]], Options::default()).unwrap();
    let edge = room.add_door(&[[3, 2]]).unwrap();
    let cell = room.add_door_cells(&[1]).unwrap();
    for open in [[true, true], [false, true], [true, false], [false, false]] {
        room.set_doors(&[(edge, open[0]), (cell, open[1])]).unwrap();
        for mut back in there_and_back(&room) {
            assert_eq!(bits(&back), bits(&room));
            // The doors are the same under their numbers.
            back.set_doors(&[(edge, true), (cell, false)]).unwrap();
            assert_eq!(back.island_count(), 3);
        }
    }
    // A mesh with a wall without thickness between its two triangles.
    let text = "mesh 2  4 2  0 0 1 0  1 0 2 0 1  1 1 1 1  0 1 2 0 1  3 0 1 3 -1 -1 -1  3 1 2 3 -1 -1 -1";
    let room = Room::from_polyanya_mesh(text, Options::default()).unwrap();
    assert_eq!(room.island_count(), 2);
    for back in there_and_back(&room) {
        assert_eq!(bits(&back), bits(&room));
    }
}

#[test]
fn doors_and_obstacles_come_back_under_their_numbers() {
    let mut random = Random::new(62);
    let mut compared = 0;
    for k in 0..30 {
        let rings = Rings::random(&mut random, k % 3);
        let options = Options { radius: if k % 4 == 0 { 0.1 } else { 0.0 }, ..Options::default() };
        let mut room = Room::new(&rings.rings[0], &rings.rings[1..], options).unwrap();
        for _ in 0..4 {
            let centre = rings.random_point(&mut random);
            let size = random.between(0.5, 4.0);
            let corner = |k: usize| {
                let (sin, cos) = (f64::from(k as u32) + random.unit()).sin_cos();
                [centre[0] + size * cos, centre[1] + size * sin]
            };
            let _ = room.put_obstacle(&[0, 2, 4, 5].map(corner));
        }
        room.take_obstacle(1).unwrap();
        let cells = 0..room.cell_count() as u32;
        let inner = cells.clone().find(|&cell| room.neighbours(cell).flatten().next().is_some());
        let doors: Vec<u32> = inner.and_then(|cell| room.add_door_cells(&[cell]).ok()).into_iter().collect();
        for &door in &doors {
            room.set_doors(&[(door, false)]).unwrap();
        }
        for mut back in there_and_back(&room) {
            assert!((back.area() - room.area()).abs() <= 1e-9 * room.area(), "room {k}");
            assert_eq!(
                (back.island_count(), back.door_count()),
                (room.island_count(), room.door_count()),
                "room {k}"
            );
            for _ in 0..6 {
                let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
                let (path, other) = (
                    room.path(a, b, &PathOptions::default()).unwrap(),
                    back.path(a, b, &PathOptions::default()).unwrap(),
                );
                if path.is_reached() && other.is_reached() {
                    assert!((path.length - other.length).abs() <= 1e-9 * (1.0 + path.length), "room {k}");
                    compared += 1;
                }
            }
            assert!(back.take_obstacle(1).unwrap_err().to_string().contains("was taken out"));
            for number in [0, 2, 3] {
                back.take_obstacle(number).unwrap();
            }
            assert!(back.take_obstacle(4).is_err());
            let all: Vec<(u32, bool)> = doors.iter().map(|&door| (door, true)).collect();
            back.set_doors(&all).unwrap();
            let fresh: Room = serde_json::from_value({
                let mut value = serde_json::to_value(&room).unwrap();
                for gone in ["doors", "shut_doors", "obstacles"] {
                    value.as_object_mut().unwrap().remove(gone);
                }
                value
            })
            .unwrap();
            assert_eq!((back.area(), back.island_count()), (fresh.area(), fresh.island_count()), "room {k}");
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_room_is_its_rings() {
    let outer = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0]];
    let none: [[[f64; 2]; 0]; 0] = [];
    let room = Room::new(&outer, &none, Options::default()).unwrap();
    let wanted = concat!(
        r#"{"floor":{"rings":{"outer":[[0.0,0.0],[4.0,0.0],[4.0,4.0]],"holes":[]}},"#,
        r#""options":{"radius":0.0,"squeeze":false,"merge":true,"repair":true,"doors":[]},"#,
        r#""doors":[],"shut_doors":[],"obstacles":[]}"#
    );
    assert_eq!(serde_json::to_string(&room).unwrap(), wanted);
    let text = r#"{"floor": {"rings": {"outer": [[0, 0], [4, 0], [4, 4]], "holes": []}}, "obstacles": [null, [[1, 0], [2, 0], [2, 1]]]}"#;
    let mut room: Room = serde_json::from_str(text).unwrap();
    assert_eq!(room.area(), 7.5);
    room.take_obstacle(1).unwrap();
    assert_eq!(room.area(), 8.0);
}

#[test]
fn a_room_that_its_constructors_refuse_is_refused_in_their_words() {
    let square = r#"{"rings": {"outer": [[0, 0], [4, 0], [4, 4], [0, 4]], "holes": []}}"#;
    let cases = [
        (
            r#"{"rings": {"outer": [[0, 0], [4, 0]], "holes": []}}"#,
            "",
            "ring 0: the ring has 2 different points, it needs three",
        ),
        (
            r#"{"rings": {"outer": [[0, 0], [4, 0], [1e61, 1]], "holes": []}}"#,
            "",
            "ring 0, point 2: position is",
        ),
        (r#"{"rings": {"outer": [[0, 0], [4, 0], [null, 1]], "holes": []}}"#, "", "invalid type: null"),
        (
            r#"{"rings": {"outer": [[0, 0], [4, 4], [4, 0], [0, 4]], "holes": []}}"#,
            r#", "options": {"repair": false}"#,
            "ring 0: it needs a repair at (2, 2) (edges that cross were cut)",
        ),
        (
            r#"{"rings": {"outer": [[0, 0], [4, 0], [4, 4]], "holes": [[[-1, -1], [9, -1], [9, 9], [-1, 9]]]}}"#,
            "",
            "no room is left",
        ),
        (r#"{"rings": {"outer": [[0, 0], [4, 0], [4, 4]]}}"#, "", "missing field `holes`"),
        (r#"{"circles": {}}"#, "", "unknown variant `circles`"),
        (
            r#"{"cells": {"points": [[0, 0], [1, 0], [0, 1]], "cells": [[0, 1, 3]]}}"#,
            "",
            "polygon 0: vertex 3 does not exist, there are 3",
        ),
        (r#"{"cells": {"points": [[0, 0], [1, 0], [0, 1]], "cells": [[0, 2, 1]]}}"#, "", "counter-clockwise"),
        (r#"{"cells": {"points": [[0, 0], [1, 0], [0, 1]], "cells": []}}"#, "", "the mesh has no cells"),
        (r#"{"polyanya_mesh": "mesh 3"}"#, "", "line 1: the version is 3"),
        (square, r#", "options": {"radius": -1}"#, "radius is -1, it must be from 0 to 1e60"),
        (square, r#", "options": {"radius": 9}"#, "no agent of that size fits"),
        (square, r#", "options": {"radious": 1}"#, "unknown field `radious`"),
        (square, r#", "options": {"doors": [[[0, 0], [1e99, 0]]]}"#, "door"),
        (
            square,
            r#", "doors": [[[0, 1]]]"#,
            "door is the edge from vertex 0 to vertex 1, it must be between two cells",
        ),
        (square, r#", "doors": [[[0, 4294967295]]]"#, "door is the edge from vertex 0 to vertex 4294967295"),
        (square, r#", "shut_doors": [0]"#, "door 0 does not exist, there are 0"),
        (square, r#", "obstacles": [[[1, 1], [2, 2]]]"#, "the ring has 2 different points, it needs three"),
        (square, r#", "obstacles": [null, [[1, 1], [2, 2], [1e99, 0]]]"#, "position is"),
        (square, r#", "walls": []"#, "unknown field `walls`"),
    ];
    for (floor, rest, part) in cases {
        all_refused::<Room>(&[(&format!(r#"{{"floor": {floor}{rest}}}"#), part)]);
    }
    let mut room: Room = serde_json::from_str(&format!(r#"{{"floor": {square}}}"#)).unwrap();
    room.put_obstacle(&[[1.0, 1.0], [2.0, 1.0], [2.0, 2.0]]).unwrap();
    damage_is_survived(&room, 4);
}

#[test]
fn a_path_that_is_not_there_is_infinitely_long_after_a_journey_too() {
    let mut room: Room = serde_json::from_str(
        r#"{"floor": {"rings": {"outer": [[0, 0], [4, 0], [4, 4], [0, 4]], "holes": []}}}"#,
    )
    .unwrap();
    let off = room.path([1.0, 1.0], [9.0, 1.0], &PathOptions::default()).unwrap();
    assert!(off.length == f64::INFINITY && matches!(off.reach, Reach::Off { end: PathEnd::Goal, .. }));
    comes_back(&off);
    room.put_obstacle(&[[2.0, -1.0], [3.0, -1.0], [3.0, 5.0], [2.0, 5.0]]).unwrap();
    let path = room.path([1.0, 1.0], [3.5, 1.0], &PathOptions::default()).unwrap();
    let text = serde_json::to_string(&path).unwrap();
    assert!(
        text.starts_with(r#"{"reach":{"unreachable":{"nearest":[2.0,1.0]}},"length":"infinity","points":[]"#),
        "{text}"
    );
    comes_back(&path);
    comes_back(&Reach::<[f64; 2]>::Off { end: PathEnd::Start, nearest: None, distance: f64::INFINITY });
    all_refused::<Path>(&[
        (
            r#"{"reach":"reached","length":null,"points":[],"corners":[],"cells":[],"crossings":[]}"#,
            "invalid type: null",
        ),
        ("{}", "missing field `reach`"),
    ]);
}

#[test]
fn options_and_rows_of_a_room_come_back() {
    assert_eq!(serde_json::from_str::<Options>("{}").unwrap(), Options::default());
    assert_eq!(serde_json::from_str::<PathOptions>("{}").unwrap(), PathOptions::default());
    all_refused::<PathOptions>(&[
        (r#"{"nearest": true}"#, "unknown field"),
        (r#"{"method": "Optimal"}"#, "unknown variant"),
        (r#"{"method": {"funnel": "depth_first"}}"#, "unknown variant `depth_first`"),
    ]);
    comes_back(&PathOptions { method: Method::Funnel(Strip::BreadthFirst), to_nearest: true });
    comes_back(&Options { radius: 0.1, doors: vec![[[0.1, 0.2], [0.3, 1e-42]]], ..Options::default() });
    let bow_tie = r#"{"floor": {"rings": {"outer": [[0, 0], [4, 4], [4, 0], [0, 4]], "holes": []}}}"#;
    let room: Room = serde_json::from_str(bow_tie).unwrap();
    comes_back(&room.repairs().to_vec());
    comes_back(&room.funnel_steps(Strip::Dijkstra, [3.9, 2.0], [3.9, 2.5]).unwrap());
    comes_back(&room.paths(&[[[3.9, 2.0], [3.9, 2.5]]], &PathOptions::default()).unwrap());
    comes_back(&room.raycast([3.9, 2.0], [1.0, 0.1], 9.0).unwrap());
    comes_back(&room.distance_to_wall([3.9, 2.0]).unwrap());
    comes_back(&room.locate([3.9, 2.0]).unwrap());
}
