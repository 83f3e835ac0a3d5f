//! Rooms and queries that are wrong, or as awkward as can be: each is answered, repaired with a report, or refused with the
//! place named.

use hullfield::navigate::room::{
    Method, Options as RoomOptions, Path as RoomPath, PathOptions, RayHit, RepairKind, Room, Strip,
};
use hullfield::navigate::{PathEnd, Reach};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;

type Ring = Vec<[f64; 2]>;

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];

fn block(x: f64, y: f64, width: f64, height: f64) -> Ring {
    vec![[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
}

fn build(outer: &[[f64; 2]], holes: &[Ring]) -> Room {
    Room::new(outer, holes, RoomOptions::default()).unwrap()
}

fn strict(outer: &[[f64; 2]], holes: &[Ring]) -> hullfield::Result<Room> {
    Room::new(outer, holes, RoomOptions { repair: false, ..RoomOptions::default() })
}

/// The repairs as (ring, kind), without doubles.
fn repairs(room: &Room) -> Vec<(usize, RepairKind)> {
    let mut found: Vec<_> = room.repairs().iter().map(|r| (r.ring, r.kind)).collect();
    found.dedup();
    found
}

fn every_method(room: &Room, start: [f64; 2], goal: [f64; 2]) -> Vec<RoomPath> {
    [Method::Optimal, Method::Funnel(Strip::Dijkstra), Method::Funnel(Strip::BreadthFirst)]
        .map(|method| room.path(start, goal, &method.into()).unwrap())
        .into()
}

/// A ray from a point to another.
fn look(room: &Room, from: [f64; 2], to: [f64; 2]) -> hullfield::Result<Option<RayHit>> {
    let by = [to[0] - from[0], to[1] - from[1]];
    // A ray to its own start has no direction.
    let direction = if by == [0.0; 2] { [1.0, 0.0] } else { by };
    room.raycast(from, direction, by[0].hypot(by[1]))
}

#[test]
fn a_self_crossing_outline() {
    let bow_tie = [[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 4.0]];
    let room = build(&bow_tie, &[]);
    assert_eq!(repairs(&room), [(0, RepairKind::Crossing)]);
    assert_eq!(room.repairs()[0].place, [2.0, 2.0]);
    assert_eq!((room.area(), room.island_count()), (8.0, 2));
    assert!(
        !room.path([0.5, 2.0], [3.5, 2.0], &PathOptions::default()).unwrap().is_reached(),
        "through a point"
    );
    let error = strict(&bow_tie, &[]).unwrap_err().to_string();
    assert_eq!(
        error,
        "ring 0: it needs a repair at (2, 2) (edges that cross were cut); set Options::repair to have it repaired"
    );
}

#[test]
fn rings_that_touch() {
    // A hole with a corner on the outline, and one with a corner on its corner.
    let holes = [vec![[0.0, 5.0], [2.0, 4.0], [2.0, 6.0]], vec![[2.0, 6.0], [4.0, 6.0], [4.0, 8.0]]];
    let room = build(&SQUARE, &holes);
    assert_eq!(repairs(&room), [(1, RepairKind::Touch)]);
    assert_eq!(room.repairs()[0].place, [0.0, 5.0]);
    assert_eq!(room.area(), 100.0 - 2.0 - 2.0);
    assert!(strict(&SQUARE, &holes).is_ok(), "a touch is no fault");
    // Nothing squeezes through either point.
    let path = room.path([0.5, 6.0], [0.5, 4.0], &PathOptions::default()).unwrap();
    assert!(path.length > 6.0, "{path:?}");
    let options = RoomOptions { squeeze: true, ..RoomOptions::default() };
    let through = Room::new(&SQUARE, &holes, options)
        .unwrap()
        .path([0.5, 6.0], [0.5, 4.0], &PathOptions::default())
        .unwrap();
    assert!((through.length - 2.0 * 1.25f64.sqrt()).abs() < 1e-12, "{through:?}");
}

#[test]
fn holes_outside_are_all_reported() {
    let holes = [
        block(20.0, 0.0, 1.0, 1.0),
        block(4.0, 4.0, 1.0, 1.0),
        block(9.0, 4.0, 3.0, 1.0),
        block(-5.0, -5.0, 1.0, 1.0),
    ];
    let room = build(&SQUARE, &holes);
    let outside: Vec<_> = room
        .repairs()
        .iter()
        .filter(|r| r.kind == RepairKind::HoleOutside)
        .map(|r| (r.ring, r.place))
        .collect();
    assert_eq!(outside, [(1, [20.0, 0.0]), (3, [12.0, 4.0]), (4, [-5.0, -5.0])]);
    assert_eq!(room.area(), 100.0 - 1.0 - 1.0);
    assert!(strict(&SQUARE, &holes).is_err());
}

#[test]
fn holes_that_overlap() {
    let holes = [block(2.0, 2.0, 4.0, 4.0), block(4.0, 4.0, 4.0, 4.0), block(3.0, 3.0, 1.0, 1.0)];
    let room = build(&SQUARE, &holes);
    assert_eq!(repairs(&room), [(2, RepairKind::Crossing)]);
    assert_eq!(room.area(), 100.0 - 28.0);
    for path in every_method(&room, [3.5, 3.5], [9.0, 9.0]) {
        assert!(matches!(path.reach, Reach::Off { end: PathEnd::Start, .. }), "{path:?}");
    }
    // The same hole twice is one hole; one as large as the room leaves none.
    assert_eq!(build(&SQUARE, &[block(2.0, 2.0, 4.0, 4.0), block(2.0, 2.0, 4.0, 4.0)]).area(), 84.0);
    let error = Room::new(&SQUARE, &[SQUARE.to_vec()], RoomOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "no room is left: the outer ring less the holes has no area");
}

#[test]
fn repeated_collinear_and_closing_points() {
    let plain = build(&SQUARE, &[]);
    let mut closed = SQUARE.to_vec();
    closed.push(SQUARE[0]);
    assert_eq!((build(&closed, &[]).area(), build(&closed, &[]).repairs().len()), (100.0, 0));
    let repeated = [SQUARE[0], SQUARE[0], SQUARE[1], SQUARE[2], SQUARE[2], SQUARE[2], SQUARE[3]];
    let room = build(&repeated, &[]);
    assert_eq!(repairs(&room), [(0, RepairKind::RepeatedPoint)]);
    assert_eq!((room.area(), room.vertices().len()), (100.0, 4));
    assert!(strict(&repeated, &[]).unwrap_err().to_string().contains("a repeated point was taken once"));
    // Points in line are no fault and stay.
    let in_line = [[0.0, 0.0], [3.0, 0.0], [7.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    let room = strict(&in_line, &[]).unwrap();
    assert_eq!((room.repairs().len(), room.vertices().len()), (0, 6));
    for (a, b) in [([0.0, 0.0], [10.0, 0.0]), ([3.0, 0.0], [7.0, 0.0]), ([0.0, 0.0], [10.0, 10.0])] {
        assert_eq!(
            room.path(a, b, &PathOptions::default()).unwrap().points,
            plain.path(a, b, &PathOptions::default()).unwrap().points
        );
    }
    // A spike without width, out and back.
    let spike = [[0.0, 0.0], [10.0, 0.0], [15.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]];
    assert_eq!(build(&spike, &[]).area(), 100.0);
}

#[test]
fn rings_without_area() {
    for outer in
        [&[[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]][..], &[[0.0, 0.0], [4.0, 0.0], [0.0, 0.0], [4.0, 0.0]]]
    {
        let error = Room::new(outer, &[] as &[Ring], RoomOptions::default()).unwrap_err().to_string();
        assert!(
            error.starts_with("no room is left") || error.starts_with("ring 0: the ring has 2"),
            "{error}"
        );
    }
    let holes =
        [vec![[4.0, 4.0], [5.0, 5.0], [6.0, 6.0]], vec![[1.0, 1.0]], vec![], vec![[1.0, 2.0], [2.0, 2.0]]];
    let room = build(&SQUARE, &holes);
    let expected: Vec<_> = (1..5).map(|ring| (ring, RepairKind::NoArea)).collect();
    assert_eq!((repairs(&room), room.area()), (expected, 100.0));
    // What was left out is no wall.
    assert!(
        (room.path([4.0, 6.0], [6.0, 4.0], &PathOptions::default()).unwrap().length - 8f64.sqrt()).abs()
            < 1e-15
    );
    assert!(strict(&SQUARE, &holes).is_err());
}

#[test]
fn numbers_that_can_not_be_used() {
    for (bad, part) in [
        (f64::NAN, "finite"),
        (f64::INFINITY, "finite"),
        (f64::NEG_INFINITY, "finite"),
        (2e60, "at most 1e60"),
        (1e-43, "at least 1e-42"),
        (5e-324, "at least 1e-42"),
    ] {
        let mut outer = SQUARE;
        outer[2][1] = bad;
        let error = Room::new(&outer, &[] as &[Ring], RoomOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("ring 0, point 2") && error.contains(part), "{error}");
        let mut hole = block(4.0, 4.0, 1.0, 1.0);
        hole[1][0] = bad;
        let error = Room::new(&SQUARE, &[block(1.0, 1.0, 1.0, 1.0), hole.clone()], RoomOptions::default())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with("ring 2, point 1") && error.contains(part), "{error}");
        let mut room = build(&SQUARE, &[]);
        assert!(room.put_obstacle(&hole).is_err());
        assert_eq!(room.area(), 100.0);
        let points = [[0.0, 0.0], [1.0, 0.0], [bad, 1.0]];
        assert!(Room::from_cells(&points, &[[0, 1, 2]], RoomOptions::default()).is_err());
    }
    let room = build(&SQUARE, &[]);
    for bad in [[f64::NAN, 1.0], [1.0, f64::INFINITY], [-1e61, 0.0]] {
        for (start, goal, name) in [(bad, [1.0, 1.0], "start is ("), ([1.0, 1.0], bad, "goal is (")] {
            let error = room.path(start, goal, &PathOptions::default()).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
            assert!(room.path(start, goal, &Method::Funnel(Strip::Dijkstra).into()).is_err());
            assert!(
                room.path(start, goal, &PathOptions { to_nearest: true, ..PathOptions::default() }).is_err()
            );
            assert!(room.funnel_steps(Strip::Dijkstra, start, goal).is_err());
            let by = [goal[0] - start[0], goal[1] - start[1]];
            assert!(room.raycast(start, by, 1.0).is_err() || by.iter().all(|x| x.is_finite()));
            assert!(room.move_along(start, by).is_err());
            let many = room
                .paths(&[[[1.0, 1.0]; 2], [start, goal]], &Method::Optimal.into())
                .unwrap_err()
                .to_string();
            assert!(many.starts_with("query 1: "), "{many}");
        }
        assert!(room.locate(bad).is_err() && room.distance_to_wall(bad).is_err());
        assert!(room.nearest_point(bad).is_err());
        assert!(room.random_point([bad[0], bad[1], 0.5]).is_err());
    }
}

#[test]
fn ends_in_a_wall_on_an_edge_on_a_corner_and_outside() {
    let room = build(&SQUARE, &[block(4.0, 4.0, 2.0, 2.0)]);
    let start = [1.0, 1.0];
    for goal in
        [[4.0, 5.0], [4.0, 4.0], [6.0, 6.0], [5.0, 6.0], [0.0, 0.0], [10.0, 10.0], [10.0, 3.0], [0.0, 5.0]]
    {
        for path in every_method(&room, start, goal) {
            assert!(path.is_reached() && path.points[path.points.len() - 1] == goal, "{goal:?} {path:?}");
        }
        assert!(room.path(goal, start, &PathOptions::default()).unwrap().is_reached());
        assert!(room.path(goal, goal, &PathOptions::default()).unwrap().length == 0.0);
    }
    // In the pillar the nearest wall is told, outside the nearest point.
    for (goal, nearest, distance) in
        [([4.5, 5.0], [4.0, 5.0], 0.5), ([12.0, 5.0], [10.0, 5.0], 2.0), ([13.0, 14.0], [10.0, 10.0], 5.0)]
    {
        for path in every_method(&room, start, goal) {
            assert_eq!(path.reach, Reach::Off { end: PathEnd::Goal, nearest: Some(nearest), distance });
            assert!(path.length == f64::INFINITY && path.points.is_empty() && path.cells.is_empty());
        }
        let back = room.path(goal, start, &PathOptions::default()).unwrap();
        assert_eq!(back.reach, Reach::Off { end: PathEnd::Start, nearest: Some(nearest), distance });
        let to = room.path(start, goal, &PathOptions { to_nearest: true, ..PathOptions::default() }).unwrap();
        assert!(to.is_reached() && to.points[to.points.len() - 1] == nearest, "{to:?}");
        assert!(
            room.path(goal, start, &PathOptions { to_nearest: true, ..PathOptions::default() })
                .unwrap()
                .is_reached()
        );
    }
    assert!(room.path([1e60, -1e60], start, &PathOptions::default()).unwrap().reach.name() == "start off");
}

#[test]
fn a_shut_away_chamber_is_told_from_what_is_off_the_room() {
    // A frame within the room, whose inside is a hole's inside: off the room. And a room cut in two by a wall of holes.
    let room = build(&SQUARE, &[block(0.0, 4.0, 10.0, 1.0)]);
    assert_eq!(room.island_count(), 2);
    for path in every_method(&room, [5.0, 1.0], [5.0, 9.0]) {
        assert_eq!(path.reach, Reach::Unreachable { nearest: [5.0, 4.0] });
    }
    let nearest = room
        .path([5.0, 1.0], [5.0, 9.0], &PathOptions { to_nearest: true, ..PathOptions::default() })
        .unwrap();
    assert_eq!((nearest.length, nearest.points.len()), (3.0, 2));
}

#[test]
fn any_scale_and_any_place() {
    // Scaled, moved far away, or both: the coordinates are the truth, whatever rounding did to them.
    let mut random = Random::new(41);
    let mut reached = 0;
    for k in 0..240 {
        let rings = Rings::random(&mut random, k % 3);
        let (scale, place) = [
            (1e-9, 0.0),
            (1e-20, 0.0),
            (1e6, 0.0),
            (1e12, 0.0),
            (1e40, 0.0),
            (1.0, 1e6),
            (1.0, 1e9),
            (1e-3, 1e6),
        ][k as usize / 3 % 8];
        let moved = |p: [f64; 2]| [p[0] * scale + place, p[1] * scale - place];
        let rings =
            Rings { rings: rings.rings.iter().map(|r| r.iter().map(|&p| moved(p)).collect()).collect() };
        let room = Room::new(&rings.rings[0], &rings.rings[1..], RoomOptions::default()).unwrap();
        for _ in 0..4 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let truth = rings.shortest(a, b);
            let path = room.path(a, b, &PathOptions::default()).unwrap();
            assert!(
                (path.length - truth).abs() <= 1e-9 * truth,
                "room {k}, scale {scale:e}, place {place:e}, {a:?} {b:?}: {} {truth}",
                path.length
            );
            reached += u32::from(path.is_reached());
            let funnel = room.path(a, b, &Method::Funnel(Strip::Dijkstra).into()).unwrap();
            assert!(funnel.length >= truth * (1.0 - 1e-12), "{} {truth}", funnel.length);
            assert!(look(&room, a, b).unwrap().is_some());
        }
    }
    assert!(reached > 900, "{reached}");
}

#[test]
fn slivers_a_billion_times_as_long_as_wide() {
    // A zigzag of corridors, each a million long and a thousandth wide.
    let (length, width, turns) = (1e6, 1e-3, 7);
    let mut outer: Ring = vec![[0.0, 0.0]];
    let mut back: Ring = Vec::new();
    for k in 0..turns {
        let (y, x) = (2.0 * width * f64::from(k), if k % 2 == 0 { length } else { 0.0 });
        let inner = if k % 2 == 0 { length - width } else { width };
        // Down the next corridor on the outside, back on the inside.
        if k % 2 == 0 {
            outer.extend([[x, y], [x, y + 3.0 * width]]);
            back.extend([[inner, y + width], [inner, y + 2.0 * width]]);
        } else {
            outer.extend([[inner, y + width], [inner, y + 2.0 * width]]);
            back.extend([[x, y], [x, y + 3.0 * width]]);
        }
    }
    let top = 2.0 * width * f64::from(turns);
    outer.push([0.0, top + width]);
    back.push([0.0, top]);
    outer.extend(back.into_iter().rev());
    outer.dedup();
    let room = build(&outer, &[]);
    let rings = Rings { rings: vec![outer] };
    let (a, b) = ([0.0, 0.5 * width], [width, top + 0.5 * width]);
    if rings.holds(a) && rings.holds(b) {
        let truth = rings.shortest(a, b);
        for path in every_method(&room, a, b) {
            assert_eq!(path.is_reached(), truth.is_finite());
            assert!(
                !path.is_reached() || (path.length - truth).abs() <= 1e-9 * truth,
                "{} {truth}",
                path.length
            );
        }
    }
    // A needle of a triangle: its tip is a few ulps wide.
    let needle = [[0.0, 0.0], [1e9, 0.0], [1e9, 1e-3]];
    let room = build(&needle, &[]);
    for path in every_method(&room, [0.0, 0.0], [1e9, 1e-3]) {
        assert!(path.is_reached() && (path.length - 1e9).abs() < 1.0, "{path:?}");
    }
}

#[test]
fn portals_in_line_with_the_path() {
    // An open floor of squares or triangles: every way is straight, along edges and through corners.
    let n = 7;
    let points: Ring = (0..n * n).map(|i| [f64::from(i % n), f64::from(i / n)]).collect();
    let squares = (0..n - 1).flat_map(|y| (0..n - 1).map(move |x| y * n + x));
    let quads: Vec<Vec<u32>> = squares.clone().map(|v| vec![v, v + 1, v + n + 1, v + n]).collect();
    let triangles: Vec<Vec<u32>> =
        squares.flat_map(|v| [vec![v, v + 1, v + n + 1], vec![v, v + n + 1, v + n]]).collect();
    for cells in [quads, triangles] {
        let room = Room::from_cells(&points, &cells, RoomOptions::default()).unwrap();
        for &a in &points {
            for &b in &points {
                let path = room.path(a, b, &PathOptions::default()).unwrap();
                let straight = (b[0] - a[0]).hypot(b[1] - a[1]);
                assert_eq!((path.points.len(), path.length), (2, straight), "{a:?} {b:?} {path:?}");
                assert_eq!(look(&room, a, b).unwrap().map(|hit| hit.wall), Some(None), "{a:?} {b:?}");
            }
        }
    }
    // A strip whose edges all end on one line: a funnel that is as narrow as can be, along it and across.
    let mut points: Ring = (0..40).map(|i| [f64::from(i), 0.0]).collect();
    points.push([20.0, 7.0]);
    let fan: Vec<[u32; 3]> = (0..39).map(|v| [v, v + 1, 40]).collect();
    let room = Room::from_cells(&points, &fan, RoomOptions::default()).unwrap();
    for (a, b) in [(0, 39), (39, 0), (3, 30), (17, 18), (0, 40), (40, 39)] {
        let (a, b) = (points[a], points[b]);
        for path in every_method(&room, a, b) {
            assert_eq!((path.points.len(), path.length), (2, (b[0] - a[0]).hypot(b[1] - a[1])), "{path:?}");
        }
    }
}

#[test]
fn thousands_of_holes_that_touch() {
    // A chessboard: the black squares are holes, each touching four others in its corners.
    let n = 60;
    let mut holes = Vec::new();
    for x in 0..n {
        for y in 0..n {
            if (x + y) % 2 == 0 {
                holes.push(block(f64::from(x), f64::from(y), 1.0, 1.0));
            }
        }
    }
    let edge = f64::from(n) + 1.0;
    let outer = [[-1.0, -1.0], [edge, -1.0], [edge, edge], [-1.0, edge]];
    let room = build(&outer, &holes);
    assert_eq!(holes.len(), 1800);
    // Each white square within is shut in; those on the rim are open to the outside, in one island with it.
    let shut =
        (1..n - 1).flat_map(|x| (1..n - 1).map(move |y| (x, y))).filter(|(x, y)| (x + y) % 2 == 1).count();
    assert_eq!(room.island_count(), shut + 1);
    assert!(!room.path([1.5, 2.5], [2.5, 1.5], &PathOptions::default()).unwrap().is_reached());
    let through = Room::new(&outer, &holes, RoomOptions { squeeze: true, ..RoomOptions::default() }).unwrap();
    assert_eq!(through.island_count(), 1);
    // Along a diagonal of white squares from corner to corner, to the bit.
    let path = through.path([1.5, 2.5], [57.5, 58.5], &PathOptions::default()).unwrap();
    assert!((path.length - 56.0 * 2f64.sqrt()).abs() < 1e-9, "{}", path.length);
    let back = through.path([57.5, 58.5], [1.5, 2.5], &PathOptions::default()).unwrap();
    assert!((path.length - back.length).abs() < 1e-9);
    // From corners that four squares share.
    for (a, b) in [([1.0, 1.0], [2.0, 2.0]), ([30.0, 30.0], [31.0, 31.0]), ([30.0, 30.0], [30.0, 30.0])] {
        assert!(
            through.path(a, b, &PathOptions::default()).unwrap().is_reached()
                && room.path(a, a, &PathOptions::default()).unwrap().is_reached()
        );
    }
    // As obstacles the same holes leave the same room.
    let mut filled = build(&outer, &[]);
    for hole in holes.iter().take(120) {
        filled.put_obstacle(hole).unwrap();
    }
    let some = build(&outer, &holes[..120]);
    assert_eq!((filled.area(), filled.island_count()), (some.area(), some.island_count()));
}

#[test]
fn queries_on_shared_vertices() {
    // Every pair of vertices of a triangulated room, by every method, there and back.
    let mut random = Random::new(43);
    for k in 0..40 {
        let rings = Rings::random(&mut random, k % 3);
        let options = RoomOptions { merge: k % 2 == 0, ..RoomOptions::default() };
        let room = Room::new(&rings.rings[0], &rings.rings[1..], options).unwrap();
        let vertices: Ring = room.vertices().collect();
        for _ in 0..12 {
            let (a, b) = (vertices[random.below(vertices.len())], vertices[random.below(vertices.len())]);
            let truth = rings.shortest(a, b);
            let paths = every_method(&room, a, b);
            assert!((paths[0].length - truth).abs() <= 1e-9 * truth, "room {k}: {a:?} {b:?}");
            for path in &paths {
                assert!(path.length >= truth * (1.0 - 1e-12), "room {k}: {path:?} {truth}");
                assert!(path.points.windows(2).all(|p| rings.sees(p[0], p[1])), "room {k}: {path:?}");
            }
        }
    }
}

#[test]
fn cells_that_rounding_dented() {
    // A strip of squares, turned: three corners in line on each long side, one of which juts in by an ulp somewhere.
    let mut random = Random::new(47);
    let mut cut = 0;
    for k in 0..400 {
        let (sin, cos) = random.between(0.0, 6.3).sin_cos();
        let turned = |x: f64, y: f64| [cos * x - sin * y, sin * x + cos * y];
        // Two cells of six corners, one above the other, that share half an edge.
        let mut points: Ring = Vec::new();
        for y in 0..3 {
            points.extend((0..4).map(|x| turned(f64::from(x), f64::from(y))));
        }
        let cells: [&[u32]; 2] = [&[0, 1, 2, 3, 7, 6, 5, 4], &[5, 6, 7, 11, 10, 9]];
        let Ok(room) = Room::from_cells(&points, &cells, RoomOptions::default()) else {
            panic!("{k}: a cell is refused that is convex within rounding");
        };
        cut += usize::from(room.cell_count() > 2);
        let rings = Rings { rings: vec![[0, 1, 2, 3, 7, 11, 10, 9, 5, 4].map(|v| points[v]).to_vec()] };
        for _ in 0..8 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let truth = rings.shortest(a, b);
            let paths = every_method(&room, a, b);
            assert!(
                (paths[0].length - truth).abs() <= 1e-9 * truth.max(1e-3),
                "{k}: {a:?} {b:?} {paths:?} {truth}"
            );
            assert!(
                paths.iter().all(|path| path.length >= truth * (1.0 - 1e-12)),
                "{k}: {a:?} {b:?} {paths:?}"
            );
        }
    }
    assert!(cut > 50, "{cut}");
}

#[test]
fn cells_that_can_not_be_used() {
    let points: Ring = vec![[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [3.0, 1.0], [9.0, 9.0]];
    let build = |cells: &[&[u32]]| Room::from_cells(&points, cells, RoomOptions::default());
    for (cells, part) in [
        (&[&[0, 3, 2, 1][..]][..], "counter-clockwise"),
        (&[&[0, 1, 4, 3]], ""),
        (&[&[0, 1, 2, 4]], "not convex"),
        (&[&[0, 1]], "2 corners were given, a polygon needs three"),
        (&[&[]], "0 corners were given, a polygon needs three"),
        (&[&[0, 1, 6]], "vertex 6 does not exist, there are 6"),
        (&[&[0, 1, 2], &[0, 1, 3]], "they overlap"),
        (&[&[0, 1, 2, 3, 0, 1, 2, 3]], "more than once"),
        (&[&[0, 2, 5]], "some area"),
        (&[], "the mesh has no cells"),
    ] {
        match build(cells) {
            Ok(_) => assert_eq!(part, "", "{cells:?}"),
            Err(error) => {
                let error = error.to_string();
                let is_named = error.starts_with("polygon ") || cells.is_empty();
                assert!(is_named && error.contains(part), "{error}");
            }
        }
    }
}

#[test]
fn meshes_that_can_not_be_read() {
    let good = "mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 1 1 0\n3 0 1 2 -1 -1 -1\n";
    assert!(Room::from_polyanya_mesh(good, RoomOptions::default()).is_ok());
    for (text, expected) in [
        ("", "line 1: the text ends where the word mesh should be"),
        ("grid\n2\n", "line 1: a mesh file begins with the word mesh"),
        ("mesh\n1\n", "line 2: the version is 1, only 2 is read"),
        ("mesh\ntwo\n", "line 2: \"two\" is not a version"),
        ("mesh\n2\n3 -1\n", "line 3: \"-1\" is not the number of polygons"),
        (
            "mesh\n2\n3 1\n0 nan 1 0\n",
            "line 4: vertex 0 has the coordinate NaN, it must be 0 or from 1e-42 to 1e60",
        ),
        ("mesh\n2\n3 1\n0 0 1 0\n1 x 1 0\n", "line 5: \"x\" is not a coordinate"),
        ("mesh\n2\n999999999999 1\n0 0 1 0\n", "line 4: the text ends where a coordinate should be"),
        ("mesh\n2\n3 1\n0 0 999999999 0\n", "line 4: the text ends where a polygon's index should be"),
        (&good.replace("3 0 1 2", "3 0 1 3"), "line 7: polygon 0: vertex 3 does not exist, there are 3"),
        (&good.replace("3 0 1 2", "2 0 1 2"), "line 7: polygon 0 has 2 vertices, it needs three"),
        (&good.replace("-1 -1 -1", "-1 -1 7"), "polygon 7 is named across the edge"),
        (&format!("{good}9\n"), "line 8: \"9\" after the last polygon"),
    ] {
        let error = Room::from_polyanya_mesh(text, RoomOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\ninstead of {expected}");
    }
}

#[test]
fn random_rings_of_any_kind_are_answered() {
    // Nonsense on a small grid, where everything crosses, touches and repeats.
    let mut random = Random::new(53);
    let (mut built, mut reached) = (0, 0);
    for k in 0..1500 {
        let size = 2 + random.below(7);
        let point = |random: &mut Random| match k % 3 {
            0 => [random.below(size) as f64, random.below(size) as f64],
            1 => [random.between(0.0, 5.0), random.between(0.0, 5.0)],
            // Crossings that no f64 hits.
            _ => [random.below(size) as f64 / 3.0, random.below(size) as f64 / 7.0],
        };
        let ring = |random: &mut Random| -> Ring { (0..random.below(14)).map(|_| point(random)).collect() };
        let outer = ring(&mut random);
        let holes: Vec<Ring> = (0..random.below(4)).map(|_| ring(&mut random)).collect();
        let options = RoomOptions {
            squeeze: k % 2 == 0,
            merge: k % 5 != 0,
            radius: if k % 7 == 0 { 0.05 } else { 0.0 },
            ..RoomOptions::default()
        };
        let Ok(mut room) = Room::new(&outer, &holes, options.clone()) else { continue };
        built += 1;
        let obstacle = if k % 4 == 0 { ring(&mut random) } else { Vec::new() };
        // Refused or put in, nothing breaks; only with no room left there is nothing to find.
        let _ = room.put_obstacle(&obstacle);
        if room.area() == 0.0 {
            continue;
        }
        for _ in 0..6 {
            let mut ask = || match random.chance(0.5) {
                true => point(&mut random),
                false => {
                    room.random_point([random.unit(), random.unit(), random.unit()])
                        .unwrap()
                        .unwrap()
                        .position
                }
            };
            let (a, b) = (ask(), ask());
            let paths = every_method(&room, a, b);
            let back = room.path(b, a, &PathOptions::default()).unwrap();
            assert_eq!(paths[0].is_reached(), back.is_reached(), "room {k}: {a:?} {b:?} {outer:?} {holes:?}");
            if paths[0].is_reached() {
                reached += 1;
                let off = (paths[0].length - back.length).abs();
                assert!(
                    off <= 1e-9 * (1e-3 + back.length),
                    "room {k}: {a:?} {b:?} {off} {outer:?} {holes:?}"
                );
                for funnel in &paths[1..] {
                    assert!(
                        funnel.length >= paths[0].length * (1.0 - 1e-9),
                        "room {k}: {a:?} {b:?} {} {} {outer:?} {holes:?}",
                        funnel.length,
                        paths[0].length
                    );
                }
                // What is straight is seen, unless rounding has put an end beyond a wall.
                let is_clear = |p| room.distance_to_wall(p).unwrap().unwrap().distance > 1e-9;
                if paths[0].points.len() == 2 && is_clear(a) && is_clear(b) {
                    let hit = look(&room, a, b).unwrap().unwrap();
                    let squeezes = paths[0].crossings.iter().any(|c| c.edge[0] == c.edge[1]);
                    let rest = (hit.point[0] - b[0]).hypot(hit.point[1] - b[1]);
                    assert!(squeezes || rest < 1e-9, "room {k}: {a:?} {b:?} {hit:?} {outer:?} {holes:?}");
                }
            }
            let nearest =
                room.path(a, b, &PathOptions { to_nearest: true, ..PathOptions::default() }).unwrap();
            assert!(
                nearest.is_reached(),
                "room {k}: {a:?} {b:?} {nearest:?} {outer:?} {holes:?} {obstacle:?} {options:?}"
            );
            assert!(room.distance_to_wall(a).unwrap().is_some());
        }
    }
    assert!(built > 1000 && reached > 1000, "{built} {reached}");
}

#[test]
fn an_end_that_is_brought_into_a_cell_and_comes_to_lie_on_its_corner() {
    // The start is an ulp off the room, and the nearest that f64 has within it is a corner of two cells: it may leave by both.
    let outer = [
        [1.0, 0.14285714285714285],
        [1.0, 0.2857142857142857],
        [1.3333333333333333, 0.42857142857142855],
        [0.6666666666666666, 0.42857142857142855],
        [1.6666666666666667, 0.8571428571428571],
        [0.0, 0.7142857142857143],
        [0.0, 0.0],
    ];
    let holes = [
        vec![
            [1.6666666666666667, 0.8571428571428571],
            [1.6666666666666667, 0.14285714285714285],
            [0.6666666666666666, 0.8571428571428571],
            [1.6666666666666667, 0.7142857142857143],
            [0.3333333333333333, 0.8571428571428571],
            [0.3333333333333333, 0.7142857142857143],
            [1.3333333333333333, 0.42857142857142855],
            [0.0, 0.5714285714285714],
            [0.3333333333333333, 0.2857142857142857],
        ],
        vec![[2.0, 0.42857142857142855], [1.0, 0.8571428571428571], [0.0, 0.42857142857142855]],
    ];
    for (squeeze, merge) in [(true, true), (true, false), (false, true), (false, false)] {
        let options = RoomOptions { squeeze, merge, ..RoomOptions::default() };
        let room = Room::new(&outer, &holes, options).unwrap();
        let vertices: Ring = room.vertices().collect();
        for &goal in &vertices {
            let start = [0.6666666666666666, 0.42857142857142855];
            let (path, back) = (
                room.path(start, goal, &PathOptions::default()).unwrap(),
                room.path(goal, start, &PathOptions::default()).unwrap(),
            );
            assert_eq!(path.is_reached(), back.is_reached(), "{goal:?} {path:?} {back:?}");
            assert!(!path.is_reached() || (path.length - back.length).abs() < 1e-12, "{goal:?}");
        }
    }
}

#[test]
fn a_ray_that_starts_an_ulp_within_a_wall_does_not_see_past_its_corner() {
    // From points on walls, rounded to either side, towards points on the next wall beyond a corner, and along the walls.
    let mut random = Random::new(59);
    let mut hidden = 0;
    for k in 0..300 {
        let rings = Rings::random(&mut random, 1);
        let room = Room::new(
            &rings.rings[0],
            &rings.rings[1..],
            RoomOptions { merge: k % 2 == 0, ..RoomOptions::default() },
        )
        .unwrap();
        for ring in &rings.rings {
            for i in 0..ring.len() {
                let [a, b, c] = [0, 1, 2].map(|j| ring[(i + j) % ring.len()]);
                let on = |from: [f64; 2], to: [f64; 2], t: f64| {
                    [0, 1].map(|j: usize| from[j] + t * (to[j] - from[j]))
                };
                let (start, goal) = (on(a, b, random.unit()), on(b, c, random.between(0.2, 0.9)));
                // Around a corner that juts into the room: hidden, and by more than rounding.
                let turn = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
                let size = (b[0] - a[0]).hypot(b[1] - a[1]) * (c[0] - b[0]).hypot(c[1] - b[1]);
                let straight = (goal[0] - start[0]).hypot(goal[1] - start[1]);
                if turn > -1e-3 * size {
                    continue;
                }
                hidden += 1;
                let hit = look(&room, start, goal).unwrap().unwrap();
                assert!(hit.wall.is_some(), "{k}: {start:?} {goal:?} {hit:?}");
                let by = [goal[0] - start[0], goal[1] - start[1]];
                let moved = room.move_along(start, by).unwrap().unwrap().position;
                let way = room.path(start, moved, &PathOptions::default()).unwrap();
                assert!(way.length <= straight * (1.0 + 1e-9), "{k}: {start:?} {goal:?} {moved:?} {way:?}");
            }
        }
    }
    assert!(hidden > 3000, "{hidden}");
}

#[test]
fn a_ray_is_the_same_whatever_the_length_of_its_direction() {
    // A corridor of whole numbers, whose corner at (3, 9) a ray of the direction (1, 3) just touches.
    let room = build(&SQUARE, &[block(3.0, 4.0, 2.0, 5.0)]);
    for scale in [1.0, 0.1, 3.0, 1e-300, 1e300, 5e-324, 0.3] {
        let hit = room.raycast([0.0, 0.0], [scale, 3.0 * scale], 9.0).unwrap().unwrap();
        assert_eq!(hit.wall, None, "{scale:e}: {hit:?}");
        assert!((hit.distance - 9.0).abs() < 1e-14, "{scale:e}: {hit:?}");
        // Along an axis the other coordinate stays to the bit, also along a wall.
        for y in [4.0, 9.0, 0.1, 0.0] {
            let hit = room.raycast([1.0, y], [scale, 0.0], 1e300).unwrap().unwrap();
            assert_eq!((hit.point, hit.distance), ([10.0, y], 9.0), "{scale:e}");
        }
        let hit = room.raycast([1.0, 5.0], [scale, 0.0], 7.25).unwrap().unwrap();
        assert_eq!((hit.point, hit.distance), ([3.0, 5.0], 2.0), "{scale:e}");
    }
    // As long as the direction: to the very point.
    for goal in [[2.3, 8.9], [0.7, 0.1], [9.1, 3.3]] {
        let by = [goal[0] - 0.5, goal[1] - 0.25];
        let hit = room.raycast([0.5, 0.25], by, (by[0] * by[0] + by[1] * by[1]).sqrt()).unwrap().unwrap();
        assert_eq!((hit.point, hit.wall), ([0.5 + by[0], 0.25 + by[1]], None));
    }
}

#[test]
fn rays_and_moves_that_can_not_be_cast_are_refused_by_name() {
    let room = build(&SQUARE, &[]);
    let start = [1.0, 1.0];
    for (direction, max_distance, name) in [
        ([0.0, 0.0], 1.0, "direction is (0, 0), it must have a length"),
        ([f64::NAN, 0.0], 1.0, "direction is (NaN, 0), it must be finite"),
        ([1.0, f64::INFINITY], 1.0, "direction is (1, inf), it must be finite"),
        ([1.0, 0.0], -1.0, "max_distance is -1, it must be 0 or more and finite"),
        ([1.0, 0.0], f64::NAN, "max_distance is NaN"),
        ([1.0, 0.0], f64::INFINITY, "max_distance is inf"),
    ] {
        let error = room.raycast(start, direction, max_distance).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
    assert_eq!(room.raycast([11.0, 1.0], [1.0, 0.0], 1.0).unwrap(), None);
    assert_eq!(room.raycast(start, [1.0, 0.0], 0.0).unwrap().unwrap().point, start);
    let error = room.move_along(start, [1e300, 0.0]).unwrap_err().to_string();
    assert!(error.starts_with("displacement is (1e300, 0), "), "{error}");
}

#[test]
fn a_strip_reaches_what_lies_on_this_side_of_a_point_that_it_can_not_squeeze_through() {
    // Two squares that touch in a corner: the optimal method squeezes through it, a strip of cells can't.
    let points = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [8.0, 4.0], [8.0, 8.0], [4.0, 8.0]];
    let cells = [[0, 1, 2, 3], [2, 4, 5, 6]];
    let options = RoomOptions { squeeze: true, ..RoomOptions::default() };
    let room = Room::from_cells(&points, &cells, options).unwrap();
    let (start, goal) = ([1.0, 1.0], [7.0, 7.0]);
    assert!(room.path(start, goal, &PathOptions::default()).unwrap().is_reached());
    for strip in [Strip::Dijkstra, Strip::BreadthFirst] {
        let method = Method::Funnel(strip);
        let path = room.path(start, goal, &method.into()).unwrap();
        assert_eq!(path.reach, Reach::Unreachable { nearest: [4.0, 4.0] });
        let path = room.path(start, goal, &PathOptions { method, to_nearest: true }).unwrap();
        assert_eq!((path.is_reached(), path.points), (true, vec![start, [4.0, 4.0]]));
    }
}

#[test]
fn a_room_that_an_obstacle_fills_has_no_nearest_point_and_no_random_one() {
    let mut room = build(&SQUARE, &[]);
    room.put_obstacle(&block(-1.0, -1.0, 12.0, 12.0)).unwrap();
    assert_eq!(room.nearest_point([1.0, 1.0]).unwrap(), None);
    assert_eq!(room.random_point([0.5; 3]).unwrap(), None);
    for to_nearest in [false, true] {
        let options = PathOptions { to_nearest, ..PathOptions::default() };
        let path = room.path([1.0, 1.0], [2.0, 2.0], &options).unwrap();
        let off = Reach::Off { end: PathEnd::Start, nearest: None, distance: f64::INFINITY };
        assert_eq!(path.reach, off, "{to_nearest}");
    }
}

#[test]
fn doors_are_refused_where_a_room_is_made_of_cells() {
    let options = RoomOptions { doors: vec![[[1.0, 0.0], [1.0, 1.0]]], ..RoomOptions::default() };
    let error = Room::from_cells(&SQUARE, &[[0, 1, 2, 3]], options.clone()).unwrap_err().to_string();
    assert!(error.starts_with("1 doors were given") && error.contains("Room::add_door"), "{error}");
    let text = "mesh 2  3 1  0 0 1 0  1 0 1 0  0 1 1 0  3 0 1 2 -1 -1 -1";
    assert!(Room::from_polyanya_mesh(text, options).is_err());
}
