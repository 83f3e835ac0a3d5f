//! Rays from points an ulp off a wall, and rays of any direction's length.

use hullfield::navigate::room::{Options as RoomOptions, PathOptions, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::seed;

use crate::hostile::{SQUARE, block, build, look};

#[test]
fn a_ray_from_an_ulp_inside_a_wall_does_not_see_past_its_corner() {
    // From points on walls, which rounding puts on either side, towards points on the next wall around a reflex corner.
    let mut random = Random::new(seed(59));
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
                // Only reflex corners, by more than rounding: the goal is hidden.
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
fn the_length_of_a_rays_direction_does_not_matter() {
    // Integer coordinates: a ray of direction (1, 3) just touches the corner at (3, 9).
    let room = build(&SQUARE, &[block(3.0, 4.0, 2.0, 5.0)]);
    for scale in [1.0, 0.1, 3.0, 1e-300, 1e300, 5e-324, 0.3] {
        let hit = room.raycast([0.0, 0.0], [scale, 3.0 * scale], 9.0).unwrap().unwrap();
        assert_eq!(hit.wall, None, "{scale:e}: {hit:?}");
        assert!((hit.distance - 9.0).abs() < 1e-14, "{scale:e}: {hit:?}");
        // Along an axis the other coordinate stays exact, along a wall too.
        for y in [4.0, 9.0, 0.1, 0.0] {
            let hit = room.raycast([1.0, y], [scale, 0.0], 1e300).unwrap().unwrap();
            assert_eq!((hit.point, hit.distance), ([10.0, y], 9.0), "{scale:e}");
        }
        let hit = room.raycast([1.0, 5.0], [scale, 0.0], 7.25).unwrap().unwrap();
        assert_eq!((hit.point, hit.distance), ([3.0, 5.0], 2.0), "{scale:e}");
    }
    // As far as the direction is long: exactly to `start + direction`.
    for goal in [[2.3, 8.9], [0.7, 0.1], [9.1, 3.3]] {
        let by = [goal[0] - 0.5, goal[1] - 0.25];
        let hit = room.raycast([0.5, 0.25], by, (by[0] * by[0] + by[1] * by[1]).sqrt()).unwrap().unwrap();
        assert_eq!((hit.point, hit.wall), ([0.5 + by[0], 0.25 + by[1]], None));
    }
}
