//! Manifolds in the caller's own encoder: known ones, those that the oracle judges, and those of the settled query.

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, Capacity, DeviceBodies, DevicePairs, Hull, Manifold, ManifoldOptions, ManifoldRow, Options,
    PackedBody, Pairs, Precision, Status,
};
use hullfield_oracle::measure::{ManifoldPoint, ManifoldRow as JudgedRow};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Near};
use hullfield_oracle::{Verdict, extent};

use crate::answers::JudgedScene;
use crate::common;
use crate::encoded::{code, encoder, run};
use crate::manifold::edges_along_each_other;

const CAPACITY: Capacity = Capacity { pairs: 50_000, rows: 20_000 };

fn encode(
    engine: &Engine,
    arena: &Arena,
    bodies: &[Body],
    pairs: DevicePairs<'_>,
    margin: f32,
) -> Vec<ManifoldRow> {
    let mut encoder = encoder(engine);
    let (host, options) = (DeviceBodies::Host(bodies), ManifoldOptions { margin });
    let found = arena.encode_manifolds(&mut encoder, host, pairs, &options, CAPACITY).unwrap();
    let (rows, counts) = run::<ManifoldRow>(engine, encoder, &found);
    assert_eq!(counts.overflow, 0, "{counts:?}");
    rows
}

/// The points of a row in the world, on a and on b, and their gaps.
fn points(packed: &[PackedBody], row: &ManifoldRow) -> Vec<(DVec3, DVec3, f64)> {
    let body = &packed[if row.anchor == 0 { row.a } else { row.b } as usize];
    let center: [DVec3; 2] = [body.position, body.remainder].map(|v| DVec3::from(v.map(f64::from)));
    let normal = DVec3::from(row.normal.map(f64::from));
    row.points[..row.point_count as usize]
        .iter()
        .map(|point| {
            let [x, y, z, gap] = point.map(f64::from);
            let on_a = center[0] + center[1] + DVec3::new(x, y, z);
            (on_a, on_a + normal * gap, gap)
        })
        .collect()
}

fn judged(packed: &[PackedBody], row: &ManifoldRow) -> JudgedRow {
    JudgedRow {
        verdict: [Verdict::Separated, Verdict::Touching, Verdict::Penetrating][row.status as usize],
        depth: -f64::from(row.gap),
        normal: DVec3::from(row.normal.map(f64::from)).normalize().to_array(),
        points: points(packed, row)
            .iter()
            .map(|(a, b, gap)| ManifoldPoint { on_a: a.to_array(), on_b: b.to_array(), depth: -gap })
            .collect(),
    }
}

/// Twice the area that the points span, along the normal: of up to four points the quadrilateral of their hull.
fn span(points: &[DVec3], normal: DVec3) -> f64 {
    let mut most = 0.0_f64;
    for a in points {
        for b in points {
            for c in points {
                for d in points {
                    let area = |p: &DVec3, q: &DVec3, r: &DVec3| (*q - *p).cross(*r - *p).dot(normal);
                    let (one, other) = (area(a, b, c), area(a, c, d));
                    if one >= 0.0 && other >= 0.0 {
                        most = most.max(one + other);
                    }
                }
            }
        }
    }
    most
}

/// Compares with the settled manifold: as many points, which span as much. Returns whether they do.
fn spans_alike(packed: &[PackedBody], row: &ManifoldRow, truth: &Manifold) -> bool {
    let radius =
        [row.a, row.b].map(|id| f64::from(packed[id as usize].radius)).into_iter().fold(f64::MAX, f64::min);
    let normal = DVec3::from(truth.normal);
    let ours: Vec<DVec3> = points(packed, row).iter().map(|point| point.0).collect();
    let theirs: Vec<DVec3> = truth.points().iter().map(|point| DVec3::from(point.on_a)).collect();
    let longest = |points: &[DVec3]| points.iter().map(|p| p.distance(points[0])).fold(0.0, f64::max);
    let alike = |one: f64, other: f64, unit: f64| (one - other).abs() <= 0.02 * one.max(other) + 1e-4 * unit;
    ours.len() == theirs.len()
        && alike(span(&ours, normal), span(&theirs, normal), radius * radius)
        && alike(longest(&ours), longest(&theirs), radius)
}

