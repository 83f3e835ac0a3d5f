//! The floor's own tests: shaders without a GPU, the rest on any adapter.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use std::time::{Duration, Instant};

use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::account::Counters;
use crate::engine::{Engine, EngineOptions};
use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::dispatches::Dispatch;
use crate::gpu::form::Form;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, Trust, only, read_write, uniform};
use crate::gpu::pool::Use;
use crate::gpu::readback::Results;
use crate::gpu::submit::Next;
use crate::gpu::*;
use crate::inspect::all as kernels;
use crate::pending::Pending;
use crate::testing;

fn context(engine: &Engine) -> Context {
    engine.context().unwrap().clone()
}

/// Pseudorandom numbers, the same at every run.
fn noise(count: usize, below: u32) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as u32) % below
        })
        .collect()
}

#[test]
fn every_kernel_is_valid_wgsl() {
    let forms =
        kernels().into_iter().flat_map(|kernel| kernel.forms().iter().map(move |&form| (kernel, form)));
    for (kernel, form) in forms {
        let wgsl = kernel.wgsl_in(form);
        let module = naga::front::wgsl::parse_str(&wgsl)
            .unwrap_or_else(|error| panic!("{}: {}", kernel.label, error.emit_to_string(&wgsl)));
        // No capability beyond WebGPU's base, but for subgroup operations.
        let capabilities = match form {
            Form::Plain => Capabilities::empty(),
            Form::Subgroups => Capabilities::SUBGROUP,
        };
        Validator::new(ValidationFlags::all(), capabilities)
            .validate(&module)
            .unwrap_or_else(|error| panic!("{}: {}", kernel.label, error.emit_to_string(&wgsl)));
        let [entry] = &module.entry_points[..] else { panic!("{}: not one entry point", kernel.label) };
        assert_eq!(entry.name, "main", "{}", kernel.label);
        assert_eq!(entry.workgroup_size, [kernel.workgroup_size, 1, 1], "{}", kernel.label);
        let limits = wgpu::Limits::default();
        assert!(kernel.workgroup_size <= limits.max_compute_invocations_per_workgroup, "{}", kernel.label);
        let is_storage = |binding: &&kernel::Binding| {
            matches!(binding.access, kernel::Access::Read | kernel::Access::ReadWrite)
        };
        let storage = kernel.bindings().filter(is_storage).count();
        assert!(storage <= limits.max_storage_buffers_per_shader_stage as usize, "{}", kernel.label);
        // A binding that the WGSL declares by itself would stand in two places.
        let bound = module.global_variables.iter().filter(|(_, variable)| variable.binding.is_some()).count();
        assert_eq!(bound, kernel.bindings().count(), "{}", kernel.label);
    }
}

