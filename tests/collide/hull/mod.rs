//! Hulls of public point sets, of degenerate points, and against an exact brute-force oracle.

mod checkers;
mod clouds;

use std::collections::{BTreeSet, HashSet};

use hullfield::collide::{Dimension, Hull};
use hullfield::{Error, Location};
use hullfield_oracle::random::Random;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use checkers::*;
use clouds::*;

type Point = [f32; 3];

#[test]
fn every_public_point_set_becomes_a_hull() {
    let sets = point_sets();
    let mut count_by_dimension = [0; 4];
    for points in &sets {
        let hull = Hull::from_points(points).expect("a hull");
        count_by_dimension[hull.dimension() as usize] += 1;
        check(&hull, points);
    }
    println!("{} sets: {count_by_dimension:?} points, segments, polygons, solids", sets.len());
    assert!(count_by_dimension[3] > sets.len() / 2);
}

/// A face that is a line up to f32's rounding. Its normal was accurate only to 1e-11 of the size, because the area was the
/// difference of two rounded products.
#[test]
fn the_plane_of_a_needle_holds_its_corners() {
    let needle: [Point; 3] = [
        [-0.00017195244, -0.0014014659, 0.0022302733],
        [-2.8922343e-6, -0.001680703, 0.0013895549],
        [-0.00045162268, -0.000939534, 0.0036210443],
    ];
    let hull = Hull::from_points(&[needle[0], needle[1], needle[2], [0.002, 0.0, 0.002]]).expect("a hull");
    assert_eq!(hull.faces().len(), 4);
    check_structure(&hull);
}

#[test]
fn public_point_sets_agree_with_brute_force() {
    let sets = point_sets();
    let small = sets.iter().filter(|points| points.len() <= 24);
    for points in small.step_by(sets.len().div_ceil(200)) {
        agrees_with_brute_force(points);
    }
}

#[test]
fn degenerate_clouds() {
    for (name, points) in degenerate() {
        println!("{name}");
        check(&Hull::from_points(&points).expect("a hull"), &points);
    }
}

#[test]
fn degenerate_clouds_at_any_scale() {
    for (name, points) in degenerate() {
        for scale in [1e-30, 1e-5, 1e-3, 1e3, 1e5, 1e30] {
            let points = scaled(&points, [scale; 3]);
            println!("{name} at {scale:e}");
            check(&Hull::from_points(&points).expect("a hull"), &points);
        }
    }
}

#[test]
fn scale_by_two_changes_nothing() {
    for (_, points) in degenerate() {
        let hull = Hull::from_points(&points).expect("a hull");
        let large = Hull::from_points(&scaled(&points, [1024.0; 3])).expect("a hull");
        assert!(hull.faces().eq(large.faces()));
        assert_eq!(scaled(hull.vertices(), [1024.0; 3]), large.vertices());
    }
}

#[test]
fn dimensions_are_exact() {
    let dimension = |points: &[Point]| Hull::from_points(points).expect("a hull").dimension();
    let mut flat = grid(5, [true, true, false]);
    assert_eq!(dimension(&flat), Dimension::Polygon);
    flat[12][2] = 1e-36;
    assert_eq!(dimension(&flat), Dimension::Solid);
    let mut line: Vec<Point> = (0..9).map(|i| [i as f32 * 0.125 + 1.0, 3.0, -7.0]).collect();
    assert_eq!(dimension(&line), Dimension::Segment);
    line[4][1] = 3.0f32.next_up();
    assert_eq!(dimension(&line), Dimension::Polygon);
    assert_eq!(dimension(&[[1.0; 3], [1.0, 1.0, 1.0f32.next_up()]]), Dimension::Segment);
}

#[test]
fn mixed_magnitudes() {
    let large = 1e30;
    let points = [
        [large, 0.0, 0.0],
        [-large, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 1e-30],
        [0.0, 0.0, 1e-40],
        [large, 1e-40, 0.0],
    ];
    agrees_with_brute_force(&points);
    let mut random = Random::new(3);
    for _ in 0..100 {
        let points: Vec<Point> = (0..12)
            .map(|_| random.in_cube().map(|x| x * 10f32.powf(37.0 * ((x * 1e4).fract().abs() * 2.0 - 1.0))))
            .collect();
        agrees_with_brute_force(&points);
    }
}

