//! What the device can do at best: bytes and multiply-adds a second, and what a launch and a round trip cost.

use hullfield::Engine;
use hullfield::collide::{Arena, Body, Hull, Pairs};

use crate::error::{Trouble, message};
use crate::flow_device::device_ms;
use crate::gpu::kit::Kit;
use crate::report::{Cell, Table};
use crate::timing::{Samples, time};

const COPY: &str = include_str!("copy.wgsl");
const MULTIPLY_ADD: &str = include_str!("multiply_add.wgsl");
const EMPTY: &str = include_str!("empty.wgsl");
const COUNT: &str = include_str!("count.wgsl");

/// Invocations of a workgroup of the copies and the multiply-adds.
const GROUP: u64 = 256;

/// Floating-point operations of one step of an invocation of `multiply_add.wgsl`: 32 multiply-adds on vectors of four.
const STEP_OPERATIONS: f64 = 32.0 * 4.0 * 2.0;

/// Measures all of it.
///
/// # Errors
/// None: errors go into the report.
pub(crate) fn run(kit: &mut Kit) -> Result<(), Trouble> {
    let repetitions = if kit.is_reduced { 3 } else { 11 };
    let mut table = Table::new(
        "roofline",
        format!("What the device can do at best; medians of {repetitions}"),
        &["what", "size", "ms", "±", "rate", "unit", "clock"],
    );
    let mut add = |kit: &mut Kit,
                   kind: &str,
                   size: Cell,
                   work: f64,
                   unit: &'static str,
                   run: &dyn Fn(&Engine) -> Measured| {
        let what = format!("{kind}, {}", size.text());
        let Some((samples, clock, amount)) = kit.job(kind, &what, work, run) else { return };
        let ms = samples.median();
        table.row([
            kind.into(),
            size,
            Cell::Number(ms, 4),
            Cell::Share(samples.spread(), 0),
            Cell::Number(amount / ms, 3),
            unit.into(),
            clock.into(),
        ]);
    };
    let mib: &[u64] = if kit.is_reduced { &[1, 16] } else { &[4, 64, 512, 1024] };
    for &mib in mib {
        let bytes = mib << 20;
        add(
            kit,
            "copy on the device",
            Cell::Text(format!("{mib} MiB")),
            bytes as f64,
            "GB/s, read and written",
            &|engine| copy(engine, bytes, repetitions),
        );
    }
    let steps: &[u32] = if kit.is_reduced { &[16] } else { &[64, 1024] };
    for &steps in steps {
        let invocations: u64 = if kit.is_reduced { 1 << 13 } else { 1 << 21 };
        let size = Cell::Text(format!("{invocations} × {steps} steps"));
        add(kit, "multiply-add in f32", size, f64::from(steps), "TFLOP/s", &|engine| {
            multiply_add(engine, invocations, steps, repetitions)
        });
    }
    let mib: &[u64] = if kit.is_reduced { &[1] } else { &[1, 64] };
    for &mib in mib {
        let bytes = mib << 20;
        add(kit, "host to device", Cell::Text(format!("{mib} MiB")), bytes as f64, "GB/s", &|engine| {
            upload(engine, bytes, repetitions)
        });
        add(kit, "device to host", Cell::Text(format!("{mib} MiB")), bytes as f64, "GB/s", &|engine| {
            readback(engine, bytes, repetitions)
        });
    }
    let count: u32 = if kit.is_reduced { 100 } else { 1000 };
    for (kind, launch) in [
        ("an empty dispatch", Launch::Empty),
        ("a dispatch that waits for the one before", Launch::Waiting),
        ("a dispatch in a pass of its own", Launch::OwnPass),
    ] {
        add(kit, kind, Cell::Text(format!("{count} in a row")), 1.0, "thousand a second", &|engine| {
            launches(engine, launch, count, repetitions)
        });
    }
    add(
        kit,
        "an empty submission, waited for",
        Cell::Text("1".into()),
        1.0,
        "thousand a second",
        &|engine| {
            let (device, queue) = device(engine)?;
            let once = || {
                let encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                queue.submit([encoder.finish()]);
                device.poll(wgpu::PollType::wait_indefinitely()).map(drop).map_err(message)
            };
            wall(10 * repetitions, 1.0, || Ok(once()?))
        },
    );
    add(
        kit,
        "an empty frame's round trip",
        Cell::Text("2 bodies apart".into()),
        1.0,
        "thousand a second",
        &|engine| {
            let arena = Arena::new(engine, &[Hull::ball(0.5)?], Default::default())?;
            let bodies = [Body::new(0), Body::new(0).at([9.0, 0.0, 0.0])];
            wall(10 * repetitions, 1.0, || {
                drop(arena.intersections(&bodies, Pairs::BroadPhase)?.wait()?);
                Ok(())
            })
        },
    );
    table.note("clock: the device's, or the host's from submission to completion.");
    kit.table(table);
    Ok(())
}

