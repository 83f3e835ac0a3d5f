//! Worlds: thousands of small worlds stepped side by side on the GPU, as a simulator for learning does. Each has sixteen bodies that fall
//! into a box of walls which all worlds share. The poses live in a buffer. A step is one submission: a kernel of the example's own moves
//! the bodies, hullfield finds their contacts and the events of their pairs, and another kernel of the example turns contacts into
//! impulses. What crosses to the host in a step is 32 bytes of counts, for the table.
//!
//! At the end the poses of some worlds are read back, and the CPU engine confirms their contacts.
//!
//! It makes all steps, or as many as fit in half a minute, but at least three.
//!
//! `cargo run --release --example worlds -- [WORLDS] [STEPS]`

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, BodyPose, Capacity, ContactOptions, DEVICE_WGSL, DeviceBodies, DeviceCounts,
    DevicePairs, DeviceTouchingPairs, Hull, MeasuredRow, Options, Pairs, Status,
};
use wgpu::{BufferBinding, BufferUsages};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Bodies of a world.
const BODIES: usize = 16;
/// Worlds and steps without arguments.
const WORLDS: usize = 4096;
const STEPS: usize = 100;
/// The rows of more would not fit in one dispatch of 65,535 groups.
const MOST_WORLDS: usize = 32_000;
/// How long the steps may take, and how many are made in any case.
const PATIENCE: Duration = Duration::from_secs(30);
const LEAST_STEPS: usize = 3;
/// Worlds that the CPU engine checks.
const CHECKED: usize = 32;

/// Moves the bodies: impulses of the last step, gravity, then position and rotation.
const MOVE: &str = "
const SECONDS: f32 = 0.01;

@group(0) @binding(0) var<storage, read_write> poses: array<BodyPose>;
@group(0) @binding(1) var<storage, read_write> velocities: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> spins: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> impulses: array<vec4i>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let row = id.x;
    if row >= arrayLength(&poses) { return; }
    let velocity = velocities[row].xyz + vec3f(impulses[row].xyz) / 65536.0 - vec3f(0.0, 9.81 * SECONDS, 0.0);
    velocities[row] = vec4f(velocity, 0.0);
    impulses[row] = vec4i(0);
    poses[row].position += SECONDS * velocity;
    let q = poses[row].rotation;
    let w = spins[row].xyz;
    let turned = q + 0.5 * SECONDS * vec4f(w * q.w + cross(w, q.xyz), -dot(w, q.xyz));
    poses[row].rotation = normalize(turned);
}";

/// Turns contacts into impulses along their normals: the bodies part, and what overlaps is pushed apart slowly. Whole numbers add up to the
/// same sum in any order, so every run is the same.
const PART: &str = "
const SECONDS: f32 = 0.01;

@group(0) @binding(0) var<storage, read> rows: array<MeasuredRow>;
@group(0) @binding(1) var<storage, read> counts: DeviceCounts;
@group(0) @binding(2) var<storage, read> velocities: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> impulses: array<atomic<i32>>;

fn push(body: u32, impulse: vec3f) {
    let whole = vec3i(impulse * 65536.0);
    atomicAdd(&impulses[4u * body], whole.x);
    atomicAdd(&impulses[4u * body + 1u], whole.y);
    atomicAdd(&impulses[4u * body + 2u], whole.z);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= min(counts.row_count, counts.row_room) { return; }
    let row = rows[id.x];
    if row.status != STATUS_TOUCHING && row.status != STATUS_PENETRATING { return; }
    // Walls come after all bodies, and do not move.
    let is_wall = row.b >= arrayLength(&velocities);
    var apart = -velocities[row.a].xyz;
    if !is_wall { apart += velocities[row.b].xyz; }
    let speed = max(-dot(apart, row.normal), 0.0) * 1.2 + 0.1 * max(-row.gap - 0.002, 0.0) / SECONDS;
    let impulse = row.normal * min(speed, 4.0);
    if is_wall {
        push(row.a, -impulse);
    } else {
        push(row.a, -0.5 * impulse);
        push(row.b, 0.5 * impulse);
    }
}";

fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |what: &str, default: usize| match arguments.next() {
        Some(word) => word.parse().map_err(|_| format!("{what}: {word} is not a whole number")),
        None => Ok(default),
    };
    let (worlds, steps) = (number("WORLDS", WORLDS)?, number("STEPS", STEPS)?);
    if !(1..=MOST_WORLDS).contains(&worlds) {
        return Err(format!("{worlds} worlds: there must be from 1 to {MOST_WORLDS}").into());
    }
    let engine = match Engine::gpu() {
        Ok(engine) => engine,
        Err(error) => {
            println!("{error}");
            return Ok(());
        }
    };
    println!("{}", engine.reason());
    let Some((device, queue)) = engine.device() else { return Err("a GPU engine has a device".into()) };

    let hulls = [
        Hull::cuboid([0.2, 0.15, 0.25])?,
        Hull::ball(0.2)?,
        Hull::capsule([0.0, -0.15, 0.0], [0.0, 0.15, 0.0], 0.12)?,
        // A wedge whose mean is not its origin.
        Hull::from_points(&[
            [0.0, 0.0, 0.0],
            [0.5, 0.0, 0.0],
            [0.0, 0.4, 0.0],
            [0.0, 0.0, 0.45],
            [0.5, 0.0, 0.45],
        ])?,
        Hull::half_space(),
        Hull::cuboid([0.5, 20.0, 2.0])?,
        Hull::cuboid([2.0, 20.0, 0.5])?,
    ];
    // The floor and four walls.
    let statics = vec![
        Body::new(4),
        Body::new(5).at([1.7, 20.0, 0.0]),
        Body::new(5).at([-1.7, 20.0, 0.0]),
        Body::new(6).at([0.0, 20.0, 1.7]),
        Body::new(6).at([0.0, 20.0, -1.7]),
    ];
    let options = Options { statics, ..Options::default() };
    let arena = Arena::new(&engine, &hulls, options.clone())?;
    let (bodies, velocities, spins) = crowd(worlds);
    let count = bodies.len();
    let world_of: Vec<u32> = (0..count).map(|row| (row / BODIES) as u32).collect();
    let laid_out = arena.lay_out(BodyColumns { worlds: &world_of, ..BodyColumns::new(&bodies) }, [0.0; 3])?;
    let per_body = |each: u32| (count as u32).saturating_mul(each);
    let capacity = Capacity { pairs: per_body(16), rows: per_body(8) };
    let touching = DeviceTouchingPairs::new(&arena, capacity.rows)?;

    // From here on poses are on the device alone.
    let poses: Vec<BodyPose> = bodies.iter().map(BodyPose::from).collect();
    let poses = filled(device, queue, &poses, BufferUsages::COPY_SRC);
    let velocities = filled(device, queue, &velocities, BufferUsages::empty());
    let spins = filled(device, queue, &spins, BufferUsages::empty());
    let impulses = filled(device, queue, &vec![[0_i32; 4]; count], BufferUsages::empty());
    let [mover, parter] = [MOVE, PART].map(|kernel| pipeline(device, kernel));

    println!("{worlds} worlds of {BODIES} bodies");
    println!(" step  contacts    begin     stay      end   to the host  from the host       time");
    let begin = Instant::now();
    let mut open = 0_i64;
    let (mut last, mut made) = (None, 0);
    while made < steps && (made < LEAST_STEPS || begin.elapsed() < PATIENCE) {
        let (before, start) = (engine.counters(), Instant::now());
        // The rows of the last step go back to the pool.
        drop(last.take());
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let moved = [
            poses.as_entire_buffer_binding(),
            velocities.as_entire_buffer_binding(),
            spins.as_entire_buffer_binding(),
            impulses.as_entire_buffer_binding(),
        ];
        run(device, &mut encoder, &mover, &moved, count);
        let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
        let touch = ContactOptions { margin: 0.0 };
        let found = arena.encode_contacts(&mut encoder, posed, DevicePairs::BroadPhase, &touch, capacity)?;
        let events = touching.encode_events(&mut encoder, &found)?;
        let parted = [
            found.rows(),
            found.counts(),
            velocities.as_entire_buffer_binding(),
            impulses.as_entire_buffer_binding(),
        ];
        run(device, &mut encoder, &parter, &parted, capacity.rows as usize);
        queue.submit([encoder.finish()]);
        let events = events.read_counts()?.wait()?;
        let (after, time) = (engine.counters(), start.elapsed());
        if events.overflow != 0 {
            return Err(format!("step {made}: too little room: {events:?}").into());
        }
        open += i64::from(events.begin_count) - i64::from(events.end_count);
        if open != i64::from(events.touching_count) {
            return Err(format!("step {made}: {open} pairs by their events, but {events:?}").into());
        }
        made += 1;
        if made <= LEAST_STEPS || made % 10 == 0 || made == steps {
            println!(
                "{made:5} {:9} {:8} {:8} {:8} {:11} B {:12} B {:7.2} ms",
                events.touching_count,
                events.begin_count,
                events.stay_count,
                events.end_count,
                after.read_back_bytes - before.read_back_bytes,
                after.uploaded_bytes - before.uploaded_bytes,
                1e3 * time.as_secs_f64()
            );
        }
        last = Some(found);
    }
    let Some(found) = last else { return Ok(()) };
    println!("{made} steps; begins less ends are the pairs that touch, in each of them");
    let invalid = found.read_invalid_poses()?.wait()?;
    if !invalid.is_empty() {
        return Err(format!("invalid poses of bodies {invalid:?}").into());
    }

    // All that follows is for the check.
    let checked = CHECKED.min(worlds) * BODIES;
    let poses: Vec<BodyPose> = read(device, queue, poses.as_entire_buffer_binding())?;
    let counts: Vec<DeviceCounts> = read(device, queue, found.counts())?;
    let rows: Vec<MeasuredRow> = read(device, queue, found.rows())?;
    let cpu = Arena::new(&Engine::cpu(), &hulls, options)?;
    let placed = |row: usize| bodies[row].at(poses[row].position).rotated(poses[row].rotation);
    let some: Vec<Body> = (0..checked).map(placed).collect();
    let columns = BodyColumns { worlds: &world_of[..checked], ..BodyColumns::new(&some) };
    let expected = cpu.contacts(columns, Pairs::BroadPhase, &ContactOptions { margin: 0.0 })?.wait()?;
    let expected: BTreeMap<[u32; 2], u32> = expected
        .rows
        .iter()
        .map(|row| ([row.a, row.b], if row.status == Status::Touching { 1 } else { 2 }))
        .collect();
    // Statics count on after the bodies of a query.
    let name = |b: u32| if (b as usize) < count { b } else { b - count as u32 + checked as u32 };
    let ours = rows[..counts[0].row_count as usize].iter().filter(|row| (row.a as usize) < checked);
    let (open, decided): (Vec<&MeasuredRow>, Vec<&MeasuredRow>) = ours.partition(|row| row.status == 3);
    let found: BTreeMap<[u32; 2], u32> =
        decided.iter().map(|row| ([row.a, name(row.b)], row.status)).collect();
    let open: Vec<[u32; 2]> = open.iter().map(|row| [row.a, name(row.b)]).collect();
    let missing = expected.keys().filter(|pair| !found.contains_key(*pair) && !open.contains(pair)).count();
    let wrong = found.iter().filter(|(pair, status)| expected.get(*pair) != Some(status)).count();
    println!(
        "the CPU engine finds the same {} contacts in {} worlds; {} more were left to f64",
        found.len(),
        checked / BODIES,
        open.len()
    );
    if missing + wrong > 0 {
        return Err(format!("{missing} contacts are missing, {wrong} are wrong").into());
    }
    Ok(())
}

