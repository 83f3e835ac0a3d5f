//! Rooms of many spikes: where agents of a radius have room, against the distance to every wall.

use hullfield::navigate::room::{Options as RoomOptions, PathOptions, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::doors::{apart, walls_of};

type Ring = Vec<[f64; 2]>;

/// A ring around the origin whose corners lie at radii by turns or by chance.
fn spiky(count: usize, reach: impl Fn(usize) -> f64) -> Ring {
    (0..count)
        .map(|k| {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / count as f64).sin_cos();
            [reach(k) * cos, reach(k) * sin]
        })
        .collect()
}

fn comb(teeth: usize) -> Ring {
    let tooth = |k: usize| {
        [10.0 - 10.0 * (k as f64 + 0.5) / teeth as f64, if k.is_multiple_of(2) { 5.0 } else { 1.0 }]
    };
    [[0.0, 0.0], [10.0, 0.0]].into_iter().chain((0..teeth).map(tooth)).chain([[0.0, 3.0]]).collect()
}

#[test]
fn points_are_in_the_room_where_no_wall_is_within_the_radius() {
    let mut random = Random::new(seed(0x5b1c));
    let heights: Vec<f64> = (0..1000).map(|_| random.between(1.0, 4.0)).collect();
    let square = vec![[-8.0, -8.0], [8.0, -8.0], [8.0, 8.0], [-8.0, 8.0]];
    let count = extent(160, 320);
    let rooms = [
        ("star", vec![spiky(count, |k| if k.is_multiple_of(2) { 3.0 } else { 1.0 })]),
        ("comb", vec![comb(count)]),
        ("hole", vec![square.clone(), spiky(count, |k| heights[k])]),
        ("far hole", vec![square, spiky(count, |k| heights[k])]),
    ];
    for (name, mut rings) in rooms {
        let far = if name == "far hole" { 1e5 } else { 0.0 };
        rings.iter_mut().flatten().for_each(|p| *p = [p[0] + far, p[1] - far]);
        let walls = walls_of(&rings);
        let plain = Room::new(&rings[0], &rings[1..], RoomOptions::default()).unwrap();
        for radius in [0.002, 0.03, 0.4] {
            let room =
                Room::new(&rings[0], &rings[1..], RoomOptions { radius, ..RoomOptions::default() }).unwrap();
            // No slivers between what was united in groups.
            assert_eq!(
                room.island_count(),
                if name == "comb" { room.island_count() } else { 1 },
                "{name}, {radius}"
            );
            let mut compared = 0;
            for _ in 0..extent(300, 600) {
                let uniform = [random.unit(), random.unit(), random.unit()];
                let point = plain.random_point(uniform).unwrap().unwrap().position;
                let clearance =
                    walls.iter().map(|&wall| apart([point; 2], wall)).fold(f64::INFINITY, f64::min);
                if (clearance / radius - 1.0).abs() > 1.1e-3 {
                    compared += 1;
                    let is_in = room.locate(point).unwrap().is_some();
                    assert_eq!(
                        is_in,
                        clearance > radius,
                        "{name}, {radius}: {point:?} is {clearance} from a wall"
                    );
                }
            }
            assert!(compared > extent(250, 550), "{name}, {radius}: {compared}");
            for _ in 0..20 {
                let mut ends = [[0.0; 2]; 2];
                for end in &mut ends {
                    let uniform = [random.unit(), random.unit(), random.unit()];
                    *end = room.random_point(uniform).unwrap().unwrap().position;
                }
                let path = room.path(ends[0], ends[1], &PathOptions::default()).unwrap();
                for piece in path.points.windows(2) {
                    let piece = [piece[0], piece[1]];
                    let least = walls.iter().map(|&wall| apart(piece, wall)).fold(f64::INFINITY, f64::min);
                    assert!(least >= radius * (1.0 - 1e-12) - 1e-15 * far, "{name}, {radius}: {least}");
                }
            }
        }
    }
}
