//! Compares kernels that run without the checks that were proved unnecessary with the same kernels under all checks. The feature
//! `trust-by-call` compiles both and lets each engine choose. Without the feature, or without an adapter, the tests check nothing.

use bytemuck::Pod;
use hullfield::collide::{
    Arena, Body, Capacity, ContactOptions, DeviceBodies, DevicePairs, DeviceRows, DistanceOptions, Hull,
    Motion, Options, PackedBody, Pairs, SweepOptions,
};
use hullfield::{Engine, EngineOptions};
use hullfield_oracle::scenes;
use wgpu::{BufferBinding, BufferUsages};

use crate::common;

/// One device: trusted kernels, and the same with all checks.
fn engines() -> Option<[Engine; 2]> {
    if cfg!(not(feature = "trust-by-call")) {
        // `cargo xtask test` builds with it.
        return None;
    }
    let trusted = common::own_gpu()?.with_shader_checks(false);
    let (device, queue) = trusted.device().unwrap();
    let checked = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default()).unwrap();
    Some([trusted, checked.with_shader_checks(true)])
}

/// A crowd of hulls of 8 to 200 vertices above a half-space.
fn crowd(count: usize) -> (Vec<Hull>, Vec<Body>) {
    let mut sets = scenes::convex_sets(6, 1.0, 5);
    sets.push(
        (0..200)
            .map(|i| {
                let (z, turn) = (i as f32 / 100.0 - 0.995, i as f32 * 2.4);
                let across = (1.0 - z * z).sqrt();
                [across * turn.cos(), across * turn.sin(), z]
            })
            .collect(),
    );
    let scene = scenes::tumbling(&sets, count, 12.0, 9).scene;
    let mut hulls: Vec<Hull> = scene.hulls.iter().map(|points| Hull::from_points(points).unwrap()).collect();
    hulls.push(Hull::half_space());
    let mut bodies: Vec<Body> = scene
        .bodies
        .iter()
        .map(|placed| Body {
            rotation: placed.pose.rotation,
            ..Body::new(placed.hull).at(placed.pose.position)
        })
        .collect();
    bodies.push(Body::new(hulls.len() as u32 - 1).at([0.0, -3.0, 0.0]));
    (hulls, bodies)
}

/// The rows of every query, as text: all bits of a finite number show in it.
fn answers(engine: &Engine, hulls: &[Hull], bodies: &[Body], pairs: Pairs<'_>) -> Vec<String> {
    let arena = Arena::new(engine, hulls, Options::default()).unwrap();
    let motions: Vec<Motion> = (0..bodies.len())
        .map(|i| Motion { velocity: [1.0, (i % 7) as f32 - 3.0, 0.5], angular_velocity: [0.0; 3] })
        .map(|motion| Motion { velocity: motion.velocity.map(|v| 0.3 * v), ..motion })
        .collect();
    let sweep = SweepOptions { duration: 1.0, ..Default::default() };
    vec![
        format!("{:?}", arena.intersections(bodies, pairs).unwrap().wait().unwrap().rows),
        format!(
            "{:?}",
            arena.distances(bodies, pairs, &DistanceOptions { margin: 0.3 }).unwrap().wait().unwrap().rows
        ),
        format!(
            "{:?}",
            arena.contacts(bodies, pairs, &ContactOptions { margin: 0.1 }).unwrap().wait().unwrap().rows
        ),
        format!("{:?}", arena.sweeps(bodies, &motions, pairs, &sweep).unwrap().wait().unwrap().rows),
    ]
}

#[test]
fn queries_have_the_same_rows() {
    let Some([trusted, checked]) = engines() else { return };
    let given: Vec<[u32; 2]> = (0..300).map(|k| [k, k * 7 % 300 + 1]).filter(|[a, b]| a != b).collect();
    // In tiles; with a tree, of one level and of several groups; with rows for a whole workgroup.
    for count in [301, 2_060] {
        let (hulls, mut bodies) = crowd(count);
        if count == 2_060 {
            // Each of 40 meets 560 others at one place, which do not meet each other: more such rows than there is room for at first.
            for (row, body) in bodies[..600].iter_mut().enumerate() {
                body.position = body.position.map(|x| 1e-3 * x);
                *body = if row < 40 { body.grouped(1, 3) } else { body.grouped(2, 1) };
            }
        }
        for pairs in [Pairs::BroadPhase, Pairs::Given(&given)] {
            let [ours, theirs] = [&trusted, &checked].map(|engine| answers(engine, &hulls, &bodies, pairs));
            assert!(ours.iter().all(|rows| rows.len() > 100));
            assert!(ours == theirs, "{count} bodies, {pairs:?}");
        }
    }
    let (hulls, bodies) = crowd(120);
    let [ours, theirs] =
        [&trusted, &checked].map(|engine| answers(engine, &hulls, &bodies, Pairs::Exhaustive));
    assert!(ours == theirs, "all pairs");
    // No bodies, and one.
    for bodies in [&bodies[..0], &bodies[..1]] {
        let [ours, theirs] =
            [&trusted, &checked].map(|engine| answers(engine, &hulls, bodies, Pairs::BroadPhase));
        assert!(ours == theirs && ours[0] == "[]");
    }
}

