//! Shape casts, nearest bodies, and which bodies are hit, far from the world's origin: the same numbers as at the origin, bit for bit, but for
//! what rounding to f64 there takes off points.

use glam::DVec3;
use hullfield::collide::{
    Arena, Body, BodyColumns, ContactOptions, NearestBody, NearestOptions, Options, Precision, ShapeCast,
    ShapeCastColumns, ShapeCastHit, ShapeCastOptions,
};
use hullfield::{Error, Location};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::answers::engines;
use crate::far_out::{Crowd, SHIFTS, SIZES, far, rounding, with_statics};

/// Casts of small shapes among a crowd, and where they start: exact in f32 too.
fn casts(crowd: &Crowd, count: usize, seed: u64) -> (Vec<ShapeCast>, Vec<[f64; 3]>) {
    let mut random = Random::new(seed);
    let (size, grid) = (crowd.size, crowd.size / 1024.0);
    let along = |random: &mut Random| grid * (1024.0 * random.between(-5.0, 5.0)).round();
    (0..count)
        .map(|at| {
            let scale = size * random.log_between(0.05, 0.6);
            let shape = Body::new(random.below(5) as u32)
                .rotated(random.rotation())
                .scaled(scale as f32)
                .at([f32::NAN; 3]);
            let direction = if at % 5 == 0 { DVec3::Y } else { random.direction() };
            let most = if at % 3 == 0 { 3.0 * size as f32 } else { f32::INFINITY };
            let cast = ShapeCast::new(shape, direction.as_vec3().to_array()).up_to(most);
            (cast, [along(&mut random), along(&mut random), along(&mut random)])
        })
        .unzip()
}

fn moved(positions: &[[f64; 3]], shift: [f64; 3]) -> Vec<[f64; 3]> {
    positions.iter().map(|position| [0, 1, 2].map(|k| position[k] + shift[k])).collect()
}

/// The answers of a scene, with all points moved back by a shift.
#[derive(Debug, Default)]
struct Answers {
    hits: Vec<ShapeCastHit>,
    any: Vec<bool>,
    near: Vec<NearestBody>,
    near_shapes: Vec<NearestBody>,
    is_hit: Vec<bool>,
    hit_counts: Vec<u32>,
    deepest: Vec<([u32; 2], f64)>,
}

fn answers(
    arena: &Arena,
    columns: BodyColumns<'_>,
    casts: ShapeCastColumns<'_>,
    shapes: BodyColumns<'_>,
    shift: [f64; 3],
) -> Answers {
    let options = ShapeCastOptions { witness: true, ..Default::default() };
    let size = f64::from(casts.casts[0].max_distance) / 3.0;
    let near = NearestOptions { count: 3, max_distance: (2.0 * size) as f32 };
    let mut hits = arena.shape_casts_all(columns, casts, &options).unwrap().wait().unwrap().rows;
    let first = arena.shape_casts(columns, casts, &options).unwrap().wait().unwrap().rows;
    for row in &first {
        assert_eq!(row.hit, hits.iter().find(|hit| hit.cast == row.cast).copied());
    }
    let any = arena.shape_casts_any(columns, casts, &options).unwrap().wait().unwrap().rows;
    let mut found = Answers {
        any: any.iter().map(|row| row.is_hit).collect(),
        near: arena.nearest_bodies(columns, &near).unwrap().wait().unwrap().rows,
        near_shapes: arena.nearest_bodies_to(columns, shapes, &near).unwrap().wait().unwrap().rows,
        is_hit: arena.hits(columns).unwrap().wait().unwrap().rows,
        hit_counts: arena.hit_counts(columns).unwrap().wait().unwrap().rows,
        ..Answers::default()
    };
    let deepest = arena.deepest_contacts(columns, 1, &ContactOptions::default()).unwrap().wait().unwrap();
    found.deepest = deepest.rows.iter().map(|row| ([row.a, row.b], row.separation)).collect();
    let back = |point: &mut [f64; 3]| *point = [0, 1, 2].map(|k| point[k] - shift[k]);
    hits.iter_mut().flat_map(|hit| hit.points.iter_mut().flatten()).for_each(back);
    found.near.iter_mut().chain(&mut found.near_shapes).flat_map(|row| &mut row.points).for_each(back);
    found.hits = hits;
    found
}