/// Browsers compile WGSL with other compilers than naga; `tint` is one of them, asked where it is on the PATH.
#[test]
fn tint_takes_every_kernel() {
    let folder = std::env::temp_dir().join(format!("hullfield-tint-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for kernel in kernels() {
        let path = folder.join(format!("{}.wgsl", kernel.label));
        std::fs::write(&path, kernel.wgsl()).unwrap();
        let Ok(output) = std::process::Command::new("tint").args(["--format", "wgsl"]).arg(&path).output()
        else {
            println!("tint is not here: what browsers say of the shaders is not checked");
            break;
        };
        assert!(output.status.success(), "{}: {}", kernel.label, String::from_utf8_lossy(&output.stderr));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn labels_are_unique() {
    let mut labels: Vec<_> = kernels().iter().map(|kernel| kernel.label).collect();
    labels.sort_unstable();
    let count = labels.len();
    labels.dedup();
    assert_eq!(labels.len(), count);
}

#[test]
fn every_pipeline_builds_on_the_noop_device() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let engine = Engine::from_device(device, queue, &EngineOptions::default()).unwrap();
    let context = context(&engine);
    for kernel in kernels() {
        context.pipeline(kernel).unwrap_or_else(|error| panic!("{}: {error}", kernel.label));
    }
    assert_eq!(engine.counters().pipelines_built, kernels().len() as u64);
    // Control: a kernel that WGSL does not know is refused, as an error.
    static BROKEN: Kernel = Kernel {
        label: "hullfield.test.broken",
        sources: only(&["fn main("]),
        workgroup_size: 1,
        trust: Trust::Checked,
        bindings: only(&[]),
    };
    assert!(matches!(context.pipeline(&BROKEN), Err(Error::Internal { .. })));
}

#[test]
fn a_host_struct_that_differs_is_found() {
    #[repr(C)]
    struct Row {
        a: f32,
        b: [f32; 3],
    }
    let host = layout::host_struct!(Row { a, b });
    assert!(layout::compare("struct Row { b: vec3<f32>, a: f32 }", "Row", &host).is_err());
    assert!(layout::compare("struct Row { a: f32, b: vec3<f32> }", "Row", &host).is_err());
    assert!(layout::compare("struct Row { a: f32, b: array<f32, 3> }", "Row", &host).is_ok());
}

#[test]
fn groups_past_one_dimension_become_two() {
    for count in [1, 2, 65_535, 65_536, 65_537, 1 << 20, 65_535 * 65_535] {
        let (x, y) = frame::group_grid(count).unwrap();
        assert!(x <= 65_535 && y <= 65_535 && u64::from(x) * u64::from(y) >= count, "{count}: {x} × {y}");
        assert!(u64::from(x) * u64::from(y) < count + u64::from(y), "{count}: {x} × {y} is wasteful");
    }
    assert!(matches!(frame::group_grid(65_535 * 65_535 + 1), Err(Error::TooMany { .. })));
}

fn scanned(context: &Context, values: &[u32]) -> Result<(Vec<u32>, u64)> {
    let mut frame = Frame::new(context, "hullfield.test.scan")?;
    let buffer = Buffer::<u32>::new(context, "hullfield.test.values", values.len())?;
    frame.upload(&buffer, 0, values)?;
    let total = scan(&mut frame, &buffer)?;
    let total = frame.read(&total, 0..2)?;
    let all = frame.read(&buffer, 0..values.len())?;
    frame
        .submit(move |results| {
            let words = results.get(&total)?;
            Ok(Next::Answer((
                results.get(&all)?.into_owned(),
                u64::from(words[0]) | u64::from(words[1]) << 32,
            )))
        })?
        .wait()
}

fn scan_on_host(values: &[u32]) -> (Vec<u32>, u64) {
    let mut sum = 0_u64;
    let prefix = |&value: &u32| {
        let before = sum as u32;
        sum += u64::from(value);
        before
    };
    (values.iter().map(prefix).collect(), sum)
}

#[test]
fn scan_equals_the_host() {
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    // One dispatch up to 32,768 values, and several pieces past 2,048 blocks.
    for count in [0, 1, 2, 255, 256, 257, 4095, 4096, 4097, 32_767, 32_768, 32_769, 100_000, 2048 * 2048 + 1]
    {
        let values = noise(count, 1000);
        assert!(scanned(&context, &values).unwrap() == scan_on_host(&values), "{count} values");
    }
    // Control.
    let (mut prefix, sum) = scan_on_host(&noise(5000, 1000));
    prefix[4000] ^= 1;
    assert!(scanned(&context, &noise(5000, 1000)).unwrap() != (prefix, sum));
}

#[test]
fn scan_counts_past_32_bits() {
    let Some(engine) = testing::gpu() else { return };
    let check = |engine: &Engine, count: usize| {
        let values = vec![u32::MAX; count];
        let (prefix, sum) = scanned(&context(engine), &values).unwrap();
        assert_eq!(sum, u64::from(u32::MAX) * count as u64, "{count} values");
        assert_eq!(prefix, scan_on_host(&values).0, "{count} values");
    };
    // One group, and many.
    check(&engine, 10_000);
    check(&engine, 100_000);
    // Pieces that hand the sum on.
    let engine = testing::gpu_of_bindings(16 << 10).unwrap();
    check(&engine, 4096);
    check(&engine, 10_000);
}

#[test]
fn scan_spans_bindings() {
    let Some(engine) = testing::gpu_of_bindings(16 << 10) else { return };
    for count in [4095, 4096, 4097, 50_000] {
        let values = noise(count, 1000);
        assert!(scanned(&context(&engine), &values).unwrap() == scan_on_host(&values), "{count} values");
    }
}

#[test]
#[ignore = "long: cargo xtask test --all"]
fn scan_spans_real_bindings() {
    let Some(engine) = testing::own_gpu() else { return };
    // 128 MiB is what WebGPU promises for one binding; 144 MiB of values are two of them.
    let engine = engine.with_binding_limit(128 << 20);
    let context = context(&engine);
    if context.limits().max_buffer_size < 144 << 20 {
        return;
    }
    let values = noise(36 << 20, 100);
    assert!(scanned(&context, &values).unwrap() == scan_on_host(&values));
}

/// Both forms of the kernels, where the device has subgroup operations.
#[test]
fn both_forms_scan_alike() {
    let Some(plain) = testing::own_gpu().map(|engine| engine.with_subgroups(false)) else { return };
    let Some(subgroups) = testing::own_gpu().map(|engine| engine.with_subgroups(true)) else { return };
    assert_eq!(context(&plain).form(), Form::Plain);
    let has = context(&plain).device().features().contains(wgpu::Features::SUBGROUP);
    assert_eq!(context(&subgroups).form() == Form::Subgroups, has);
    // A group of either kernel, its block, several blocks, and the length from which a scan takes two dispatches.
    for count in
        [0, 1, 127, 128, 129, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 32_768, 32_769, 300_000]
    {
        for values in [noise(count, 1000), noise(count, u32::MAX), vec![u32::MAX; count]] {
            let right = scan_on_host(&values);
            for engine in [&plain, &subgroups] {
                assert!(scanned(&context(engine), &values).unwrap() == right, "{count} values");
            }
        }
    }
    // Pieces that hand their sum on.
    let values = noise(20_000, u32::MAX);
    for engine in [plain.with_binding_limit(16 << 10), subgroups.with_binding_limit(16 << 10)] {
        assert!(scanned(&context(&engine), &values).unwrap() == scan_on_host(&values));
    }
}

/// Writes each invocation's index; `repeat` makes it slow.
static FILL: Kernel = Kernel {
    label: "hullfield.test.fill",
    sources: only(&[
        DISPATCH_WGSL,
        "@compute @workgroup_size(WORKGROUP_SIZE)
        fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                @builtin(local_invocation_index) local: u32) {
            let index = flat_index(group, groups, local);
            if (index >= params.x) { return; }
            var value = index;
            for (var i = 0u; i < params.y; i += 1u) { value = value * 1664525u + 1013904223u; }
            output[index] = value;
        }",
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[uniform("params", "vec4<u32>"), read_write("output", "array<u32>")]),
};

fn filled(context: &Context, count: usize, repeat: u32) -> Result<crate::Pending<Vec<u32>>> {
    let mut frame = Frame::new(context, "hullfield.test.fill")?;
    let output = Buffer::<u32>::new(context, "hullfield.test.output", count)?;
    let params = frame.uniform(&[count as u32, repeat, 0, 0])?;
    frame.dispatch(&FILL, &[params, output.bind()], FILL.groups(count as u64))?;
    let all = frame.read(&output, 0..count)?;
    frame.submit(move |results| Ok(Next::Answer(results.get(&all)?.into_owned())))
}

fn fill_on_host(count: usize, repeat: u32) -> Vec<u32> {
    let step = |value: u32| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (0..count as u32).map(|index| (0..repeat).fold(index, |value, _| step(value))).collect()
}

#[test]
fn dispatch_past_65535_groups() {
    let Some(engine) = testing::gpu() else { return };
    for count in [0, 1, 63, 64, 65, 65_535 * 64, 65_535 * 64 + 1, 70_000 * 64 + 5] {
        let all = filled(&context(&engine), count, 0).unwrap().wait().unwrap();
        assert!(all.len() == count && all.iter().zip(0..).all(|(&value, index)| value == index), "{count}");
    }
}

#[test]
fn dispatches_take_their_groups_from_the_device() {
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    let mut frame = Frame::new(&context, "hullfield.test.indirect").unwrap();
    let counts = Buffer::<u32>::with_use(&context, "hullfield.test.groups", 4, Use::Indirect).unwrap();
    let output = Buffer::<u32>::new(&context, "hullfield.test.output", 1000).unwrap();
    frame.upload(&counts, 0, &[0, 3, 1, 1]).unwrap();
    frame.clear(&output);
    let params = frame.uniform(&[1000_u32, 0, 0, 0]).unwrap();
    let kernel = frame.bind_kernel(&FILL, &[params, output.bind()]).unwrap();
    let dispatch = Dispatch { kernel: &kernel, uniform: None, groups: dispatches::Groups::At(&counts, 1) };
    frame.dispatch_all("hullfield.test.indirect", &[dispatch]).unwrap();
    let all = frame.read(&output, 0..1000).unwrap();
    let all = frame
        .submit(move |results| Ok(Next::Answer(results.get(&all)?.into_owned())))
        .unwrap()
        .wait()
        .unwrap();
    let expected: Vec<u32> = (0..1000).map(|i| if i < 3 * 64 { i } else { 0 }).collect();
    assert_eq!(all, expected);
}

#[test]
fn pieces_cover_everything_once() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let context = context(&Engine::from_device(device, queue, &EngineOptions::default()).unwrap());
    for (items, steps, granule) in
        [(0, 1, 1), (1, 1, 1), (50_000_000, 300, 64), (1000, u64::MAX, 7), (1 << 33, 1, 2048)]
    {
        let mut next = 0;
        for piece in context.pieces(items, steps, granule) {
            assert_eq!(piece.start, next);
            assert!(piece.end > piece.start && piece.start % granule == 0);
            assert!((piece.end - piece.start) <= (context.steps_per_dispatch() / steps).max(granule));
            next = piece.end;
        }
        assert_eq!(next, items);
    }
}

#[test]
fn several_frames_in_flight_and_dropped_ones() {
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    let pendings: Vec<_> = (0..12).map(|i| (i, filled(&context, 10_000 + i, i as u32).unwrap())).collect();
    for (i, pending) in pendings.into_iter().rev() {
        if i % 3 == 0 {
            drop(pending);
        } else {
            assert!(pending.wait().unwrap() == fill_on_host(10_000 + i, i as u32), "frame {i}");
        }
    }
}

#[test]
fn frames_from_many_threads() {
    let Some(engine) = testing::gpu() else { return };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let context = context(&engine);
            scope.spawn(move || {
                for i in 0..10 {
                    let count = 1000 * (thread + 1) + i;
                    assert!(filled(&context, count, 3).unwrap().wait().unwrap() == fill_on_host(count, 3));
                }
            });
        }
    });
}

