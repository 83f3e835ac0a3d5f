//! Events of pairs on the device: which begin, stay and end.

use std::collections::{BTreeMap, BTreeSet};

use hullfield::collide::{
    Arena, Body, BodyPose, Capacity, ContactOptions, DeviceBodies, DeviceCounts, DeviceEvents, DeviceMotions,
    DevicePairs, DeviceTouchingPairs, EventCounts, EventRow, Hull, IntersectionRow, Motion, Options,
    PackedBody, Pairs, SweepOptions,
};
use hullfield::{Engine, Error};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};
use wgpu::BufferUsages;

use crate::common;
use crate::encoded::{CAPACITY, crowd, encoder, filled, read, run};

/// The events of a step by their definition, from its rows.
fn expected(before: &mut BTreeSet<[u32; 2]>, rows: &[IntersectionRow]) -> Vec<EventRow> {
    let touches = |row: &&IntersectionRow| match row.status {
        0 => false,
        1 | 2 => true,
        _ => before.contains(&[row.a, row.b]),
    };
    let now: BTreeSet<[u32; 2]> = rows.iter().filter(touches).map(|row| [row.a, row.b]).collect();
    let events = before.union(&now).map(|&[a, b]| {
        let phase = match (before.contains(&[a, b]), now.contains(&[a, b])) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        EventRow { a, b, phase }
    });
    let events = events.collect();
    *before = now;
    events
}

fn submitted(
    engine: &Engine,
    encoder: wgpu::CommandEncoder,
    events: &DeviceEvents,
) -> (EventCounts, Vec<EventRow>) {
    engine.device().unwrap().1.submit([encoder.finish()]);
    let (counts, rows) = events.read().unwrap().wait().unwrap();
    assert_eq!(events.read_counts().unwrap().wait().unwrap(), counts);
    // What kernels see.
    let on_device: Vec<EventRow> = read(engine, events.rows());
    assert_eq!(on_device[..rows.len()], rows);
    assert_eq!(read::<EventCounts>(engine, events.counts()), [counts]);
    let of = |phase| rows.iter().filter(|event| event.phase == phase).count() as u32;
    assert_eq!([counts.begin_count, counts.stay_count, counts.end_count], [of(0), of(1), of(2)]);
    assert_eq!(counts.event_count as usize, rows.len());
    (counts, rows)
}

#[test]
fn a_long_life_of_poses_has_the_events_of_its_rows() {
    let Some(engine) = common::gpu() else { return };
    for (count, room, steps) in [(150, 5_000, extent(20, 40)), (2_060, 60_000, extent(3, 5))] {
        let (arena, mut bodies) = crowd(&engine, count);
        let laid_out = arena.lay_out(&bodies, [0.0; 3]).unwrap();
        let poses: Vec<BodyPose> = bodies.iter().map(BodyPose::from).collect();
        let buffer = filled(&engine, &poses, BufferUsages::STORAGE);
        let touching = DeviceTouchingPairs::new(&arena, room).unwrap();
        let (mut before, mut open) = (BTreeSet::new(), 0_i64);
        let mut random = Random::new(seed(9));
        let mut seen = [0; 3];
        for step in 0..steps {
            let poses: Vec<BodyPose> = bodies.iter().map(BodyPose::from).collect();
            engine.device().unwrap().1.write_buffer(&buffer, 0, bytemuck::cast_slice(&poses));
            let mut encoder = encoder(&engine);
            let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &buffer };
            let found =
                arena.encode_intersections(&mut encoder, posed, DevicePairs::BroadPhase, CAPACITY).unwrap();
            let events = touching.encode_events(&mut encoder, &found).unwrap();
            let (counts, rows) = submitted(&engine, encoder, &events);
            let found_counts: DeviceCounts = read(&engine, found.counts())[0];
            let found: Vec<IntersectionRow> = read(&engine, found.rows());
            let found = &found[..found_counts.row_count as usize];
            assert_eq!(rows, expected(&mut before, found), "step {step}");
            open += i64::from(counts.begin_count) - i64::from(counts.end_count);
            assert_eq!((open as usize, counts.touching_count as usize), (before.len(), before.len()));
            assert_eq!(counts.overflow, 0);
            if found_counts.unsettled_count == 0 {
                let settled = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
                assert!(settled.rows.iter().map(|row| [row.a, row.b]).eq(before.iter().copied()));
            }
            rows.iter().for_each(|event| seen[event.phase as usize] += 1);
            for body in &mut bodies {
                let step = random.direction() * random.between(0.0, 0.6);
                body.position = [0, 1, 2].map(|axis| body.position[axis] + step[axis] as f32);
            }
        }
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }
}

