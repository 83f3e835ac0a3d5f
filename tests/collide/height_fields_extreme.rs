//! Height fields of extreme heights, spacings and aspects: no triangle is left out in silence.

use hullfield::collide::{
    Arena, Body, BodyColumns, Compound, CompoundBody, CompoundColumns, Compounds, DistanceOptions,
    HeightField, Hull, Options, Pairs, PointColumns, PointOptions, Ray, RayColumns, RayOptions,
};
use hullfield::{Engine, Error};
use hullfield_oracle::random::Random;

/// Columns and rows.
const SIDE: u32 = 5;

/// A power of two, so that the grid's coordinates are f32.
fn two(exponent: i32) -> f32 {
    2.0_f32.powi(exponent)
}

/// Spacings of columns and rows, and the greatest height.
fn extremes() -> Vec<([f32; 2], f32)> {
    let spacings = [
        [two(-59), two(-59)],
        [two(-59), two(56)],
        [two(57), two(-59)],
        [two(57), two(57)],
        [two(-33), two(33)],
        [1.0, 1.0],
    ];
    let heights = [0.0, 1e-40, f32::MIN_POSITIVE, 1e-30, two(-59), 1e-6, 1.0, 1e9, 1e17];
    spacings.into_iter().flat_map(|spacing| heights.map(|height| (spacing, height))).collect()
}

#[test]
fn every_triangle_is_met_however_small_large_or_steep_it_is() {
    let mut random = Random::new(77);
    let (mut hit_count, mut near_count) = (0, 0);
    for (spacing, most) in extremes() {
        let what = format!("spacing {spacing:?}, heights up to {most:e}");
        let heights: Vec<f32> =
            (0..SIDE * SIDE).map(|_| (f64::from(most) * random.between(-1.0, 1.0)) as f32).collect();
        let field = HeightField::new(SIDE, heights, spacing).unwrap();
        let corners: Vec<[[f64; 3]; 3]> =
            (0..field.part_count()).map(|part| field.triangle(part).unwrap()).collect();
        let hulls: Vec<Hull> = corners
            .iter()
            .map(|corners| Hull::triangle(corners.map(|corner| corner.map(|x| x as f32))).unwrap())
            .collect();
        let alone: Vec<Body> = (0..field.part_count()).map(Body::new).collect();
        let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
        let compounds = Compounds::new(&arena, &[]).unwrap().with_height_fields(&[field]);
        let body = [CompoundBody::new(0)];

        // At the middle of each triangle, from above and from aside.
        let size = corners.iter().flatten().flatten().fold(0.0, |size: f64, x| size.max(x.abs()));
        let (mut rays, mut origins, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for corners in &corners {
            let middle: [f64; 3] =
                std::array::from_fn(|k| corners.iter().map(|corner| corner[k]).sum::<f64>() / 3.0);
            for off in [[0.0, 1.5, 0.0], [0.3, 1.0, 0.2], [-1.0, 0.25, 0.5]] {
                let off = off.map(|x: f64| x * size);
                rays.push(Ray::new([0.0; 3], off.map(|x| -x as f32)));
                origins.push([0, 1, 2].map(|k| middle[k] + off[k]));
            }
            points.push([0, 1, 2].map(|k| middle[k] + [0.01, 0.02, -0.01][k] * size));
        }
        let rays = RayColumns { origins: &origins, ..RayColumns::new(&rays) };
        let positions = vec![[0.0; 3]; alone.len()];
        let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&alone) };
        let options = RayOptions::default();
        let expected = match arena.raycasts_all(columns, rays, &options) {
            Ok(found) => found.wait().unwrap().rows,
            Err(error) => {
                // The mean of a triangle is too far from its hull's origin: none of ours is.
                assert!(matches!(error, Error::Value { field: "scale", .. }), "{what}: {error}");
                continue;
            }
        };
        let found = compounds.raycasts_all(&body, rays, &options).unwrap().wait().unwrap().rows;
        let (mut named, mut others): (Vec<_>, Vec<_>) = (
            found.iter().map(|row| (row.row.ray, row.part)).collect(),
            expected.iter().map(|row| (row.ray, row.body)).collect(),
        );
        named.sort_unstable();
        others.sort_unstable();
        // f64 can't tell what the tip of a sharper needle is within the tolerance of.
        let is_needle = size > 1e9 * f64::from(spacing[0].min(spacing[1]));
        assert!(is_needle || named == others, "{what}: other triangles are hit than alone");
        for aimed in 0..3 * corners.len() as u32 {
            assert!(named.contains(&(aimed, aimed / 3)), "{what}: ray {aimed} misses what it is aimed at");
        }
        hit_count += named.len();

        let points = PointColumns::new_f64(&points);
        let options = PointOptions::default();
        let expected = arena.nearest_points(columns, points, &options).unwrap().wait().unwrap().rows;
        let found = compounds.nearest_points(&body, points, &options).unwrap().wait().unwrap().rows;
        for (row, other) in found.iter().zip(&expected) {
            let (hit, other) = (row.row.hit.unwrap(), other.hit.unwrap());
            assert!((hit.distance - other.distance).abs() <= 1e-9 * size, "{what}: {hit:?} {other:?}");
            near_count += 1;
        }
    }
    assert!(hit_count > 5_000 && near_count > 1_500, "{hit_count} {near_count}");
}