#[test]
fn frames_submitted_ahead_give_their_results_in_turn() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let submitted = |count: usize, repeat: u32| {
        let mut frame = Frame::new(&context, "hullfield.test.ahead").unwrap();
        let output = Buffer::<u32>::new(&context, "hullfield.test.output", count).unwrap();
        let params = frame.uniform(&[count as u32, repeat, 0, 0]).unwrap();
        frame.dispatch(&FILL, &[params, output.bind()], FILL.groups(count as u64)).unwrap();
        let all = frame.read(&output, 0..count).unwrap();
        (frame.submit_ahead().unwrap(), all)
    };
    let before = engine.counters().submissions;
    let account = Arc::clone(context.account());
    // The first is the longest, so that the second would be ready sooner.
    let ((first, first_read), (second, second_read)) = (submitted(50_000, 200), submitted(100, 1));
    let both = Next::ahead(first, move |results: Results| {
        let first = results.get(&first_read)?.into_owned();
        let submissions = account.counters().submissions - before;
        Ok(Next::ahead(second, move |results: Results| {
            Ok(Next::Answer((first, results.get(&second_read)?.into_owned(), submissions)))
        }))
    });
    let (first, second, submissions) = both.start().unwrap().wait().unwrap();
    assert_eq!(submissions, 2, "the second was submitted before the results of the first were taken");
    assert!(first == fill_on_host(50_000, 200) && second == fill_on_host(100, 1));
    // Dropped ones do no harm, and an error comes out.
    let ((first, _), (second, _)) = (submitted(50_000, 200), submitted(100, 1));
    let dropped = Next::<()>::ahead(first, move |_| Ok(Next::ahead(second, |_| Ok(Next::Answer(())))));
    drop(dropped.start().unwrap());
    let ((first, _), (second, second_read)) = (submitted(100, 1), submitted(200, 1));
    let failed = Next::<()>::ahead(first, |_| Err(Error::internal("gpu::tests", "as expected")));
    assert!(matches!(failed.start().unwrap().wait(), Err(Error::Internal { .. })));
    let taken = Next::ahead(second, move |results| Ok(Next::Answer(results.get(&second_read)?.into_owned())));
    assert!(taken.start().unwrap().wait().unwrap() == fill_on_host(200, 1));
}