/// Two balls `apart`, of which f32 decides nothing where `open`.
fn two(engine: &Engine, arena: &Arena, apart: f32, open: bool) -> wgpu::Buffer {
    let mut packed: Vec<PackedBody> =
        arena.pack(&[Body::new(0), Body::new(0).at([apart, 0.0, 0.0])]).unwrap();
    if open {
        packed[0].excess = 1e6;
    }
    filled(engine, &packed, BufferUsages::STORAGE)
}

#[test]
fn an_unsettled_pair_keeps_what_it_was() {
    let Some(engine) = common::gpu() else { return };
    let arena = Arena::new(&engine, &[Hull::ball(1.0).unwrap()], Options::default()).unwrap();
    let touching = DeviceTouchingPairs::new(&arena, 10).unwrap();
    let step = |apart, open| {
        let buffer = two(&engine, &arena, apart, open);
        let mut encoder = encoder(&engine);
        let bodies = DeviceBodies::Buffer { buffer: &buffer, count: 2 };
        let options = ContactOptions { margin: 0.4 };
        let found =
            arena.encode_contacts(&mut encoder, bodies, DevicePairs::BroadPhase, &options, CAPACITY).unwrap();
        let events = touching.encode_events(&mut encoder, &found).unwrap();
        let events = submitted(&engine, encoder, &events).1;
        let counts: DeviceCounts = read(&engine, found.counts())[0];
        assert_eq!(counts.unsettled_count, u32::from(open));
        events.iter().map(|event| (event.a, event.b, event.phase)).collect::<Vec<_>>()
    };
    // Apart within the margin, and open: no event.
    assert_eq!(step(2.2, false), []);
    assert_eq!(step(1.9, true), []);
    assert_eq!(step(1.9, false), [(0, 1, 0)]);
    assert_eq!(step(1.9, true), [(0, 1, 1)]);
    assert_eq!(step(2.2, true), [(0, 1, 1)]);
    assert_eq!(step(1.9, false), [(0, 1, 1)]);
    assert_eq!(step(2.2, false), [(0, 1, 2)]);
    assert_eq!(step(1.9, true), []);
    assert_eq!(step(1.9, false), [(0, 1, 0)]);
    assert_eq!(step(9.0, false), [(0, 1, 2)]);
    assert_eq!(step(1.9, false), [(0, 1, 0)]);
    touching.clear().unwrap();
    assert_eq!(step(1.9, false), [(0, 1, 0)]);
}

