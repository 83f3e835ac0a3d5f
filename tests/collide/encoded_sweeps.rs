//! Sweeps in the caller's own encoder against those that are settled.

use std::collections::{BTreeMap, BTreeSet};

use hullfield::Engine;
use hullfield::collide::{
    Arena, Batch, Body, Capacity, DeviceBodies, DeviceCounts, DeviceMotions, DevicePairs, Hull, Motion,
    Options, PackedMotion, Pairs, Sweep, SweepOptions, SweepOutcome, SweptRow,
};
use hullfield_oracle::scenes::{self, Near};
use hullfield_oracle::{extent, pick};
use wgpu::BufferUsages;

use crate::answers::{bodies, scene_hulls};
use crate::common;
use crate::encoded::{CAPACITY, encoder, filled, read, run};
use crate::sweep_gpu::crowd;
use crate::sweep_scenes::in_motion;

fn code(outcome: SweepOutcome) -> u32 {
    match outcome {
        SweepOutcome::Miss => 0,
        SweepOutcome::Touching => 1,
        SweepOutcome::Hit => 2,
    }
}

/// Encodes, submits and reads.
fn encode(
    engine: &Engine,
    arena: &Arena,
    (bodies, motions, pairs): (DeviceBodies<'_>, DeviceMotions<'_>, DevicePairs<'_>),
    duration: f32,
    capacity: Capacity,
) -> (Vec<SweptRow>, DeviceCounts) {
    let mut encoder = encoder(engine);
    let options = SweepOptions { duration, ..SweepOptions::default() };
    let found = arena.encode_sweeps(&mut encoder, bodies, motions, pairs, &options, capacity).unwrap();
    run(engine, encoder, &found)
}

fn settled(
    arena: &Arena,
    bodies: &[Body],
    motions: &[Motion],
    pairs: Pairs<'_>,
    duration: f32,
) -> Batch<Sweep> {
    let options = SweepOptions { duration, ..SweepOptions::default() };
    arena.sweeps(bodies, motions, pairs, &options).unwrap().wait().unwrap()
}

/// Checks that each row says what its settled row says, or nothing. A settled miss may have no row. Returns how many are hits, touching,
/// and unsettled.
fn agree(rows: &[SweptRow], settled: &[Sweep], duration: f32) -> Result<[usize; 3], String> {
    let mut left: BTreeMap<[u32; 2], Sweep> = settled.iter().map(|row| ([row.a, row.b], *row)).collect();
    let mut counts = [0; 3];
    for row in rows {
        let truth = left.remove(&[row.a, row.b]);
        if row.outcome == 3 {
            counts[2] += 1;
            if row.time != 0.0 || row.rest != 0.0 || row.normal != [0.0; 3] {
                return Err(format!("numbers of an unsettled row: {row:?}"));
            }
            continue;
        }
        let Some(truth) = truth else {
            return Err(format!("no such row: {row:?}"));
        };
        // The time of a hit is that of a moment, which one rounding of f32 moves, and what follows it, of f32 too.
        let time = f64::from(row.time) + f64::from(row.rest);
        let near = (time - truth.time).abs() <= 1e-6 * f64::from(duration);
        let normal = truth.normal.unwrap_or_default();
        let aligned = (0..3).all(|i| (normal[i] - f64::from(row.normal[i])).abs() <= 1e-6);
        if row.outcome != code(truth.outcome) || !near || !aligned {
            return Err(format!("{row:?} is {truth:?}"));
        }
        if row.outcome == 2 {
            counts[0] += 1;
        } else if row.outcome == 1 {
            counts[1] += 1;
        }
    }
    match left.values().find(|row| row.outcome != SweepOutcome::Miss) {
        Some(row) => Err(format!("missing: {row:?}")),
        None => Ok(counts),
    }
}

#[test]
fn encoded_sweeps_are_those_of_submit() {
    let Some(engine) = common::gpu() else { return };
    // In tiles and by the tree; without rotation, and with.
    let large = pick(304, &[(2_060, 10, 301), (2_060, 0, 302)], 1);
    let full = [&[(260, 0, 300), (300, 3, 303)], &large[..]].concat();
    for &(count, turning, seed) in extent(&[(300, 6, 300), (2_060, 10, 301)][..], &full) {
        let moving = crowd(count, turning, seed);
        let arena = Arena::new(&engine, &scene_hulls(&moving.scene), Options::default()).unwrap();
        let (bodies, motions, duration) = (bodies(&moving.scene.bodies), moving.motions(), moving.duration);
        let packed = filled(&engine, &arena.pack(&bodies).unwrap(), BufferUsages::STORAGE);
        let packed_motions: Vec<PackedMotion> = motions.iter().map(|&motion| motion.into()).collect();
        let in_buffer = filled(&engine, &packed_motions, BufferUsages::STORAGE);
        let len = bodies.len() as u32;
        let sources = [
            (DeviceBodies::Host(&bodies), DeviceMotions::Host(&motions)),
            (
                DeviceBodies::Buffer { buffer: &packed, count: len },
                DeviceMotions::Buffer { buffer: &in_buffer, count: len },
            ),
        ];
        let near = settled(&arena, &bodies, &motions, Pairs::BroadPhase, duration);
        // Pairs that meet, others beside them, and most the other way round; never two of the grounds.
        let mut given: Vec<[u32; 2]> =
            near.rows.iter().flat_map(|row| [[row.b, row.a], [row.a, row.a + 1]]).collect();
        let mut seen = BTreeSet::new();
        given.retain(|&[a, b]| a != b && (a < len - 2 || b < len - 2) && seen.insert([a, b]));
        let of_given = settled(&arena, &bodies, &motions, Pairs::Given(&given), duration);
        let listed = filled(&engine, &given, BufferUsages::STORAGE);
        for (at, (of, by)) in sources.into_iter().enumerate() {
            for (pairs, expected) in [
                (DevicePairs::BroadPhase, &near),
                (DevicePairs::Exhaustive, &near),
                (DevicePairs::Given(&given), &of_given),
                (DevicePairs::Buffer { buffer: &listed, count: given.len() as u32 }, &of_given),
            ] {
                if at == 0 && matches!(pairs, DevicePairs::Buffer { .. }) {
                    continue;
                }
                // Every pair of a large crowd takes a software device minutes.
                if count > 1_000 && matches!(pairs, DevicePairs::Exhaustive) {
                    continue;
                }
                let capacity = Capacity { pairs: 3_000_000, rows: 50_000 };
                let (rows, counts) = encode(&engine, &arena, (of, by, pairs), duration, capacity);
                assert_eq!(counts.overflow, 0, "{pairs:?}: {counts:?}");
                let [hits, touching, open] = agree(&rows, &expected.rows, duration).unwrap();
                assert_eq!(open, counts.unsettled_count as usize);
                assert!(hits > count / 30 && touching > 10, "{hits} hits, {touching} touching, {open} open");
                // The same kernels decide as many pairs for the host.
                if !matches!(pairs, DevicePairs::Exhaustive) {
                    assert_eq!(open as u64, expected.stats.settled_count);
                }
                if matches!(pairs, DevicePairs::Given(_) | DevicePairs::Buffer { .. }) {
                    let ids: Vec<[u32; 2]> = rows.iter().map(|row| [row.a, row.b]).collect();
                    assert!(ids == given && rows.iter().any(|row| row.outcome == 0));
                } else {
                    assert!(rows.iter().all(|row| row.a < row.b && row.outcome != 0));
                }
                // The host settles what is open.
                let of_open: Vec<[u32; 2]> =
                    rows.iter().filter(|row| row.outcome == 3).map(|row| [row.a, row.b]).collect();
                let hit_count =
                    |rows: &[Sweep]| rows.iter().filter(|row| row.outcome != SweepOutcome::Miss).count();
                let open_hits =
                    hit_count(&settled(&arena, &bodies, &motions, Pairs::Given(&of_open), duration).rows);
                assert_eq!(hits + touching + open_hits, hit_count(&expected.rows));
                // No pair whose body rotates is a hit.
                for row in rows.iter().filter(|row| row.outcome == 2) {
                    assert!(
                        [row.a, row.b].iter().all(|&id| motions[id as usize].angular_velocity == [0.0; 3])
                    );
                }
            }
        }
    }
}

/// [`agree`] must find wrong rows.
#[test]
fn wrong_swept_rows_are_told_apart() {
    let row = |b: u32, outcome: SweepOutcome, time: f64| {
        let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5).unwrap()], Options::default()).unwrap();
        let bodies = [Body::new(0), Body::new(0).at([2.0, 0.0, 0.0])];
        let still = [Motion::default(); 2];
        let mut row = settled(&arena, &bodies, &still, Pairs::Given(&[[0, 1]]), 1.0).rows[0];
        (row.b, row.outcome, row.time) = (b, outcome, time);
        row.normal = (outcome != SweepOutcome::Miss).then_some([1.0, 0.0, 0.0]);
        row
    };
    let settled = [
        row(1, SweepOutcome::Hit, 0.5),
        row(2, SweepOutcome::Touching, 0.0),
        row(3, SweepOutcome::Miss, 1.0),
    ];
    let normal = [1.0, 0.0, 0.0];
    let right = [
        SweptRow { a: 0, b: 1, outcome: 2, time: 0.5, normal, rest: 1e-9 },
        SweptRow { a: 0, b: 2, outcome: 1, time: 0.0, normal, rest: 0.0 },
    ];
    assert_eq!(agree(&right, &settled, 1.0), Ok([1, 1, 0]));
    let change = |change: fn(&mut [SweptRow; 2])| {
        let mut rows = right;
        change(&mut rows);
        agree(&rows, &settled, 1.0)
    };
    assert!(change(|rows| rows[0].outcome = 1).is_err());
    assert!(change(|rows| rows[0].outcome = 0).is_err());
    assert!(change(|rows| rows[0].time = 0.4).is_err());
    assert!(change(|rows| rows[0].rest = 0.1).is_err());
    assert!(change(|rows| rows[1].normal = [0.0, 1.0, 0.0]).is_err());
    assert!(change(|rows| rows[1].b = 4).is_err());
    assert!(change(|rows| rows[1].b = 3).is_err());
    assert!(change(|rows| rows[1].outcome = 3).is_err(), "an unsettled row has no normal");
    assert!(agree(&right[..1], &settled, 1.0).is_err());
}

