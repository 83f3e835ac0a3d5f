//! Queries in the caller's own encoder, with bodies, pairs and rows in buffers on the device.

use bytemuck::Pod;
use hullfield::collide::{
    Arena, Body, Capacity, ContactOptions, DeviceBodies, DeviceCounts, DevicePairs, DeviceRows,
    DistanceOptions, Hull, IntersectionRow, MeasuredRow, Options, PackedBody, Pairs, Status,
};
use hullfield::{Engine, EngineOptions, Error, Location};
use hullfield_oracle::scenes;
use wgpu::{BufferBinding, BufferUsages};

use crate::common;

/// A crowd of plain and rounded hulls.
pub(crate) fn crowd(engine: &Engine, count: usize) -> (Arena, Vec<Body>) {
    let scene = scenes::tumbling(&scenes::convex_sets(12, 1.0, 3), count, 20.0, 4).scene;
    let hulls: Vec<Hull> = scene
        .hulls
        .iter()
        .enumerate()
        .map(|(k, points)| Hull::from_points(points).unwrap().rounded(0.1 * (k % 2) as f32).unwrap())
        .collect();
    let bodies = scene.bodies.iter().map(|placed| Body {
        hull: placed.hull,
        position: placed.pose.position,
        rotation: placed.pose.rotation,
        scale: placed.pose.scale,
        ..Body::new(0)
    });
    (Arena::new(engine, &hulls, Options::default()).unwrap(), bodies.collect())
}

pub(crate) fn encoder(engine: &Engine) -> wgpu::CommandEncoder {
    engine.device().unwrap().0.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
}

pub(crate) fn filled<T: Pod>(engine: &Engine, values: &[T], usage: BufferUsages) -> wgpu::Buffer {
    let (device, queue) = engine.device().unwrap();
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: size_of_val(values) as u64,
        usage: usage | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytemuck::cast_slice(values));
    buffer
}

pub(crate) fn read<T: Pod>(engine: &Engine, part: BufferBinding<'_>) -> Vec<T> {
    let (device, queue) = engine.device().unwrap();
    let size = part.size.unwrap().get();
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = encoder(engine);
    encoder.copy_buffer_to_buffer(part.buffer, part.offset, &staging, 0, Some(size));
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap())
}

/// Runs the encoded query, whose rows are one part. Returns its rows and counts.
pub(crate) fn run<T: Pod>(
    engine: &Engine,
    encoder: wgpu::CommandEncoder,
    found: &DeviceRows,
) -> (Vec<T>, DeviceCounts) {
    engine.device().unwrap().1.submit([encoder.finish()]);
    assert_eq!(found.parts().len(), 1);
    let counts: DeviceCounts = read(engine, found.counts())[0];
    let mut rows: Vec<T> = read(engine, found.rows());
    assert_eq!(rows.len(), counts.row_room as usize);
    rows.truncate(counts.row_count as usize);
    (rows, counts)
}

pub(crate) fn code(status: Status) -> u32 {
    match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Penetrating => 2,
    }
}

pub(crate) const CAPACITY: Capacity = Capacity { pairs: 200_000, rows: 50_000 };

