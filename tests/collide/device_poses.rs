//! Encoded queries whose bodies are laid out once and whose poses come from a buffer, and bodies in buffers beside statics and half-spaces.

use std::collections::BTreeMap;

use bytemuck::Pod;
use hullfield::collide::{
    Arena, Body, BodyColumns, BodyPose, Capacity, ContactOptions, DEVICE_WGSL, DeviceBodies, DeviceCounts,
    DeviceMotions, DevicePairs, DeviceRows, DistanceOptions, Exclusions, Hull, IntersectionRow,
    LaidOutBodies, ManifoldOptions, ManifoldRow, MeasuredRow, Motion, Options, Pairs, SweepOptions, SweptRow,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::pick;
use hullfield_oracle::random::Random;
use wgpu::{BufferUsages, CommandEncoder};

use crate::common;
use crate::encoded::{CAPACITY, code, crowd, encoder, filled, read, run};

fn poses(engine: &Engine, bodies: &[Body]) -> wgpu::Buffer {
    let poses: Vec<BodyPose> = bodies.iter().map(BodyPose::from).collect();
    filled(engine, &poses, BufferUsages::STORAGE)
}

/// The bodies somewhere else: what is laid out must not matter for where they are.
fn moved_away(bodies: &[Body]) -> Vec<Body> {
    bodies.iter().map(|body| Body { position: [7.0; 3], rotation: [1.0, 0.0, 0.0, 0.0], ..*body }).collect()
}

/// A query to encode.
type Encode<'a> = &'a dyn Fn(&mut CommandEncoder, DeviceBodies<'_>, DevicePairs<'_>) -> DeviceRows;

/// The bytes of all rows of a query, its counts, and its unsettled rows.
fn answer<T: Pod>(
    engine: &Engine,
    encode: Encode<'_>,
    bodies: DeviceBodies<'_>,
    pairs: DevicePairs<'_>,
) -> (Vec<u8>, DeviceCounts, Vec<u32>) {
    let mut encoder = encoder(engine);
    let found = encode(&mut encoder, bodies, pairs);
    let (rows, counts) = run::<T>(engine, encoder, &found);
    assert_eq!(counts.overflow, 0, "{counts:?}");
    let mut unsettled: Vec<u32> = read(engine, found.unsettled());
    unsettled.truncate(counts.unsettled_count as usize);
    unsettled.sort_unstable();
    assert!(found.read_invalid_poses().unwrap().wait().unwrap().is_empty());
    (bytemuck::cast_slice(&rows).to_vec(), counts, unsettled)
}

/// Compares the answers of all queries with bodies from the host and from these other places, bit for bit. Returns the rows of the yes/no
/// query.
fn all_are_the_same(
    engine: &Engine,
    arena: &Arena,
    bodies: &[Body],
    others: &[DeviceBodies<'_>],
    pairs: &[DevicePairs<'_>],
) -> usize {
    let host = DeviceBodies::Host(bodies);
    let motions: Vec<Motion> = (0..bodies.len())
        .map(|k| Motion { velocity: [(k % 5) as f32 - 2.0, 0.0, 0.3], ..Motion::default() })
        .collect();
    let yes: Encode<'_> =
        &|encoder, bodies, pairs| arena.encode_intersections(encoder, bodies, pairs, CAPACITY).unwrap();
    let distances: Encode<'_> = &|encoder, bodies, pairs| {
        arena.encode_distances(encoder, bodies, pairs, &DistanceOptions { margin: 0.1 }, CAPACITY).unwrap()
    };
    let contacts: Encode<'_> = &|encoder, bodies, pairs| {
        arena.encode_contacts(encoder, bodies, pairs, &ContactOptions { margin: 0.05 }, CAPACITY).unwrap()
    };
    let manifolds: Encode<'_> = &|encoder, bodies, pairs| {
        arena.encode_manifolds(encoder, bodies, pairs, &ManifoldOptions { margin: 0.0 }, CAPACITY).unwrap()
    };
    let sweeps: Encode<'_> = &|encoder, bodies, pairs| {
        let options = SweepOptions { duration: 0.2, ..SweepOptions::default() };
        let motions = DeviceMotions::Host(&motions);
        arena.encode_sweeps(encoder, bodies, motions, pairs, &options, CAPACITY).unwrap()
    };
    let mut hits = 0;
    for &pairs in pairs {
        let expected = [
            answer::<IntersectionRow>(engine, yes, host, pairs),
            answer::<MeasuredRow>(engine, distances, host, pairs),
            answer::<MeasuredRow>(engine, contacts, host, pairs),
            answer::<ManifoldRow>(engine, manifolds, host, pairs),
            answer::<SweptRow>(engine, sweeps, host, pairs),
        ];
        hits += expected[0].0.len() / size_of::<IntersectionRow>();
        for (which, &other) in others.iter().enumerate() {
            let found = [
                answer::<IntersectionRow>(engine, yes, other, pairs),
                answer::<MeasuredRow>(engine, distances, other, pairs),
                answer::<MeasuredRow>(engine, contacts, other, pairs),
                answer::<ManifoldRow>(engine, manifolds, other, pairs),
                answer::<SweptRow>(engine, sweeps, other, pairs),
            ];
            for (query, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert!(found == expected, "source {which}, query {query}, {pairs:?}");
            }
        }
    }
    hits
}