#[test]
fn what_there_is_no_room_for_is_said_and_changes_nothing() {
    let Some(engine) = common::gpu() else { return };
    let arena = Arena::new(&engine, &[Hull::ball(0.6).unwrap()], Options::default()).unwrap();
    let row = |count: usize| (0..count).map(|k| Body::new(0).at([k as f32, 0.0, 0.0])).collect::<Vec<_>>();
    let touching = DeviceTouchingPairs::new(&arena, 8).unwrap();
    let step = |bodies: &[Body], capacity| {
        let mut encoder = encoder(&engine);
        let found = arena
            .encode_intersections(&mut encoder, DeviceBodies::Host(bodies), DevicePairs::BroadPhase, capacity)
            .unwrap();
        let events = touching.encode_events(&mut encoder, &found).unwrap();
        let (counts, events) = submitted(&engine, encoder, &events);
        let phases = [counts.begin_count, counts.stay_count, counts.end_count];
        assert_eq!(events.len(), phases.iter().sum::<u32>() as usize);
        (counts.overflow, counts.touching_count, phases)
    };
    assert_eq!(step(&row(6), CAPACITY), (0, 5, [5, 0, 0]));
    // Too many rows, too many pairs to examine, more pairs than the memory holds.
    assert_eq!(step(&row(5), Capacity { rows: 3, ..CAPACITY }), (1, 5, [0; 3]));
    assert_eq!(step(&row(5), Capacity { pairs: 3, ..CAPACITY }), (1, 5, [0; 3]));
    assert_eq!(step(&row(20), CAPACITY), (2, 5, [0; 3]));
    assert_eq!(step(&row(20), Capacity { rows: 10, ..CAPACITY }), (3, 5, [0; 3]));
    // The next that fits has the events of all steps.
    assert_eq!(step(&row(9), CAPACITY), (0, 8, [3, 5, 0]));
    assert_eq!(step(&row(3), CAPACITY), (0, 2, [0, 2, 6]));
    assert_eq!(step(&[], CAPACITY), (0, 0, [0, 0, 2]));
    // No room at all.
    let touching = DeviceTouchingPairs::new(&arena, 0).unwrap();
    for (bodies, overflow) in [(row(1), 0), (row(2), 2)] {
        let mut encoder = encoder(&engine);
        let found = arena
            .encode_intersections(
                &mut encoder,
                DeviceBodies::Host(&bodies),
                DevicePairs::BroadPhase,
                CAPACITY,
            )
            .unwrap();
        let events = touching.encode_events(&mut encoder, &found).unwrap();
        engine.device().unwrap().1.submit([encoder.finish()]);
        let (counts, events) = events.read().unwrap().wait().unwrap();
        assert!(counts.overflow == overflow && events.is_empty(), "{counts:?}");
    }
}

#[test]
fn an_encoder_that_is_never_submitted_changes_nothing() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 150);
    let touching = DeviceTouchingPairs::new(&arena, 1_000).unwrap();
    let step = |bodies: &[Body]| {
        let mut encoder = encoder(&engine);
        let host = DeviceBodies::Host(bodies);
        let found =
            arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, CAPACITY).unwrap();
        let events = touching.encode_events(&mut encoder, &found).unwrap();
        (encoder, found, events)
    };
    let (encoder, _found, events) = step(&bodies);
    let first = submitted(&engine, encoder, &events);
    drop(step(&bodies[..10]));
    let (encoder, _found, events) = step(&bodies);
    let second = submitted(&engine, encoder, &events);
    assert_eq!((second.0.stay_count, second.0.event_count), (first.0.begin_count, first.0.begin_count));
}

#[test]
fn a_whole_step_copies_nothing_to_the_host() {
    let Some(engine) = common::own_gpu() else { return };
    let (arena, bodies) = crowd(&engine, 4_000);
    let laid_out = arena.lay_out(&bodies, [0.0; 3]).unwrap();
    let poses: Vec<BodyPose> = bodies.iter().map(BodyPose::from).collect();
    let poses = filled(&engine, &poses, BufferUsages::STORAGE);
    let touching = DeviceTouchingPairs::new(&arena, 50_000).unwrap();
    let step = || {
        let mut encoder = encoder(&engine);
        let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
        let options = ContactOptions { margin: 0.0 };
        let found =
            arena.encode_contacts(&mut encoder, posed, DevicePairs::BroadPhase, &options, CAPACITY).unwrap();
        let events = touching.encode_events(&mut encoder, &found).unwrap();
        let (device, queue) = engine.device().unwrap();
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        events
    };
    let first = step().read_counts().unwrap().wait().unwrap();
    drop(step());
    let before = engine.counters();
    let steps: Vec<DeviceEvents> = (0..1).map(|_| step()).collect();
    let after = engine.counters();
    assert_eq!(after.read_back_bytes, before.read_back_bytes);
    assert_eq!(after.buffers_created, before.buffers_created);
    // Parameters of kernels alone: the poses are 128 KB.
    let uploaded = after.uploaded_bytes - before.uploaded_bytes;
    assert!(uploaded < 48_000, "{uploaded}");
    let last = steps[0].read_counts().unwrap().wait().unwrap();
    assert_eq!((last.stay_count, last.event_count), (first.begin_count, first.begin_count));
    assert!(first.begin_count > 1_000);
    assert_eq!(engine.counters().read_back_bytes - after.read_back_bytes, 32);
}