#[test]
fn a_frame_may_ask_for_another() {
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    fn again(context: &Context, left: u32, mut seen: Vec<u32>) -> Result<Next<Vec<u32>>> {
        let mut frame = Frame::new(context, "hullfield.test.again")?;
        let output = Buffer::<u32>::new(context, "hullfield.test.output", 100)?;
        let params = frame.uniform(&[100, left, 0, 0])?;
        frame.dispatch(&FILL, &[params, output.bind()], 2)?;
        let last = frame.read(&output, 99..100)?;
        Ok(Next::frame(frame, move |results| {
            seen.push(results.first(&last)?);
            if left == 0 { Ok(Next::Answer(seen)) } else { again(results.context(), left - 1, seen) }
        }))
    }
    let first = Frame::new(&context, "hullfield.test.first").unwrap();
    let seen = first.submit(|results| again(results.context(), 3, Vec::new())).unwrap().wait().unwrap();
    let expected: Vec<u32> = (0..=3).rev().map(|repeat| fill_on_host(100, repeat)[99]).collect();
    assert_eq!(seen, expected);
}

#[test]
fn an_error_and_a_panic_on_the_engine_thread_come_out() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let refused: Result<crate::Pending<()>> =
        Frame::new(&context, "hullfield.test").unwrap().submit(|_| Err(Error::Cancelled));
    assert_eq!(refused.unwrap().wait(), Err(Error::Cancelled));
    let panicked: Result<crate::Pending<()>> =
        Frame::new(&context, "hullfield.test").unwrap().submit(|_| panic!("on purpose"));
    let Err(Error::Internal { message, .. }) = panicked.unwrap().wait() else { panic!("no error") };
    assert!(message.contains("on purpose"), "{message}");
    // And the thread still works.
    assert_eq!(filled(&context, 10, 0).unwrap().wait().unwrap().len(), 10);
}