#[test]
fn rows_are_those_of_bodies_from_the_host() {
    let Some(engine) = common::gpu() else { return };
    for count in [200, 2_060] {
        let (arena, bodies) = crowd(&engine, count);
        let laid_out = arena.lay_out(&moved_away(&bodies), [0.0; 3]).unwrap();
        assert!(laid_out.len() == count && !laid_out.is_empty());
        let poses = poses(&engine, &bodies);
        let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
        let given: Vec<[u32; 2]> =
            (0..400).map(|k| [k % 200, (k * 7 + 1) % 200]).filter(|[a, b]| a != b).collect();
        let mut pairs = vec![DevicePairs::BroadPhase, DevicePairs::Given(&given)];
        if count == 200 {
            pairs.push(DevicePairs::Exhaustive);
        }
        // Rows of all pairs lie in no fixed order across groups of threads, but here they do.
        let hits = all_are_the_same(&engine, &arena, &bodies, &[posed], &pairs);
        assert!(hits > count / 2, "{hits}");
    }
    // The control: another pose is found.
    let (arena, mut bodies) = crowd(&engine, 200);
    let laid_out = arena.lay_out(&bodies, [0.0; 3]).unwrap();
    let yes: Encode<'_> =
        &|encoder, bodies, pairs| arena.encode_intersections(encoder, bodies, pairs, CAPACITY).unwrap();
    let expected =
        answer::<IntersectionRow>(&engine, yes, DeviceBodies::Host(&bodies), DevicePairs::BroadPhase);
    bodies.iter_mut().step_by(3).for_each(|body| body.position[1] += 0.5);
    let poses = poses(&engine, &bodies);
    let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
    assert_ne!(answer::<IntersectionRow>(&engine, yes, posed, DevicePairs::BroadPhase), expected);
}

/// A crowd above a floor and among boxes that do not move, with a half-space among the movers.
fn grounded(engine: &Engine, count: usize) -> (Arena, Vec<Body>) {
    let (arena, mut bodies) = crowd(engine, count);
    let mut hulls = arena.hulls().to_vec();
    let plane = hulls.len() as u32;
    hulls.push(Hull::half_space());
    // Floor and wall each hold a tenth of the crowd.
    let tenth = |axis: usize, tenths: usize| {
        let mut along: Vec<f32> = bodies.iter().map(|body| body.position[axis]).collect();
        along.sort_unstable_by(f32::total_cmp);
        along[count * tenths / 10]
    };
    let (low, high) = (tenth(1, 1), tenth(0, 9));
    let mut statics: Vec<Body> = (0..40)
        .map(|k| {
            let [x, y, z] = bodies[k * count / 40].position;
            Body::new(k as u32 % 5).at([x + 0.3, y, z + 0.2])
        })
        .collect();
    statics.push(Body::new(plane).at([0.0, low, 0.0]));
    let tilted = [0.0, 0.0, 0.9_f32.sin(), 0.9_f32.cos()];
    bodies[count / 3] = Body { rotation: tilted, ..Body::new(plane).at([high, 0.0, 0.0]) };
    (Arena::new(engine, &hulls, Options { statics, ..Options::default() }).unwrap(), bodies)
}

