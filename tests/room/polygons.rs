//! Rooms of several polygons: apart, side by side, overlapping, one in a hole of another.

use hullfield::navigate::Reach;
use hullfield::navigate::room::{Options as RoomOptions, PathOptions, RepairKind, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::{extent, seed};

type Ring = Vec<[f64; 2]>;

fn block(x: f64, y: f64, width: f64, height: f64) -> Ring {
    vec![[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
}

fn build(polygons: &[Vec<Ring>]) -> Room {
    Room::from_polygons(polygons, RoomOptions::default()).unwrap()
}

fn length(room: &Room, start: [f64; 2], goal: [f64; 2]) -> f64 {
    room.path(start, goal, &PathOptions::default()).unwrap().length
}

#[test]
fn polygons_apart_are_islands() {
    let room = build(&[
        vec![block(0.0, 0.0, 4.0, 3.0)],
        vec![block(6.0, 1.0, 2.0, 2.0)],
        vec![block(20.0, 0.0, 1.0, 1.0)],
    ]);
    assert_eq!((room.area(), room.island_count(), room.repairs().len()), (17.0, 3, 0));
    assert_eq!(length(&room, [6.5, 1.5], [7.5, 1.5]), 1.0);
    let path = room.path([1.0, 2.0], [7.0, 2.0], &PathOptions::default()).unwrap();
    assert_eq!(path.reach, Reach::Unreachable { nearest: [4.0, 2.0] });
    assert!(room.locate([5.0, 2.0]).unwrap().is_none());
}

#[test]
fn polygons_that_share_a_part_of_an_edge_are_one_floor() {
    // Not corner to corner: each edge is cut where the other ends.
    let room = build(&[vec![block(0.0, 0.0, 5.0, 5.0)], vec![block(5.0, 2.0, 4.0, 6.0)]]);
    assert_eq!((room.area(), room.island_count()), (49.0, 1));
    assert!((length(&room, [4.0, 1.0], [6.0, 3.0]) - 8f64.sqrt()).abs() < 1e-12);
    // In one point nothing gets through, unless it may squeeze.
    let corner = [vec![block(0.0, 0.0, 2.0, 2.0)], vec![block(2.0, 2.0, 2.0, 2.0)]];
    assert_eq!(length(&build(&corner), [1.0, 1.0], [3.0, 3.0]), f64::INFINITY);
    let squeeze =
        Room::from_polygons(&corner, RoomOptions { squeeze: true, ..RoomOptions::default() }).unwrap();
    assert!((length(&squeeze, [1.0, 1.0], [3.0, 3.0]) - 8f64.sqrt()).abs() < 1e-12);
}

#[test]
fn polygons_that_overlap_count_once() {
    let twice = build(&[vec![block(0.0, 0.0, 4.0, 4.0)], vec![block(0.0, 0.0, 4.0, 4.0)]]);
    assert_eq!((twice.area(), twice.island_count()), (16.0, 1));
    let cross = build(&[vec![block(0.0, 2.0, 9.0, 2.0)], vec![block(3.0, 0.0, 2.0, 7.0)]]);
    assert_eq!((cross.area(), cross.island_count()), (28.0, 1));
    assert!(cross.repairs().iter().all(|repair| repair.kind == RepairKind::Crossing));
    // A polygon covers the hole of another, in part or whole; its own hole is covered by the other.
    let frame = vec![block(0.0, 0.0, 9.0, 9.0), block(2.0, 2.0, 5.0, 5.0)];
    let room = build(&[frame.clone(), vec![block(3.0, 3.0, 2.0, 2.0)]]);
    assert_eq!((room.area(), room.island_count()), (81.0 - 25.0 + 4.0, 2));
    let room = build(&[frame.clone(), vec![block(1.0, 4.0, 7.0, 1.0)]]);
    assert_eq!((room.area(), room.island_count()), (81.0 - 25.0 + 5.0, 1));
    let room = build(&[frame, vec![block(1.0, 1.0, 7.0, 7.0), block(0.5, 0.5, 1.0, 1.0)]]);
    assert_eq!(room.area(), 81.0);
}

#[test]
fn rings_of_all_polygons_are_counted_through() {
    let hole = |x: f64| block(x, 1.0, 1.0, 1.0);
    let polygons = [
        vec![block(0.0, 0.0, 4.0, 4.0), hole(1.0)],
        vec![block(10.0, 0.0, 4.0, 4.0), hole(11.0), hole(30.0)],
        vec![vec![[20.0, 0.0], [21.0, 1.0], [22.0, 2.0]]],
    ];
    let room = build(&polygons);
    let found: Vec<(usize, RepairKind)> =
        room.repairs().iter().map(|repair| (repair.ring, repair.kind)).collect();
    assert_eq!(found, [(5, RepairKind::NoArea), (4, RepairKind::HoleOutside)]);
    assert_eq!((room.area(), room.island_count()), (30.0, 2));
    let mut bad = polygons;
    bad[1][1][2][0] = f64::NAN;
    let error = Room::from_polygons(&bad, RoomOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("ring 3, point 2"), "{error}");
    let none: [Vec<Ring>; 0] = [];
    let error = Room::from_polygons(&none, RoomOptions::default()).unwrap_err().to_string();
    assert!(error.contains("no room is left"), "{error}");
    let error = Room::from_polygons(&[vec![block(0.0, 0.0, 1.0, 1.0)], vec![]], RoomOptions::default());
    assert!(error.unwrap_err().to_string().starts_with("polygon 1: it has no rings"));
}

#[test]
fn one_polygon_is_as_its_rings_and_a_radius_applies_to_all() {
    let mut random = Random::new(seed(71));
    for k in 0..extent(12, 24) {
        let rings = Rings::random(&mut random, k as u32 % 3);
        let options = || RoomOptions { radius: if k % 2 == 0 { 0.0 } else { 0.2 }, ..RoomOptions::default() };
        let single = Room::new(&rings.rings[0], &rings.rings[1..], options()).unwrap();
        let same = Room::from_polygons(&[&rings.rings[..]], options()).unwrap();
        assert_eq!(single.area().to_bits(), same.area().to_bits());
        // A copy beside it: the same lengths in both, none between them.
        let far = 1000.0;
        let moved: Vec<Ring> =
            rings.rings.iter().map(|ring| ring.iter().map(|p| [p[0] + far, p[1]]).collect()).collect();
        let both = Room::from_polygons(&[rings.rings.clone(), moved], options()).unwrap();
        assert_eq!(both.island_count(), 2 * single.island_count());
        for _ in 0..4 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let beside = |p: [f64; 2]| [p[0] + far, p[1]];
            let truth = length(&single, a, b);
            for found in [length(&both, a, b), length(&both, beside(a), beside(b))] {
                let is_near = || {
                    single.distance_to_wall(a).unwrap().unwrap().distance < 1e-9
                        || single.distance_to_wall(b).unwrap().unwrap().distance < 1e-9
                };
                assert!(
                    found == truth || (found - truth).abs() < 1e-9 * truth || is_near(),
                    "{k}: {found} {truth}"
                );
            }
            assert_eq!(length(&both, a, beside(b)), f64::INFINITY);
        }
    }
}