/// Pairs that graze, kiss, are stretched, far, huge: no status is wrong.
#[test]
fn hostile_scenes_have_no_wrong_outcome() {
    let Some(engine) = common::gpu() else { return };
    let count = extent(300, 600);
    let sets = scenes::convex_sets(48, 1.0, 9);
    let near = Near { count, seed: 320, placed: 0.8, ..Near::default() };
    for (name, scene) in [
        ("convex", scenes::near_pairs(&sets, near)),
        ("rounded", scenes::near_pairs(&sets, Near { rounded: 0.5, ..near })),
        ("stretched", scenes::near_pairs(&sets, Near { stretch: 30.0, ..near })),
        ("far", scenes::far(count, 321)),
        ("kissing", scenes::kissing_boxes(count, 322)),
        ("tiny", scenes::tiny(1e-5, count, 323)),
        ("huge", scenes::tiny(1e5, count, 324)),
        ("ground", scenes::ground(&scenes::convex_sets(24, 1.0, 5), count, true, 325)),
    ] {
        for (way, spin, duration) in [(3.0, 0.0, 1.0), (1e4, 0.0, 1.0 / 60.0), (3.0, 1.0, 1.0)] {
            let moving = in_motion(scene.clone(), duration, way, spin, 326);
            let arena = Arena::new(&engine, &scene_hulls(&moving.scene), Options::default()).unwrap();
            let (bodies, motions) = (bodies(&moving.scene.bodies), moving.motions());
            let pairs = &moving.scene.pairs;
            let of = (DeviceBodies::Host(&bodies), DeviceMotions::Host(&motions), DevicePairs::Given(pairs));
            let (rows, _) = encode(&engine, &arena, of, duration, CAPACITY);
            let expected = settled(&arena, &bodies, &motions, Pairs::Given(pairs), duration);
            let [_, _, open] =
                agree(&rows, &expected.rows, duration).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            if spin == 0.0 && !["ground", "stretched"].contains(&name) {
                assert!(open * 5 <= 2 * rows.len(), "{name}: {open} of {} are open", rows.len());
            }
        }
    }
}