#[test]
fn statics_and_half_spaces_meet_bodies_in_buffers() {
    let Some(engine) = common::gpu() else { return };
    for count in [120, 2_060] {
        let (arena, bodies) = grounded(&engine, count);
        let laid_out = arena.lay_out(&moved_away(&bodies), [0.0; 3]).unwrap();
        let poses = poses(&engine, &bodies);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
        let packed = filled(&engine, &arena.pack(&bodies).unwrap(), usage);
        let sources = [
            DeviceBodies::Poses { bodies: &laid_out, poses: &poses },
            DeviceBodies::Buffer { buffer: &packed, count: count as u32 },
        ];
        let of_statics: Vec<[u32; 2]> = (0..100)
            .map(|k| [k, (count as u32 + k % 41).max(k + 1)])
            .filter(|[a, _]| *a != count as u32 / 3)
            .collect();
        let listed = filled(&engine, &of_statics, BufferUsages::STORAGE);
        let in_buffer = DevicePairs::Buffer { buffer: &listed, count: of_statics.len() as u32 };
        let pairs = [DevicePairs::BroadPhase, DevicePairs::Given(&of_statics), in_buffer];
        // A software GPU takes seconds for the pairs of a large crowd, so it tests one source.
        let sources = pick(11, &sources, if count > 1_000 { 1 } else { 2 });
        let hits = all_are_the_same(&engine, &arena, &bodies, &sources, &pairs);
        assert!(hits > count / 2, "{hits}");
        let yes = arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap().rows;
        let (plane, floor) = (count as u32 / 3, count as u32 + 40);
        assert!(
            yes.iter().any(|row| row.a == plane || row.b == plane) && yes.iter().any(|row| row.b == floor)
        );
    }
}

/// Statuses by pair, without those that are not settled.
fn statuses(rows: &[IntersectionRow]) -> BTreeMap<[u32; 2], u32> {
    rows.iter().filter(|row| row.status != 3).map(|row| ([row.a, row.b], row.status)).collect()
}

#[test]
fn worlds_owners_and_exclusions_hold_on_the_device() {
    let Some(engine) = common::gpu() else { return };
    for (count, world_count) in [(300_usize, 7_u32), (2_060, 400)] {
        let (arena, bodies) = grounded(&engine, count);
        let worlds: Vec<u32> = (0..count as u32).map(|k| k * world_count / count as u32 * 3 + 1).collect();
        let owners: Vec<u32> = (0..count as u32).map(|k| k / 2).collect();
        // Owners of two bodies that fall into two worlds are an error, so ends of worlds go alone.
        let owners: Vec<u32> = owners
            .iter()
            .enumerate()
            .map(|(k, &owner)| if worlds[k] == worlds[k ^ 1] { owner } else { 100_000 + k as u32 })
            .collect();
        let every: Vec<[u32; 2]> = (0..count as u32 - 2).map(|k| [k, k + 2]).collect();
        let excluded = Exclusions::new(&every).unwrap().with_statics(&[[5, 40]]);
        let plain = BodyColumns::new(&bodies);
        let columns = [
            BodyColumns { worlds: &worlds, ..plain },
            BodyColumns { worlds: &worlds, owners: &owners, ..plain },
            BodyColumns { exclusions: Some(&excluded), ..plain },
            BodyColumns { worlds: &worlds, exclusions: Some(&excluded), ..plain },
        ];
        let poses = poses(&engine, &bodies);
        let mut row_counts = Vec::new();
        for columns in columns {
            let laid_out =
                arena.lay_out(BodyColumns { bodies: &moved_away(&bodies), ..columns }, [0.0; 3]).unwrap();
            let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
            let mut encoder = encoder(&engine);
            let found =
                arena.encode_intersections(&mut encoder, posed, DevicePairs::BroadPhase, CAPACITY).unwrap();
            let (rows, counts) = run::<IntersectionRow>(&engine, encoder, &found);
            assert_eq!(counts.overflow, 0);
            assert!(rows.is_sorted_by_key(|row| (row.a, row.b)));
            let submitted = arena.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap();
            assert_eq!(u64::from(counts.pair_count), submitted.stats.candidate_count);
            let expected: BTreeMap<[u32; 2], u32> =
                submitted.rows.iter().map(|row| ([row.a, row.b], code(row.status))).collect();
            let decided = statuses(&rows);
            assert!(decided.iter().all(|(pair, status)| expected.get(pair) == Some(status)));
            assert!(decided.len() + counts.unsettled_count as usize >= expected.len());
            row_counts.push(rows.len());
            // Given pairs ignore all rules.
            let mut encoder = self::encoder(&engine);
            let given = DevicePairs::Given(&[[0, count as u32 - 1], [0, 2]]);
            let found = arena.encode_intersections(&mut encoder, posed, given, CAPACITY).unwrap();
            assert_eq!(run::<IntersectionRow>(&engine, encoder, &found).0.len(), 2);
        }
        assert!(
            row_counts[1] < row_counts[0] && row_counts[3] < row_counts[0] && row_counts[3] < row_counts[2]
        );
    }
}