fn filled<T: Pod>(engine: &Engine, values: &[T]) -> wgpu::Buffer {
    let (device, queue) = engine.device().unwrap();
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: size_of_val(values) as u64,
        usage: BufferUsages::STORAGE | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytemuck::cast_slice(values));
    buffer
}

fn read(engine: &Engine, part: BufferBinding<'_>) -> Vec<u32> {
    let (device, queue) = engine.device().unwrap();
    let size = part.size.unwrap().get();
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(part.buffer, part.offset, &staging, 0, Some(size));
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap())
}

/// The words of counts and rows of a query that is encoded. The rows of one that overflows are those that fit.
fn encoded(
    engine: &Engine,
    arena: &Arena,
    bodies: DeviceBodies<'_>,
    pairs: DevicePairs<'_>,
    capacity: Capacity,
) -> [Vec<u32>; 2] {
    let (device, queue) = engine.device().unwrap();
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let found: DeviceRows = arena.encode_intersections(&mut encoder, bodies, pairs, capacity).unwrap();
    queue.submit([encoder.finish()]);
    let (counts, mut rows) = (read(engine, found.counts()), read(engine, found.rows()));
    // Words behind the rows are what the buffer held before.
    rows.truncate(3 * counts[0].min(counts[1]) as usize);
    [counts, rows]
}

#[test]
fn encoded_queries_of_too_little_room_have_the_same_rows() {
    let Some(engines) = engines() else { return };
    let (hulls, bodies) = crowd(500);
    for capacity in [
        Capacity { pairs: 20_000, rows: 20_000 },
        Capacity { pairs: 700, rows: 5 },
        Capacity { pairs: 1, rows: 1 },
    ] {
        let [ours, theirs] = engines.each_ref().map(|engine| {
            let arena = Arena::new(engine, &hulls, Options::default()).unwrap();
            encoded(engine, &arena, DeviceBodies::Host(&bodies), DevicePairs::BroadPhase, capacity)
        });
        assert_eq!(ours, theirs, "{capacity:?}");
    }
}

/// What a caller writes into buffers is not checked on the host: hulls and bodies that don't exist, numbers that are none.
#[test]
fn hostile_buffers_of_a_caller_do_no_harm() {
    let Some([engine, _]) = engines() else { return };
    let engine = &engine;
    let (hulls, bodies) = crowd(300);
    let arena = Arena::new(engine, &hulls, Options::default()).unwrap();
    let mut packed: Vec<PackedBody> = arena.pack(&bodies).unwrap();
    let words: &mut [u32] = bytemuck::cast_slice_mut(&mut packed);
    let pitch = words.len() / bodies.len();
    for (at, word) in words.iter_mut().enumerate() {
        let (body, place) = (at / pitch, at % pitch);
        // Every word of a body in turn gets every kind of nonsense.
        if body % pitch == place {
            *word =
                [u32::MAX, 0x8000_0000, 0x7fc0_0000, 0xff80_0000, 0x7f7f_ffff, 1, 77_777][body / pitch % 7];
        }
    }
    let buffer = filled(engine, &packed);
    let source = DeviceBodies::Buffer { buffer: &buffer, count: packed.len() as u32 };
    let listed: Vec<[u32; 2]> = (0..2000_u32)
        .map(|k| [k * 7 % 320, [k * 13 % 300, u32::MAX - k, k << 21, 300][k as usize % 4]])
        .collect();
    let list = filled(engine, &listed);
    let capacity = Capacity { pairs: 30_000, rows: 30_000 };
    for pairs in [
        DevicePairs::BroadPhase,
        DevicePairs::Exhaustive,
        DevicePairs::Buffer { buffer: &list, count: listed.len() as u32 },
    ] {
        let [counts, _] = encoded(engine, &arena, source, pairs, capacity);
        assert_eq!(counts.len(), 8, "{pairs:?}");
    }
    // The device still works.
    let fine = DeviceBodies::Host(&bodies);
    let [counts, rows] = encoded(engine, &arena, fine, DevicePairs::BroadPhase, capacity);
    assert!(counts[0] > 100 && rows.len() == 3 * counts[0] as usize, "{counts:?}");
}
