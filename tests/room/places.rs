//! The places of agents on their paths.

use hullfield::navigate::room::{Options as RoomOptions, Path as RoomPath, PathOptions, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::seed;

const NO_HOLES: [[[f64; 2]; 0]; 0] = [];

/// The place by its definition: the piece that holds the length, and the part of it that is left.
fn expected(path: &RoomPath, arc_length: f64) -> ([f64; 2], [f64; 2]) {
    let mut left = arc_length.clamp(0.0, path.length);
    let last = path.points.len() - 2;
    for (piece, ends) in path.points.windows(2).enumerate() {
        let [x, y] = [ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]];
        let length = x.hypot(y);
        if left <= length || piece == last {
            let tangent = [x / length, y / length];
            return ([0, 1].map(|axis| ends[0][axis] + left * tangent[axis]), tangent);
        }
        left -= length;
    }
    panic!("a path without pieces");
}

#[test]
fn an_agent_is_where_its_path_leads_it() {
    // Around two corners: 3 up, 4 to the right, 5 down.
    let outer =
        [[0.0, 0.0], [1.0, 0.0], [1.0, 3.0], [5.0, 3.0], [5.0, -2.0], [6.0, -2.0], [6.0, 4.0], [0.0, 4.0]];
    let room = Room::new(&outer, &NO_HOLES, RoomOptions::default()).unwrap();
    let path = room.path([1.0, 0.0], [5.0, -2.0], &PathOptions::default()).unwrap();
    assert_eq!((path.points.len(), path.length), (4, 12.0));
    for (arc_length, position, tangent, piece) in [
        (f64::NEG_INFINITY, [1.0, 0.0], [0.0, 1.0], 0),
        (-1.0, [1.0, 0.0], [0.0, 1.0], 0),
        (0.0, [1.0, 0.0], [0.0, 1.0], 0),
        (2.5, [1.0, 2.5], [0.0, 1.0], 0),
        // At a bend the piece is that after it.
        (3.0, [1.0, 3.0], [1.0, 0.0], 1),
        (6.0, [4.0, 3.0], [1.0, 0.0], 1),
        (7.0, [5.0, 3.0], [0.0, -1.0], 2),
        (11.0, [5.0, -1.0], [0.0, -1.0], 2),
        (12.0, [5.0, -2.0], [0.0, -1.0], 2),
        (f64::INFINITY, [5.0, -2.0], [0.0, -1.0], 2),
    ] {
        let place = path.at(arc_length).unwrap();
        assert_eq!((place.position, place.tangent, place.piece), (position, tangent, piece), "{arc_length}");
    }
    assert_eq!(path.at(f64::NAN), None);
}

#[test]
fn where_there_is_no_path_there_is_no_place() {
    let square = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]];
    let room = Room::new(&square, &NO_HOLES, RoomOptions::default()).unwrap();
    assert_eq!(room.path([1.0, 1.0], [9.0, 1.0], &PathOptions::default()).unwrap().at(0.5), None);
    assert_eq!(RoomPath::default().at(0.0), None);
    // An agent that stays where it is has a place, and looks nowhere.
    let stay = room.path([1.0, 2.0], [1.0, 2.0], &PathOptions::default()).unwrap();
    for arc_length in [-1.0, 0.0, 3.0] {
        let place = stay.at(arc_length).unwrap();
        assert_eq!((place.position, place.tangent, place.piece), ([1.0, 2.0], [0.0; 2], 0));
    }
}

#[test]
fn places_of_random_paths_are_where_their_lengths_say() {
    let mut random = Random::new(seed(910));
    let mut bends = 0;
    for kind in 0..21 {
        let rings = Rings::random(&mut random, kind % 3);
        let room = Room::new(&rings.rings[0], &rings.rings[1..], RoomOptions::default()).unwrap();
        let [start, goal] = [rings.random_point(&mut random), rings.random_point(&mut random)];
        let path = room.path(start, goal, &PathOptions::default()).unwrap();
        if !path.is_reached() {
            continue;
        }
        bends += path.corners.len();
        for _ in 0..50 {
            let arc_length = random.between(-0.1, 1.1) * path.length;
            let (place, (position, tangent)) = (path.at(arc_length).unwrap(), expected(&path, arc_length));
            let off = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]);
            assert!(off(place.position, position) <= 1e-12 * path.length, "{place:?} {position:?}");
            assert!(off(place.tangent, tangent) <= 1e-12, "{place:?} {tangent:?}");
        }
    }
    assert!(bends > 10, "{bends}");
}
