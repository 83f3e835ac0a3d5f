//! The usual shapes: their points, their rounding, and what they refuse.

use glam::DVec3;
use hullfield::collide::{
    Arena, Body, ContactOptions, Dimension, DistanceOptions, Hull, Options, Pairs, Precision,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;

use crate::common;

#[test]
fn shapes_have_the_points_that_they_say() {
    let ball = Hull::ball(2.0).unwrap();
    assert_eq!((ball.vertices(), ball.rounding(), ball.radius()), (&[[0.0; 3]][..], 2.0, 0.0));
    let capsule = Hull::capsule([0.0, -1.5, 0.0], [0.0, 1.5, 0.0], 0.25).unwrap();
    assert_eq!(capsule.vertices(), [[0.0, -1.5, 0.0], [0.0, 1.5, 0.0]]);
    assert_eq!((capsule.dimension(), capsule.rounding()), (Dimension::Segment, 0.25));
    assert_eq!(Hull::capsule([0.0; 3], [0.0; 3], 0.25).unwrap(), Hull::ball(0.25).unwrap());
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
        let cylinder = Hull::cylinder([0.0, -2.0, 0.0], [0.0, 2.0, 0.0], 3.0, sides).unwrap();
        assert_eq!((cylinder.vertices().len(), cylinder.dimension()), (2 * sides as usize, Dimension::Solid));
        let cone = Hull::cone([0.0, -2.0, 0.0], [0.0, 2.0, 0.0], 3.0, sides).unwrap();
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
    assert_eq!(
        Hull::cylinder([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.0, 8).unwrap().dimension(),
        Dimension::Segment
    );
    // An axis without a length has no direction.
    for at in [[0.0; 3], [1.0, 2.0, 3.0]] {
        for found in [Hull::cylinder(at, at, 1.0, 8), Hull::cone(at, at, 1.0, 8)] {
            let error = found.unwrap_err();
            assert!(
                matches!(error, Error::Invalid { .. }) && error.to_string().contains("must differ"),
                "{error}"
            );
        }
    }
}

/// Around an axis that points anywhere: as far from it as the radius says, between its ends, of a regular prism's volume.
#[test]
fn cylinders_and_cones_stand_around_any_axis() {
    let mut random = Random::new(165);
    for case in 0..200 {
        let base = random.direction() * random.between(0.0, 3.0);
        let tip = base + random.direction() * random.log_between(0.1, 10.0);
        let radius = random.log_between(0.1, 3.0) as f32;
        let [a, b] = [base, tip].map(|end| end.as_vec3().to_array());
        let [base, tip] = [a, b].map(|end| DVec3::from(end.map(f64::from)));
        let axis = (tip - base).normalize();
        let sides = 3 + case % 20;
        let cylinder = Hull::cylinder(a, b, radius, sides).unwrap();
        let cone = Hull::cone(a, b, radius, sides).unwrap();
        for hull in [&cylinder, &cone] {
            for vertex in hull.vertices() {
                let from = DVec3::from(vertex.map(f64::from)) - base;
                let along = from.dot(axis);
                let aside = (from - axis * along).length();
                let at_tip = (along - (tip - base).length()).abs() < 3e-6;
                let expected =
                    if at_tip && hull.vertices().len() <= sides as usize + 1 { 0.0 } else { radius.into() };
                assert!(at_tip || along.abs() < 3e-6, "{case}: {along}");
                assert!((aside - expected).abs() < 3e-6, "{case}: {aside} {expected}");
            }
        }
        let sector = std::f64::consts::TAU / f64::from(sides);
        let area = f64::from(sides) * 0.5 * f64::from(radius).powi(2) * sector.sin();
        let volume = area * (tip - base).length();
        assert!(
            (cylinder.volume() / volume - 1.0).abs() < 1e-4
                && (3.0 * cone.volume() / volume - 1.0).abs() < 1e-4
        );
    }
}

/// A half-space by its normal and offset, against the height that these two say.
#[test]
fn a_half_space_lies_below_its_plane() {
    let mut random = Random::new(166);
    let (ground, ball) = (Hull::half_space(), Hull::ball(0.25).unwrap());
    let axes = [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
    for case in 0..200 {
        let normal = axes.get(case).copied().unwrap_or_else(|| random.direction().as_vec3().to_array());
        let offset = random.between(-10.0, 10.0) as f32;
        let place = (random.direction() * 10.0).as_vec3().to_array();
        let pose = hullfield::collide::Pose::of_half_space(normal, offset).unwrap();
        let row =
            hullfield::collide::contact(&ground, pose, &ball, hullfield::collide::Pose::at(place)).unwrap();
        let up = DVec3::from(normal.map(f64::from)).normalize();
        let height = up.dot(DVec3::from(place.map(f64::from))) - f64::from(offset) - 0.25;
        assert!((row.separation - height).abs() < 5e-6, "{case}: {row:?} {height}");
        assert!((DVec3::from(row.normal) - up).length() < 5e-7, "{case}: {row:?} {up}");
    }
}

#[test]
fn simplify_keeps_the_rounding() {
    let hull = Hull::cylinder([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 1.0, 64).unwrap().rounded(0.25).unwrap();
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
            ("radius", Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], bad)),
            ("radius", Hull::cylinder([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], bad, 8)),
        ] {
            let error = found.unwrap_err();
            assert!(matches!(&error, Error::Value { field: named, .. } if *named == field), "{error}");
        }
    }
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let end = [0.0, bad, 0.0];
        for found in [
            Hull::capsule([0.0; 3], end, 1.0),
            Hull::cylinder([0.0; 3], end, 1.0, 8),
            Hull::cone([0.0; 3], end, 1.0, 8),
        ] {
            let error = found.unwrap_err();
            assert!(matches!(error, Error::Value { at: Location::Point(1), .. }), "{error}");
        }
        assert!(matches!(
            hullfield::collide::Pose::of_half_space(end, 0.0),
            Err(Error::Value { field: "normal", .. })
        ));
        assert!(matches!(
            hullfield::collide::Pose::of_half_space([0.0, 1.0, 0.0], bad),
            Err(Error::Value { field: "offset", .. })
        ));
    }
    assert!(matches!(
        hullfield::collide::Pose::of_half_space([0.0, 0.9, 0.0], 1.0),
        Err(Error::Value { field: "normal", .. })
    ));
    for sides in [0, 2, 65_537] {
        assert!(matches!(
            Hull::cylinder([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 1.0, sides),
            Err(Error::Value { field: "sides", .. })
        ));
    }
}

