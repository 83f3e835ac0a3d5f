//! Doors in rooms with a radius, against a visibility graph of discs; and doors that lead nowhere.

use std::f64::consts::{PI, TAU};

use hullfield::navigate::room::{Options as RoomOptions, PathOptions, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

type Point = [f64; 2];
type Wall = [Point; 2];

const NONE: [Vec<Point>; 0] = [];

/// The distance between two segments that do not cross.
pub(crate) fn apart(a: Wall, b: Wall) -> f64 {
    let to_segment = |[from, to]: Wall, p: Point| {
        let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
        let square = dx * dx + dy * dy;
        let t = if square > 0.0 {
            (((p[0] - from[0]) * dx + (p[1] - from[1]) * dy) / square).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (p[0] - from[0] - t * dx).hypot(p[1] - from[1] - t * dy)
    };
    let turn = |a: Point, b: Point, c: Point| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let crosses = turn(a[0], a[1], b[0]) * turn(a[0], a[1], b[1]) < 0.0
        && turn(b[0], b[1], a[0]) * turn(b[0], b[1], a[1]) < 0.0;
    if crosses {
        return 0.0;
    }
    to_segment(a, b[0]).min(to_segment(a, b[1])).min(to_segment(b, a[0])).min(to_segment(b, a[1]))
}

/// The length of the shortest path of a disc between walls, to about 1e-5 of it: a visibility graph over points around the ends of the
/// walls. It never falls short by more than rounding.
fn shortest_of_disc(walls: &[Wall], radius: f64, [start, goal]: [Point; 2]) -> f64 {
    const COUNT: u32 = 240;
    let is_clear = |piece: Wall| walls.iter().all(|&wall| apart(piece, wall) >= radius * (1.0 - 1e-9));
    let reach = radius / (0.5 * TAU / f64::from(COUNT)).cos();
    let mut points = vec![start, goal];
    for end in walls.as_flattened() {
        let around = (0..COUNT).map(|k| TAU * f64::from(k) / f64::from(COUNT));
        points.extend(around.map(|angle| [end[0] + reach * angle.cos(), end[1] + reach * angle.sin()]));
    }
    points.retain(|&point| is_clear([point; 2]));
    if points.len() < 2 || points[0] != start || points[1] != goal {
        return f64::NAN;
    }
    let mut length = vec![f64::INFINITY; points.len()];
    let mut is_done = vec![false; points.len()];
    length[0] = 0.0;
    loop {
        let open = (0..points.len()).filter(|&i| !is_done[i] && length[i] < f64::INFINITY);
        let Some(i) = open.min_by(|&i, &j| length[i].total_cmp(&length[j])) else { return f64::INFINITY };
        if i == 1 {
            return length[1];
        }
        is_done[i] = true;
        for j in 0..points.len() {
            let [dx, dy] = [points[j][0] - points[i][0], points[j][1] - points[i][1]];
            let new = length[i] + dx.hypot(dy);
            if !is_done[j] && new < length[j] && is_clear([points[i], points[j]]) {
                length[j] = new;
            }
        }
    }
}

pub(crate) fn walls_of(rings: &[Vec<Point>]) -> Vec<Wall> {
    rings.iter().flat_map(|ring| (0..ring.len()).map(|i| [ring[i], ring[(i + 1) % ring.len()]])).collect()
}

fn with_doors(outer: &[Point], doors: &[Wall], radius: f64) -> hullfield::Result<Room> {
    Room::new(outer, &NONE, RoomOptions { radius, doors: doors.to_vec(), ..RoomOptions::default() })
}

fn length(room: &Room, start: Point, goal: Point) -> f64 {
    room.path(start, goal, &PathOptions::default()).unwrap().length
}

/// Two tangents and an arc around the tip of a door half across a room: known exactly.
#[test]
fn a_shut_door_is_a_wall_for_the_radius_too() {
    let outer = [[0.0, 0.0], [14.0, 0.0], [14.0, 6.0], [0.0, 6.0]];
    let door = [[7.0, 0.0], [7.0, 3.5]];
    let (start, goal) = ([2.0, 1.5], [12.0, 1.5]);
    for radius in [0.05, 0.4, 1.2] {
        let mut room = with_doors(&outer, &[door], radius).unwrap();
        assert_eq!((length(&room, start, goal), room.island_count()), (10.0, 1), "an open door is no wall");
        let area = room.area();
        room.set_doors(&[(0, false)]).unwrap();
        let far = 5f64.hypot(2.0);
        let angle = PI + 2.0 * (2.0f64 / 5.0).atan() - 2.0 * (radius / far).acos();
        let truth = 2.0 * (far * far - radius * radius).sqrt() + radius * angle;
        let found = length(&room, start, goal);
        assert!(found >= truth * (1.0 - 1e-9) && found - truth <= 1e-3 * radius * angle, "{found} {truth}");
        let oracle =
            shortest_of_disc(&[walls_of(&[outer.to_vec()]), vec![door]].concat(), radius, [start, goal]);
        assert!((found - oracle).abs() <= 1e-3 * radius * angle, "{found} {oracle}");
        // No agent stands within the radius of the door; the floor is as before once it opens.
        assert!(room.locate([7.0 - 0.99 * radius, 2.0]).unwrap().is_none());
        assert!(room.locate([7.0 - 1.01 * radius, 2.0]).unwrap().is_some());
        assert!(room.area() < area);
        room.set_doors(&[(0, true)]).unwrap();
        assert_eq!((length(&room, start, goal), room.area()), (10.0, area));
    }
    // An agent that no longer fits between the tip and the wall.
    let mut room = with_doors(&outer, &[door], 1.3).unwrap();
    room.set_doors(&[(0, false)]).unwrap();
    assert_eq!((length(&room, start, goal), room.island_count()), (f64::INFINITY, 2));
}

/// Seeded halls with doors at any angle, some of them shut, half of them with an obstacle.
#[test]
fn paths_around_shut_doors_agree_with_a_graph_of_discs() {
    let mut random = Random::new(seed(0xd004));
    let mut compared = 0;
    for k in 0..extent(6, 12) {
        let outer = vec![[0.0, 0.0], [20.0, 0.0], [20.0, 8.0], [0.0, 8.0]];
        let radius = random.between(0.1, 0.7);
        let mut doors: Vec<Wall> = Vec::new();
        for x in [5.0, 10.0, 15.0] {
            let (foot, lean) = (x + random.between(-0.5, 0.5), random.between(-1.5, 1.5));
            let tip = random.between(2.5, 5.0);
            doors.push(if random.chance(0.5) {
                [[foot, 0.0], [foot + lean, tip]]
            } else {
                [[foot + lean, 8.0 - tip], [foot, 8.0]]
            });
        }
        let mut room = with_doors(&outer, &doors, radius).unwrap();
        assert_eq!(room.free_door_ends().len(), 3);
        let mut rings = vec![outer];
        if k % 2 == 0 {
            let [x, y] = [random.between(7.0, 12.0), random.between(3.0, 5.0)];
            rings.push(vec![[x, y], [x + 0.7, y], [x + 0.3, y + 0.6]]);
            room.put_obstacle(&rings[1]).unwrap();
        }
        for _ in 0..2 {
            let states: Vec<(u32, bool)> = (0..3).map(|door| (door, random.chance(0.4))).collect();
            room.set_doors(&states).unwrap();
            let shut = states.iter().filter(|state| !state.1).map(|&(door, _)| doors[door as usize]);
            let walls: Vec<Wall> = walls_of(&rings).into_iter().chain(shut).collect();
            let (start, goal) = (
                [random.between(1.0, 3.0), random.between(1.0, 7.0)],
                [random.between(17.0, 19.0), random.between(1.0, 7.0)],
            );
            let truth = shortest_of_disc(&walls, radius, [start, goal]);
            if truth.is_nan() {
                continue;
            }
            let path = room.path(start, goal, &PathOptions::default()).unwrap();
            assert_eq!(path.is_reached(), truth.is_finite(), "hall {k}, {states:?}: {truth}");
            for piece in path.points.windows(2) {
                let least =
                    walls.iter().map(|&wall| apart([piece[0], piece[1]], wall)).fold(f64::INFINITY, f64::min);
                assert!(least >= radius * (1.0 - 1e-12), "hall {k}: {least} instead of {radius}");
            }
            if truth.is_finite() {
                compared += 1;
                let off = path.length - truth;
                assert!(
                    off.abs() <= 4e-3 * radius + 1e-4 * truth,
                    "hall {k}, {states:?}: {} {truth}",
                    path.length
                );
            }
        }
    }
    assert!(compared >= extent(6, 12), "{compared}");
}

/// Doors that end on the floor, in a room without a radius: no cell reaches around their ends.
#[test]
fn paths_around_the_ends_of_thin_doors_agree_with_a_graph_of_tiny_discs() {
    let mut random = Random::new(seed(0xd006));
    for k in 0..extent(20, 40) {
        let outer = vec![[0.0, 0.0], [12.0, 0.0], [12.0, 6.0], [0.0, 6.0]];
        let whole = |random: &mut Random, low: f64, high: f64| random.between(low, high).round();
        let doors: Vec<Wall> = (1..4)
            .map(|x| {
                let (foot, tip) = (3.0 * f64::from(x), whole(&mut random, 1.0, 5.0));
                let lean = whole(&mut random, -1.0, 1.0);
                if random.chance(0.5) {
                    [[foot, 0.0], [foot + lean, tip]]
                } else {
                    [[foot + lean, 6.0 - tip], [foot, 6.0]]
                }
            })
            .collect();
        let options = RoomOptions { merge: k % 4 != 0, doors: doors.clone(), ..RoomOptions::default() };
        let mut room = Room::new(&outer, &NONE, options).unwrap();
        let states: Vec<(u32, bool)> = (0..3).map(|door| (door, random.chance(0.3))).collect();
        room.set_doors(&states).unwrap();
        assert_eq!((room.area(), room.free_door_ends().len()), (72.0, 3));
        let shut = states.iter().filter(|state| !state.1).map(|&(door, _)| doors[door as usize]);
        let walls: Vec<Wall> = walls_of(&[outer]).into_iter().chain(shut).collect();
        for _ in 0..3 {
            let [start, goal] = [0.5, 9.5].map(|x| [x + 2.0 * random.unit(), random.between(0.5, 5.5)]);
            let truth = shortest_of_disc(&walls, 1e-4, [start, goal]);
            let found = length(&room, start, goal);
            assert!(
                truth.is_nan() || (found - truth).abs() < 1e-3,
                "{k}, {states:?} {doors:?}: {found} {truth}"
            );
        }
    }
}

/// The order of shutting, opening, and obstacles does not matter, and a room with a thin hole for each door is the same. The arcs around
/// its two corners have other tangents.
#[test]
fn shut_doors_in_a_room_with_a_radius_are_as_thin_holes() {
    let outer = [[0.0, 0.0], [30.0, 0.0], [30.0, 9.0], [0.0, 9.0]];
    let doors = [[[10.0, 0.0], [10.0, 6.0]], [[20.0, 9.0], [20.0, 3.0]], [[5.0, 0.0], [5.0, 9.0]]];
    let crate_ = [[14.0, 3.0], [16.0, 3.0], [16.0, 5.0], [14.0, 5.0]];
    let radius = 0.6;
    let mut room = with_doors(&outer, &doors, radius).unwrap();
    for (step, shut) in [0b000, 0b001, 0b011, 0b010, 0b111, 0b110, 0b100, 0b000].into_iter().enumerate() {
        let obstacle = (step % 2 == 1).then(|| room.put_obstacle(&crate_).unwrap());
        let states: Vec<(u32, bool)> = (0..3).map(|door| (door, shut >> door & 1 == 0)).collect();
        room.set_doors(&states).unwrap();
        let thin = |door: &Wall| {
            vec![door[0], door[1], [door[1][0] + 1e-9, door[1][1]], [door[0][0] + 1e-9, door[0][1]]]
        };
        let mut holes: Vec<Vec<Point>> =
            (0..3).filter(|door| shut >> door & 1 == 1).map(|door| thin(&doors[door])).collect();
        holes.extend(obstacle.map(|_| crate_.to_vec()));
        let fresh = Room::new(&outer, &holes, RoomOptions { radius, ..RoomOptions::default() }).unwrap();
        assert_eq!(room.island_count(), fresh.island_count(), "{shut:b}");
        assert!((room.area() - fresh.area()).abs() < 1e-3, "{shut:b}: {} {}", room.area(), fresh.area());
        for (start, goal) in
            [([7.0, 1.0], [28.0, 8.0]), ([1.0, 1.0], [12.0, 1.0]), ([12.0, 1.0], [12.0, 8.0])]
        {
            let [found, truth] = [&room, &fresh].map(|room| length(room, start, goal));
            assert!(found == truth || (found - truth).abs() < 1e-3, "{shut:b}: {found} {truth}");
        }
        if let Some(obstacle) = obstacle {
            room.take_obstacle(obstacle).unwrap();
        }
    }
    assert_eq!(room.area(), with_doors(&outer, &[], radius).unwrap().area());
}

/// Doors of edges between cells, in a mesh whose walls were moved.
#[test]
fn doors_of_cells_in_a_room_with_a_radius_keep_it() {
    let points: Vec<Point> =
        (0..4).flat_map(|x| [[4.0 * f64::from(x), 0.0], [4.0 * f64::from(x), 4.0]]).collect();
    let cells = [[0, 2, 3, 1], [2, 4, 5, 3], [4, 6, 7, 5]];
    let mut room = Room::from_cells(
        &points,
        &cells,
        RoomOptions { radius: 0.5, merge: false, ..RoomOptions::default() },
    )
    .unwrap();
    // Any edge between two cells of the room as it was built.
    let corners: Vec<u32> = room.cell(0).collect();
    let k = room.neighbours(0).position(|other| other.is_some()).unwrap();
    let edge = [corners[k], corners[(k + 1) % corners.len()]];
    let vertices: Vec<Point> = room.vertices().collect();
    let wall: Wall = edge.map(|v| vertices[v as usize]);
    let middle = [0, 1].map(|i| 0.5 * (wall[0][i] + wall[1][i]));
    let door = room.add_door(&[edge]).unwrap();
    let area = room.area();
    assert!(room.locate(middle).unwrap().is_some());
    room.set_doors(&[(door, false)]).unwrap();
    assert!(room.locate(middle).unwrap().is_none() && room.area() < area);
    let near = |x: f64, y: f64| apart([[x, y]; 2], wall) < 0.5;
    for (x, y) in
        (1..24).flat_map(|x| (1..8).map(move |y| (0.5 * f64::from(x) + 0.01, 0.5 * f64::from(y) + 0.03)))
    {
        if (0.51..11.49).contains(&x)
            && (0.51..3.49).contains(&y)
            && (apart([[x, y]; 2], wall) - 0.5).abs() > 1e-3
        {
            assert_eq!(room.locate([x, y]).unwrap().is_none(), near(x, y), "({x}, {y}), {wall:?}");
        }
    }
    room.set_doors(&[(door, true)]).unwrap();
    assert_eq!(room.area(), area);
}

#[test]
fn doors_that_miss_their_walls_or_the_floor_are_refused() {
    let outer = [[0.0, 0.0], [12.0, 0.0], [12.0, 3.0], [0.0, 3.0]];
    for (door, part) in [
        ([[5.0, 1e-6], [5.0, 3.0 - 1e-6]], "misses its walls: its end (5, 1e-6) is 1e-6 away"),
        ([[5.0, 0.0], [5.0, 2.999]], "misses its walls: its end (5, 2.999)"),
        ([[5.0, 1e-9], [5.0, 3.0]], "misses its walls"),
        ([[5.0, 1.0], [5.0, 2.0]], "misses its walls: its end (5, 1) is 1 away"),
        ([[20.0, 0.0], [20.0, 3.0]], "crosses no floor"),
        ([[2.0, 0.0], [7.0, 0.0]], "crosses no floor"),
        ([[5.0, 1.0], [5.0, 1.0]], "crosses no floor"),
        ([[5.0, 4.0], [5.0, 3.0]], "crosses no floor"),
    ] {
        for radius in [0.0, 0.3] {
            let error =
                with_doors(&outer, &[[[1.0, 0.0], [1.0, 3.0]], door], radius).unwrap_err().to_string();
            assert!(error.starts_with("door 1 from (") && error.contains(part), "{door:?}: {error}");
        }
    }
    // An end on no wall, far from any, is told; without repairs it is refused.
    let half = [[5.0, 0.0], [5.0, 2.0]];
    let room = with_doors(&outer, &[half], 0.0).unwrap();
    let free = room.free_door_ends();
    assert_eq!((free.len(), free[0].door, free[0].end, free[0].distance), (1, 0, [5.0, 2.0], 1.0));
    let options = RoomOptions { repair: false, doors: vec![half], ..RoomOptions::default() };
    let error = Room::new(&outer, &NONE, options).unwrap_err().to_string();
    assert!(error.starts_with("door 0 ends at (5, 2), on no wall"), "{error}");
}

#[test]
fn doors_that_end_on_walls_but_for_rounding_shut() {
    // Slanted walls: no door between them ends on them exactly.
    let mut random = Random::new(seed(0xd005));
    let mut inexact = 0;
    for k in 0..extent(60, 120) {
        let (turn, scale) = (random.between(0.0, TAU), [1.0, 1e6, 1e-5, 1e40][k % 4]);
        let (sin, cos) = turn.sin_cos();
        let placed =
            |p: Point| [scale * (30.0 + cos * p[0] - sin * p[1]), scale * (20.0 + sin * p[0] + cos * p[1])];
        let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 3.0], [0.0, 3.0]].map(placed);
        let x = random.between(3.0, 7.0);
        let door = [[x, 0.0], [x + random.between(-1.0, 1.0), 3.0]].map(placed);
        let mut room = with_doors(&outer, &[door], 0.0).unwrap();
        assert!(room.free_door_ends().is_empty());
        inexact += usize::from(room.vertices().len() > 6);
        let (start, goal) = (placed([1.0, 1.0]), placed([9.0, 2.0]));
        assert!(length(&room, start, goal).is_finite(), "{k}");
        room.set_doors(&[(0, false)]).unwrap();
        assert_eq!((room.island_count(), length(&room, start, goal)), (2, f64::INFINITY), "{k}: {door:?}");
        room.set_doors(&[(0, true)]).unwrap();
        assert_eq!(room.island_count(), 1);
        // One that goes on beyond the walls shuts too.
        let beyond = [[x, -1.0], [x, 5.0]].map(placed);
        let mut room = with_doors(&outer, &[beyond], 0.0).unwrap();
        room.set_doors(&[(0, false)]).unwrap();
        assert_eq!(room.island_count(), 2);
    }
    assert!(inexact > 0);
}

