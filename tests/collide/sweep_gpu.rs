//! Sweeps on the GPU against those on the CPU: the same pairs, outcomes, times, in crowds, in numbers, at extremes.

use std::collections::BTreeMap;

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Batch, Body, Hull, Motion, Options, Pairs, Precision, Sweep, SweepOptions, SweepOutcome,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Near, Scene};
use hullfield_oracle::sweep as oracle;
use hullfield_oracle::{Shape, extent};

use crate::answers::{bodies, engines, scene_hulls as hulls};
use crate::common;
use crate::sweep_scenes::{Moving, claim, in_motion};

/// The GPU engine that the tests share; none where there is no adapter.
fn gpu() -> Option<Engine> {
    engines().into_iter().find(|(name, _)| *name == "gpu").map(|(_, engine)| engine)
}

/// How two engines' rows of one query compare.
#[derive(Debug, Default)]
struct Comparison {
    /// Pairs that either has.
    count: usize,
    /// Of those, pairs whose times differ by more than the tolerance, both correct: the pair grazes.
    grazing_count: usize,
}

/// Compares the rows of two engines. Outcomes must be equal; a pair that one engine does not list is a miss there. If times differ by
/// more than the tolerance, the oracle must confirm both.
fn compare(moving: &Moving, one: &[Sweep], other: &[Sweep]) -> Result<Comparison, String> {
    let duration = f64::from(moving.duration);
    let mut pairs: BTreeMap<[u32; 2], [Option<Sweep>; 2]> = BTreeMap::new();
    for (at, rows) in [one, other].into_iter().enumerate() {
        for row in rows {
            let place = &mut pairs.entry([row.a, row.b]).or_default()[at];
            if place.replace(*row).is_some() {
                return Err(format!("twice: {row:?}"));
            }
        }
    }
    let shapes: Vec<Shape> = hulls(&moving.scene)
        .iter()
        .zip(&moving.scene.hulls)
        .map(|(hull, points)| {
            let core = if points.is_empty() { Shape::half_space() } else { Shape::new(hull.vertices()) };
            core.rounded(hull.rounding())
        })
        .collect();
    let mut comparison = Comparison { count: pairs.len(), grazing_count: 0 };
    for ([a, b], rows) in pairs {
        let miss = |row: Option<Sweep>| {
            let mut row = row.expect("a row of one of the two");
            (row.outcome, row.time, row.normal) = (SweepOutcome::Miss, duration, None);
            row
        };
        let [one, other] = [0, 1].map(|k| rows[k].unwrap_or_else(|| miss(rows[1 - k])));
        if one.outcome != other.outcome {
            return Err(format!("the outcomes differ: {one:?}, {other:?}"));
        }
        let pair = moving.pair(&shapes, a, b);
        let tau = pair.tolerance(0.0, duration, false);
        let closing = |row: &Sweep| {
            let [va, vb] =
                [a, b].map(|body| DVec3::from(moving.motions[body as usize].velocity.map(f64::from)));
            row.normal.map_or(0.0, |normal| DVec3::from(normal).dot(va - vb).abs())
        };
        let turns = [a, b].iter().any(|&body| moving.motions[body as usize].spin != [0.0; 3]);
        let way = (one.time - other.time).abs() * closing(&one).max(closing(&other));
        // For rotating bodies both times come from the same f64 code.
        if turns && one.time == other.time || !turns && way <= 2.0 * tau {
            continue;
        }
        for row in [&one, &other] {
            pair.check(duration, claim(row), false)
                .map_err(|fault| format!("{row:?} of {one:?} {other:?}: {fault}"))?;
        }
        comparison.grazing_count += 1;
    }
    Ok(comparison)
}

pub(crate) fn find(engine: &Engine, moving: &Moving, pairs: Pairs<'_>) -> Batch<Sweep> {
    let arena = Arena::new(engine, &hulls(&moving.scene), Options::default()).unwrap();
    arena
        .sweeps(
            &bodies(&moving.scene.bodies),
            &moving.motions(),
            pairs,
            &SweepOptions { duration: moving.duration, ..Default::default() },
        )
        .unwrap()
        .wait()
        .unwrap()
}