#[test]
fn a_steady_state_allocates_nothing() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let frame = |count: usize| {
        let values = noise(count, 10);
        let two = [scanned(&context, &values), scanned(&context, &values)];
        for answer in two {
            answer.unwrap();
        }
        filled(&context, count, 2).unwrap().wait().unwrap();
    };
    frame(40_000);
    let high = engine.counters();
    for count in [40_000, 100, 39_000, 0, 40_000] {
        frame(count);
    }
    let low = engine.counters();
    assert!(low.submissions > high.submissions);
    let created = |counters| Counters {
        submissions: 0,
        dispatches: 0,
        copies: 0,
        uploaded_bytes: 0,
        read_back_bytes: 0,
        ..counters
    };
    assert_eq!(created(low), created(high));
    // Control: above the mark it does allocate.
    frame(400_000);
    assert!(engine.counters().buffers_created > low.buffers_created);
}

#[test]
fn memory_limit_is_obeyed() {
    let of = |bytes| EngineOptions { memory_limit: Some(bytes), ..Default::default() };
    let Some(engine) = testing::gpu_with(of(8 << 20)) else { return };
    let context = context(&engine);
    let Err(Error::MemoryLimit { needed_bytes, limit_bytes, .. }) =
        Buffer::<u32>::new(&context, "hullfield.test.large", 4 << 20)
    else {
        panic!("16 MiB fit into 8");
    };
    assert!(needed_bytes >= 16 << 20 && limit_bytes == 8 << 20);
    // What waits in the pool makes room for what is asked now.
    drop(Buffer::<u32>::new(&context, "hullfield.test.one", 1 << 20).unwrap());
    drop(Buffer::<u32>::new(&context, "hullfield.test.two", 1 << 20).unwrap());
    let kept = Buffer::<u32>::new(&context, "hullfield.test.three", 1 << 20).unwrap();
    assert!(engine.counters().buffer_bytes <= 8 << 20);
    drop(kept);
    assert_eq!(filled(&context, 1000, 0).unwrap().wait().unwrap().len(), 1000);
    // Control: without the limit it fits.
    let Some(engine) = testing::gpu_with(of(64 << 20)) else { return };
    Buffer::<u32>::new(engine.context().unwrap(), "hullfield.test.large", 4 << 20).unwrap();
}

#[test]
fn misuse_is_an_error() {
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    let mut frame = Frame::new(&context, "hullfield.test").unwrap();
    let small = Buffer::<u32>::new(&context, "hullfield.test.small", 4).unwrap();
    assert!(matches!(frame.upload(&small, 2, &[1_u32, 2, 3]), Err(Error::Internal { .. })));
    assert!(matches!(frame.read(&small, 0..5), Err(Error::Internal { .. })));
    assert!(matches!(frame.dispatch(&FILL, &[small.bind()], 1), Err(Error::Internal { .. })));
    // A storage buffer in the place of a uniform: wgpu's own words.
    let wrong = frame.dispatch(&FILL, &[small.bind(), small.bind()], 1);
    assert!(matches!(wrong, Err(Error::Internal { .. })), "{wrong:?}");
    let too_large = Buffer::<u32>::new(&context, "hullfield.test.huge", usize::MAX / 8);
    assert!(matches!(too_large, Err(Error::MemoryLimit { .. })), "{too_large:?}");
    // The engine goes on.
    assert_eq!(filled(&context, 10, 0).unwrap().wait().unwrap().len(), 10);
}

#[test]
fn an_engine_dropped_with_frames_in_flight() {
    for _ in 0..5 {
        let Some(engine) = testing::own_gpu() else { return };
        let pendings: Vec<_> = (0..3).map(|i| filled(&context(&engine), 100_000, 50 + i).unwrap()).collect();
        drop(engine);
        for (i, pending) in (0..).zip(pendings) {
            assert!(pending.wait().unwrap() == fill_on_host(100_000, 50 + i));
        }
    }
    let Some(engine) = testing::own_gpu() else { return };
    drop(filled(&context(&engine), 1_000_000, 50).unwrap());
    drop(engine);
}