/// Samples in milliseconds, whose clock they are by, and what was done in each: its rate is the amount over the milliseconds.
type Measured = Result<(Samples, &'static str, f64), Trouble>;

/// What a device does at best, measured with little work: bytes it copies on the device and floating-point operations, per second.
///
/// # Errors
/// As the device.
pub(crate) fn best(engine: &Engine, is_software: bool) -> Result<[f64; 2], Trouble> {
    let (bytes, invocations, steps) =
        if is_software { (16 << 20, 1 << 13, 16) } else { (512 << 20, 1 << 21, 256) };
    let rate = |measured: Measured| measured.map(|(samples, _, amount)| amount / samples.median());
    // Megabytes a millisecond are gigabytes a second, and so on.
    Ok([1e9 * rate(copy(engine, bytes, 5))?, 1e12 * rate(multiply_add(engine, invocations, steps, 5))?])
}

fn device(engine: &Engine) -> Result<(&wgpu::Device, &wgpu::Queue), Trouble> {
    Ok(engine.device().ok_or("the engine has no device")?)
}

/// Repeats a job by the host's clock, after two that are not counted.
fn wall(repetitions: usize, amount: f64, mut job: impl FnMut() -> Result<(), Trouble>) -> Measured {
    let mut samples = Samples::new();
    for repetition in 0..repetitions + 2 {
        let (ms, done) = time(&mut job);
        done?;
        if repetition >= 2 {
            samples.push(ms);
        }
    }
    Ok((samples, "host", amount))
}

/// Repeats encoded commands by the device's clock, or by the host's without timestamps, after two that are not counted.
fn stamped(
    engine: &Engine,
    repetitions: usize,
    amount: f64,
    mut encode: impl FnMut(&mut wgpu::CommandEncoder) -> Result<(), Trouble>,
) -> Measured {
    let (mut samples, mut clock) = (Samples::new(), "device");
    for repetition in 0..repetitions + 2 {
        let (ms, found) = time(|| device_ms(engine, &mut encode));
        let found = found?;
        if found.is_none() {
            clock = "host";
        }
        if repetition >= 2 {
            samples.push(found.unwrap_or(ms));
        }
    }
    Ok((samples, clock, amount))
}

/// A buffer of so many bytes. Its content is not zero: some devices copy zeros faster.
fn buffer(engine: &Engine, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Trouble> {
    let (device, queue) = device(engine)?;
    let limits = device.limits();
    let most = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
    if bytes > most {
        return Err(Trouble::TooLarge(format!("a binding of this device has at most {most} bytes")));
    }
    let guard = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("roofline"),
        size: bytes,
        usage: usage | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let content: Vec<u8> =
        (0..(1_u32 << 18)).flat_map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    if !usage.contains(wgpu::BufferUsages::MAP_READ) {
        for start in (0..bytes).step_by(content.len()) {
            let count = (bytes - start).min(content.len() as u64) as usize;
            queue.write_buffer(&buffer, start, &content[..count]);
            // What is written waits in host memory until a submission.
            queue.submit([]);
        }
    }
    match ready(guard.pop()) {
        Some(Some(error)) => Err(Trouble::TooLarge(error.to_string())),
        _ => Ok(buffer),
    }
}

/// The result of a future that is ready at once, as those of error scopes are outside of browsers.
fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}

fn pipeline(device: &wgpu::Device, wgsl: &str) -> wgpu::ComputePipeline {
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("roofline"),
        source: wgpu::ShaderSource::Wgsl(wgsl.into()),
    });
    device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("roofline"),
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: wgpu::PipelineCompilationOptions::default(),
        cache: None,
    })
}

fn bind(
    device: &wgpu::Device,
    pipeline: &wgpu::ComputePipeline,
    buffers: &[&wgpu::Buffer],
) -> wgpu::BindGroup {
    let entries: Vec<wgpu::BindGroupEntry<'_>> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("roofline"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}

fn dispatch(
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    bound: &wgpu::BindGroup,
    group_count: u64,
) {
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, bound, &[]);
    let rows = group_count.div_ceil(65_535).max(1);
    pass.dispatch_workgroups(group_count.div_ceil(rows) as u32, rows as u32, 1);
}

fn copy(engine: &Engine, bytes: u64, repetitions: usize) -> Measured {
    let (device, _) = device(engine)?;
    let [from, to] = [(); 2].map(|()| buffer(engine, bytes, wgpu::BufferUsages::STORAGE));
    let (from, to) = (from?, to?);
    let pipeline = pipeline(device, COPY);
    let bound = bind(device, &pipeline, &[&from, &to]);
    // Small copies are repeated, so that the clock's step does not matter.
    let turns = ((64 << 20) / bytes).clamp(1, 16);
    let amount = 2.0 * (bytes * turns) as f64 * 1e-6;
    stamped(engine, repetitions, amount, |encoder| {
        (0..turns).for_each(|_| dispatch(encoder, &pipeline, &bound, bytes / 16 / GROUP));
        Ok(())
    })
}