/// The exact path forgot the rounding of the half-space's own hull.
#[test]
fn ground_is_as_high_as_it_is_rounded() {
    let hulls = [Hull::half_space().rounded(0.25).unwrap(), Hull::ball(0.5).unwrap()];
    let bodies = [Body::new(0).scaled(2.0).padded(0.125), Body::new(1).at([0.0, 2.0, 0.0])];
    for engine in [Some(Engine::cpu()), common::gpu()].into_iter().flatten() {
        for precision in [Precision::Fast, Precision::Exact] {
            let arena = Arena::new(&engine, &hulls, Options { precision, ..Default::default() }).unwrap();
            for [a, b] in [[0, 1], [1, 0]] {
                let found = arena
                    .contacts(&bodies, Pairs::Given(&[[a, b]]), &ContactOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                let row = found.rows[0];
                let (ground, ball) = (row.points[a as usize], row.points[b as usize]);
                let case = format!("{precision:?} {a} {b} {row:?}");
                assert!((row.depth() + 0.875).abs() < 1e-6, "{case}");
                assert!((ground[1] - 0.625).abs() < 1e-6, "{case}");
                assert!((ball[1] - 1.5).abs() < 1e-6, "{case}");
                assert!((row.normal[1] - if a == 0 { 1.0 } else { -1.0 }).abs() < 1e-6, "{case}");
                let found = arena
                    .distances(&bodies, Pairs::Given(&[[a, b]]), &DistanceOptions { margin: 0.0 })
                    .unwrap()
                    .wait()
                    .unwrap();
                assert!((found.rows[0].separation - 0.875).abs() < 1e-6, "{case}");
            }
        }
    }
}