#[test]
fn invalid_poses_are_listed_and_their_bodies_meet_nothing() {
    let Some(engine) = common::gpu() else { return };
    for count in [150, 2_060] {
        let (arena, mut bodies) = grounded(&engine, count);
        let laid_out = arena.lay_out(&bodies, [0.0; 3]).unwrap();
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let wrong: [(usize, [f32; 3], [f32; 4]); 8] = [
            (3, [nan, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]),
            (10, [0.0, 0.0, -inf], [0.0, 0.0, 0.0, 1.0]),
            (11, [0.0, 1.1e18, 0.0], [0.0, 0.0, 0.0, 1.0]),
            (20, [0.0; 3], [0.0; 4]),
            (21, [0.0; 3], [0.0, nan, 0.0, 1.0]),
            (52, [0.0; 3], [inf, 0.0, 0.0, 0.0]),
            (64, [0.0; 3], [0.0, 0.0, 0.0, 1.01]),
            (count - 1, [nan; 3], [nan; 4]),
        ];
        let mut all: Vec<BodyPose> = bodies.iter().map(BodyPose::from).collect();
        for (row, position, rotation) in wrong {
            all[row] = BodyPose { position, padding: nan, rotation };
            bodies[row] = bodies[row].grouped(0, 0);
        }
        let rows: Vec<u32> = wrong.iter().map(|(row, ..)| *row as u32).collect();
        let poses = filled(&engine, &all, BufferUsages::STORAGE);
        let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
        let options = ContactOptions { margin: 0.1 };
        let contacts = |bodies, pairs| {
            let mut encoder = encoder(&engine);
            let found = arena.encode_contacts(&mut encoder, bodies, pairs, &options, CAPACITY).unwrap();
            let (found_rows, _) = run::<MeasuredRow>(&engine, encoder, &found);
            (found_rows, found)
        };
        let (found, kept) = contacts(posed, DevicePairs::BroadPhase);
        let (expected, from_host) = contacts(DeviceBodies::Host(&bodies), DevicePairs::BroadPhase);
        assert!(found == expected && found.len() > 50);
        assert!(found.iter().all(|row| !rows.contains(&row.a) && !rows.contains(&row.b)));
        assert_eq!(kept.read_invalid_poses().unwrap().wait().unwrap(), rows);
        let mut on_device: Vec<u32> = read(&engine, kept.invalid_poses().unwrap());
        assert_eq!((on_device.len(), on_device[0] as usize), (1 + count, rows.len()));
        on_device[1..=rows.len()].sort_unstable();
        assert_eq!(on_device[1..=rows.len()], rows);
        assert!(from_host.invalid_poses().is_none());
        assert!(from_host.read_invalid_poses().unwrap().wait().unwrap().is_empty());
        // Given pairs of such bodies, of two of them, with a static box and with the floor: none is settled.
        let plane = count as u32 / 3;
        let given = [
            [3, 4],
            [4, 10],
            [20, 21],
            [3, count as u32 - 1],
            [64, count as u32],
            [52, count as u32 + 40],
            [plane, 11],
        ];
        let (found, _) = contacts(posed, DevicePairs::Given(&given));
        assert!(found.len() == given.len() && found.iter().all(|row| row.status == 3), "{found:?}");
        let mut encoder = encoder(&engine);
        let found =
            arena.encode_intersections(&mut encoder, posed, DevicePairs::Given(&given), CAPACITY).unwrap();
        let (found, _) = run::<IntersectionRow>(&engine, encoder, &found);
        assert!(found.iter().all(|row| row.status == 3), "{found:?}");
        // The same poses may be good again, and all of them bad.
        let none = vec![BodyPose { position: [nan; 3], padding: 0.0, rotation: [nan; 4] }; count];
        engine.device().unwrap().1.write_buffer(&poses, 0, bytemuck::cast_slice(&none));
        let (found, kept) = contacts(posed, DevicePairs::BroadPhase);
        assert!(found.is_empty());
        assert_eq!(kept.read_invalid_poses().unwrap().wait().unwrap(), (0..count as u32).collect::<Vec<_>>());
    }
}