/// The bodies of all worlds in the order of the worlds, above one another, with velocities and spins.
fn crowd(worlds: usize) -> (Vec<Body>, Vec<[f32; 4]>, Vec<[f32; 4]>) {
    let mut state = 11_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut made = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..worlds * BODIES {
        let place = row % BODIES;
        let layer = (place / 4) as f32;
        let [x, z] = [(place % 2) as f32 - 0.5, (place / 2 % 2) as f32 - 0.5];
        let position = [x + 0.1 * random(), 0.5 + 0.7 * layer + 0.1 * random(), z + 0.1 * random()];
        made.0.push(Body::new(place as u32 % 4).at(position));
        made.1.push([random(), random(), random(), 0.0]);
        made.2.push([2.0 * random(), 2.0 * random(), 2.0 * random(), 0.0]);
    }
    made
}

fn filled<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    values: &[T],
    usage: BufferUsages,
) -> wgpu::Buffer {
    let size = (size_of_val(values) as u64).max(16);
    let usage = usage | BufferUsages::STORAGE | BufferUsages::COPY_DST;
    let buffer =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    queue.write_buffer(&buffer, 0, bytemuck::cast_slice(values));
    buffer
}

fn pipeline(device: &wgpu::Device, kernel: &str) -> wgpu::ComputePipeline {
    let source = wgpu::ShaderSource::Wgsl(format!("{DEVICE_WGSL}{kernel}").into());
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

/// One dispatch of a kernel of the example's.
fn run(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    parts: &[BufferBinding<'_>],
    invocations: usize,
) {
    let entries: Vec<_> = (0..)
        .zip(parts)
        .map(|(binding, part)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(part.clone()),
        })
        .collect();
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(invocations.div_ceil(64) as u32, 1, 1);
}

/// Brings a part of a buffer to the host, and waits for it.
fn read<T: Pod>(device: &wgpu::Device, queue: &wgpu::Queue, part: BufferBinding<'_>) -> Outcome<Vec<T>> {
    let size = part.size.map_or(part.buffer.size() - part.offset, |size| size.get());
    let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
    let staging =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(part.buffer, part.offset, &staging, 0, Some(size));
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely())?;
    Ok(bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..)?))
}