/// Compares answers: all is equal but points, which may be off by `most`.
fn same(found: &Answers, expected: &Answers, most: f64, what: &str) {
    let is_near = |one: &[[f64; 3]; 2], other: &[[f64; 3]; 2]| {
        let off = |k: usize| (DVec3::from(one[k]) - DVec3::from(other[k])).abs().max_element();
        off(0).max(off(1)) <= most
    };
    assert_eq!(found.hits.len(), expected.hits.len(), "{what}");
    for (one, other) in found.hits.iter().zip(&expected.hits) {
        assert!(is_near(&one.points.unwrap(), &other.points.unwrap()), "{what}: {one:?} {other:?}");
        let [mut one, mut other] = [*one, *other];
        (one.points, other.points) = (None, None);
        assert_eq!(one, other, "{what}");
    }
    for (found, expected) in [(&found.near, &expected.near), (&found.near_shapes, &expected.near_shapes)] {
        assert_eq!(found.len(), expected.len(), "{what}");
        for (one, other) in found.iter().zip(expected) {
            assert!(is_near(&one.points, &other.points), "{what}: {one:?} {other:?}");
            let mut one = *one;
            one.points = other.points;
            assert_eq!(one, *other, "{what}");
        }
    }
    assert_eq!((&found.any, &found.is_hit), (&expected.any, &expected.is_hit), "{what}");
    assert_eq!(found.hit_counts, expected.hit_counts, "{what}");
    let pairs = |answers: &Answers| answers.deepest.iter().map(|(pair, _)| *pair).collect::<Vec<_>>();
    assert_eq!(pairs(found).len(), pairs(expected).len(), "{what}");
}

