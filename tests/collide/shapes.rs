//! The usual shapes: their points, their rounding, and what they refuse.

use hullfield::collide::{Arena, Body, Dimension, Hull, Pairs, Precision};
use hullfield::{Engine, Error};

use crate::common;

#[test]
fn shapes_have_the_points_that_they_say() {
    let ball = Hull::ball(2.0).unwrap();
    assert_eq!((ball.vertices(), ball.rounding(), ball.radius()), (&[[0.0; 3]][..], 2.0, 0.0));
    let capsule = Hull::capsule(1.5, 0.25).unwrap();
    assert_eq!(capsule.vertices(), [[0.0, -1.5, 0.0], [0.0, 1.5, 0.0]]);
    assert_eq!((capsule.dimension(), capsule.rounding()), (Dimension::Segment, 0.25));
    assert_eq!(Hull::capsule(0.0, 0.25).unwrap(), Hull::ball(0.25).unwrap());
    let triangle = Hull::triangle([[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).unwrap();
    assert_eq!(triangle.dimension(), Dimension::Polygon);
    let collinear = Hull::triangle([[0.0; 3], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]]).unwrap();
    assert_eq!(collinear.dimension(), Dimension::Segment);
    assert_eq!(Hull::half_space().dimension(), Dimension::HalfSpace);
    assert_eq!(Hull::cuboid([1.0; 3]).unwrap().rounded(0.5).unwrap().rounding(), 0.5);
}

#[test]
fn cylinders_and_cones_lie_on_what_they_stand_for() {
    for sides in [3, 4, 16, 33] {
        let cylinder = Hull::cylinder(2.0, 3.0, sides).unwrap();
        assert_eq!((cylinder.vertices().len(), cylinder.dimension()), (2 * sides as usize, Dimension::Solid));
        let cone = Hull::cone(2.0, 3.0, sides).unwrap();
        assert_eq!((cone.vertices().len(), cone.dimension()), (sides as usize + 1, Dimension::Solid));
        let on_rim = |v: &[f32; 3]| (f64::from(v[0]).hypot(f64::from(v[2])) - 3.0).abs() < 1e-6;
        assert!(cylinder.vertices().iter().all(|v| on_rim(v) && v[1].abs() == 2.0));
        assert!(cone.vertices().iter().all(|v| *v == [0.0, 2.0, 0.0] || (on_rim(v) && v[1] == -2.0)));
        // Of a regular prism: the area of a regular polygon times the height.
        let sector = std::f64::consts::TAU / f64::from(sides);
        let volume = f64::from(sides) * 0.5 * 9.0 * sector.sin() * 4.0;
        assert!((cylinder.volume() / volume - 1.0).abs() < 1e-6);
        assert!((3.0 * cone.volume() / volume - 1.0).abs() < 1e-6);
    }
    assert_eq!(Hull::cylinder(0.0, 1.0, 8).unwrap().dimension(), Dimension::Polygon);
    assert_eq!(Hull::cylinder(1.0, 0.0, 8).unwrap().dimension(), Dimension::Segment);
    assert_eq!(Hull::cone(0.0, 1.0, 8).unwrap().dimension(), Dimension::Polygon);
}

#[test]
fn simplify_keeps_the_rounding() {
    let hull = Hull::cylinder(1.0, 1.0, 64).unwrap().rounded(0.25).unwrap();
    assert_eq!(hull.simplify(16).unwrap().0.rounding(), 0.25);
    assert_eq!(Hull::half_space().simplify(4).unwrap().0, Hull::half_space());
}

#[test]
fn lengths_that_are_none_are_named() {
    let cube = Hull::cuboid([1.0; 3]).unwrap();
    for bad in [-1.0, -1e-30, f32::NAN, f32::INFINITY] {
        for (field, found) in [
            ("radius", cube.clone().rounded(bad)),
            ("radius", Hull::ball(bad)),
            ("radius", Hull::capsule(1.0, bad)),
            ("half_height", Hull::capsule(bad, 1.0)),
            ("radius", Hull::cylinder(1.0, bad, 8)),
            ("half_height", Hull::cone(bad, 1.0, 8)),
        ] {
            let error = found.unwrap_err();
            assert!(matches!(&error, Error::HullField { field: named, .. } if *named == field), "{error}");
        }
    }
    for sides in [0, 2, 65_537] {
        assert!(matches!(Hull::cylinder(1.0, 1.0, sides), Err(Error::HullField { field: "sides", .. })));
    }
}

/// The exact path forgot the rounding of the half-space's own hull.
#[test]
fn ground_is_as_high_as_it_is_rounded() {
    let hulls = [Hull::half_space().rounded(0.25).unwrap(), Hull::ball(0.5).unwrap()];
    let bodies = [Body::new(0).scaled(2.0).rounded(0.125), Body::new(1).at([0.0, 2.0, 0.0])];
    for engine in [Some(Engine::cpu()), common::gpu()].into_iter().flatten() {
        for precision in [Precision::Fast, Precision::Exact] {
            let arena = Arena::new(&engine, &hulls).unwrap().with_precision(precision);
            for [a, b] in [[0, 1], [1, 0]] {
                let found = arena.contacts(&bodies, Pairs::Given(&[[a, b]]), 0.0).unwrap().wait().unwrap();
                let row = found.rows[0];
                let (ground, ball) = (row.points[a as usize], row.points[b as usize]);
                let case = format!("{precision:?} {a} {b} {row:?}");
                assert!((row.depth + 0.875).abs() < 1e-6, "{case}");
                assert!((ground[1] - 0.625).abs() < 1e-6, "{case}");
                assert!((ball[1] - 1.5).abs() < 1e-6, "{case}");
                assert!((row.normal[1] - if a == 0 { 1.0 } else { -1.0 }).abs() < 1e-6, "{case}");
                let found = arena.distances(&bodies, Pairs::Given(&[[a, b]]), 0.0).unwrap().wait().unwrap();
                assert!((found.rows[0].distance - 0.875).abs() < 1e-6, "{case}");
            }
        }
    }
}
