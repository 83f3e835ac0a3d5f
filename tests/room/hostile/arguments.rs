//! Numbers that can't be used, as coordinates or as options.

use hullfield::navigate::room::{Method, Options as RoomOptions, PathOptions, Room, Strip};

use crate::hostile::{Ring, SQUARE, block, build};

#[test]
fn numbers_that_can_not_be_used_are_refused_with_the_place() {
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
