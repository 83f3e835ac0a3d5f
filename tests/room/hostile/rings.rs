//! Rings that cross, touch, overlap, repeat points or have no area, and rooms of thousands or random ones.

use hullfield::navigate::room::{Options as RoomOptions, PathOptions, RepairKind, Room};
use hullfield::navigate::{PathEnd, Reach};
use hullfield_oracle::random::Random;
use hullfield_oracle::seed;

use crate::hostile::{Ring, SQUARE, block, build, every_method, look, repairs, strict};

#[test]
fn a_self_crossing_outline_is_cut_where_it_crosses() {
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
fn rings_that_touch_are_cut_and_nothing_squeezes_through() {
    // A hole with a corner on the outline, and one with a corner on its corner.
    let holes = [vec![[0.0, 5.0], [2.0, 4.0], [2.0, 6.0]], vec![[2.0, 6.0], [4.0, 6.0], [4.0, 8.0]]];
    let room = build(&SQUARE, &holes);
    assert_eq!(repairs(&room), [(1, RepairKind::Touch)]);
    assert_eq!(room.repairs()[0].place, [0.0, 5.0]);
    assert_eq!(room.area(), 100.0 - 2.0 - 2.0);
    assert!(strict(&SQUARE, &holes).is_ok(), "a touch needs no repair");
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
    assert_eq!(outside.iter().map(|(ring, _)| *ring).collect::<Vec<_>>(), [1, 3, 4]);
    for (ring, place) in outside {
        // A corner of the hole that is not in the square.
        assert!(
            holes[ring - 1].contains(&place) && place.iter().any(|x| !(0.0..=10.0).contains(x)),
            "{place:?}"
        );
    }
    assert_eq!(room.area(), 100.0 - 1.0 - 1.0);
    assert!(strict(&SQUARE, &holes).is_err());
}

#[test]
fn holes_that_overlap_become_one() {
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
fn repeated_collinear_and_closing_points_change_nothing() {
    let plain = build(&SQUARE, &[]);
    let mut closed = SQUARE.to_vec();
    closed.push(SQUARE[0]);
    assert_eq!((build(&closed, &[]).area(), build(&closed, &[]).repairs().len()), (100.0, 0));
    let repeated = [SQUARE[0], SQUARE[0], SQUARE[1], SQUARE[2], SQUARE[2], SQUARE[2], SQUARE[3]];
    let room = build(&repeated, &[]);
    assert_eq!(repairs(&room), [(0, RepairKind::RepeatedPoint)]);
    assert_eq!((room.area(), room.vertices().len()), (100.0, 4));
    assert!(strict(&repeated, &[]).unwrap_err().to_string().contains("a repeated point was taken once"));
    // Collinear points need no repair and stay.
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
fn rings_without_area_are_left_out_or_refused() {
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
    // A hole that was left out is not a wall.
    assert!(
        (room.path([4.0, 6.0], [6.0, 4.0], &PathOptions::default()).unwrap().length - 8f64.sqrt()).abs()
            < 1e-15
    );
    assert!(strict(&SQUARE, &holes).is_err());
}

#[test]
fn thousands_of_holes_that_touch_in_corners() {
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
    // Each inner white square is an island. Those at the border are one island with the space outside.
    let shut =
        (1..n - 1).flat_map(|x| (1..n - 1).map(move |y| (x, y))).filter(|(x, y)| (x + y) % 2 == 1).count();
    assert_eq!(room.island_count(), shut + 1);
    assert!(!room.path([1.5, 2.5], [2.5, 1.5], &PathOptions::default()).unwrap().is_reached());
    let through = Room::new(&outer, &holes, RoomOptions { squeeze: true, ..RoomOptions::default() }).unwrap();
    assert_eq!(through.island_count(), 1);
    // Along a diagonal of white squares, from corner to corner.
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
fn edges_that_coincide_but_for_rounding_are_cut_to_an_end() {
    // On a grid of whole numbers many of these edges lie on one another. Divided by the spacing they miss by an ulp, and cross anywhere.
    let outer =
        [[2, 1], [0, 3], [1, 0], [0, 0], [0, 2], [0, 0], [3, 2], [2, 2], [1, 0], [1, 1], [0, 0]].as_slice();
    let holes = [
        [[3, 0], [2, 2], [1, 1], [2, 0]].as_slice(),
        &[[2, 1], [3, 3], [0, 3], [3, 0], [2, 1], [1, 2], [0, 0], [1, 3], [2, 2], [1, 0], [0, 3]],
        &[[0, 0], [3, 0], [1, 2], [0, 0]],
    ];
    for [across, up] in [[3.0, 7.0], [7.0, 3.0], [6.0, 11.0], [9.0, 13.0], [1.0, 1.0]] {
        let ring = |ring: &[[i32; 2]]| -> Ring {
            ring.iter().map(|&[x, y]| [f64::from(x) / across, f64::from(y) / up]).collect()
        };
        let holes: Vec<Ring> = holes.iter().map(|hole| ring(hole)).collect();
        let room = Room::new(&ring(outer), &holes, RoomOptions::default()).unwrap();
        // Shapely gives this area for the whole numbers: inside of the outer ring and outside of all holes, by the even-odd rule.
        let area = room.area() * across * up;
        assert!((area - 0.35).abs() < 1e-9, "{across} {up}: {area}");
    }
}

#[test]
fn random_rings_of_any_kind_are_built_or_refused() {
    // Random rings on a small grid, where edges cross and touch and points repeat.
    let mut random = Random::new(seed(53));
    let (mut built, mut reached) = (0, 0);
    for k in 0..1500 {
        let size = 2 + random.below(7);
        let point = |random: &mut Random| match k % 3 {
            0 => [random.below(size) as f64, random.below(size) as f64],
            1 => [random.between(0.0, 5.0), random.between(0.0, 5.0)],
            // Crossings that f64 can't represent.
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
        // The obstacle is put in or refused. A room without area has no points to query.
        let _ = room.put_obstacle(&obstacle);
        if room.area() == 0.0 {
            continue;
        }
        for _ in 0..6 {
            let mut pick = || match random.chance(0.5) {
                true => point(&mut random),
                false => {
                    room.random_point([random.unit(), random.unit(), random.unit()])
                        .unwrap()
                        .unwrap()
                        .position
                }
            };
            let (a, b) = (pick(), pick());
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
                // A straight path is a line of sight, unless rounding has put an end beyond a wall.
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