/// The engine's own thread must not take the device down while the process ends.
#[test]
fn the_last_engine_waits_for_its_frames() {
    /// A frame that is followed by `more` frames once the last engine is being dropped.
    fn chain(context: &Context, more: u32, completed: Arc<AtomicU32>) -> Result<(Frame, Chain)> {
        let mut frame = Frame::new(context, "hullfield.test.chain")?;
        let output = Buffer::<u32>::new(context, "hullfield.test.output", 1000)?;
        let params = frame.uniform(&[1000_u32, 50, 0, 0])?;
        frame.dispatch(&FILL, &[params, output.bind()], FILL.groups(1000))?;
        let then = move |results: Results| {
            let begin = Instant::now();
            while !results.context().is_closing() && begin.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(1));
            }
            completed.fetch_add(1, Ordering::Relaxed);
            if more == 0 {
                return Ok(Next::Answer(()));
            }
            let (frame, then) = chain(results.context(), more - 1, completed)?;
            Ok(Next::frame(frame, then))
        };
        Ok((frame, Box::new(then)))
    }
    type Chain = Box<dyn FnOnce(Results) -> Result<Next<()>> + Send>;

    for is_awaited in [true, false] {
        let Some(engine) = testing::own_gpu() else { return };
        let completed = Arc::new(AtomicU32::new(0));
        let (frame, then) = chain(&context(&engine), 20, Arc::clone(&completed)).unwrap();
        let pending = Some(frame.submit(then).unwrap()).filter(|_| is_awaited);
        let other = engine.clone();
        drop(engine);
        // Of a frame that nobody awaits what comes after it may be gone already.
        assert!(
            !is_awaited || Arc::strong_count(&completed) == 2,
            "an engine that is not the last has waited"
        );
        drop(other);
        assert_eq!(Arc::strong_count(&completed), 1, "something is still in flight");
        // What nobody awaits ends with the frame that was under way, whose end may have come before the answer was dropped.
        let completed = completed.load(Ordering::Relaxed);
        assert!(
            if is_awaited { completed == 21 } else { completed <= 1 },
            "{completed} frames have completed"
        );
        assert_eq!(pending.map(Pending::wait), is_awaited.then_some(Ok(())));
    }
}

/// How often a frame over `count` values must repeat its step to take a few hundred milliseconds on this device.
fn long_repeat(context: &Context, count: usize) -> u32 {
    let mut repeat = 1000;
    loop {
        let begin = Instant::now();
        filled(context, count, repeat).unwrap().wait().unwrap();
        if begin.elapsed() > Duration::from_millis(300) || repeat > 1 << 29 {
            return repeat;
        }
        repeat *= 2;
    }
}

/// As `filled`; adds to `completed` when the results are on the host.
fn counted(context: &Context, count: usize, repeat: u32, completed: &Arc<AtomicU32>) -> Pending<()> {
    let mut frame = Frame::new(context, "hullfield.test.counted").unwrap();
    let output = Buffer::<u32>::new(context, "hullfield.test.output", count).unwrap();
    let params = frame.uniform(&[count as u32, repeat, 0, 0]).unwrap();
    frame.dispatch(&FILL, &[params, output.bind()], FILL.groups(count as u64)).unwrap();
    let completed = Arc::clone(completed);
    let then = move |_| {
        completed.fetch_add(1, Ordering::SeqCst);
        Ok(Next::Answer(()))
    };
    frame.submit(then).unwrap()
}

/// A driver may make a submission wait for the one before it. No call may wait for that.
#[test]
fn calls_return_while_frames_are_in_flight() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let repeat = long_repeat(&context, 20_000);
    let completed = Arc::default();
    let before = engine.counters().submissions;
    let pendings: Vec<_> = (0..12).map(|_| counted(&context, 20_000, repeat, &completed)).collect();
    let submitted = engine.counters().submissions - before;
    let seen = completed.load(Ordering::SeqCst);
    assert!(seen < 2, "{seen} frames have completed while twelve calls were made");
    // One may have completed that is not counted yet.
    let depth = if context.is_software() { 1 } else { 8 };
    assert!(submitted <= u64::from(seen) + depth + 1, "{submitted} frames went to the device at once");
    for pending in pendings {
        pending.wait().unwrap();
    }
    assert_eq!(completed.load(Ordering::SeqCst), 12);
}

#[test]
fn frames_that_nobody_waits_for_are_not_submitted() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let repeat = long_repeat(&context, 20_000);
    let completed = Arc::default();
    let before = engine.counters().submissions;
    let pendings: Vec<_> = (0..200).map(|_| counted(&context, 20_000, repeat, &completed)).collect();
    drop(pendings);
    // What is asked for now is answered, and what was to be done before it is not.
    assert!(filled(&context, 100, 3).unwrap().wait().unwrap() == fill_on_host(100, 3));
    let submitted = engine.counters().submissions - before;
    assert!((2..100).contains(&submitted), "{submitted} frames went to the device");
    assert!(completed.load(Ordering::SeqCst) < 100);
    // Their buffers are there again.
    let created = engine.counters().buffers_created;
    assert!(filled(&context, 20_000, 1).unwrap().wait().unwrap() == fill_on_host(20_000, 1));
    assert_eq!(engine.counters().buffers_created, created);
}