#[test]
fn encoded_intersections_are_those_of_submit() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 500);
    let packed = arena.pack(&bodies).unwrap();
    let buffer = filled(&engine, &packed, BufferUsages::STORAGE);
    let sources =
        [DeviceBodies::Host(&bodies), DeviceBodies::Buffer { buffer: &buffer, count: bodies.len() as u32 }];
    let given: Vec<[u32; 2]> =
        (0..1000).map(|k| [k % 500, (k * 7 + 1) % 500]).filter(|[a, b]| a != b).collect();
    let listed = filled(&engine, &given, BufferUsages::STORAGE);
    for source in sources {
        for (pairs, of_submit) in [
            (DevicePairs::BroadPhase, Pairs::BroadPhase),
            (DevicePairs::Exhaustive, Pairs::Exhaustive),
            (DevicePairs::Given(&given), Pairs::Given(&given)),
            (DevicePairs::Buffer { buffer: &listed, count: given.len() as u32 }, Pairs::Given(&given)),
        ] {
            let mut encoder = encoder(&engine);
            let found = arena.encode_intersections(&mut encoder, source, pairs, CAPACITY).unwrap();
            let (mut rows, counts) = run::<IntersectionRow>(&engine, encoder, &found);
            let submitted = arena.intersections(&bodies, of_submit).unwrap().wait().unwrap();
            assert_eq!(counts.overflow, 0, "{pairs:?}: {counts:?}");
            assert_eq!(counts.row_count as usize, rows.len());
            if of_submit == Pairs::Exhaustive {
                rows.sort_unstable_by_key(|row| (row.a, row.b));
            } else {
                assert_eq!(u64::from(counts.pair_count), submitted.stats.candidate_count, "{pairs:?}");
            }
            let unsettled: Vec<u32> = read(&engine, found.unsettled());
            for &row in &unsettled[..counts.unsettled_count as usize] {
                assert!(of_submit == Pairs::Exhaustive || rows[row as usize].status == 3);
            }
            assert_eq!(rows.iter().filter(|row| row.status == 3).count(), counts.unsettled_count as usize);
            // `submit` decides the unsettled rows, which may then be no hits.
            rows.retain(|row| row.status != 3);
            let expected: Vec<_> = submitted
                .rows
                .iter()
                .map(|row| IntersectionRow { a: row.a, b: row.b, status: code(row.status) })
                .collect();
            assert!(rows.len() > 100 && rows.len() + counts.unsettled_count as usize >= expected.len());
            if counts.unsettled_count == 0 {
                assert_eq!(rows, expected, "{pairs:?}");
            }
            assert!(rows.iter().all(|row| expected.contains(row)), "{pairs:?}");
        }
    }
}

#[test]
fn encoded_measures_are_those_of_submit() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 150);
    let host = DeviceBodies::Host(&bodies);
    for margin in [0.0, 0.2] {
        let mut encoder = encoder(&engine);
        let contacts = arena
            .encode_contacts(
                &mut encoder,
                host,
                DevicePairs::BroadPhase,
                &ContactOptions { margin },
                CAPACITY,
            )
            .unwrap();
        let distances = arena
            .encode_distances(
                &mut encoder,
                host,
                DevicePairs::BroadPhase,
                &DistanceOptions { margin },
                CAPACITY,
            )
            .unwrap();
        let (mut rows, counts) = run::<MeasuredRow>(&engine, encoder, &contacts);
        assert_eq!(counts.overflow, 0);
        rows.retain(|row| row.status != 3);
        rows.sort_unstable_by_key(|row| (row.a, row.b));
        let submitted = arena
            .contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin })
            .unwrap()
            .wait()
            .unwrap()
            .rows;
        assert!(rows.len() > 50 && rows.len() + counts.unsettled_count as usize >= submitted.len());
        for row in &rows {
            let at = submitted.binary_search_by_key(&(row.a, row.b), |row| (row.a, row.b)).unwrap();
            assert_eq!(code(submitted[at].status), row.status, "{row:?}");
            assert_eq!(submitted[at].depth(), -f64::from(row.gap), "{row:?}");
            assert_eq!(submitted[at].normal, row.normal.map(f64::from), "{row:?}");
        }
        let found: Vec<MeasuredRow> = read(&engine, distances.rows());
        let counts: DeviceCounts = read(&engine, distances.counts())[0];
        let submitted = arena
            .distances(&bodies, Pairs::BroadPhase, &DistanceOptions { margin })
            .unwrap()
            .wait()
            .unwrap()
            .rows;
        let near: Vec<_> = found[..counts.row_count as usize].iter().filter(|row| row.status < 3).collect();
        assert!(near.len() > 50);
        for row in near {
            let at = submitted.binary_search_by_key(&(row.a, row.b), |row| (row.a, row.b)).unwrap();
            assert_eq!(code(submitted[at].status), row.status, "{row:?}");
            assert_eq!(submitted[at].separation, f64::from(row.gap).max(0.0), "{row:?}");
        }
    }
}