#[test]
fn doors_on_one_line_are_each_a_wall() {
    let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 4.0], [0.0, 4.0]];
    // The same door twice, and one that overlaps another in part.
    let whole = [[5.0, 0.0], [5.0, 4.0]];
    let half = [[5.0, 0.0], [5.0, 2.0]];
    let mut room = with_doors(&outer, &[whole, whole, half], 0.0).unwrap();
    for shut in 0..8_u32 {
        let states: Vec<(u32, bool)> = (0..3).map(|door| (door, shut >> door & 1 == 0)).collect();
        room.set_doors(&states).unwrap();
        let found = length(&room, [4.0, 1.0], [6.0, 1.0]);
        let truth = match shut {
            0 => 2.0,
            4 => 8f64.sqrt(),
            _ => f64::INFINITY,
        };
        assert!(found == truth || (found - truth).abs() < 1e-12, "{shut:b}: {found}");
    }
    // Two doors that meet in the middle of the floor shut it together.
    let upper = [[5.0, 2.0], [5.0, 4.0]];
    let mut room = with_doors(&outer, &[half, upper], 0.0).unwrap();
    assert!(room.free_door_ends().is_empty());
    room.set_doors(&[(0, false), (1, false)]).unwrap();
    assert_eq!(room.island_count(), 2);
}