#[test]
fn phases_of_a_pair_alternate() {
    // A pair begins, stays any number of steps, ends: over all pairs of a life.
    let Some(engine) = common::gpu() else { return };
    let (arena, mut bodies) = crowd(&engine, 100);
    let touching = DeviceTouchingPairs::new(&arena, 1_000).unwrap();
    let mut open: BTreeMap<[u32; 2], bool> = BTreeMap::new();
    let mut random = Random::new(seed(3));
    for _ in 0..extent(10, 100) {
        let mut encoder = encoder(&engine);
        let host = DeviceBodies::Host(&bodies);
        let found =
            arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, CAPACITY).unwrap();
        let events = touching.encode_events(&mut encoder, &found).unwrap();
        for EventRow { a, b, phase } in submitted(&engine, encoder, &events).1 {
            let is_open = open.entry([a, b]).or_default();
            assert_eq!(*is_open, phase != 0, "{a} {b} {phase}");
            *is_open = phase != 2;
        }
        for body in &mut bodies {
            body.position[random.below(3)] += random.between(-0.5, 0.5) as f32;
        }
    }
}

#[test]
fn bad_input_is_one_error() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 20);
    let on_cpu = Arena::new(&Engine::cpu(), arena.hulls(), Options::default()).unwrap();
    assert!(matches!(DeviceTouchingPairs::new(&on_cpu, 10), Err(Error::NoGpu { .. })));
    assert!(matches!(DeviceTouchingPairs::new(&arena, u32::MAX), Err(Error::MemoryLimit { .. })));
    let touching = DeviceTouchingPairs::new(&arena, 1_000).unwrap();
    let host = DeviceBodies::Host(&bodies);
    let mut encoder = encoder(&engine);
    let given =
        arena.encode_intersections(&mut encoder, host, DevicePairs::Given(&[[0, 1]]), CAPACITY).unwrap();
    let every = arena.encode_intersections(&mut encoder, host, DevicePairs::Exhaustive, CAPACITY).unwrap();
    let motions = [Motion::default(); 20];
    let options = SweepOptions { duration: 1.0, ..SweepOptions::default() };
    let (of_host, near) = (DeviceMotions::Host(&motions), DevicePairs::BroadPhase);
    let swept = arena.encode_sweeps(&mut encoder, host, of_host, near, &options, CAPACITY).unwrap();
    for found in [&given, &every, &swept] {
        let refused = touching.encode_events(&mut encoder, found).unwrap_err();
        assert!(refused.to_string().contains("sorted by pair"), "{refused}");
    }
    let other = common::own_gpu().unwrap();
    let of_other = Arena::new(&other, arena.hulls(), Options::default()).unwrap();
    let mut of_other_encoder = self::encoder(&other);
    let found = of_other
        .encode_intersections(&mut of_other_encoder, host, DevicePairs::BroadPhase, CAPACITY)
        .unwrap();
    let refused = touching.encode_events(&mut encoder, &found).unwrap_err();
    assert!(refused.to_string().contains("another engine"), "{refused}");
    // The encoder is still good.
    let found = arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, CAPACITY).unwrap();
    let events = touching.encode_events(&mut encoder, &found).unwrap();
    let (rows, _) = run::<IntersectionRow>(&engine, encoder, &found);
    assert_eq!(events.read().unwrap().wait().unwrap().1.len(), rows.len());
}