#[test]
fn what_there_is_no_room_for_is_counted() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 300);
    let host = DeviceBodies::Host(&bodies);
    let encode = |capacity: Capacity| {
        let mut encoder = encoder(&engine);
        let found =
            arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity).unwrap();
        engine.device().unwrap().1.submit([encoder.finish()]);
        let counts: DeviceCounts = read(&engine, found.counts())[0];
        let rows: Vec<IntersectionRow> = read(&engine, found.rows());
        (rows, counts)
    };
    let (all, whole) = encode(CAPACITY);
    assert!(whole.row_count > 100 && whole.pair_count > whole.row_count && whole.overflow == 0, "{whole:?}");
    // Capacity for too few rows: the first rows, and the number needed.
    let (some, counts) = encode(Capacity { rows: 50, ..CAPACITY });
    assert_eq!((counts.overflow, counts.row_count, counts.row_room), (1, whole.row_count, 50));
    assert_eq!(some, all[..50]);
    // Capacity for too few pairs.
    let (_, counts) = encode(Capacity { pairs: 100, ..CAPACITY });
    assert_eq!((counts.overflow, counts.pair_count, counts.pair_room), (2, whole.pair_count, 100));
    let (_, counts) = encode(Capacity { pairs: whole.pair_count, rows: whole.row_count });
    assert_eq!(
        (counts.overflow, counts.pair_count, counts.row_count),
        (0, whole.pair_count, whole.row_count)
    );
    let (_, counts) = encode(Capacity { pairs: 300, rows: 1 });
    assert_eq!((counts.overflow, counts.pair_count), (3, whole.pair_count));
    let (_, counts) = encode(Capacity { pairs: 0, rows: 0 });
    assert_eq!((counts.overflow, counts.pair_count, counts.row_count), (2, whole.pair_count, 0));
}

#[test]
fn without_bodies_there_are_no_pairs() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 60);
    // The buffers of the second frame are those of the first, whose numbers must not come out.
    for count in [60, 0, 1] {
        for pairs in [DevicePairs::BroadPhase, DevicePairs::Exhaustive] {
            let mut encoder = encoder(&engine);
            let source = DeviceBodies::Host(&bodies[..count]);
            let found = arena.encode_intersections(&mut encoder, source, pairs, CAPACITY).unwrap();
            let (rows, counts) = run::<IntersectionRow>(&engine, encoder, &found);
            let is_empty = (rows.len(), counts.pair_count, counts.overflow) == (0, 0, 0);
            assert_eq!(is_empty, count < 2, "{count} bodies, {pairs:?}: {counts:?}");
        }
    }
}

#[test]
fn a_steady_stream_of_encoded_frames_allocates_nothing() {
    let Some(engine) = common::own_gpu() else { return };
    let (arena, bodies) = crowd(&engine, 200);
    let capacity = Capacity { pairs: 20_000, rows: 5_000 };
    let frame = || {
        let mut encoder = encoder(&engine);
        let host = DeviceBodies::Host(&bodies);
        let found =
            arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity).unwrap();
        let contacts = arena
            .encode_contacts(
                &mut encoder,
                host,
                DevicePairs::BroadPhase,
                &ContactOptions { margin: 0.0 },
                capacity,
            )
            .unwrap();
        let (rows, _) = run::<IntersectionRow>(&engine, encoder, &found);
        (rows, read::<MeasuredRow>(&engine, contacts.rows()).len())
    };
    let first = frame();
    frame();
    let high = engine.counters();
    for _ in 0..3 {
        assert_eq!(frame(), first);
    }
    let low = engine.counters();
    assert_eq!(
        (low.buffers_created, low.staging_created, low.pipelines_built, low.buffer_bytes),
        (high.buffers_created, high.staging_created, high.pipelines_built, high.buffer_bytes)
    );
}