#[test]
fn heights_that_no_hull_could_hold_are_errors_of_the_field() {
    for bad in [1e30, -1e30, 2e18, f32::INFINITY] {
        let error = HeightField::new(2, vec![0.0, bad, 0.0, 0.0], [1.0, 1.0]).unwrap_err();
        assert!(error.to_string().contains("it must be at most 1e18 in magnitude"), "{error}");
    }
    for bad in [1e-40, f32::MIN_POSITIVE, 1e-30, 1e-19, 1e30] {
        let error = HeightField::new(2, vec![0.0; 4], [1.0, bad]).unwrap_err();
        assert!(error.to_string().contains("each must be from 1e-18 to 1e18"), "{error}");
    }
    // What a field may hold, a body of it may not: its scale is named.
    let field = HeightField::new(2, vec![1e18, -1e18, 0.0, 0.0], [1.0, 1.0]).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[]).unwrap().with_height_fields(&[field]);
    let ray = [Ray::new([0.0, 5.0, 0.0], [0.0, -1.0, 0.0])];
    let ask =
        |scale: f32| compounds.raycasts(&[CompoundBody::new(0).scaled(scale)], &ray, &RayOptions::default());
    assert!(matches!(ask(1.0).map(drop), Err(Error::Value { field: "scale", .. })));
    assert!(ask(0.1).unwrap().wait().unwrap().rows[0].row.hit.is_some());
}

#[test]
fn a_crowd_of_very_many_rounds_does_not_run_out_of_stack() {
    // Over a height field 64 pairs of bodies make a round.
    let heights: Vec<f32> = (0..33 * 33).map(|at| ((at * 31) % 17) as f32 * 0.01).collect();
    let field = HeightField::new(33, heights, [1.0, 1.0]).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.25).unwrap()], Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[Compound::of_hulls([0])]).unwrap().with_height_fields(&[field]);
    let level = compounds.with_statics(&[CompoundBody::new(1)]).unwrap();
    let count = 40_000;
    let at = |index: u32| [0.5 + f64::from(index % 31), 0.2, 0.5 + f64::from(index / 31 % 31)];
    let bodies: Vec<_> = (0..count).map(|index| CompoundBody::new(0).at(at(index))).collect();
    // Each in a world of its own, so that it meets the field alone.
    let worlds: Vec<u32> = (0..count).collect();
    let columns = CompoundColumns { worlds: &worlds, ..CompoundColumns::new(&bodies) };
    let hits = level.hits(columns).unwrap().wait().unwrap().rows;
    assert!(hits.iter().all(|&is_hit| is_hit));
    let found = level.body_intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
    assert_eq!(found.rows.len(), count as usize);
    let options = DistanceOptions { margin: 0.5 };
    let found = level.body_distances(columns, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
    assert_eq!(found.rows.len(), count as usize);
}