#[test]
fn known_manifolds() {
    let Some(engine) = common::gpu() else { return };
    let half = 22.5_f32.to_radians();
    let turned = [0.0, half.sin(), 0.0, half.cos()];
    let hulls = [
        Hull::cuboid([2.0, 0.5, 2.0]).unwrap(),
        Hull::cuboid([0.5; 3]).unwrap(),
        Hull::ball(0.5).unwrap(),
        Hull::capsule([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.25).unwrap(),
        Hull::half_space(),
        Hull::cuboid([1.0; 3]).unwrap(),
    ];
    let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
    let capsule = Body::new(3);
    for (name, a, b, count, length) in [
        ("box on box", Body::new(0), Body::new(1).at([1.0, 0.99, 0.25]), 4, 2f64.sqrt()),
        ("aligned boxes", Body::new(5), Body::new(5).at([0.0, 1.99, 0.0]), 4, 8f64.sqrt()),
        ("over the edge", Body::new(5), Body::new(5).at([1.5, 1.99, 0.5]), 4, 2.5f64.sqrt()),
        ("octagon", Body::new(5), Body { rotation: turned, ..Body::new(5) }.at([0.0, 1.99, 0.0]), 4, 2.1648),
        ("ball on box", Body::new(0), Body::new(2).at([0.3, 0.99, 0.1]), 1, 0.0),
        ("capsule on box", Body::new(0), capsule.at([0.2, 0.74, 0.1]), 2, 0.0),
        ("box on ground", Body::new(4), Body::new(1).at([0.2, 0.49, 0.1]), 4, 2f64.sqrt()),
        ("box below ground", Body::new(1).at([0.2, 0.49, 0.1]), Body::new(4), 4, 2f64.sqrt()),
        ("capsule on ground", Body::new(4), capsule.at([0.2, 0.24, 0.1]), 2, 0.0),
        ("ball on ground", Body::new(4), Body::new(2).at([0.2, 0.49, 0.1]), 1, 0.0),
    ] {
        let bodies = [a, b];
        let row = encode(&engine, &arena, &bodies, DevicePairs::Given(&[[0, 1]]), 0.0)[0];
        assert_eq!((row.status, row.point_count), (2, count), "{name}: {row:?}");
        let found = points(&arena.pack(&bodies).unwrap(), &row);
        for (on_a, on_b, gap) in &found {
            assert!((gap + 0.01).abs() < 1e-5, "{name}: {row:?}");
            assert!(((on_a.y - on_b.y).abs() - 0.01).abs() < 1e-5, "{name}: {row:?}");
        }
        let longest = found.iter().map(|point| point.0.distance(found[0].0)).fold(0.0, f64::max);
        if length > 0.0 {
            assert!((longest - length).abs() < 2e-3 * length, "{name}: {longest}, {row:?}");
        }
        let settled = arena.manifolds(&bodies, Pairs::Given(&[[0, 1]]), &ManifoldOptions { margin: 0.0 });
        let settled = settled.unwrap().wait().unwrap().rows[0];
        assert!(spans_alike(&arena.pack(&bodies).unwrap(), &row, &settled), "{name}: {row:?} {settled:?}");
    }
}

/// Two bars, edge above edge, moved along each other: the points are the ends of what the edges share.
#[test]
fn edges_along_each_other_have_the_ends_of_their_common_part() {
    let Some(engine) = common::gpu() else { return };
    for (hulls, bodies, [low, high]) in edges_along_each_other() {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        let row = encode(&engine, &arena, &bodies, DevicePairs::Given(&[[0, 1]]), 0.02)[0];
        let mut found = points(&arena.pack(&bodies).unwrap(), &row);
        found.sort_by(|p, q| p.0.z.total_cmp(&q.0.z));
        let [first, last] = found[..] else { panic!("{low} to {high}: {row:?}") };
        for ((on_a, on_b, gap), z) in [(first, low), (last, high)] {
            let on_edge = DVec3::new(0.0, 0.5_f64.sqrt(), f64::from(z));
            assert!(on_a.distance(on_edge) < 2e-5 && (gap - 0.01).abs() < 1e-5, "{low} to {high}: {row:?}");
            assert!(on_b.distance(on_edge + 0.01 * DVec3::Y) < 2e-5, "{low} to {high}: {row:?}");
        }
    }
}

/// The oracle judges all points, on both surfaces; and most rows have the points of the settled query.
#[test]
fn the_oracle_finds_no_fault() {
    let Some(engine) = common::gpu() else { return };
    let count = extent(300, 2_000);
    let sets = scenes::convex_sets(48, 1.0, 9);
    let near = |seed| Near { count, seed, placed: 0.8, ..Near::default() };
    for (name, scene) in [
        ("convex", scenes::near_pairs(&sets, near(400))),
        ("rounded", scenes::near_pairs(&sets, Near { rounded: 0.5, ..near(401) })),
        ("round", scenes::round_pairs(near(402))),
        ("debris", scenes::debris(count, true, 403)),
        ("kissing", scenes::kissing_boxes(count, 404)),
        ("tiny", scenes::tiny(1e-5, count, 405)),
        ("huge", scenes::tiny(1e5, count, 406)),
        ("far", scenes::far(count, 407)),
        ("slender", scenes::slender(near(408))),
        ("ground", scenes::ground(&scenes::convex_sets(24, 1.0, 5), count, true, 409)),
    ] {
        let scene = JudgedScene::new(name, scene);
        let arena = scene.arena(&engine, Precision::Fast);
        let (bodies, pairs) = (&scene.bodies, &scene.scene.pairs);
        let packed = arena.pack(bodies).unwrap();
        let rows = encode(&engine, &arena, bodies, DevicePairs::Given(pairs), 0.0);
        let settled = arena.manifolds(bodies, Pairs::Given(pairs), &ManifoldOptions { margin: 0.0 });
        let settled = settled.unwrap().wait().unwrap().rows;
        let (mut given, mut judged_rows, mut truths, mut same_count) =
            (Vec::new(), Vec::new(), Vec::new(), 0);
        for (at, row) in rows.iter().enumerate() {
            assert_eq!([row.a, row.b], pairs[at]);
            if row.status == 3 {
                assert_eq!(row.point_count, 0);
                continue;
            }
            assert_eq!(row.status, code(settled[at].status), "{name}: {row:?}");
            assert!((1..=4).contains(&row.point_count), "{name}: {row:?}");
            given.push(pairs[at]);
            judged_rows.push(judged(&packed, row));
            truths.push(scene.truths[at]);
            same_count += usize::from(spans_alike(&packed, row, &settled[at]));
        }
        let accuracy = scene.judge(Precision::Fast).manifolds(&given, &judged_rows, &truths);
        println!("{name}: {accuracy}; {same_count} of {} as settled", given.len());
        accuracy.passed().unwrap_or_else(|text| panic!("{name}: {text}"));
        // Of tilted half-spaces f64 must say most.
        let share = if name == "ground" { 10 } else { 3 };
        assert!(given.len() * share > rows.len(), "{name}: {} of {} decided", given.len(), rows.len());
        assert!(same_count * 100 >= 95 * given.len(), "{name}: {same_count} of {} as settled", given.len());
        // Controls: a point that is moved aside, and a gap that is not so deep.
        if let Some(at) = judged_rows.iter().position(|row| row.points.len() == 4) {
            let radius =
                f64::from(packed[given[at][0] as usize].radius.max(packed[given[at][1] as usize].radius));
            let mut wrong = judged_rows.clone();
            wrong[at].points[2].on_a[1] += radius;
            assert!(
                scene.judge(Precision::Fast).manifolds(&given, &wrong, &truths).passed().is_err(),
                "{name}"
            );
        }
    }
}

/// Piles: most contacts of bodies at rest have four points, those of the settled query.
#[test]
fn piles_have_the_points_of_the_settled_query() {
    let Some(engine) = common::gpu() else { return };
    let hulls =
        [Hull::cuboid([0.5; 3]).unwrap(), Hull::cuboid([0.5, 0.25, 1.0]).unwrap(), Hull::half_space()];
    let mut random = Random::new(11);
    let mut bodies = vec![Body::new(2)];
    for k in 0..400 {
        let (column, level) = (k % 40, k / 40);
        let turn = if k % 3 == 0 { 0.0 } else { random.between(-1.0, 1.0) as f32 };
        let at = [3.0 * column as f32, 0.499 + 0.999 * level as f32, 0.0];
        let rotation = [0.0, turn.sin(), 0.0, turn.cos()];
        bodies.push(Body { rotation, ..Body::new(0) }.at(at));
    }
    let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
    let packed = arena.pack(&bodies).unwrap();
    let rows = encode(&engine, &arena, &bodies, DevicePairs::BroadPhase, 0.0);
    let settled = arena.manifolds(&bodies, Pairs::BroadPhase, &ManifoldOptions { margin: 0.0 });
    let settled = settled.unwrap().wait().unwrap().rows;
    assert!(rows.len() >= 400 && settled.iter().all(|row| row.status == Status::Penetrating));
    let decided: Vec<&ManifoldRow> = rows.iter().filter(|row| row.status != 3).collect();
    assert!(decided.len() * 10 >= 9 * rows.len(), "{} of {}", decided.len(), rows.len());
    for row in decided {
        let at = settled.binary_search_by_key(&(row.a, row.b), |row| (row.a, row.b)).unwrap();
        assert!(row.point_count == 4 && settled[at].point_count == 4, "{row:?} {:?}", settled[at]);
        assert!(row.points.iter().all(|point| (point[3] + 0.001).abs() < 2e-5), "{row:?}");
        // Of an octagon's corners several fours are equally far apart. The least of them spans half of a square of side 1.
        let normal = DVec3::from(settled[at].normal);
        let ours: Vec<DVec3> = points(&packed, row).iter().map(|point| point.0).collect();
        assert!(span(&ours, normal) > 1.0, "{row:?}");
    }
}

#[test]
fn margins_statics_and_bad_input() {
    let Some(engine) = common::gpu() else { return };
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::half_space()];
    let statics = vec![Body::new(1), Body::new(0).at([5.0, 0.5, 0.0])];
    let arena = Arena::new(&engine, &hulls, Options { statics, ..Options::default() }).unwrap();
    let tilted = [0.0, 0.0, 0.1_f32.sin(), 0.1_f32.cos()];
    let bodies =
        [Body::new(0).at([5.0, 1.55, 0.0]), Body { rotation: tilted, ..Body::new(0) }.at([0.0, 0.6, 0.0])];
    for (margin, row_count) in [(0.0, 1), (0.1, 2)] {
        let rows = encode(&engine, &arena, &bodies, DevicePairs::BroadPhase, margin);
        let settled = arena.manifolds(&bodies, Pairs::BroadPhase, &ManifoldOptions { margin }).unwrap();
        let settled = settled.wait().unwrap().rows;
        assert_eq!(settled.len(), rows.len(), "{rows:?}");
        assert!(rows.len() <= row_count, "{rows:?}");
        for (row, truth) in rows.iter().zip(&settled) {
            assert_eq!((row.a, row.b, row.status), (truth.a, truth.b, code(truth.status)));
            assert_eq!(row.point_count, truth.point_count, "{row:?} {truth:?}");
        }
    }
    let mut encoder = encoder(&engine);
    let host = DeviceBodies::Host(&bodies);
    for (pairs, margin, part) in [
        (DevicePairs::BroadPhase, f32::NAN, "margin is NaN"),
        (DevicePairs::BroadPhase, -1.0, "margin is -1"),
        (DevicePairs::Given(&[[0, 9]]), 0.0, "body 9 does not exist"),
        (DevicePairs::Exhaustive, 0.0, "statics"),
    ] {
        let options = ManifoldOptions { margin };
        let refused = arena.encode_manifolds(&mut encoder, host, pairs, &options, CAPACITY).unwrap_err();
        assert!(refused.to_string().contains(part), "{refused}");
    }
    // Too little room, and none.
    let many: Vec<Body> = (0..50).map(|k| Body::new(0).at([0.9 * k as f32, 9.0, 0.0])).collect();
    let of = |capacity: Capacity| {
        let mut encoder = self::encoder(&engine);
        let options = ManifoldOptions { margin: 0.0 };
        let (host, near) = (DeviceBodies::Host(&many), DevicePairs::BroadPhase);
        let found = arena.encode_manifolds(&mut encoder, host, near, &options, capacity).unwrap();
        run::<ManifoldRow>(&engine, encoder, &found)
    };
    let (all, whole) = of(CAPACITY);
    assert_eq!((whole.overflow, whole.row_count, all.len()), (0, 49, 49));
    let (some, counts) = of(Capacity { rows: 7, ..CAPACITY });
    assert!(counts.overflow == 1 && counts.row_count == 49 && some == all[..7]);
    assert_eq!(of(Capacity { pairs: 0, rows: 1 }).1.overflow, 2);
}
