//! Manifolds with known answers: how many points, where, how deep.

use hullfield::Engine;
use hullfield::collide::{Arena, Body, Hull, Manifold, ManifoldOptions, Options, Pairs, Precision, Status};

const EVERY: [Precision; 2] = [Precision::Fast, Precision::Exact];

fn ask(hulls: &[Hull], bodies: &[Body], margin: f32, precision: Precision) -> Manifold {
    let arena = Arena::new(&Engine::cpu(), hulls, Options { precision, ..Default::default() }).unwrap();
    let found = arena
        .manifolds(bodies, Pairs::Given(&[[0, 1]]), &ManifoldOptions { margin })
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(found.rows.len(), 1);
    let turned = arena
        .manifolds(bodies, Pairs::Given(&[[1, 0]]), &ManifoldOptions { margin })
        .unwrap()
        .wait()
        .unwrap();
    assert_eq!(turned.rows[0].point_count, found.rows[0].point_count, "{found:?} {turned:?}");
    found.rows[0]
}

/// The points on `b`, in order of their coordinates.
fn on_b(manifold: &Manifold) -> Vec<[f64; 3]> {
    let mut points: Vec<[f64; 3]> = manifold.points().iter().map(|point| point.on_b).collect();
    let round = |x: f64| (x * 1e4).round() as i64;
    points.sort_by_key(|p| p.map(round));
    points
}

fn assert_near(found: &[[f64; 3]], wanted: &[[f64; 3]]) {
    let near = |p: &[f64; 3], q: &[f64; 3]| (0..3).all(|k| (p[k] - q[k]).abs() < 2e-5);
    let same = found.len() == wanted.len() && found.iter().zip(wanted).all(|(p, q)| near(p, q));
    assert!(same, "{found:?}, not {wanted:?}");
}

/// Two bars, edge above edge with a gap of 0.01, and the ends of what the edges share, on z.
pub(crate) fn edges_along_each_other() -> Vec<([Hull; 2], [Body; 2], [f32; 2])> {
    let bars =
        |half_length: f32| [1.0, 0.8].map(|share| Hull::cuboid([0.5, 0.5, share * half_length]).unwrap());
    let mut scenes = Vec::new();
    for half_length in [0.3, 4.0] {
        for share in [-1.2, -0.5, 0.0, 0.1, 0.5, 1.2] {
            let shift = share * half_length;
            let height = 2.0 * 0.5_f32.sqrt() + 0.01;
            let bodies =
                [[0.0; 3], [0.0, height, shift]].map(|at| Body::new(0).rotated(about_z(45.0)).at(at));
            let low = (shift - 0.8 * half_length).max(-half_length);
            let high = (shift + 0.8 * half_length).min(half_length);
            scenes.push((bars(half_length), [bodies[0], Body { hull: 1, ..bodies[1] }], [low, high]));
        }
    }
    scenes
}

fn about_z(degrees: f64) -> [f32; 4] {
    let half = degrees.to_radians() / 2.0;
    [0.0, 0.0, half.sin() as f32, half.cos() as f32]
}

#[test]
fn a_box_at_rest_on_a_box_has_four_points() {
    let hulls = [Hull::cuboid([2.0, 0.5, 2.0]).unwrap(), Hull::cuboid([0.5; 3]).unwrap()];
    let bodies = [Body::new(0), Body::new(1).at([1.0, 0.99, 0.25])];
    for precision in EVERY {
        let found = ask(&hulls, &bodies, 0.0, precision);
        assert_eq!(found.status, Status::Penetrating);
        assert!((found.depth() - 0.01).abs() < 1e-6 && (found.normal[1] - 1.0).abs() < 1e-9, "{found:?}");
        let y = 0.49;
        assert_near(&on_b(&found), &[[0.5, y, -0.25], [0.5, y, 0.75], [1.5, y, -0.25], [1.5, y, 0.75]]);
        for point in found.points() {
            assert!((point.depth() - 0.01).abs() < 1e-6 && (point.on_a[1] - 0.5).abs() < 1e-6, "{point:?}");
        }
    }
}

#[test]
fn a_box_over_the_edge_of_another_has_the_corners_of_what_they_share() {
    let hulls = [Hull::cuboid([1.0; 3]).unwrap()];
    let bodies = [Body::new(0), Body::new(0).at([1.5, 2.0, 0.5])];
    for precision in EVERY {
        let found = ask(&hulls, &bodies, 0.0, precision);
        assert_eq!(found.status, Status::Touching);
        assert_near(&on_b(&found), &[[0.5, 1.0, -0.5], [0.5, 1.0, 1.0], [1.0, 1.0, -0.5], [1.0, 1.0, 1.0]]);
    }
}