/// `time + rest` is as exact as the time of a settled row.
#[test]
fn a_bullets_time_keeps_its_rest() {
    let Some(engine) = common::gpu() else { return };
    let arena = Arena::new(&engine, &[Hull::ball(0.5).unwrap()], Options::default()).unwrap();
    let mut used = 0;
    for exponent in [0, 4, 10, 14, 20] {
        let way = 1.7 * 2f32.powi(exponent);
        let speed = 1.3 * way;
        let bodies = [Body::new(0).at([-way - 1.0, 0.6, 0.0]), Body::new(0)];
        let motions = [Motion { velocity: [speed, 0.0, 0.0], ..Motion::default() }, Motion::default()];
        let of = (DeviceBodies::Host(&bodies), DeviceMotions::Host(&motions), DevicePairs::Given(&[[0, 1]]));
        let (rows, _) = encode(&engine, &arena, of, 3.0, CAPACITY);
        assert_eq!(rows[0].outcome, 2, "2^{exponent}: {:?}", rows[0]);
        let aside = f64::from(bodies[0].position[1]);
        let gap = -f64::from(bodies[0].position[0]) - (1.0 - aside * aside).sqrt();
        let off = |time: f64| (time * f64::from(speed) - gap).abs();
        let time = f64::from(rows[0].time) + f64::from(rows[0].rest);
        let most = 1e-5 + 1e-15 * f64::from(way);
        assert!(off(time) <= most, "2^{exponent}: {:?} is off by {}", rows[0], off(time));
        assert!(rows[0].rest.abs() <= 1.2e-7 * rows[0].time);
        used += u32::from(off(f64::from(rows[0].time)) > 1e-5);
    }
    // Without the rest, the fast ones stop at another place.
    assert!(used > 0);
}

