//! Path queries: ends on walls and corners, off the room or on other islands; extreme scales and shapes.

use hullfield::navigate::room::{Method, Options as RoomOptions, PathOptions, Room, Strip};
use hullfield::navigate::{PathEnd, Reach};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::seed;

use crate::hostile::{Ring, SQUARE, block, build, every_method, look};

#[test]
fn ends_on_edges_and_corners_are_in_the_room_and_ends_in_walls_are_not() {
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
    // Inside the pillar and outside the room, the nearest point of the room is returned.
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
fn a_closed_chamber_is_unreachable_not_off_the_room() {
    // A hole cuts the room in two.
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
fn rooms_of_any_scale_and_place_agree_with_a_visibility_graph() {
    // Scaled, moved far away, or both. The oracle uses the rounded coordinates too.
    let mut random = Random::new(seed(41));
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
fn corridors_a_billion_times_as_long_as_wide() {
    // A zigzag of corridors, each a million long and a thousandth wide.
    let (length, width, turns) = (1e6, 1e-3, 7);
    let mut outer: Ring = vec![[0.0, 0.0]];
    let mut back: Ring = Vec::new();
    for k in 0..turns {
        let (y, x) = (2.0 * width * f64::from(k), if k % 2 == 0 { length } else { 0.0 });
        let inner = if k % 2 == 0 { length - width } else { width };
        // Along the outside of the next corridor, and back along its inside.
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
    // A needle triangle, whose tip is a few ulps wide.
    let needle = [[0.0, 0.0], [1e9, 0.0], [1e9, 1e-3]];
    let room = build(&needle, &[]);
    for path in every_method(&room, [0.0, 0.0], [1e9, 1e-3]) {
        assert!(path.is_reached() && (path.length - 1e9).abs() < 1.0, "{path:?}");
    }
}

#[test]
fn portals_collinear_with_the_path_do_not_bend_it() {
    // An open room of squares or triangles: every path is straight, along edges and through corners.
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
    // A fan of triangles over one line: the funnel is as narrow as possible, along the line and across it.
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
fn paths_between_vertices_agree_with_a_visibility_graph() {
    // Random pairs of vertices, by every method.
    let mut random = Random::new(seed(43));
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
fn an_end_moved_into_a_cell_may_lie_on_its_corner() {
    // The start is an ulp off the room, and the nearest f64 point inside is a corner of two cells. Paths may start in either cell.
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
fn a_strip_reaches_only_this_side_of_a_pinch_point() {
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
fn a_room_filled_by_an_obstacle_has_no_nearest_point() {
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