fn multiply_add(engine: &Engine, invocations: u64, steps: u32, repetitions: usize) -> Measured {
    let (device, queue) = device(engine)?;
    let factors = buffer(engine, 48, wgpu::BufferUsages::STORAGE)?;
    let numbers = [[0.999_f32; 4], [0.001; 4], [1.0; 4]];
    let content: Vec<u8> = numbers.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
    queue.write_buffer(&factors, 0, &content);
    let sums = buffer(engine, 16 * invocations, wgpu::BufferUsages::STORAGE)?;
    let pipeline = pipeline(device, &format!("const STEPS: u32 = {steps}u;\n{MULTIPLY_ADD}"));
    let bound = bind(device, &pipeline, &[&factors, &sums]);
    let amount = invocations as f64 * f64::from(steps) * STEP_OPERATIONS * 1e-9;
    stamped(engine, repetitions, amount, |encoder| {
        dispatch(encoder, &pipeline, &bound, invocations / GROUP);
        Ok(())
    })
}

fn upload(engine: &Engine, bytes: u64, repetitions: usize) -> Measured {
    let (device, queue) = device(engine)?;
    let to = buffer(engine, bytes, wgpu::BufferUsages::STORAGE)?;
    let content = vec![7_u8; bytes as usize];
    wall(repetitions, bytes as f64 * 1e-6, || {
        queue.write_buffer(&to, 0, &content);
        queue.submit([]);
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(message)?;
        Ok(())
    })
}

fn readback(engine: &Engine, bytes: u64, repetitions: usize) -> Measured {
    let (device, queue) = device(engine)?;
    let from = buffer(engine, bytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC)?;
    let staging = buffer(engine, bytes, wgpu::BufferUsages::MAP_READ)?;
    let mut content = vec![0_u8; bytes as usize];
    wall(repetitions, bytes as f64 * 1e-6, || {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&from, 0, &staging, 0, None);
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
        queue.submit([encoder.finish()]);
        device.poll(wgpu::PollType::wait_indefinitely()).map_err(message)?;
        content.copy_from_slice(&staging.get_mapped_range(..).map_err(message)?);
        staging.unmap();
        Ok(())
    })
}

/// How dispatches follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Launch {
    Empty,
    Waiting,
    OwnPass,
}

fn launches(engine: &Engine, launch: Launch, count: u32, repetitions: usize) -> Measured {
    let (device, _) = device(engine)?;
    let words = buffer(engine, 16, wgpu::BufferUsages::STORAGE)?;
    let pipeline = pipeline(device, if launch == Launch::Empty { EMPTY } else { COUNT });
    let bound = (launch != Launch::Empty).then(|| bind(device, &pipeline, &[&words]));
    let passes = if launch == Launch::OwnPass { count } else { 1 };
    let measured = stamped(engine, repetitions, 1.0, |encoder| {
        for _ in 0..passes {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            if let Some(bound) = &bound {
                pass.set_bind_group(0, bound, &[]);
            }
            (0..count / passes).for_each(|_| pass.dispatch_workgroups(1, 1, 1));
        }
        Ok(())
    })?;
    let (samples, clock, amount) = measured;
    Ok((samples.divided(f64::from(count)), clock, amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_valid_wgsl() {
        let multiply_add = format!("const STEPS: u32 = 4u;\n{MULTIPLY_ADD}");
        for wgsl in [COPY, &multiply_add, EMPTY, COUNT] {
            let module = naga::front::wgsl::parse_str(wgsl).unwrap();
            let capabilities = naga::valid::Capabilities::empty();
            naga::valid::Validator::new(naga::valid::ValidationFlags::all(), capabilities)
                .validate(&module)
                .unwrap();
        }
        // The operations of a step are those of the text.
        assert_eq!(MULTIPLY_ADD.matches("fma(").count() as f64 * 4.0 * 2.0, STEP_OPERATIONS);
    }

    /// The amount of work is what the rate is computed from, so the kernels must do it.
    #[test]
    fn copies_and_counts_are_done() {
        let Ok(engine) = Engine::gpu() else {
            eprintln!("skipped: no GPU");
            return;
        };
        let (samples, _, amount) = copy(&engine, 1 << 20, 1).unwrap();
        assert!(samples.median() > 0.0 && amount == 2.0 * 16.0 * f64::from(1 << 20) * 1e-6);
        for launch in [Launch::Empty, Launch::Waiting, Launch::OwnPass] {
            assert!(launches(&engine, launch, 10, 1).unwrap().0.median() >= 0.0);
        }
        assert!(multiply_add(&engine, 512, 2, 1).unwrap().0.median() > 0.0);
        assert!(readback(&engine, 4096, 1).is_ok() && upload(&engine, 4096, 1).is_ok());
        assert!(matches!(buffer(&engine, 1 << 60, wgpu::BufferUsages::STORAGE), Err(Trouble::TooLarge(_))));
    }
}