#[test]
fn statics_do_not_move_and_masks_hold() {
    let Some(engine) = common::gpu() else { return };
    let hulls = [Hull::ball(0.5).unwrap(), Hull::half_space()];
    let statics = vec![Body::new(0).at([5.0, 0.0, 0.0]), Body::new(1).at([0.0, -1.0, 0.0])];
    let arena = Arena::new(&engine, &hulls, Options { statics, ..Options::default() }).unwrap();
    let bodies = [Body::new(0), Body::new(0).at([0.0, 1.0, 0.0]).grouped(2, 3)];
    let motions =
        [[8.0, 0.0, 0.0], [0.0, -5.0, 0.0]].map(|velocity| Motion { velocity, ..Motion::default() });
    let host = (DeviceBodies::Host(&bodies), DeviceMotions::Host(&motions));
    for (pairs, of_submit) in [
        (DevicePairs::BroadPhase, Pairs::BroadPhase),
        (DevicePairs::Given(&[[0, 2], [1, 3], [2, 1]]), Pairs::Given(&[[0, 2], [1, 3], [2, 1]])),
    ] {
        let (rows, counts) = encode(&engine, &arena, (host.0, host.1, pairs), 1.0, CAPACITY);
        let expected = settled(&arena, &bodies, &motions, of_submit, 1.0);
        let [hits, _, open] = agree(&rows, &expected.rows, 1.0).unwrap();
        assert!(counts.overflow == 0 && hits >= 1 && open == 0, "{rows:?}");
    }
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let Some(engine) = common::gpu() else { return };
    let moving = crowd(400, 0, 330);
    let arena = Arena::new(&engine, &scene_hulls(&moving.scene), Options::default()).unwrap();
    let (bodies, motions) = (bodies(&moving.scene.bodies), moving.motions());
    let of = |capacity| {
        let sources = (DeviceBodies::Host(&bodies), DeviceMotions::Host(&motions), DevicePairs::BroadPhase);
        encode(&engine, &arena, sources, moving.duration, capacity)
    };
    let (all, whole) = of(CAPACITY);
    assert!(whole.overflow == 0 && whole.row_count > 50);
    let (some, counts) = of(Capacity { rows: 20, ..CAPACITY });
    assert_eq!((counts.overflow, counts.row_count, counts.row_room), (1, whole.row_count, 20));
    assert_eq!(some, all[..20]);
    let (_, counts) = of(Capacity { pairs: 10, ..CAPACITY });
    assert_eq!((counts.overflow & 2, counts.pair_count), (2, whole.pair_count));
    let (_, counts) = of(Capacity { pairs: 0, rows: 1 });
    assert_eq!((counts.overflow, counts.pair_count, counts.row_count), (2, whole.pair_count, 0));
    let (rows, counts) = of(Capacity { pairs: whole.pair_count, rows: whole.row_count });
    assert!(counts.overflow == 0 && rows == all);
}