#[test]
fn shapes_meet_what_they_meet_at_the_origin() {
    let mut seen = [0; 3];
    for (case, size) in SIZES.into_iter().enumerate() {
        let crowd = Crowd::new(size, 160, 871 + case as u64);
        let (casts, starts) = casts(&crowd, extent(60, 600), 872 + case as u64);
        let shapes: Vec<Body> = casts.iter().map(|cast| cast.body).collect();
        for precision in [Precision::Fast, Precision::Exact] {
            for (name, engine) in engines() {
                let base = crowd.arena(&engine, precision);
                let run = |shift: [f64; 3]| {
                    let (bodies, positions, there) = with_statics(&crowd, shift, precision);
                    let (arena, starts) = (base.with_options(there).unwrap(), moved(&starts, shift));
                    let casts = ShapeCastColumns { positions: &starts, ..ShapeCastColumns::new(&casts) };
                    answers(&arena, far(&bodies, &positions), casts, far(&shapes, &starts), shift)
                };
                let here = run([0.0; 3]);
                seen[0] += here.hits.iter().filter(|hit| hit.distance > 0.0).count();
                seen[1] += here.hits.iter().filter(|hit| hit.initial_overlap).count();
                seen[2] += here.hit_counts.iter().filter(|&&count| count > 0).count();
                for shift in SHIFTS {
                    let what = format!("{name} {precision:?} {size} {shift:?}");
                    same(&run(shift), &here, 1e-13 * size + 2.0 * rounding(shift), &what);
                }
                // With positions in f32 the verdicts are the same, and f64 rounds a little otherwise.
                let (bodies, positions, options) = with_statics(&crowd, [0.0; 3], precision);
                let plain = |bodies: &[Body], positions: &[[f64; 3]]| -> Vec<Body> {
                    let place = |(body, position): (&Body, &[f64; 3])| body.at(position.map(|x| x as f32));
                    bodies.iter().zip(positions).map(place).collect()
                };
                let statics = plain(&options.statics, &options.static_positions);
                let arena = base.with_options(Options { precision, statics, ..Options::default() }).unwrap();
                let (bodies, shapes) = (plain(&bodies, &positions), plain(&shapes, &starts));
                let casts: Vec<ShapeCast> =
                    casts.iter().zip(&shapes).map(|(cast, &body)| ShapeCast { body, ..*cast }).collect();
                let columns = BodyColumns::new(&bodies);
                let casts = ShapeCastColumns::new(&casts);
                let found = answers(&arena, columns, casts, BodyColumns::new(&shapes), [0.0; 3]);
                assert_eq!((&found.any, &found.is_hit), (&here.any, &here.is_hit), "{name}");
                assert_eq!(found.hit_counts, here.hit_counts, "{name}");
                let hits = |answers: &Answers| -> Vec<[u32; 2]> {
                    answers.hits.iter().map(|hit| [hit.cast, hit.body]).collect()
                };
                let (mut one, mut other) = (hits(&found), hits(&here));
                one.sort_unstable();
                other.sort_unstable();
                assert_eq!(one, other, "{name}");
                let apart =
                    |answers: &Answers| answers.near.iter().map(|row| row.separation).collect::<Vec<_>>();
                assert_eq!(apart(&found).len(), apart(&here).len(), "{name}");
                for (one, other) in apart(&found).into_iter().zip(apart(&here)) {
                    assert!((one - other).abs() <= 1e-9 * size, "{name}: {one} {other}");
                }
                // Control: a step of the shapes is seen.
                let (bodies, positions, there) = with_statics(&crowd, [0.0; 3], precision);
                let near = base.with_options(there).unwrap();
                let beside = moved(&starts, [0.01 * size, 0.0, 0.0]);
                let casts = ShapeCastColumns { positions: &beside, ..casts };
                let step = near.shape_casts_all(far(&bodies, &positions), casts, &Default::default());
                let step: Vec<f64> =
                    step.unwrap().wait().unwrap().rows.iter().map(|hit| hit.distance).collect();
                assert_ne!(step, here.hits.iter().map(|hit| hit.distance).collect::<Vec<_>>(), "{name}");
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

/// Shapes in f64 among bodies in f32, and the other way round.
#[test]
fn shapes_and_bodies_may_have_other_kinds_of_positions() {
    let crowd = Crowd::new(1.0, 100, 881);
    let (casts, starts) = casts(&crowd, 60, 882);
    let rounded: Vec<Body> =
        crowd.bodies.iter().zip(&crowd.positions).map(|(body, at)| body.at(at.map(|x| x as f32))).collect();
    let plain: Vec<ShapeCast> = (casts.iter().zip(&starts))
        .map(|(cast, start)| ShapeCast { body: cast.body.at(start.map(|x| x as f32)), ..*cast })
        .collect();
    let shapes: Vec<Body> = plain.iter().map(|cast| cast.body).collect();
    for (name, engine) in engines() {
        let arena = crowd.arena(&engine, Precision::Fast);
        let bodies = [BodyColumns::new(&rounded), far(&crowd.bodies, &crowd.positions)];
        let asked =
            [ShapeCastColumns::new(&plain), ShapeCastColumns { positions: &starts, ..(&casts).into() }];
        let shapes = [BodyColumns::new(&shapes), far(&shapes, &starts)];
        let near = NearestOptions { count: 4, ..Default::default() };
        let mut all = Vec::new();
        for (columns, k) in [(bodies[0], 0), (bodies[0], 1), (bodies[1], 0), (bodies[1], 1)] {
            let hits = arena.shape_casts_all(columns, asked[k], &Default::default()).unwrap().wait().unwrap();
            let near = arena.nearest_bodies_to(columns, shapes[k], &near).unwrap().wait().unwrap();
            let mut hits: Vec<[u32; 2]> = hits.rows.iter().map(|hit| [hit.cast, hit.body]).collect();
            hits.sort_unstable();
            assert!(hits.len() > 10, "{name}");
            all.push((hits, near.rows.iter().map(|row| (row.query, row.body)).collect::<Vec<_>>()));
        }
        // Only what has f64 on any side is placed alike.
        assert_eq!(all[1], all[3], "{name}");
        assert_eq!(all[2], all[3], "{name}");
        assert_eq!(all[0].0, all[3].0, "{name}");
    }
}

#[test]
fn bad_positions_of_shapes_are_one_error() {
    let crowd = Crowd::new(1.0, 10, 891);
    let (casts, mut starts) = casts(&crowd, 4, 892);
    let shapes: Vec<Body> = casts.iter().map(|cast| cast.body).collect();
    for (name, engine) in engines() {
        let arena = crowd.arena(&engine, Precision::Fast);
        let columns = far(&crowd.bodies, &crowd.positions);
        let cast = |starts: &[[f64; 3]]| {
            let casts = ShapeCastColumns { positions: starts, ..ShapeCastColumns::new(&casts) };
            arena.shape_casts(columns, casts, &Default::default()).map(drop)
        };
        let near = |starts: &[[f64; 3]]| {
            arena.nearest_bodies_to(columns, far(&shapes, starts), &Default::default()).map(drop)
        };
        // The positions of the shapes are not read where there are others.
        assert!(cast(&starts).is_ok() && near(&starts).is_ok(), "{name}");
        assert!(matches!(cast(&[]), Err(Error::Value { at: Location::Cast(0), .. })), "{name}");
        assert!(matches!(near(&[]), Err(Error::Value { at: Location::Query(0), .. })), "{name}");
        for bad in [f64::NAN, f64::INFINITY, -1.000_001e18] {
            starts[2][1] = bad;
            let error = cast(&starts).unwrap_err();
            assert!(
                matches!(error, Error::Value { at: Location::Cast(2), field: "position", .. }),
                "{error}"
            );
            let error = near(&starts).unwrap_err();
            assert!(
                matches!(error, Error::Value { at: Location::Query(2), field: "position", .. }),
                "{error}"
            );
        }
        let error = cast(&starts[..1]).unwrap_err().to_string();
        assert!(error.contains("none or one for each of the 4 shape casts"), "{error}");
        let error = near(&starts[..1]).unwrap_err().to_string();
        assert!(error.contains("none or one for each of the 4 shapes"), "{error}");
        starts[2][1] = 0.0;
        let owned = BodyColumns { owners: &[1; 4], ..far(&shapes, &starts) };
        let error = arena.nearest_bodies_to(columns, owned, &Default::default()).map(drop).unwrap_err();
        assert!(matches!(error, Error::Invalid { at: Location::Argument, .. }), "{error}");
    }
    // All of it may be far away.
    let positions = [[1e18, -1e18, 0.0]; 1];
    let (_, engine) = engines().into_iter().next().unwrap();
    let arena = crowd.arena(&engine, Precision::Fast);
    let rows = arena.nearest_bodies_to(
        far(&shapes[..1], &positions),
        far(&shapes[..1], &positions),
        &NearestOptions::default(),
    );
    assert_eq!(rows.unwrap().wait().unwrap().rows.len(), 1);
}