#[test]
fn a_cuboid() {
    let hull = Hull::cuboid([1.0, 2.0, 3.0]).expect("a box");
    assert_eq!(
        (hull.vertices().len(), hull.faces().len(), hull.edges().count(), hull.triangles().count()),
        (8, 6, 12, 12)
    );
    assert_eq!(hull.vertices()[5], [1.0, -2.0, 3.0]);
    assert_eq!((hull.volume(), hull.mean(), hull.radius()), (48.0, [0.0; 3], 14f64.sqrt()));
    assert_eq!(hull.neighbours(0), [1, 2, 4]);
    for plane in hull.planes() {
        let axis = plane.normal.iter().position(|x| x.abs() == 1.0).expect("along an axis");
        assert_eq!(plane.offset, [1.0, 2.0, 3.0][axis]);
    }
    check(&hull, hull.vertices());
    assert_eq!(Hull::cuboid([1.0, 0.0, 1.0]).expect("flat").dimension(), Dimension::Polygon);
    assert_eq!(Hull::cuboid([0.0; 3]).expect("a point").vertices(), [[0.0; 3]]);
    for half in [[-1.0, 1.0, 1.0], [f32::NAN, 1.0, 1.0], [1.0, f32::INFINITY, 1.0]] {
        assert!(matches!(Hull::cuboid(half), Err(Error::Value { field: "half", .. })));
    }
}

#[test]
fn bad_input_is_one_clear_error() {
    let empty = Hull::from_points(&[]).expect_err("no points");
    assert!(matches!(empty, Error::Count { what: "points", given: 0, .. }), "{empty}");
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let error = Hull::from_points(&[[0.0; 3], [1.0; 3], [0.0, bad, 2.0]]);
        assert!(matches!(error, Err(Error::Value { at: Location::Point(2), .. })), "{error:?}");
    }
    for size in [f32::MAX, 3e38, 1e-37, 1e-40, f32::from_bits(1)] {
        for points in [
            vec![[size, 0.0, 0.0], [-size, 0.0, 0.0]],
            scaled(&grid(2, [true; 3]), [2.0 * size.min(1.7e38); 3]),
        ] {
            let error = Hull::from_points(&points).expect_err("too large or too small");
            assert!(matches!(error, Error::Value { field: "bounding radius", .. }), "{error:?}");
            assert!(error.to_string().starts_with("bounding radius is "), "{error}");
        }
    }
    for point in [[f32::MAX; 3], [1e-40; 3]] {
        assert_eq!(Hull::from_points(&[point; 3]).expect("a point").vertices(), [point]);
    }
    assert!(Hull::from_points(&scaled(&grid(2, [true; 3]), [1e38; 3])).is_ok());
    assert!(Hull::from_points(&scaled(&grid(2, [true; 3]), [4e-36; 3])).is_ok());
}

#[test]
fn order_of_the_input_does_not_matter() {
    let mut random = Random::new(5);
    for (name, mut points) in degenerate() {
        let sorted = |hull: &Hull| {
            let mut vertices: Vec<[u32; 3]> = hull.vertices().iter().map(|&v| key(v)).collect();
            vertices.sort_unstable();
            vertices
        };
        let faces = |hull: &Hull| -> BTreeSet<BTreeSet<[u32; 3]>> {
            hull.faces()
                .map(|face| face.iter().map(|&v| key(hull.vertices()[v as usize])).collect())
                .collect()
        };
        let first = Hull::from_points(&points).expect("a hull");
        assert_eq!(first, Hull::from_points(&points).expect("a hull"), "the same every time");
        for _ in 0..3 {
            for i in (1..points.len()).rev() {
                points.swap(i, random.below(i + 1));
            }
            let hull = Hull::from_points(&points).expect("a hull");
            assert_eq!(sorted(&first), sorted(&hull), "{name}");
            assert_eq!(faces(&first), faces(&hull), "{name}");
            let unique = distinct(&points);
            let place = |v: &Point| unique.iter().position(|p| p == v);
            assert!(hull.vertices().iter().map(place).is_sorted(), "{name}: by first appearance");
        }
    }
}