#[test]
fn what_is_encoded_and_never_submitted_does_no_harm() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 100);
    let host = DeviceBodies::Host(&bodies);
    let expected = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap().rows;
    for _ in 0..3 {
        let mut dropped = encoder(&engine);
        drop(arena.encode_intersections(&mut dropped, host, DevicePairs::BroadPhase, CAPACITY).unwrap());
        drop(dropped);
        // The rows' handle may be dropped before the encoder runs.
        let mut early = encoder(&engine);
        drop(arena.encode_intersections(&mut early, host, DevicePairs::BroadPhase, CAPACITY).unwrap());
        engine.device().unwrap().1.submit([early.finish()]);
        assert_eq!(arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap().rows, expected);
    }
}

#[test]
fn bad_input_is_one_error_and_the_encoder_stays_good() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 20);
    let host = DeviceBodies::Host(&bodies);
    let mut encoder = encoder(&engine);
    let small = filled(&engine, &[0_u32; 4], BufferUsages::STORAGE);
    let packed: Vec<PackedBody> = arena.pack(&bodies).unwrap();
    let no_storage = filled(&engine, &packed, BufferUsages::COPY_SRC);
    for (bodies, pairs, margin, part) in [
        (DeviceBodies::Buffer { buffer: &small, count: 20 }, DevicePairs::BroadPhase, 0.0, "1600 bytes"),
        (DeviceBodies::Buffer { buffer: &no_storage, count: 20 }, DevicePairs::BroadPhase, 0.0, "STORAGE"),
        (host, DevicePairs::Buffer { buffer: &small, count: 3 }, 0.0, "24 bytes"),
        (host, DevicePairs::Given(&[[0, 20]]), 0.0, "body 20 does not exist"),
        (host, DevicePairs::Given(&[[3, 3]]), 0.0, "itself"),
        (host, DevicePairs::BroadPhase, -1.0, "margin is -1"),
        (host, DevicePairs::BroadPhase, f32::NAN, "margin is NaN"),
    ] {
        let refused = arena
            .encode_contacts(&mut encoder, bodies, pairs, &ContactOptions { margin }, CAPACITY)
            .unwrap_err();
        assert!(refused.to_string().contains(part), "{refused}");
    }
    let wrong = [Body::new(0), Body::new(99)];
    let refused = arena.encode_intersections(
        &mut encoder,
        DeviceBodies::Host(&wrong),
        DevicePairs::BroadPhase,
        CAPACITY,
    );
    assert!(
        matches!(refused, Err(Error::Missing { at: Location::Body(1), what: "hull", index: 99, .. })),
        "{refused:?}"
    );
    // More rows than the engine may hold.
    let limited = common::gpu_with(EngineOptions { memory_limit: Some(64 << 20), ..Default::default() });
    let of_limited = Arena::new(limited.as_ref().unwrap(), arena.hulls(), Options::default()).unwrap();
    let mut other = self::encoder(limited.as_ref().unwrap());
    for capacity in [Capacity { pairs: 10, rows: u32::MAX }, Capacity { pairs: u32::MAX, rows: 2_000_000 }] {
        let options = ContactOptions { margin: 0.0 };
        let refused =
            of_limited.encode_contacts(&mut other, host, DevicePairs::BroadPhase, &options, capacity);
        assert!(matches!(refused, Err(Error::MemoryLimit { .. })), "{:?}", refused.map(|_| "taken"));
    }

    let found = arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, CAPACITY).unwrap();
    let (rows, _) = run::<IntersectionRow>(&engine, encoder, &found);
    assert_eq!(
        rows.len(),
        arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap().rows.len()
    );

    let on_cpu = Arena::new(&Engine::cpu(), arena.hulls(), Options::default()).unwrap();
    let mut encoder = self::encoder(&engine);
    let refused = on_cpu.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, CAPACITY);
    assert!(matches!(refused, Err(Error::NoGpu { .. })), "{refused:?}");
}