#[test]
fn a_frame_that_leaves_its_results_on_the_device_runs_though_nobody_waits() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let repeat = long_repeat(&context, 20_000);
    let completed = Arc::default();
    // As many as there may be on the device, and more.
    let blocking: Vec<_> = (0..12).map(|_| counted(&context, 20_000, repeat / 4, &completed)).collect();
    let kept = Buffer::<u32>::new(&context, "hullfield.test.kept", 5_000_000).unwrap();
    for (value, count) in [(1, 5_000_000), (2, 4_000_000), (3, 10)] {
        let mut frame = Frame::new(&context, "hullfield.test.send").unwrap();
        frame.upload(&kept, 0, &vec![value; count]).unwrap();
        frame.send().unwrap();
    }
    drop(blocking);
    let mut frame = Frame::new(&context, "hullfield.test.read").unwrap();
    let parts = [0..11, 3_999_999..4_000_001].map(|range| frame.read(&kept, range).unwrap());
    let take =
        move |results: Results| Ok(Next::Answer(parts.map(|part| results.get(&part).unwrap().into_owned())));
    let [first, second] = frame.submit(take).unwrap().wait().unwrap();
    assert_eq!(first, [3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2]);
    assert_eq!(second, [2, 1]);
}

/// The caller's own submission runs after all queries that were asked before.
#[test]
fn the_callers_own_submissions_come_after_queued_frames() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let (device, queue) = engine.device().map(|(device, queue)| (device.clone(), queue.clone())).unwrap();
    let repeat = long_repeat(&context, 20_000);
    let completed = Arc::default();
    let blocking: Vec<_> = (0..3).map(|_| counted(&context, 20_000, repeat / 4, &completed)).collect();
    let kept = Buffer::<u32>::new(&context, "hullfield.test.kept", 4).unwrap();
    let mut frame = Frame::new(&context, "hullfield.test.send").unwrap();
    frame.upload(&kept, 0, &[1_u32, 2, 3, 4]).unwrap();
    frame.send().unwrap();
    context.flush_for_caller();
    let copied = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(kept.raw(), 0, &copied, 0, Some(16));
    queue.submit([encoder.finish()]);
    copied.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let view = copied.get_mapped_range(..).unwrap();
    assert_eq!(bytemuck::cast_slice::<u8, u32>(&view), [1, 2, 3, 4]);
    drop((view, blocking));
}

