//! An application that has a wgpu device of its own lets hullfield join it: its bodies live in a buffer of its own, its
//! kernel moves them, hullfield's kernels go into the same command encoder, and its next kernel reads the rows. Nothing
//! comes to the host but the table at the end, which the CPU engine then confirms.
//!
//! `cargo run --release --example your_own_device`

use bytemuck::Pod;
use hullfield::collide::{
    Arena, Body, Capacity, DEVICE_WGSL, DeviceBodies, DeviceCounts, DevicePairs, Hull, IntersectionRow,
    Options, PackedBody, Pairs,
};
use hullfield::{Engine, EngineOptions};
use wgpu::{BufferBinding, BufferUsages};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const BODY_COUNT: usize = 4000;
const STEPS: usize = 3;
const SECONDS_A_STEP: f32 = 0.05;

/// The application's simulation: it knows hullfield's layout of a body, and moves it where it is.
const MOVE: &str = "
@group(0) @binding(0) var<storage, read_write> bodies: array<PackedBody>;
@group(0) @binding(1) var<storage, read> velocities: array<vec4f>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= arrayLength(&bodies) { return; }
    bodies[id.x].position += velocities[id.x].xyz * velocities[id.x].w;
    bodies[id.x].remainder = vec3f(0.0);
}";

/// The application's use of the answer: how many others each body meets.
const TALLY: &str = "
@group(0) @binding(0) var<storage, read> rows: array<IntersectionRow>;
@group(0) @binding(1) var<storage, read> counts: DeviceCounts;
@group(0) @binding(2) var<storage, read_write> met: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x >= min(counts.row_count, counts.row_room) { return; }
    let row = rows[id.x];
    if row.status == STATUS_TOUCHING || row.status == STATUS_PENETRATING {
        atomicAdd(&met[row.a], 1u);
        atomicAdd(&met[row.b], 1u);
    }
}";

fn main() -> Outcome<()> {
    let Some((device, queue)) = own_device()? else {
        println!("no GPU adapter here, not even a software one");
        return Ok(());
    };
    let engine = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default())?;
    println!("{}", engine.reason());
    let hulls = [
        Hull::cuboid([0.5, 0.3, 0.4])?,
        Hull::ball(0.4)?,
        Hull::capsule([0.0, -0.4, 0.0], [0.0, 0.4, 0.0], 0.2)?,
    ];
    let arena = Arena::new(&engine, &hulls, Options::default())?;
    let (mut bodies, velocities) = crowd();

    // The application's own buffers.
    let packed = arena.pack(&bodies)?;
    let on_device = filled(&device, &queue, &packed, BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let velocities = filled(&device, &queue, &velocities, BufferUsages::STORAGE);
    let met = filled(&device, &queue, &[0_u32; BODY_COUNT], BufferUsages::STORAGE | BufferUsages::COPY_SRC);
    let mover = pipeline(&device, MOVE);
    let tally = pipeline(&device, TALLY);

    let capacity = Capacity { pairs: 64 * BODY_COUNT as u32, rows: 16 * BODY_COUNT as u32 };
    for step in 1..=STEPS {
        // One frame of the application: its kernel, hullfield's, its kernel.
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        run(
            &device,
            &mut encoder,
            &mover,
            &[on_device.as_entire_buffer_binding(), velocities.as_entire_buffer_binding()],
            BODY_COUNT as u32,
        );
        let crowd = DeviceBodies::Buffer { buffer: &on_device, count: BODY_COUNT as u32 };
        let found = arena.encode_intersections(&mut encoder, crowd, DevicePairs::BroadPhase, capacity)?;
        encoder.clear_buffer(&met, 0, None);
        let rows = [found.rows(), found.counts(), met.as_entire_buffer_binding()];
        run(&device, &mut encoder, &tally, &rows, capacity.rows);
        queue.submit([encoder.finish()]);

        // All that follows is for this table, and to show that it is right.
        let counts: Vec<DeviceCounts> = read(&device, &queue, found.counts())?;
        let counts = counts[0];
        assert_eq!(counts.overflow, 0, "no room: {counts:?}");
        let mut met_by: Vec<u32> = read(&device, &queue, met.as_entire_buffer_binding())?;
        let rows: Vec<IntersectionRow> = read(&device, &queue, found.rows())?;
        let moved: Vec<PackedBody> = read(&device, &queue, on_device.as_entire_buffer_binding())?;
        for (body, moved) in bodies.iter_mut().zip(&moved) {
            body.position = moved.position;
        }
        // What f32 could not promise is listed; here the host asks for it.
        let open: Vec<[u32; 2]> = rows[..counts.row_count as usize]
            .iter()
            .filter(|row| row.status == 3)
            .map(|row| [row.a, row.b])
            .collect();
        assert_eq!(open.len(), counts.unsettled_count as usize);
        let settled = arena.intersections(&bodies, Pairs::Given(&open))?.wait()?;
        for row in settled.rows.iter().filter(|row| row.status.is_hit()) {
            met_by[row.a as usize] += 1;
            met_by[row.b as usize] += 1;
        }
        let busiest = (0..BODY_COUNT).max_by_key(|&body| met_by[body]).unwrap_or_default();
        println!(
            "step {step}: {} candidates, {} hits, {} of them settled on the host; body {busiest} meets {}",
            counts.pair_count, counts.row_count, counts.unsettled_count, met_by[busiest]
        );

        let cpu = Arena::new(&Engine::cpu(), &hulls, Options::default())?;
        let mut expected = vec![0_u32; BODY_COUNT];
        for row in cpu.intersections(&bodies, Pairs::BroadPhase)?.wait()?.rows {
            expected[row.a as usize] += 1;
            expected[row.b as usize] += 1;
        }
        assert_eq!(met_by, expected, "the CPU engine says otherwise");
    }
    println!("the CPU engine counts the same for all {BODY_COUNT} bodies in all {STEPS} steps");
    Ok(())
}

/// A crowd that overlaps here and there: bodies, and for each a velocity and the length of a step.
fn crowd() -> (Vec<Body>, Vec<[f32; 4]>) {
    let mut state = 7_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..BODY_COUNT)
        .map(|row| {
            let position = [(); 3].map(|()| 12.0 * random());
            let turn = [(); 4].map(|()| random());
            let length = turn.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-3);
            let body = Body { rotation: turn.map(|x| x / length), ..Body::new(row as u32 % 3).at(position) };
            (body, [random(), random(), random(), SECONDS_A_STEP])
        })
        .unzip()
}

/// What an application that draws has anyway. Here any adapter will do.
fn own_device() -> Outcome<Option<(wgpu::Device, wgpu::Queue)>> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    match adapters.into_iter().find(|adapter| adapter.get_info().backend != wgpu::Backend::Noop) {
        Some(adapter) => Ok(Some(pollster::block_on(adapter.request_device(&Default::default()))?)),
        None => Ok(None),
    }
}

fn filled<T: Pod>(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    values: &[T],
    usage: BufferUsages,
) -> wgpu::Buffer {
    let size = size_of_val(values) as u64;
    let usage = usage | BufferUsages::COPY_DST;
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

/// One dispatch of a kernel of the application's.
fn run(
    device: &wgpu::Device,
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    parts: &[BufferBinding<'_>],
    invocations: u32,
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
    pass.dispatch_workgroups(invocations.div_ceil(64), 1, 1);
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