#[test]
fn an_octagon_is_reduced_to_four_points() {
    let hulls = [Hull::cuboid([1.0; 3]).unwrap()];
    let half = 22.5_f64.to_radians();
    let turned = [0.0, half.sin() as f32, 0.0, half.cos() as f32];
    let bodies = [Body::new(0), Body::new(0).at([0.0, 1.9, 0.0]).rotated(turned)];
    for precision in EVERY {
        let found = ask(&hulls, &bodies, 0.0, precision);
        assert_eq!(found.point_count, 4, "{found:?}");
        // Corners of a regular octagon, opposite ones or nearly so: they span most of it.
        let [p, q, r, s] = [0, 1, 2, 3].map(|k| found.points()[k].on_a);
        let area = |a: [f64; 3], b: [f64; 3], c: [f64; 3]| {
            0.5 * ((b[0] - a[0]) * (c[2] - a[2]) - (b[2] - a[2]) * (c[0] - a[0])).abs()
        };
        let octagon = 8.0 * (2.0_f64.sqrt() - 1.0);
        assert!(area(p, q, r) + area(p, q, s) > 0.6 * octagon, "{found:?}");
        for point in found.points() {
            assert!((point.depth() - 0.1).abs() < 1e-5, "{point:?}");
        }
    }
}

#[test]
fn an_edge_has_two_points_and_a_corner_one() {
    let hulls = [Hull::cuboid([2.0, 0.5, 2.0]).unwrap(), Hull::cuboid([0.5; 3]).unwrap()];
    let diagonal = 0.5_f32.sqrt();
    let on_edge = Body::new(1).rotated(about_z(45.0)).at([0.3, 0.5 + diagonal - 0.01, 0.0]);
    // About z by 45°, then so about x that a corner is lowest.
    let tip = (1.0_f64 / 2.0_f64.sqrt()).atan() / 2.0;
    let [sin, cos] = [tip.sin(), tip.cos()];
    let [z, w] = [(22.5_f64.to_radians()).sin(), (22.5_f64.to_radians()).cos()];
    let on_corner = [sin * w, -sin * z, cos * z, cos * w].map(|x| x as f32);
    let on_corner = Body::new(1).rotated(on_corner).at([0.3, 0.5 + 0.75_f32.sqrt() - 0.01, 0.0]);
    for precision in EVERY {
        let found = ask(&hulls, &[Body::new(0), on_edge], 0.0, precision);
        assert_near(&on_b(&found), &[[0.3, 0.49, -0.5], [0.3, 0.49, 0.5]]);
        let found = ask(&hulls, &[Body::new(0), on_corner], 0.0, precision);
        assert_near(&on_b(&found), &[[0.3, 0.49, 0.0]]);
        assert!((found.points()[0].depth() - 0.01).abs() < 1e-5);
    }
}

/// Two bars, edge above edge, moved along each other: the points are the ends of what the edges share.
#[test]
fn edges_along_each_other_have_the_ends_of_their_common_part() {
    for (hulls, bodies, ends) in edges_along_each_other() {
        for precision in EVERY {
            let found = ask(&hulls, &bodies, 0.02, precision);
            assert_eq!(found.status, Status::Separated, "{found:?}");
            let y = f64::from(bodies[1].position[1] - 0.5_f32.sqrt());
            assert_near(&on_b(&found), &ends.map(|z| [0.0, y, f64::from(z)]));
            for point in found.points() {
                assert!((point.depth() + 0.01).abs() < 1e-5, "{point:?}");
            }
        }
    }
}

#[test]
fn a_box_barely_tilted_has_four_points_of_their_own_depths() {
    let hulls = [Hull::half_space(), Hull::cuboid([0.5; 3]).unwrap()];
    let angle = 0.5_f64.to_radians();
    let bodies = [Body::new(0), Body::new(1).rotated(about_z(0.5)).at([0.0, 0.5, 0.0])];
    for precision in EVERY {
        let found = ask(&hulls, &bodies, 0.01, precision);
        assert_eq!(found.point_count, 4, "{found:?}");
        for point in found.points() {
            let side = if point.on_b[0] < 0.0 { -0.5 } else { 0.5 };
            let height = 0.5 + side * angle.sin() - 0.5 * angle.cos();
            assert!((point.depth() + height).abs() < 1e-6, "{point:?}");
        }
        // Without a margin only what is in the ground is left.
        let found = ask(&hulls, &bodies, 0.0, precision);
        assert_eq!(found.point_count, 2, "{found:?}");
    }
}

