//! Edited rooms against rooms built from scratch, and the clearance of agents with a radius.

use hullfield::navigate::room::{Options as RoomOptions, PathOptions, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::seed;

/// A ring of a few corners around a point.
fn obstacle(random: &mut Random, centre: [f64; 2], size: f64, round: bool) -> Vec<[f64; 2]> {
    let count = 3 + random.below(5);
    (0..count)
        .map(|k| {
            let angle = std::f64::consts::TAU * (k as f64 + 0.7 * random.unit()) / count as f64;
            let reach = size * random.between(0.5, 1.0);
            let point = [centre[0] + reach * angle.cos(), centre[1] + reach * angle.sin()];
            if round { point.map(f64::round) } else { point }
        })
        .collect()
}

#[test]
fn obstacles_put_in_moved_and_taken_out_leave_the_same_room_as_a_new_one() {
    let mut random = Random::new(seed(21));
    let mut compared = 0;
    for k in 0..120 {
        let rings = Rings::random(&mut random, k % 3);
        let mut room = Room::new(&rings.rings[0], &rings.rings[1..], RoomOptions::default()).unwrap();
        let (area, cells) = (room.area(), room.cell_count());
        let mut inside: Vec<(u32, Vec<[f64; 2]>)> = Vec::new();
        for step in 0..12 {
            let centre = rings.random_point(&mut random);
            let size = random.between(0.5, 5.0);
            let ring = obstacle(&mut random, centre, size, k % 3 == 0);
            let done = match random.below(4) {
                0 if !inside.is_empty() => {
                    let at = random.below(inside.len());
                    room.take_obstacle(inside.swap_remove(at).0)
                }
                1 if !inside.is_empty() => {
                    let at = random.below(inside.len());
                    let done = room.move_obstacle(inside[at].0, &ring);
                    if done.is_ok() {
                        inside[at].1 = ring;
                    }
                    done
                }
                _ => room.put_obstacle(&ring).map(|number| inside.push((number, ring))),
            };
            if let Err(error) = done {
                // Rounding left fewer than three corners, and the room is unchanged.
                assert!(error.to_string().contains("it needs three"), "{error}");
            }
            let holes: Vec<Vec<[f64; 2]>> =
                rings.rings[1..].iter().cloned().chain(inside.iter().map(|i| i.1.clone())).collect();
            let Ok(fresh) = Room::new(&rings.rings[0], &holes, RoomOptions::default()) else { continue };
            assert!(
                (room.area() - fresh.area()).abs() <= 1e-9 * area,
                "room {k}, step {step}: {} {}",
                room.area(),
                fresh.area()
            );
            assert_eq!(room.island_count(), fresh.island_count(), "room {k}, step {step}");
            for _ in 0..4 {
                let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
                let (path, truth) = (
                    room.path(a, b, &PathOptions::default()).unwrap(),
                    fresh.path(a, b, &PathOptions::default()).unwrap(),
                );
                // Skip points so near an obstacle's boundary that rounding decides the side.
                if path.reach.name() != truth.reach.name() {
                    let near = |p| fresh.distance_to_wall(p).unwrap().unwrap().distance < 1e-9;
                    assert!(
                        near(a) || near(b),
                        "room {k}, step {step}: {a:?} {b:?} {path:?} {truth:?} {inside:?}"
                    );
                } else if truth.is_reached() {
                    compared += 1;
                    assert!(
                        (path.length - truth.length).abs() <= 1e-9 * (1.0 + truth.length),
                        "room {k}, step {step}: {} {}",
                        path.length,
                        truth.length
                    );
                }
            }
        }
        for (number, _) in inside {
            room.take_obstacle(number).unwrap();
        }
        assert_eq!(room.area(), area);
        let live = (0..room.cell_count() as u32).filter(|&cell| room.cell(cell).count() > 0).count();
        assert_eq!(live, cells);
        assert!(room.take_obstacle(0).is_err());
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn a_thousand_moves_do_not_grow_the_room() {
    let none: [Vec<[f64; 2]>; 0] = [];
    let mut room =
        Room::new(&[[0.0, 0.0], [100.0, 0.0], [100.0, 100.0], [0.0, 100.0]], &none, RoomOptions::default())
            .unwrap();
    let square = |x: f64| [[x, 40.0], [x + 5.0, 40.0], [x + 5.0, 60.0], [x, 60.0]];
    let number = room.put_obstacle(&square(1.0)).unwrap();
    for k in 0..5000 {
        room.move_obstacle(number, &square(f64::from(k % 90))).unwrap();
    }
    assert!(room.cell_count() < 3000, "{}", room.cell_count());
    assert!((room.area() - 9900.0).abs() < 1e-9);
}

#[test]
fn doors_open_and_shut_in_every_order() {
    // Four chambers in a row; doors 0, 1 and 2 between them.
    let outer = [[0.0, 0.0], [40.0, 0.0], [40.0, 10.0], [0.0, 10.0]];
    let wall = |x: f64| {
        [
            vec![[x - 0.5, 0.0], [x + 0.5, 0.0], [x + 0.5, 4.0], [x - 0.5, 4.0]],
            vec![[x - 0.5, 6.0], [x + 0.5, 6.0], [x + 0.5, 10.0], [x - 0.5, 10.0]],
        ]
    };
    let holes: Vec<Vec<[f64; 2]>> = [10.0, 20.0, 30.0].into_iter().flat_map(wall).collect();
    let doors = [10.0, 20.0, 30.0].map(|x| [[x, 4.0], [x, 6.0]]);
    let mut room =
        Room::new(&outer, &holes, RoomOptions { doors: doors.to_vec(), ..RoomOptions::default() }).unwrap();
    assert_eq!((room.door_count(), room.island_count()), (3, 1));
    let length = room.path([5.0, 5.0], [35.0, 5.0], &PathOptions::default()).unwrap().length;
    assert_eq!(length, 30.0);
    for shut in 0..8_u32 {
        let states: Vec<(u32, bool)> = (0..3).map(|door| (door, shut >> door & 1 == 0)).collect();
        room.set_doors(&states).unwrap();
        assert_eq!(room.island_count(), 1 + shut.count_ones() as usize, "{shut:b}");
        assert_eq!(
            room.path([5.0, 5.0], [35.0, 5.0], &PathOptions::default()).unwrap().is_reached(),
            shut == 0
        );
        assert_eq!(
            room.path([5.0, 5.0], [15.0, 5.0], &PathOptions::default()).unwrap().is_reached(),
            shut & 1 == 0
        );
        // An obstacle over a doorway leaves the doors as they are.
        let obstacle = room.put_obstacle(&[[19.0, 4.5], [21.0, 4.5], [21.0, 5.5], [19.0, 5.5]]).unwrap();
        let path = room.path([5.0, 5.0], [35.0, 5.0], &PathOptions::default()).unwrap();
        assert_eq!(path.is_reached(), shut == 0, "{shut:b}");
        assert!(shut != 0 || (path.length > 30.0 && path.length < 30.2), "{}", path.length);
        room.take_obstacle(obstacle).unwrap();
    }
    room.set_doors(&[(0, true), (1, true), (2, true)]).unwrap();
    assert_eq!(room.path([5.0, 5.0], [35.0, 5.0], &PathOptions::default()).unwrap().length, length);
    assert!(room.set_doors(&[(3, true)]).unwrap_err().to_string().starts_with("door 3 does not exist"));
}

#[test]
fn doors_of_a_mesh_are_edges_or_cells() {
    let points: Vec<[f64; 2]> = (0..4).flat_map(|x| [[f64::from(x), 0.0], [f64::from(x), 1.0]]).collect();
    let cells = [[0, 2, 3, 1], [2, 4, 5, 3], [4, 6, 7, 5]];
    let mut room = Room::from_cells(&points, &cells, RoomOptions::default()).unwrap();
    let edge = room.add_door(&[[3, 2]]).unwrap();
    let cell = room.add_door_cells(&[1]).unwrap();
    let reached =
        |room: &Room| room.path([0.5, 0.5], [2.5, 0.5], &PathOptions::default()).unwrap().is_reached();
    assert!(reached(&room));
    room.set_doors(&[(edge, false)]).unwrap();
    assert!(!reached(&room) && room.island_count() == 2);
    room.set_doors(&[(edge, true), (cell, false)]).unwrap();
    assert!(!reached(&room) && room.island_count() == 3);
    room.set_doors(&[(cell, true)]).unwrap();
    assert!(reached(&room) && room.island_count() == 1);
    assert!(room.add_door(&[[0, 1]]).is_err(), "a wall can't be a door");
    assert!(room.add_door_cells(&[9]).is_err());
}

/// The least distance between a piece of a path and a wall.
fn clearance(rings: &Rings, from: [f64; 2], to: [f64; 2]) -> f64 {
    let distance = |a: [f64; 2], b: [f64; 2], p: [f64; 2]| {
        let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
        let square = dx * dx + dy * dy;
        let t = if square > 0.0 {
            (((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / square).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (p[0] - a[0] - t * dx).hypot(p[1] - a[1] - t * dy)
    };
    let mut least = f64::INFINITY;
    for ring in &rings.rings {
        for i in 0..ring.len() {
            let (a, b) = (ring[i], ring[(i + 1) % ring.len()]);
            least = least.min(distance(a, b, from)).min(distance(a, b, to));
            least = least.min(distance(from, to, a)).min(distance(from, to, b));
        }
    }
    least
}

#[test]
fn an_agent_with_a_radius_keeps_its_distance_from_walls() {
    let mut random = Random::new(seed(31));
    let mut compared = 0;
    for k in 0..150 {
        let rings = Rings::random(&mut random, k % 3);
        let radius = random.between(0.05, 1.2);
        let options = RoomOptions { radius, ..RoomOptions::default() };
        let Ok(room) = Room::new(&rings.rings[0], &rings.rings[1..], options) else { continue };
        let thin = Room::new(&rings.rings[0], &rings.rings[1..], RoomOptions::default()).unwrap();
        for _ in 0..6 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let path = room.path(a, b, &PathOptions::default()).unwrap();
            if path.is_reached() {
                compared += 1;
                for piece in path.points.windows(2) {
                    let least = clearance(&rings, piece[0], piece[1]);
                    assert!(least >= radius * (1.0 - 1e-12), "room {k}: {least} instead of {radius}");
                }
                assert!(
                    path.length >= thin.path(a, b, &PathOptions::default()).unwrap().length * (1.0 - 1e-12)
                );
            } else if matches!(path.reach, hullfield::navigate::Reach::Off { .. }) {
                // A point further from every wall than the radius and its excess is in the room.
                let is_well_clear = |p| clearance(&rings, p, p) >= radius * 1.001;
                assert!(!is_well_clear(a) || !is_well_clear(b), "room {k}: {a:?} {b:?}");
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn the_excess_around_a_corner_is_below_a_thousandth() {
    // Around one corner of a long wall: two tangents and an arc, known exactly.
    let outer = [[-50.0, -50.0], [50.0, -50.0], [50.0, 50.0], [-50.0, 50.0]];
    let wall = [[-1.0, -50.0], [0.0, 0.0], [1.0, -50.0]];
    for radius in [0.01, 0.5, 3.0] {
        let room = Room::new(&outer, &[wall], RoomOptions { radius, ..RoomOptions::default() }).unwrap();
        let path = room.path([-20.0, -10.0], [20.0, -10.0], &PathOptions::default()).unwrap();
        let far = (20f64 * 20.0 + 10.0 * 10.0).sqrt();
        let tangent = (far * far - radius * radius).sqrt();
        // The angle of the arc: the angle between the two ends around the wall's tip, less the two tangents' parts.
        let between = std::f64::consts::PI + 2.0 * 0.5_f64.atan();
        let angle = between - 2.0 * (radius / far).acos();
        let truth = 2.0 * tangent + radius * angle;
        assert!(path.length >= truth * (1.0 - 1e-9), "{radius}: {} {truth}", path.length);
        assert!(path.length - truth <= 1e-3 * radius * angle, "{radius}: {} {truth}", path.length);
    }
}

#[test]
fn a_radius_that_leaves_no_room_is_refused() {
    let none: [Vec<[f64; 2]>; 0] = [];
    let square = [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]];
    let with = |radius| Room::new(&square, &none, RoomOptions { radius, ..RoomOptions::default() });
    assert!((with(0.5).unwrap().area() - 1.0).abs() < 1e-6);
    assert!(with(1.0).unwrap_err().to_string().contains("no agent of that size fits"));
    assert!(with(-1.0).is_err() && with(f64::NAN).is_err() && with(f64::INFINITY).is_err());
}

#[test]
fn doors_and_obstacles_in_any_order_leave_the_same_room_as_a_new_one() {
    // Chambers side by side, a doorway in each wall between two.
    let mut random = Random::new(seed(23));
    let mut compared = 0;
    for k in 0..60 {
        let count = 2 + random.below(4);
        let width = 10.0 * count as f64;
        let outer = vec![[0.0, 0.0], [width, 0.0], [width, 10.0], [0.0, 10.0]];
        let (mut holes, mut doors) = (Vec::new(), Vec::new());
        for wall in 1..count {
            let x = 10.0 * wall as f64;
            let (low, high) = (random.between(1.0, 4.0), random.between(5.0, 9.0));
            let t = random.between(0.1, 1.0);
            holes.push(vec![[x - t, 0.0], [x + t, 0.0], [x + t, low], [x - t, low]]);
            holes.push(vec![[x - t, high], [x + t, high], [x + t, 10.0], [x - t, 10.0]]);
            doors.push([[x, low], [x, high]]);
        }
        let options = RoomOptions { merge: k % 2 == 0, squeeze: k % 3 == 0, ..RoomOptions::default() };
        let mut room = Room::new(&outer, &holes, RoomOptions { doors: doors.to_vec(), ..options }).unwrap();
        let mut inside: Vec<(u32, Vec<[f64; 2]>)> = Vec::new();
        let mut states = vec![true; doors.len()];
        for step in 0..12 {
            match random.below(4) {
                0 => {
                    let door = random.below(doors.len());
                    states[door] = !states[door];
                    room.set_doors(&[(door as u32, states[door])]).unwrap();
                }
                1 if !inside.is_empty() => {
                    let at = random.below(inside.len());
                    room.take_obstacle(inside.swap_remove(at).0).unwrap();
                }
                2 if !inside.is_empty() => {
                    let at = random.below(inside.len());
                    let centre = [random.between(0.0, width), random.between(0.0, 10.0)];
                    let ring = obstacle(&mut random, centre, 2.0, false);
                    room.move_obstacle(inside[at].0, &ring).unwrap();
                    inside[at].1 = ring;
                }
                _ => {
                    let centre = [random.between(0.0, width), random.between(0.0, 10.0)];
                    let ring = obstacle(&mut random, centre, 2.5, false);
                    inside.push((room.put_obstacle(&ring).unwrap(), ring));
                }
            }
            let all: Vec<Vec<[f64; 2]>> = holes.iter().chain(inside.iter().map(|i| &i.1)).cloned().collect();
            let mut fresh = match Room::new(&outer, &all, RoomOptions { doors: doors.to_vec(), ..options }) {
                // An obstacle may lie over a door, a hole may not.
                Err(error) if error.to_string().contains("crosses no floor") => continue,
                built => built.unwrap(),
            };
            let set: Vec<(u32, bool)> =
                states.iter().enumerate().map(|(i, &open)| (i as u32, open)).collect();
            fresh.set_doors(&set).unwrap();
            assert!((room.area() - fresh.area()).abs() <= 1e-9 * fresh.area(), "room {k}, step {step}");
            assert_eq!(room.island_count(), fresh.island_count(), "room {k}, step {step}");
            for _ in 0..6 {
                let mut point = || [random.between(0.0, width), random.between(0.0, 10.0)];
                let (a, b) = (point(), point());
                let (path, truth) = (
                    room.path(a, b, &PathOptions::default()).unwrap(),
                    fresh.path(a, b, &PathOptions::default()).unwrap(),
                );
                assert_eq!(path.reach.name(), truth.reach.name(), "room {k}, step {step}: {a:?} {b:?}");
                if truth.is_reached() {
                    compared += 1;
                    let off = (path.length - truth.length).abs();
                    assert!(
                        off <= 1e-9 * (1.0 + truth.length),
                        "room {k}, step {step}: {off}\n{path:?}\n{truth:?}\n{holes:?}\n{inside:?}\n{states:?} {doors:?} {options:?}"
                    );
                }
            }
        }
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn an_obstacle_replaces_cells_by_its_shape_not_its_box() {
    // Four by four cells; the box of a right triangle covers them all, its shape the half below the diagonal.
    let points: Vec<[f64; 2]> = (0..25).map(|i| [f64::from(i % 5), f64::from(i / 5)]).collect();
    let cells: Vec<[u32; 4]> = (0..16).map(|i| i / 4 * 5 + i % 4).map(|v| [v, v + 1, v + 6, v + 5]).collect();
    let mut room = Room::from_cells(&points, &cells, RoomOptions::default()).unwrap();
    room.put_obstacle(&[[0.5, 0.5], [3.4, 0.5], [0.5, 3.4]]).unwrap();
    for cell in 0..16 {
        assert_eq!(room.cell(cell).count() == 4, cell % 4 + cell / 4 > 3, "cell {cell}");
    }
    let path = room.path([2.7, 3.5], [3.5, 2.7], &PathOptions::default()).unwrap();
    assert!(
        (path.length - 1.28f64.sqrt()).abs() < 1e-15 && path.cells.iter().all(|&cell| cell < 16),
        "{path:?}"
    );
    // Its tip touches a corner of four cells, and all four must be replaced.
    room.move_obstacle(0, &[[2.0, 2.0], [2.9, 2.5], [2.5, 2.9]]).unwrap();
    let touched: Vec<u32> = (0..16).filter(|&cell| room.cell(cell).count() == 0).collect();
    assert_eq!(touched, [5, 6, 9, 10]);
    assert_eq!(room.island_count(), 1);
}

#[test]
fn a_wall_without_thickness_stays_when_an_obstacle_comes_near() {
    // Two cells side by side, with a wall between them according to the file.
    let text = "mesh 2 6 2\n0 0 2 0 -1\n2 0 3 0 1 -1\n4 0 2 1 -1\n0 2 2 0 -1\n2 2 3 0 1 -1\n4 2 2 1 -1\n\
                4 0 1 4 3 -1 -1 -1 -1\n4 1 2 5 4 -1 -1 -1 -1\n";
    let mut room = Room::from_polyanya_mesh(text, RoomOptions::default()).unwrap();
    assert_eq!(room.island_count(), 2);
    room.put_obstacle(&[[1.5, 0.5], [2.5, 0.5], [2.5, 1.0], [1.5, 1.0]]).unwrap();
    assert_eq!((room.island_count(), room.area()), (2, 7.5));
    assert!(!room.path([1.0, 1.5], [3.0, 1.5], &PathOptions::default()).unwrap().is_reached());
    assert!(room.path([1.0, 1.5], [1.0, 0.1], &PathOptions::default()).unwrap().is_reached());
}

#[test]
fn a_door_made_after_an_obstacle_shuts() {
    let points: Vec<[f64; 2]> = (0..4).flat_map(|x| [[f64::from(x), 0.0], [f64::from(x), 1.0]]).collect();
    let cells = [[0, 2, 3, 1], [2, 4, 5, 3], [4, 6, 7, 5]];
    let mut room = Room::from_cells(&points, &cells, RoomOptions::default()).unwrap();
    room.put_obstacle(&[[0.5, 0.6], [1.5, 0.6], [1.5, 0.8]]).unwrap();
    let door = room.add_door(&[[2, 3]]).unwrap();
    let reached =
        |room: &Room| room.path([0.1, 0.1], [2.5, 0.5], &PathOptions::default()).unwrap().is_reached();
    assert!(reached(&room));
    room.set_doors(&[(door, false)]).unwrap();
    assert!(!reached(&room));
    room.take_obstacle(0).unwrap();
    assert!(!reached(&room), "it is still shut");
    room.set_doors(&[(door, true)]).unwrap();
    assert!(reached(&room));
}

#[test]
fn a_door_shut_on_the_start_leaves_it_on_either_side() {
    let none: [Vec<[f64; 2]>; 0] = [];
    let outer = [[0.0, 0.0], [4.0, 0.0], [4.0, 2.0], [0.0, 2.0]];
    let mut room = Room::new(
        &outer,
        &none,
        RoomOptions { doors: [[[2.0, 0.0], [2.0, 2.0]]].to_vec(), ..RoomOptions::default() },
    )
    .unwrap();
    room.set_doors(&[(0, false)]).unwrap();
    for goal in [[1.0, 1.0], [3.0, 1.0], [2.0, 1.0], [2.0, 2.0]] {
        let path = room.path([2.0, 1.0], goal, &PathOptions::default()).unwrap();
        assert!(path.is_reached(), "{goal:?}: {path:?}");
        assert_eq!(path.points.len(), 2, "{goal:?}");
    }
    assert!(!room.path([1.0, 1.0], [3.0, 1.0], &PathOptions::default()).unwrap().is_reached());
}

#[test]
fn edges_within_an_ulp_of_the_cells_edges_open_and_shut_nothing() {
    // With the last seed an edge ran beside the cells' edge, on its far side: no cell was left between the two.
    for seed in [seed(29), 4_148_286_239_644_191_734] {
        check_edges_within_an_ulp(&mut Random::new(seed));
    }
}

/// Puts in obstacles whose edges lie on edges between cells. Some of their corners are moved by the smallest step of f64.
fn check_edges_within_an_ulp(random: &mut Random) {
    for k in 0..150 {
        let turn = random.between(0.0, 3.0);
        let (sin, cos) = turn.sin_cos();
        let rotate = |p: [f64; 2]| [20.0 + cos * p[0] - sin * p[1], 30.0 + sin * p[0] + cos * p[1]];
        let points: Vec<[f64; 2]> = (0..36).map(|i| rotate([f64::from(i % 6), f64::from(i / 6)])).collect();
        let cells: Vec<[u32; 4]> =
            (0..25).map(|i| i / 5 * 6 + i % 5).map(|v| [v, v + 1, v + 7, v + 6]).collect();
        let mut room = Room::from_cells(&points, &cells, RoomOptions::default()).unwrap();
        let whole = room.area();
        let (low, high) = ([random.below(3), random.below(3)], [3 + random.below(2), 3 + random.below(2)]);
        let nudge = |random: &mut Random, x: f64| match random.below(3) {
            0 => x,
            1 => x.next_up(),
            _ => x.next_down(),
        };
        let mut ring = Vec::new();
        for [x, y] in [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]] {
            let p = rotate([x as f64, y as f64]);
            ring.push([nudge(random, p[0]), nudge(random, p[1])]);
        }
        room.put_obstacle(&ring).unwrap();
        let area = ((high[0] - low[0]) * (high[1] - low[1])) as f64;
        assert!((room.area() - (whole - area)).abs() < 1e-9, "{k}: {} {area}", room.area());
        // The space around it is one island, except for slivers along its edges.
        let (a, b) = (rotate([4.9, 4.9]), rotate([0.05, 4.95]));
        let path = room.path(a, b, &PathOptions::default()).unwrap();
        assert!(path.is_reached(), "{k}: {path:?}");
        assert!(path.length < 9.0, "{k}: {path:?}");
        for cell in 0..25_u32 {
            let (x, y) = (cell as usize % 5, cell as usize / 5);
            let is_covered = x >= low[0] && x < high[0] && y >= low[1] && y < high[1];
            let middle = rotate([x as f64 + 0.5, y as f64 + 0.5]);
            assert_eq!(
                room.path(a, middle, &PathOptions::default()).unwrap().is_reached(),
                !is_covered,
                "{k}: cell {cell} {ring:?}"
            );
        }
    }
}

#[test]
fn an_agent_with_a_radius_keeps_its_distance_from_obstacles_too() {
    let mut random = Random::new(seed(37));
    let mut compared = 0;
    for k in 0..80 {
        let rings = Rings::random(&mut random, k % 3);
        let radius = random.between(0.05, 1.0);
        let options = RoomOptions { radius, ..RoomOptions::default() };
        let Ok(mut room) = Room::new(&rings.rings[0], &rings.rings[1..], options.clone()) else { continue };
        let area = room.area();
        let mut inside = Vec::new();
        for _ in 0..3 {
            let centre = rings.random_point(&mut random);
            let ring = obstacle(&mut random, centre, 3.0, false);
            inside.push((room.put_obstacle(&ring).unwrap(), ring));
        }
        let walls = Rings { rings: rings.rings.iter().chain(inside.iter().map(|i| &i.1)).cloned().collect() };
        let fresh = Room::new(&walls.rings[0], &walls.rings[1..], options);
        if let Ok(fresh) = &fresh {
            // The moved walls of two such rooms may differ by their excess.
            let slack = 1e-3 * radius * 60.0 + 1e-9;
            assert!(
                (room.area() - fresh.area()).abs() <= slack,
                "room {k}: {} {}",
                room.area(),
                fresh.area()
            );
        }
        for _ in 0..6 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let path = room.path(a, b, &PathOptions::default()).unwrap();
            if path.is_reached() {
                compared += 1;
                for piece in path.points.windows(2) {
                    let least = clearance(&walls, piece[0], piece[1]);
                    assert!(least >= radius * (1.0 - 1e-12), "room {k}: {least} instead of {radius}");
                }
            }
        }
        for (number, _) in inside {
            room.take_obstacle(number).unwrap();
        }
        assert_eq!(room.area(), area);
    }
    assert!(compared > 60, "{compared}");
}