#[test]
fn poses_about_an_origin_meet_far_statics() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 300);
    let origin = [1e7, -3e6, 0.25];
    let still: Vec<Body> = (0..60).map(|k| Body::new(k % 5)).collect();
    let mut random = Random::new(5);
    let static_positions: Vec<[f64; 3]> =
        (0..60).map(|_| [0, 1, 2].map(|axis| origin[axis] + random.between(-8.0, 8.0))).collect();
    let options = Options { statics: still, static_positions, ..Options::default() };
    let arena = arena.with_options(options).unwrap();
    let laid_out = arena.lay_out(&bodies, origin).unwrap();
    let poses = poses(&engine, &bodies);
    let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
    let mut encoder = encoder(&engine);
    let found = arena.encode_intersections(&mut encoder, posed, DevicePairs::BroadPhase, CAPACITY).unwrap();
    let (rows, counts) = run::<IntersectionRow>(&engine, encoder, &found);
    let positions: Vec<[f64; 3]> = bodies
        .iter()
        .map(|body| [0, 1, 2].map(|axis| origin[axis] + f64::from(body.position[axis])))
        .collect();
    let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&bodies) };
    let settled = arena.intersections(columns, Pairs::BroadPhase).unwrap().wait().unwrap().rows;
    let expected: BTreeMap<[u32; 2], u32> =
        settled.iter().map(|row| ([row.a, row.b], code(row.status))).collect();
    let decided = statuses(&rows);
    assert!(decided.iter().all(|(pair, status)| expected.get(pair) == Some(status)));
    assert!(decided.len() + counts.unsettled_count as usize >= expected.len());
    assert!(decided.keys().filter(|pair| pair[1] >= 300).count() > 5);
}