#[test]
fn round_shapes_have_one_point_and_lying_capsules_two() {
    let hulls = [
        Hull::cuboid([2.0, 0.5, 2.0]).unwrap(),
        Hull::ball(0.5).unwrap(),
        Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.25).unwrap(),
        Hull::half_space(),
    ];
    for (ground, top) in [(Body::new(0), 0.5), (Body::new(3), 0.0)] {
        for precision in EVERY {
            let ball = Body::new(1).at([0.2, top as f32 + 0.49, 0.1]);
            let found = ask(&hulls, &[ground, ball], 0.0, precision);
            assert_near(&on_b(&found), &[[0.2, top - 0.01, 0.1]]);
            let lying = Body::new(2).rotated(about_z(90.0)).at([0.2, top as f32 + 0.24, 0.1]);
            let found = ask(&hulls, &[ground, lying], 0.0, precision);
            assert_near(&on_b(&found), &[[-0.8, top - 0.01, 0.1], [1.2, top - 0.01, 0.1]]);
            let standing = Body::new(2).at([0.2, top as f32 + 1.24, 0.1]);
            let found = ask(&hulls, &[ground, standing], 0.0, precision);
            assert_near(&on_b(&found), &[[0.2, top - 0.01, 0.1]]);
        }
    }
}

#[test]
fn rounded_boxes_and_parallel_capsules_rest_on_their_flats() {
    let hulls = [
        Hull::cuboid([0.4; 3]).unwrap().rounded(0.1).unwrap(),
        Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.25).unwrap(),
        Hull::triangle([[-9.0, 0.0, -9.0], [9.0, 0.0, -9.0], [0.0, 0.0, 9.0]]).unwrap(),
    ];
    for precision in EVERY {
        let found = ask(&hulls, &[Body::new(0), Body::new(0).at([0.0, 0.99, 0.0])], 0.0, precision);
        let y = 0.49;
        assert_near(&on_b(&found), &[[-0.4, y, -0.4], [-0.4, y, 0.4], [0.4, y, -0.4], [0.4, y, 0.4]]);
        let side_by_side = [Body::new(1), Body::new(1).at([0.5, 0.5, 0.0])];
        let found = ask(&hulls, &side_by_side, 0.0, precision);
        assert_near(&on_b(&found), &[[0.25, -0.5, 0.0], [0.25, 1.0, 0.0]]);
        let on_triangle = [Body::new(2), Body::new(0).at([0.0, 0.5, 0.0])];
        let found = ask(&hulls, &on_triangle, 0.0, precision);
        assert_near(&on_b(&found), &[[-0.4, 0.0, -0.4], [-0.4, 0.0, 0.4], [0.4, 0.0, -0.4], [0.4, 0.0, 0.4]]);
    }
}

#[test]
fn apart_within_the_margin_the_points_are_apart() {
    let hulls = [Hull::cuboid([0.5; 3]).unwrap()];
    let bodies = [Body::new(0), Body::new(0).at([0.0, 1.1, 0.0])];
    for precision in EVERY {
        let found = ask(&hulls, &bodies, 0.2, precision);
        assert_eq!((found.status, found.point_count), (Status::Separated, 4), "{found:?}");
        for point in found.points() {
            assert!((point.depth() + 0.1).abs() < 1e-6 && (point.on_b[1] - 0.6).abs() < 1e-6, "{point:?}");
        }
        let arena = Arena::new(&Engine::cpu(), &hulls, Options { precision, ..Default::default() }).unwrap();
        let near = |margin| {
            arena
                .manifolds(&bodies, Pairs::BroadPhase, &ManifoldOptions { margin })
                .unwrap()
                .wait()
                .unwrap()
                .rows
        };
        assert_eq!(near(0.2).len(), 1);
        assert_eq!(near(0.05).len(), 0);
    }
}

#[test]
fn points_have_one_point() {
    let hulls = [Hull::from_points(&[[0.0; 3]]).unwrap(), Hull::cuboid([0.5; 3]).unwrap()];
    for precision in EVERY {
        for (bodies, distance) in [
            ([Body::new(0), Body::new(0).at([3.0, 0.0, 4.0])], 5.0),
            ([Body::new(0), Body::new(0)], 0.0),
            ([Body::new(1), Body::new(0).at([0.0, 2.5, 0.0])], 2.0),
        ] {
            let found = ask(&hulls, &bodies, 0.0, precision);
            assert_eq!(found.point_count, 1, "{found:?}");
            assert!((found.depth() + distance).abs() < 1e-6, "{found:?}");
            let length = found.normal.iter().map(|x| x * x).sum::<f64>();
            assert!((length - 1.0).abs() < 1e-9, "{found:?}");
        }
    }
}