/// A crowd of all kinds of hulls, some far from their own origin, some round, and of grounds, one still and one that rises:
/// each body meets a few on its way, one in `turning` turns (0: none does).
pub(crate) fn crowd(count: usize, turning: usize, seed: u64) -> Moving {
    let mut sets = scenes::convex_sets(24, 1.0, seed);
    for set in sets.iter_mut().step_by(5) {
        for point in set {
            point[0] += 3.0;
            point[1] -= 2.0;
        }
    }
    let mut scene = scenes::tumbling(&sets, count, 2.0, seed).scene;
    scene.roundings = (0..sets.len()).map(|k| if k % 4 == 1 { 0.2 } else { 0.0 }).collect();
    let mut random = Random::new(seed + 1);
    let mut motions: Vec<oracle::Motion> = scene
        .bodies
        .iter()
        .map(|_| oracle::Motion {
            velocity: (random.direction() * random.log_between(0.1, 30.0)).as_vec3().to_array(),
            spin: [0.0; 3],
        })
        .collect();
    if turning > 0 {
        for motion in motions.iter_mut().step_by(turning) {
            motion.spin = (random.direction() * 2.0).as_vec3().to_array();
        }
    }
    let low = scene.bodies.iter().map(|body| body.pose.position[1]).fold(f32::INFINITY, f32::min);
    scene.hulls.push(Vec::new());
    let ground = (scene.hulls.len() - 1) as u32;
    for (height, speed) in [(0.0, 0.0), (-1.0, 2.0)] {
        let mut body = scene.bodies[0];
        body.hull = ground;
        body.pose = hullfield_oracle::Pose::default();
        body.pose.position = [0.0, low + height, 0.0];
        scene.bodies.push(body);
        motions.push(oracle::Motion { velocity: [1.0, speed, 0.0], spin: [0.0; 3] });
    }
    Moving { scene, motions, duration: 0.25 }
}

#[test]
fn crowds_meet_the_same_on_both_engines() {
    let Some(engine) = gpu() else { return };
    // In tiles and by the tree; without turning, and with.
    for &(count, turning, seed) in
        extent(&[(400, 0, 200), (2_060, 40, 202)][..], &[(1_500, 0, 200), (2_060, 0, 201), (2_060, 40, 202)])
    {
        let moving = crowd(count, turning, seed);
        let near = find(&engine, &moving, Pairs::BroadPhase);
        let expected = find(&Engine::cpu(), &moving, Pairs::BroadPhase);
        let compared = compare(&moving, &near.rows, &expected.rows).unwrap();
        assert!(compared.count > count / 2, "{compared:?}");
        assert!(compared.grazing_count * 100 <= compared.count, "{compared:?}");
        assert!(near.rows.is_sorted_by_key(|row| (row.a, row.b)));
        // f64 handles only the few pairs that graze, and the rotating pairs that may meet.
        let open = near.stats.settled_count;
        let most =
            if turning > 0 { near.stats.candidate_count / 10 } else { near.stats.candidate_count / 25 };
        assert!(open <= most, "{open} of {} settled in f64", near.stats.candidate_count);
        // Every pair of a large crowd takes a software device minutes.
        if count > 2_048 {
            continue;
        }
        let every = find(&engine, &moving, Pairs::Exhaustive);
        let compared = compare(&moving, &near.rows, &every.rows).unwrap();
        assert!(compared.grazing_count * 1000 <= compared.count, "{compared:?}");
    }
}

/// [`compare`] must detect wrong rows.
#[test]
fn wrong_rows_are_told_apart() {
    let moving = crowd(300, 0, 210);
    let right = find(&Engine::cpu(), &moving, Pairs::BroadPhase).rows;
    assert_eq!(compare(&moving, &right, &right).unwrap().grazing_count, 0);
    let hit = right.iter().position(|row| row.outcome == SweepOutcome::Hit && row.time > 0.02).unwrap();
    let change = |change: fn(&mut Sweep)| {
        let mut wrong = right.clone();
        change(&mut wrong[hit]);
        compare(&moving, &right, &wrong)
    };
    assert!(change(|row| row.time -= 0.01).is_err());
    assert!(change(|row| row.outcome = SweepOutcome::Touching).is_err());
    assert!(change(|row| row.b = row.a + 1).is_err());
    let deep = right.iter().position(|row| row.outcome == SweepOutcome::Touching).unwrap();
    let without: Vec<Sweep> =
        right.iter().enumerate().filter(|(k, _)| *k != deep).map(|(_, row)| *row).collect();
    assert!(compare(&moving, &right, &without).is_err());
    let twice: Vec<Sweep> = right.iter().chain(&right[..1]).copied().collect();
    assert!(compare(&moving, &twice, &right).is_err());
}

