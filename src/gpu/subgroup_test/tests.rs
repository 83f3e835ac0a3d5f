//! The test accepts what is right and names what is wrong. A device that fails it runs the forms without subgroup operations.

use std::cell::Cell;

use super::*;
use crate::engine::{BackendChoice, Engine, EngineOptions};
use crate::testing;

thread_local! {
    /// The kernels that devices opened on this thread are tested with.
    static KERNELS_HERE: Cell<[&'static Kernel; 2]> = const { Cell::new([&OF_128, &OF_256]) };
}

pub(super) fn kernels() -> [&'static Kernel; 2] {
    KERNELS_HERE.get()
}

/// Runs `work` with other kernels.
fn with_kernels<R>(kernels: [&'static Kernel; 2], work: impl FnOnce() -> R) -> R {
    let before = KERNELS_HERE.replace(kernels);
    let made = work();
    KERNELS_HERE.set(before);
    made
}

/// The test's kernel for groups of 256, with one text of its WGSL with subgroup operations replaced.
fn changed(from: &str, to: &str) -> &'static Kernel {
    let mut change_count = 0;
    let sources = OF_256.sources.map(|list| {
        let texts = list.iter().map(|text| {
            let text = Form::Subgroups.text(text);
            change_count += text.matches(from).count();
            &*Box::leak(text.replace(from, to).into_boxed_str())
        });
        &*Box::leak(texts.collect::<Vec<&'static str>>().into_boxed_slice())
    });
    assert_eq!(change_count, 1, "{from}");
    Box::leak(Box::new(Kernel { sources, ..kernel("hullfield.test.subgroups", 256) }))
}

/// The words of a right device with subgroups of these lengths, one after another in each group.
fn ideal(group_len: usize, given: &[u32], lengths: &[usize]) -> Vec<u32> {
    assert_eq!(lengths.iter().sum::<usize>(), group_len);
    let firsts = lengths.iter().scan(0, |next, &len| {
        *next += len;
        Some((*next - len, len))
    });
    let spans: Vec<_> = firsts.flat_map(|span| std::iter::repeat_n(span, span.1)).collect();
    let mut words = Vec::new();
    for group in given.chunks_exact(group_len) {
        let all: u64 = group.iter().map(|&value| u64::from(value)).sum();
        let high: u64 = group.iter().map(|&value| u64::from(value >> 17)).sum();
        let wide = all + (high << 32);
        let mut before = 0_u32;
        for (&value, &(first, len)) in group.iter().zip(&spans) {
            let row = [first as u32, len as u32, before, all as u32, wide as u32, (wide >> 32) as u32];
            words.extend(row);
            before = before.wrapping_add(value);
        }
    }
    words
}

#[test]
fn every_word_of_the_comparison_counts() {
    for (group_len, lengths) in
        [(128, &[128][..]), (128, &[32; 4]), (128, &[4; 32]), (256, &[64, 128, 32, 16, 8, 8])]
    {
        let given = values(GROUPS * group_len);
        let words = ideal(group_len, &given, lengths);
        assert_eq!(judge(group_len, &given, &words), None);
        for place in (0..words.len()).step_by(91).chain([words.len() - 1]) {
            let mut wrong = words.clone();
            wrong[place] ^= 1 << (place % 32);
            assert!(judge(group_len, &given, &wrong).is_some(), "word {place}");
        }
    }
    // Subgroups of every other invocation, one that begins within four invocations, and lengths past the group.
    let given = values(GROUPS * 128);
    let right = ideal(128, &given, &[64, 64]);
    for (step, first, len) in [(2, 0, 64), (1, 2, 64), (1, 0, 132), (1, 0, u32::MAX - 3)] {
        let mut wrong = right.clone();
        for (local, row) in wrong.chunks_exact_mut(WORDS).enumerate() {
            (row[0], row[1]) = if local % step == 0 { (first, len) } else { (64, 64) };
        }
        let fault = judge(128, &given, &wrong).unwrap();
        assert!(fault.contains("is in a subgroup of"), "{fault}");
    }
}

#[test]
fn a_fault_is_a_clause_with_the_place() {
    let given = values(GROUPS * 128);
    let mut words = ideal(128, &given, &[32; 4]);
    words[5 * WORDS + 2] += 1;
    let right = given[..5].iter().sum::<u32>();
    let expected = format!("the prefix in invocation 5 of 128 is {:#x}, not {right:#x}", right + 1);
    assert_eq!(judge(128, &given, &words), Some(expected));
    for row in words.chunks_exact_mut(WORDS) {
        row[0] += 2;
    }
    let expected = "invocation 0 of 128 is in a subgroup of 32 that begins with invocation 2";
    assert_eq!(judge(128, &given, &words).as_deref(), Some(expected));
}

/// Each size of a group that a kernel with subgroup operations has is tested.
#[test]
fn every_size_of_a_group_is_tested() {
    let tested = [&OF_128, &OF_256].map(|kernel| kernel.workgroup_size);
    let two_formed = crate::inspect::all().into_iter().filter(|kernel| kernel.forms().len() > 1);
    let mut count = 0;
    for kernel in two_formed {
        assert!(tested.contains(&kernel.workgroup_size), "{}: {}", kernel.label, kernel.workgroup_size);
        count += 1;
    }
    assert!(count > 6, "{count}");
    let words = format!("const WORDS: u32 = {WORDS}u;");
    assert!(OF_128.wgsl().contains(&words), "{words}");
}

/// The device of an engine, if it offers subgroup operations.
fn offered() -> Option<Engine> {
    let engine = testing::own_gpu()?;
    let has = engine.context().unwrap().device().features().contains(wgpu::Features::SUBGROUP);
    if !has {
        println!("no subgroup operations on {}", engine.reason());
    }
    has.then_some(engine)
}

#[test]
fn each_wrong_operation_is_found() {
    let Some(engine) = offered() else { return };
    let (device, queue) = engine.device().unwrap();
    let verdict = || pollster::block_on(crate::gpu::self_test::test(device, queue)).unwrap();
    assert_eq!(verdict(), Subgroups::Tested, "both software drivers pass");
    for (right, wrong, says) in [
        ("subgroupInclusiveAdd(own)", "subgroupExclusiveAdd(own)", "the prefix in invocation 0 of 256"),
        ("subgroupBroadcastFirst(local)", "subgroupMax(local)", "that begins with invocation"),
        ("subgroupBallot(true)", "subgroupBallot((local & 1u) == 0u)", "invocation 0 of 256"),
        ("return BlockPrefix(subgroupAdd(before)", "return BlockPrefix(before", "the prefix in invocation"),
        ("subgroupAdd(all))", "all)", "the sum in invocation"),
        ("all = subgroupAdd(all);", "", "of the sum in invocation"),
        // What a device would do that numbers its invocations otherwise.
        ("let own = values[index];", "let own = values[index ^ 1u];", "the prefix in invocation 1 of 256"),
        // No WGSL.
        ("let span = subgroup_span(local);\n    let block", "let block", "span"),
    ] {
        let kernels = [&OF_128, changed(right, wrong)];
        let Subgroups::Failed(fault) = with_kernels(kernels, verdict) else { panic!("{wrong} passed") };
        assert!(fault.contains(says), "{wrong}: {fault}");
    }
}

#[test]
fn a_device_that_fails_does_without() {
    let Some(good) = offered() else { return };
    assert!(!good.reason().contains("subgroup"), "{}", good.reason());
    let wrong = [&OF_128, changed("subgroupInclusiveAdd(own)", "subgroupInclusiveAdd(own ^ 1u)")];
    with_kernels(wrong, || {
        let options = EngineOptions { backend: BackendChoice::Gpu, ..Default::default() };
        let (device, queue) = good.device().unwrap();
        let given = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default()).unwrap();
        for engine in [Engine::new(&options).unwrap(), given] {
            let says =
                "; kernels use no subgroup operations, which failed the self-test: the prefix in invocation";
            assert!(engine.reason().contains(says), "{}", engine.reason());
            assert_eq!(engine.context().unwrap().form(), Form::Plain);
        }
    });
}

/// A device that the application opened without subgroup operations.
#[test]
fn a_device_without_the_feature_does_without() {
    let Some(engine) = offered() else { return };
    let adapters = pollster::block_on(crate::gpu::adapter::software());
    let name = engine.adapter_name().unwrap();
    let Some(adapter) = adapters.iter().find(|adapter| adapter.get_info().name == name) else { return };
    let descriptor = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor)).unwrap();
    let engine = Engine::from_device(device, queue, &EngineOptions::default()).unwrap();
    assert_eq!(engine.context().unwrap().form(), Form::Plain);
    assert!(!engine.reason().contains("subgroup"), "{}", engine.reason());
    // Nor can a test ask for them.
    assert_eq!(engine.with_subgroups(true).context().unwrap().form(), Form::Plain);
}