#[test]
fn bad_input_is_one_error_and_the_encoder_stays_good() {
    let Some(engine) = common::gpu() else { return };
    let moving = crowd(20, 0, 340);
    let arena = Arena::new(&engine, &scene_hulls(&moving.scene), Options::default()).unwrap();
    let (bodies, motions) = (bodies(&moving.scene.bodies), moving.motions());
    let host = DeviceBodies::Host(&bodies);
    let count = bodies.len() as u32;
    let small = filled(&engine, &[0_u32; 4], BufferUsages::STORAGE);
    let no_storage = filled(&engine, &vec![PackedMotion::default(); bodies.len()], BufferUsages::COPY_SRC);
    let mut wild = motions.clone();
    wild[3].velocity[1] = f32::NAN;
    let mut mad = motions.clone();
    mad[4].angular_velocity[2] = 1e9;
    let mut encoder = encoder(&engine);
    let duration = |duration: f32| SweepOptions { duration, ..SweepOptions::default() };
    let near = DevicePairs::BroadPhase;
    for (moves, pairs, options, part) in [
        (DeviceMotions::Host(&motions[1..]), near, duration(1.0), "21 motions were given"),
        (DeviceMotions::Buffer { buffer: &small, count: 4 }, near, duration(1.0), "4 motions were given"),
        (DeviceMotions::Buffer { buffer: &small, count }, near, duration(1.0), "704 bytes"),
        (DeviceMotions::Buffer { buffer: &no_storage, count }, near, duration(1.0), "STORAGE"),
        (DeviceMotions::Host(&wild), near, duration(1.0), "motion 3: velocity"),
        (DeviceMotions::Host(&mad), near, duration(1.0), "motion 4: angular_velocity"),
        (DeviceMotions::Host(&motions), near, duration(-1.0), "duration is -1"),
        (DeviceMotions::Host(&motions), near, duration(f32::NAN), "duration is NaN"),
        (DeviceMotions::Host(&motions), near, duration(f32::INFINITY), "duration is inf"),
        (
            DeviceMotions::Host(&motions),
            near,
            SweepOptions { witness: true, ..duration(1.0) },
            "witness is true",
        ),
        (
            DeviceMotions::Host(&motions),
            DevicePairs::Given(&[[0, 99]]),
            duration(1.0),
            "body 99 does not exist",
        ),
        (DeviceMotions::Host(&motions), DevicePairs::Given(&[[20, 21]]), duration(1.0), "half-space"),
    ] {
        let refused = arena.encode_sweeps(&mut encoder, host, moves, pairs, &options, CAPACITY).unwrap_err();
        assert!(refused.to_string().contains(part), "{refused}");
    }
    let on_cpu = Arena::new(&Engine::cpu(), arena.hulls(), Options::default()).unwrap();
    let moves = DeviceMotions::Host(&motions);
    assert!(on_cpu.encode_sweeps(&mut encoder, host, moves, near, &duration(1.0), CAPACITY).is_err());
    let found = arena.encode_sweeps(&mut encoder, host, moves, near, &duration(0.25), CAPACITY).unwrap();
    let (rows, counts) = run::<SweptRow>(&engine, encoder, &found);
    assert_eq!((counts.overflow, rows.len()), (0, counts.row_count as usize));
    assert!(read::<u32>(&engine, found.unsettled()).len() >= counts.unsettled_count as usize);
    // No bodies at all.
    let none = (DeviceBodies::Host(&[]), DeviceMotions::Host(&[]), near);
    assert_eq!(encode(&engine, &arena, none, 1.0, CAPACITY).1.row_count, 0);
}