#[test]
fn many_points() {
    let mut random = Random::new(13);
    let sphere: Vec<Point> = (0..40_000).map(|_| random.on_sphere()).collect();
    let hull = Hull::from_points(&sphere).expect("a hull");
    assert!(hull.vertices().len() > 39_000);
    check_structure(&hull);
    let ball: Vec<Point> = (0..300_000).map(|_| random.in_ball()).collect();
    let hull = Hull::from_points(&ball).expect("a hull");
    check_structure(&hull);
    let planes: Vec<_> = hull.planes().collect();
    for p in ball.iter().step_by(100).map(|p| p.map(f64::from)) {
        assert!(
            planes
                .iter()
                .all(|plane| (0..3).map(|i| plane.normal[i] * p[i]).sum::<f64>() <= plane.offset + 1e-12)
        );
    }
    let cube = grid(40, [true; 3]);
    assert_eq!(Hull::from_points(&cube).expect("a hull").vertices().len(), 8);
}

#[test]
fn each_direction_is_climbed_along_edges() {
    let mut random = Random::new(17);
    for (name, points) in degenerate() {
        let hull = Hull::from_points(&points).expect("a hull");
        for _ in 0..50 {
            let direction = random.on_sphere().map(f64::from);
            let height = |v: u32| {
                (0..3).map(|i| direction[i] * f64::from(hull.vertices()[v as usize][i])).sum::<f64>()
            };
            let best = (0..hull.vertices().len() as u32).map(height).fold(f64::NEG_INFINITY, f64::max);
            let mut at = 0;
            while let Some(&next) = hull.neighbours(at).iter().find(|&&next| height(next) > height(at)) {
                at = next;
            }
            assert!(best - height(at) <= 1e-12 * (hull.radius() + length(hull.mean())), "{name}");
        }
    }
}

/// Distance of a point from a convex hull by brute force over faces: from the plane inside, else from the edges.
fn distance(hull: &Hull, p: Point) -> f64 {
    let p = p.map(f64::from);
    let at = |v: u32| hull.vertices()[v as usize].map(f64::from);
    let dot = |a: [f64; 3], b: [f64; 3]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let mut nearest = f64::INFINITY;
    for v in 0..hull.vertices().len() as u32 {
        nearest = nearest.min(length(minus(p, at(v))));
    }
    for [a, b] in hull.edges() {
        let (ab, ap) = (minus(at(b), at(a)), minus(p, at(a)));
        let t = dot(ab, ap) / dot(ab, ab);
        if (0.0..=1.0).contains(&t) {
            nearest = nearest.min(length([0, 1, 2].map(|i| ap[i] - t * ab[i])));
        }
    }
    for (face, plane) in hull.faces().zip(hull.planes()) {
        let height = dot(plane.normal, p) - plane.offset;
        let inside = (0..face.len()).all(|i| {
            let (a, b) = (at(face[i]), at(face[(i + 1) % face.len()]));
            dot(cross(minus(b, a), minus(p, a)), plane.normal) >= 0.0
        });
        if inside && height >= 0.0 {
            nearest = nearest.min(height);
        }
    }
    nearest
}

#[test]
fn simplify_says_how_much_it_shrank() {
    let mut random = Random::new(19);
    let mut clouds = degenerate();
    clouds.push(("ball", (0..2000).map(|_| random.in_ball()).collect()));
    for (name, points) in clouds {
        let hull = Hull::from_points(&points).expect("a hull");
        let count = hull.vertices().len();
        for max_vertices in [4, 5, 6, 8, 12, 30, 64, count] {
            let (small, error) = hull.simplify(max_vertices).expect("simpler");
            assert_eq!(small.vertices().len(), max_vertices.min(count), "{name}");
            assert_eq!(small.dimension(), hull.dimension(), "{name}");
            assert!(small.vertices().iter().all(|v| hull.vertices().contains(v)));
            check_structure(&small);
            if max_vertices >= count {
                assert_eq!((&small, error), (&hull, 0.0));
                continue;
            }
            let kept: HashSet<[u32; 3]> = small.vertices().iter().map(|&v| key(v)).collect();
            let dropped = hull.vertices().iter().filter(|&&v| !kept.contains(&key(v)));
            let worst = dropped.map(|&v| distance(&small, v)).fold(0.0, f64::max);
            let error = f64::from(error);
            assert!(error >= worst * (1.0 - 1e-9), "{name} {max_vertices}: said {error:e}, is {worst:e}");
            assert!(
                error <= worst * (1.0 + 1e-6) + 1e-13 * hull.radius(),
                "{name} {max_vertices}: said {error:e}, is {worst:e}"
            );
        }
    }
    let hull = Hull::cuboid([1.0; 3]).expect("a box");
    let error = hull.simplify(3).expect_err("a solid has four");
    assert_eq!(error.to_string(), "max_vertices is 3, a hull of this dimension needs at least 4");
    let square = Hull::cuboid([1.0, 1.0, 0.0]).expect("a square");
    assert_eq!(square.simplify(3).expect("a triangle").1, 2f32.sqrt().next_up().max(2f32.sqrt()));
    assert_eq!(
        square.simplify(2).expect_err("a polygon has three").to_string(),
        "max_vertices is 2, a hull of this dimension needs at least 3"
    );
}