#[test]
fn a_steady_step_uploads_no_body_and_reads_nothing_back() {
    let Some(engine) = common::own_gpu() else { return };
    let (arena, bodies) = grounded(&engine, 6_000);
    let worlds: Vec<u32> = (0..6_000).map(|k| k / 3).collect();
    let laid_out =
        arena.lay_out(BodyColumns { worlds: &worlds, ..BodyColumns::new(&bodies) }, [0.0; 3]).unwrap();
    let poses = poses(&engine, &bodies);
    let step = || {
        let mut encoder = encoder(&engine);
        let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
        let options = ManifoldOptions { margin: 0.0 };
        let found =
            arena.encode_manifolds(&mut encoder, posed, DevicePairs::BroadPhase, &options, CAPACITY).unwrap();
        engine.device().unwrap().1.submit([encoder.finish()]);
        found
    };
    drop(step());
    engine.device().unwrap().0.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    drop(step());
    engine.device().unwrap().0.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let before = engine.counters();
    let found = step();
    let after = engine.counters();
    // Parameters of kernels, 256 bytes a dispatch. The poses are 192 KB.
    let uploaded = after.uploaded_bytes - before.uploaded_bytes;
    assert!(uploaded < 48_000, "{uploaded}");
    assert_eq!(after.read_back_bytes, before.read_back_bytes);
    assert_eq!(after.buffers_created, before.buffers_created);
    // The control: both counters count.
    let listed = found.read_invalid_poses().unwrap().wait().unwrap();
    assert!(listed.is_empty() && engine.counters().read_back_bytes > after.read_back_bytes);
    let mut encoder = encoder(&engine);
    let host = DeviceBodies::Host(&bodies);
    arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, CAPACITY).unwrap();
    assert!(engine.counters().uploaded_bytes - after.uploaded_bytes > 80 * 6_000);
}

#[test]
fn kernels_of_the_caller_write_poses() {
    let Some(engine) = common::gpu() else { return };
    let (device, queue) = engine.device().unwrap();
    let kernel = "
        @group(0) @binding(0) var<storage, read_write> poses: array<BodyPose>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3u) {
            if id.x >= arrayLength(&poses) { return; }
            poses[id.x].position += vec3f(0.25 * f32(id.x % 3u), 0.0, 0.0);
            poses[id.x].rotation = vec4f(0.6, 0.0, 0.0, 0.8);
        }";
    let source = wgpu::ShaderSource::Wgsl(format!("{DEVICE_WGSL}{kernel}").into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let (arena, mut bodies) = crowd(&engine, 300);
    let laid_out = arena.lay_out(&bodies, [0.0; 3]).unwrap();
    let poses = poses(&engine, &bodies);
    let mut encoder = encoder(&engine);
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[wgpu::BindGroupEntry { binding: 0, resource: poses.as_entire_binding() }],
    });
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(5, 1, 1);
    drop(pass);
    let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
    let found = arena.encode_intersections(&mut encoder, posed, DevicePairs::BroadPhase, CAPACITY).unwrap();
    queue.submit([encoder.finish()]);
    let found: (Vec<IntersectionRow>, DeviceCounts) =
        (read(&engine, found.rows()), read(&engine, found.counts())[0]);
    for (k, body) in bodies.iter_mut().enumerate() {
        body.position[0] += 0.25 * (k % 3) as f32;
        body.rotation = [0.6, 0.0, 0.0, 0.8];
    }
    let mut encoder = self::encoder(&engine);
    let host = DeviceBodies::Host(&bodies);
    let expected = arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, CAPACITY).unwrap();
    let (expected, _) = run::<IntersectionRow>(&engine, encoder, &expected);
    assert!(found.0[..found.1.row_count as usize] == expected && expected.len() > 50);
}