#[test]
fn given_pairs_agree_and_few_are_settled() {
    let Some(engine) = gpu() else { return };
    let sets = scenes::convex_sets(48, 1.0, 9);
    let count = extent(400, 2_000);
    let near = Near { count, seed: 220, placed: 0.8, ..Near::default() };
    for (name, scene) in [
        ("convex", scenes::near_pairs(&sets, near)),
        ("rounded", scenes::near_pairs(&sets, Near { rounded: 0.5, ..near })),
        ("round", scenes::round_pairs(near)),
        ("far", scenes::far(count / 2, 221)),
        ("kissing", scenes::kissing_boxes(count / 2, 222)),
    ] {
        for (way, duration) in [(3.0, 1.0), (1e4, 1.0 / 60.0)] {
            let moving = in_motion(scene.clone(), duration, way, 0.0, 223);
            let found = moving.find(&engine, Precision::Fast);
            let expected = moving.find(&Engine::cpu(), Precision::Fast);
            let compared = compare(&moving, &found.rows, &expected.rows).unwrap();
            // These pairs graze on purpose, half of them down to 1e-6 of their size: f32 can't say what f64 must.
            assert!(compared.grazing_count * 10 <= compared.count, "{name}: {compared:?}");
            let (open, count) = (found.stats.settled_count, found.rows.len() as u64);
            assert!(open * 5 <= 2 * count, "{name}: {open} of {count} settled in f64");
            if std::env::var("HULLFIELD_VERBOSE").is_ok() {
                let theirs = expected.stats.settled_count;
                eprintln!(
                    "{name}, ways to {way}: {compared:?}, settled {open} on the GPU, {theirs} on the CPU"
                );
            }
        }
    }
}

#[test]
fn runs_repeat_and_counts_do_not_matter() {
    let Some(engine) = gpu() else { return };
    let moving = in_motion(
        scenes::near_pairs(
            &scenes::convex_sets(48, 1.0, 10),
            Near { count: 700, seed: 230, ..Near::default() },
        ),
        1.0,
        3.0,
        0.0,
        231,
    );
    let all = find(&engine, &moving, Pairs::Given(&moving.scene.pairs)).rows;
    assert_eq!(find(&engine, &moving, Pairs::Given(&moving.scene.pairs)).rows, all);
    for count in [1, 63, 64, 65, 256, 257, 700] {
        assert_eq!(find(&engine, &moving, Pairs::Given(&moving.scene.pairs[..count])).rows, all[..count]);
    }
    let crowd = crowd(2_060, 40, 232);
    let near = find(&engine, &crowd, Pairs::BroadPhase).rows;
    let arena = Arena::new(&engine, &hulls(&crowd.scene), Options::default()).unwrap();
    for _ in 0..2 {
        // The second query has other buffers, large enough for the first one's results.
        let found = arena.sweeps(
            &bodies(&crowd.scene.bodies),
            &crowd.motions(),
            Pairs::BroadPhase,
            &SweepOptions { duration: crowd.duration, ..Default::default() },
        );
        assert_eq!(found.unwrap().wait().unwrap().rows, near);
    }
}

#[test]
fn more_pairs_than_one_dispatch_has_groups() {
    // Its windows are the largest of all tests, and an own engine frees them.
    let Some(engine) = common::own_gpu() else { return };
    // 4.2 million pairs are 65,600 groups, and more than a window.
    let moving = crowd(2_900, 0, 240);
    let near = find(&engine, &moving, Pairs::BroadPhase);
    let every = find(&engine, &moving, Pairs::Exhaustive);
    assert!(every.stats.candidate_count > 65_535 * 64);
    let compared = compare(&moving, &near.rows, &every.rows).unwrap();
    assert!(compared.count > 1_000 && compared.grazing_count * 1000 <= compared.count, "{compared:?}");
}

#[test]
fn every_candidate_of_swept_boxes_is_kept() {
    let Some(engine) = gpu() else { return };
    // Motions of all lengths. A body missed by the swept boxes would be missing from `BroadPhase`, not from the `Exhaustive` of the CPU
    // engine, which takes a hundredth of a software GPU's time for every pair.
    for &(scale, seed) in
        extent(&[(1.0f32, 251), (1e3, 252)][..], &[(0.0, 250), (1.0, 251), (1e3, 252), (1e6, 253)])
    {
        let mut moving = crowd(2_060, 30, seed);
        for motion in &mut moving.motions {
            motion.velocity = motion.velocity.map(|x| x * scale);
        }
        let near = find(&engine, &moving, Pairs::BroadPhase);
        let every = find(&Engine::cpu(), &moving, Pairs::Exhaustive);
        let pairs = |found: &Batch<Sweep>| found.rows.iter().map(|row| [row.a, row.b]).collect::<Vec<_>>();
        assert!(pairs(&near) == pairs(&every), "{scale}: {} {}", near.rows.len(), every.rows.len());
    }
}