#[test]
fn a_dropped_job_of_many_frames_ends_with_the_frame_in_flight() {
    /// A frame that asks for one more, again and again.
    fn endless(context: &Context, completed: Arc<AtomicU32>) -> Result<Next<()>> {
        let mut frame = Frame::new(context, "hullfield.test.endless")?;
        let output = Buffer::<u32>::new(context, "hullfield.test.output", 1000)?;
        let params = frame.uniform(&[1000_u32, 50, 0, 0])?;
        frame.dispatch(&FILL, &[params, output.bind()], FILL.groups(1000))?;
        Ok(Next::frame(frame, move |results: Results| {
            completed.fetch_add(1, Ordering::SeqCst);
            endless(results.context(), completed)
        }))
    }
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    let completed = Arc::new(AtomicU32::new(0));
    let Ok(Next::Frame(frame, then)) = endless(&context, Arc::clone(&completed)) else { panic!("no frame") };
    let pending = frame.submit(move |results| then.run(results)).unwrap();
    let begin = Instant::now();
    let wait_until = |what: &str, holds: &dyn Fn() -> bool| {
        while !holds() {
            assert!(begin.elapsed() < Duration::from_secs(100), "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    wait_until("it never began", &|| completed.load(Ordering::SeqCst) > 3);
    drop(pending);
    wait_until("it goes on", &|| Arc::strong_count(&completed) == 1);
}

#[test]
fn stages_that_are_chained_to_a_frame_start_though_nobody_polls() {
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    let completed = Arc::new(AtomicU32::new(0));
    let [first, second, third] = std::array::from_fn(|_| (context.clone(), Arc::clone(&completed)));
    let chained = counted(&first.0, 1000, 5, &first.1)
        .chain(move |()| Ok(counted(&second.0, 1000, 5, &second.1)))
        .chain(move |()| Ok(counted(&third.0, 1000, 5, &third.1)));
    let begin = Instant::now();
    while completed.load(Ordering::SeqCst) < 3 {
        assert!(begin.elapsed() < Duration::from_secs(100), "the last stage never ran");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(chained.wait(), Ok(()));
}

#[test]
fn a_destroyed_device_gives_errors() {
    for given in [false, true] {
        let Some(engine) = testing::own_gpu() else { return };
        let (device, queue) = engine.device().map(|(device, queue)| (device.clone(), queue.clone())).unwrap();
        let engine = if given {
            Engine::from_device(device.clone(), queue, &EngineOptions::default()).unwrap()
        } else {
            engine
        };
        let context = context(&engine);
        filled(&context, 1000, 1).unwrap().wait().unwrap();
        let kept = Buffer::<u32>::new(&context, "hullfield.test.kept", 1000).unwrap();
        let in_flight: Vec<_> = (0..4).map(|i| filled(&context, 100_000, 50 + i).unwrap()).collect();
        let half_encoded = Frame::new(&context, "hullfield.test").unwrap();
        device.destroy();
        for (i, pending) in (0..).zip(in_flight) {
            match pending.wait() {
                Ok(all) => assert!(all == fill_on_host(100_000, 50 + i), "frame {i} came back wrong"),
                Err(Error::DeviceLost { .. }) => {}
                Err(error) => panic!("given {given}, frame {i}: {error}"),
            }
        }
        let lost =
            |result: Result<()>| assert!(matches!(result, Err(Error::DeviceLost { .. })), "{result:?}");
        lost(half_encoded.submit(|_| Ok(Next::Answer(()))).map(drop));
        lost(filled(&context, 1000, 1).map(drop));
        lost(Frame::new(&context, "hullfield.test").map(drop));
        lost(Buffer::<u32>::new(&context, "hullfield.test.other", 50_000).map(drop));
        lost(context.pipeline(kernels()[0]).map(drop));
        drop(kept);
        drop(engine);
    }
}

#[test]
fn kernels_are_timed_where_the_device_can() {
    let Some(engine) = testing::gpu() else { return };
    let context = context(&engine);
    let mut frame = Frame::new(&context, "hullfield.test.time").unwrap();
    let output = Buffer::<u32>::new(&context, "hullfield.test.output", 100_000).unwrap();
    let params = frame.uniform(&[100_000_u32, 100, 0, 0]).unwrap();
    frame.dispatch(&FILL, &[params, output.bind()], FILL.groups(100_000)).unwrap();
    let times = frame.submit(|results| Ok(Next::Answer(results.times()))).unwrap().wait().unwrap();
    let timed = context.device().features().contains(wgpu::Features::TIMESTAMP_QUERY);
    assert_eq!(times.kernels_ms.is_some(), timed);
    assert!(times.kernels_ms.is_none_or(|ms| ms > 0.0 && ms <= times.round_trip_ms * 1.5 + 1.0), "{times:?}");
}

#[test]
fn each_dispatch_is_timed_where_a_tool_asks() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = context(&engine);
    let run = || {
        let mut frame = Frame::new(&context, "hullfield.test.profile").unwrap();
        let output = Buffer::<u32>::new(&context, "hullfield.test.output", 100_000).unwrap();
        let params = frame.uniform(&[100_000_u32, 50, 0, 0]).unwrap();
        frame.dispatch(&FILL, &[params.clone(), output.bind()], FILL.groups(100_000)).unwrap();
        // More than one query set has timestamps for.
        let kernel = frame.bind_kernel(&FILL, &[params, output.bind()]).unwrap();
        let dispatches: Vec<_> = (0..2100)
            .map(|_| Dispatch { kernel: &kernel, uniform: None, groups: dispatches::Groups::Count(1) })
            .collect();
        frame.dispatch_all("hullfield.test.rounds", &dispatches).unwrap();
        let all = frame.read(&output, 0..100_000).unwrap();
        frame
            .submit(move |results| Ok(Next::Answer(results.get(&all)?.into_owned())))
            .unwrap()
            .wait()
            .unwrap()
    };
    let (found, times) = crate::inspect::time_kernels(&engine, run);
    assert_eq!(found, fill_on_host(100_000, 50));
    let timed = context.device().features().contains(wgpu::Features::TIMESTAMP_QUERY);
    assert_eq!(times.is_some(), timed);
    if let Some(times) = times {
        let [kernel] = times.kernels[..] else { panic!("{times:?}") };
        assert_eq!((kernel.label, kernel.dispatch_count), (FILL.label, 2101));
        assert_eq!(times.frame_count, 1);
        assert!(0.0 < kernel.milliseconds && kernel.milliseconds <= times.span_ms, "{times:?}");
    }
    // Without being asked nothing is timed.
    assert_eq!(run(), found);
    assert!(context.profiler().take().kernels.is_empty());
}