#[test]
fn the_checkers_can_fail() {
    let hull = Hull::cuboid([1.0; 3]).expect("a box");
    let mut faces: Vec<Vec<u32>> = hull.faces().map(<[u32]>::to_vec).collect();
    let verdict = |faces: &[Vec<u32>]| closed(8, faces.iter().map(Vec::as_slice));
    assert_eq!(verdict(&faces), Ok(()));
    assert!(verdict(&faces[1..]).is_err(), "a face is missing");
    assert!(closed(9, faces.iter().map(Vec::as_slice)).is_err(), "a vertex that is in no face");
    faces[2].reverse();
    assert!(verdict(&faces).is_err(), "a face is turned over");
    faces[2].reverse();
    faces.push(faces[0].clone());
    assert!(verdict(&faces).is_err(), "a face is there twice");

    let verdict = |p: Point| contains(hull.vertices(), hull.triangles(), &[p]);
    assert_eq!(verdict([1.0, 1.0, 1.0]), Ok(()));
    assert!(verdict([1.0f32.next_up(), 0.3, 0.2]).is_err(), "one ulp outside");

    // The oracle tells a hull with one vertex too many or too few.
    let mut points = grid(3, [true; 3]);
    let (_, extreme, facets) = brute_force(&points);
    assert_eq!((extreme.len(), facets.len()), (8, 6));
    points.push([1.0, 1.0, 2.0f32.next_up()]);
    assert_eq!(brute_force(&points).1.len(), 9);
}

fn cloud() -> impl Strategy<Value = Vec<Point>> {
    let step = (-3i32..=3).prop_map(|i| i as f32);
    let lattice = prop::array::uniform3(step.clone());
    let clustered = (prop::array::uniform3(step), prop::array::uniform3(-2i32..=2)).prop_map(|(p, ulps)| {
        [0, 1, 2].map(|i| f32::from_bits((p[i] + 4.0).to_bits().wrapping_add_signed(ulps[i])))
    });
    let near_zero = prop::array::uniform3(prop_oneof![Just(0.0f32), Just(-0.0), Just(1.0), -1e-20f32..1e-20]);
    let any = prop::array::uniform3(-1.0f32..1.0);
    let wide = prop::array::uniform3((-1.0f32..1.0, -30i32..30).prop_map(|(x, e)| x * 10f32.powi(e)));
    let flat = (any.clone(), 0usize..3).prop_map(|(mut p, axis)| {
        p[axis] = 0.25;
        p
    });
    prop_oneof![
        prop::collection::vec(lattice.clone(), 1..24),
        prop::collection::vec(clustered, 1..20),
        prop::collection::vec(near_zero, 1..16),
        prop::collection::vec(any.clone(), 1..24),
        prop::collection::vec(wide, 1..16),
        prop::collection::vec(flat, 1..16),
        prop::collection::vec(prop_oneof![lattice, any], 1..20),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_brute_force_on_any_cloud(points in cloud()) {
        let size = distinct(&points).iter().flatten().fold(0.0f32, |m, x| m.max(x.abs()));
        prop_assume!(distinct(&points).len() == 1 || size > 1e-30);
        if let Err(error) = Hull::from_points(&points) {
            let is_size = matches!(error, Error::Value { field: "bounding radius", .. });
            prop_assert!(is_size, "{}", error);
        } else {
            agrees_with_brute_force(&points);
        }
    }
}