#[test]
fn bad_input_is_one_error_and_the_encoder_stays_good() {
    let Some(engine) = common::gpu() else { return };
    let (arena, bodies) = crowd(&engine, 20);
    let lay_out = |columns: BodyColumns<'_>| arena.lay_out(columns, [0.0; 3]);
    let plain = BodyColumns::new(&bodies);
    let laid_out = lay_out(plain).unwrap();
    let falling: Vec<u32> = (0..20).map(|k| if k == 12 { 3 } else { k }).collect();
    let places = [[0.0; 3]; 20];
    let refused: [(hullfield::Result<LaidOutBodies>, &str); 6] = [
        (
            lay_out(BodyColumns { worlds: &falling, ..plain }),
            "body 12: it is in world 3, the body before it in world 11",
        ),
        (lay_out(BodyColumns { worlds: &[1, 2], ..plain }), "worlds"),
        (lay_out(BodyColumns { positions: &places, ..plain }), "positions in f64"),
        (arena.lay_out(plain, [0.0, f64::NAN, 0.0]), "origin"),
        (arena.lay_out(&[Body::new(0), Body::new(99)], [0.0; 3]), "hull 99"),
        (arena.lay_out(&[Body::new(0).at([f32::NAN; 3])], [0.0; 3]), "position"),
    ];
    for (refused, part) in refused {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
    let on_cpu = Arena::new(&Engine::cpu(), arena.hulls(), Options::default()).unwrap();
    assert!(matches!(on_cpu.lay_out(&bodies, [0.0; 3]), Err(Error::NoGpu { .. })));

    let mut encoder = encoder(&engine);
    let good = poses(&engine, &bodies);
    let small = filled(&engine, &[0_u32; 24], BufferUsages::STORAGE);
    let no_storage = filled(&engine, &[0_u32; 160], BufferUsages::COPY_SRC);
    let still = Options { statics: vec![Body::new(0)], ..Options::default() };
    let with_statics = arena.with_options(still).unwrap();
    let beside_statics = with_statics.lay_out(&bodies, [0.0; 3]).unwrap();
    let in_worlds = lay_out(BodyColumns { worlds: &(0..20).collect::<Vec<_>>(), ..plain }).unwrap();
    let packed = filled(&engine, &arena.pack(&bodies).unwrap(), BufferUsages::STORAGE);
    let of = |bodies, poses| DeviceBodies::Poses { bodies, poses };
    let in_buffer = DeviceBodies::Buffer { buffer: &packed, count: 20 };
    for (arena, bodies, pairs, part) in [
        (&arena, of(&laid_out, &small), DevicePairs::BroadPhase, "20 need 640 bytes, the buffer has 96"),
        (&arena, of(&laid_out, &no_storage), DevicePairs::BroadPhase, "STORAGE"),
        (&arena, of(&beside_statics, &good), DevicePairs::BroadPhase, "another arena"),
        (&with_statics, of(&laid_out, &good), DevicePairs::BroadPhase, "another arena"),
        (&with_statics, of(&beside_statics, &good), DevicePairs::Exhaustive, "statics"),
        (&with_statics, in_buffer, DevicePairs::BroadPhase, "COPY_SRC"),
        (&arena, of(&in_worlds, &good), DevicePairs::Exhaustive, "worlds"),
        (&arena, of(&laid_out, &good), DevicePairs::Given(&[[0, 20]]), "body 20 does not exist"),
        (&with_statics, of(&beside_statics, &good), DevicePairs::Given(&[[0, 21]]), "body 21 does not exist"),
    ] {
        let refused = arena.encode_intersections(&mut encoder, bodies, pairs, CAPACITY).unwrap_err();
        assert!(refused.to_string().contains(part), "{refused}");
    }
    let error = lay_out(BodyColumns { worlds: &falling, ..plain }).unwrap_err();
    assert!(matches!(error, Error::Invalid { at: Location::Body(12), .. }), "{error:?}");

    // A clone is the same arena, and none is fine.
    let posed = of(&laid_out, &good);
    let found =
        arena.clone().encode_intersections(&mut encoder, posed, DevicePairs::BroadPhase, CAPACITY).unwrap();
    let (rows, _) = run::<IntersectionRow>(&engine, encoder, &found);
    assert_eq!(
        rows.len(),
        arena.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap().rows.len()
    );
    let none = arena.lay_out(&[], [0.0; 3]).unwrap();
    for pairs in [DevicePairs::BroadPhase, DevicePairs::Exhaustive, DevicePairs::Given(&[])] {
        let mut encoder = self::encoder(&engine);
        let capacity = Capacity { pairs: 10, rows: 10 };
        let found = arena.encode_intersections(&mut encoder, of(&none, &good), pairs, capacity).unwrap();
        engine.device().unwrap().1.submit([encoder.finish()]);
        let counts: DeviceCounts = read(&engine, found.counts())[0];
        assert!(counts.row_count == 0 && counts.overflow == 0 && none.is_empty(), "{counts:?}");
        assert!(found.read_invalid_poses().unwrap().wait().unwrap().is_empty());
    }
}