#[test]
fn ways_of_a_million_million_sizes_are_followed() {
    // A ball that comes from very far meets a box head on, or passes it.
    let hulls = [Hull::ball(0.5).unwrap(), Hull::cuboid([1.0; 3]).unwrap()];
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        for exponent in [0, 4, 10, 17, 24, 30, 40] {
            // Not round numbers, so that their products have rounding errors.
            let way = 1.7 * 2f32.powi(exponent);
            let speed = 1.3 * way;
            for (aside, meets) in [(0.0, true), (1.25, true), (1.75, false)] {
                let bodies = [Body::new(0).at([-way - 1.5, aside, 0.0]), Body::new(1)];
                let motions =
                    [Motion { velocity: [speed, 0.0, 0.0], ..Motion::default() }, Motion::default()];
                let found = arena
                    .sweeps(
                        &bodies,
                        &motions,
                        Pairs::Given(&[[0, 1]]),
                        &SweepOptions { duration: 3.0, ..Default::default() },
                    )
                    .unwrap()
                    .wait()
                    .unwrap();
                let row = found.rows[0];
                assert_eq!(row.outcome == SweepOutcome::Hit, meets, "{name}, 2^{exponent}, {aside}: {row:?}");
                if aside == 0.0 {
                    // From where it stands as stored.
                    let gap = -f64::from(bodies[0].position[0]) - 1.5;
                    let off = (row.time * f64::from(speed) - gap).abs();
                    assert!(
                        off <= 1e-5 + 1e-15 * f64::from(way),
                        "{name}, 2^{exponent}: {row:?} is off by {off}"
                    );
                }
            }
        }
    }
}

#[test]
fn extremes_are_answered_the_same() {
    let Some(engine) = gpu() else { return };
    let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::from_points(&[[0.0; 3]]).unwrap()];
    let mut bodies = Vec::new();
    let mut motions = Vec::new();
    for size in [2e-17f32, 1e-12, 1e-5, 1.0, 1e5, 2e16] {
        for speed in [0.0f32, 1e-38, 1e-25, 1.0, 1e17] {
            for hull in [0, 1] {
                for x in [0.0f32, 1.0, 30.0] {
                    bodies.push(Body { scale: [size; 3], ..Body::new(hull) }.at([
                        x * size,
                        0.25 * size,
                        0.0,
                    ]));
                    motions.push(Motion { velocity: [-speed, 0.0, 0.0], ..Motion::default() });
                }
            }
        }
    }
    let pairs: Vec<[u32; 2]> = (0..bodies.len() as u32 - 1).map(|a| [a, a + 1]).collect();
    for duration in [0.0f32, 1e-20, 1.0, 9.0] {
        let ask = |engine: &Engine| {
            let arena = Arena::new(engine, &hulls, Options::default()).unwrap();
            arena
                .sweeps(
                    &bodies,
                    &motions,
                    Pairs::Given(&pairs),
                    &SweepOptions { duration, ..Default::default() },
                )
                .unwrap()
                .wait()
                .unwrap()
                .rows
        };
        for (row, twin) in ask(&engine).iter().zip(&ask(&Engine::cpu())) {
            assert_eq!(row.outcome, twin.outcome, "{duration}: {row:?} {twin:?}");
            assert!(
                (row.time - twin.time).abs() <= 1e-5 * f64::from(duration),
                "{duration}: {row:?} {twin:?}"
            );
        }
    }
}

#[test]
fn a_ground_that_turns_is_left_to_the_host() {
    let Some(engine) = gpu() else { return };
    let mut moving = crowd(2_060, 0, 260);
    let ground = moving.motions.len() - 1;
    moving.motions[ground].spin = [0.0, 0.0, 0.3];
    let near = find(&engine, &moving, Pairs::BroadPhase);
    // Every body but the ground beside it may meet it.
    assert!(near.stats.settled_count >= ground as u64 - 1);
    let met = near.rows.iter().filter(|row| row.b == ground as u32).count();
    let expected = find(&Engine::cpu(), &moving, Pairs::BroadPhase).rows;
    assert_eq!(met, expected.iter().filter(|row| row.b == ground as u32).count());
    assert!(met > 50, "{met}");
}

/// Scenes without pairs or bodies that move.
#[test]
fn nothing_moves_and_nothing_is_asked() {
    for (_, engine) in engines() {
        let scene = Scene { ..crowd(64, 0, 270).scene };
        let arena = Arena::new(&engine, &hulls(&scene), Options::default()).unwrap();
        let bodies = bodies(&scene.bodies);
        let still = vec![Motion::default(); bodies.len()];
        let found = arena
            .sweeps(&bodies, &still, Pairs::BroadPhase, &SweepOptions { duration: 1.0, ..Default::default() })
            .unwrap()
            .wait()
            .unwrap();
        let touching = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
        let pairs: Vec<_> = found.rows.iter().map(|row| [row.a, row.b]).collect();
        assert_eq!(pairs, touching.rows.iter().map(|row| [row.a, row.b]).collect::<Vec<_>>());
        assert!(found.rows.iter().all(|row| row.outcome == SweepOutcome::Touching));
        assert!(
            arena
                .sweeps(
                    &bodies[..1],
                    &still[..1],
                    Pairs::Exhaustive,
                    &SweepOptions { duration: 1.0, ..Default::default() }
                )
                .unwrap()
                .wait()
                .unwrap()
                .rows
                .is_empty()
        );
    }
}
