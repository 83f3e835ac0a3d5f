//! The self-test passes where it should, and refuses each operation that is wrong.

use std::cell::Cell;

use super::*;
use crate::engine::{BackendChoice, Engine, EngineOptions};
use crate::gpu::adapter::{open_first, software};
use crate::gpu::layout::{compare, host_struct};
use crate::testing;

thread_local! {
    /// The kernel that devices opened on this thread are tested with.
    static KERNEL: Cell<&'static Kernel> = const { Cell::new(&SELF_TEST) };
}

pub(super) fn kernel() -> &'static Kernel {
    KERNEL.get()
}

/// Runs `work` with another kernel.
fn with_kernel<R>(kernel: &'static Kernel, work: impl FnOnce() -> R) -> R {
    let before = KERNEL.replace(kernel);
    let made = work();
    KERNEL.set(before);
    made
}

#[test]
fn structs_lie_as_in_the_shader() {
    let wgsl = SELF_TEST.wgsl();
    let params = host_struct!(SelfTestParams { sample_count, zero, word_count, padding });
    compare(&wgsl, "SelfTestParams", &params).unwrap();
    let sample = host_struct!(Sample { a, time, b, wide_a, c, wide_b, d, word });
    compare(&wgsl, "Sample", &sample).unwrap();
    let error = format!("const TWICE_ERROR: f32 = {TWICE_ERROR:e};");
    assert!(wgsl.contains(&error), "{error}");
}

/// A row per sample that holds what is allowed, to the nearest f32.
fn ideal(samples: &[Sample]) -> Vec<u32> {
    let word = |allowed| match allowed {
        Allowed::Word(word) => word,
        Allowed::Exactly(exact) => exact.to_bits(),
        Allowed::Within(exact, _) => (exact as f32).to_bits(),
        Allowed::Anything => f32::NAN.to_bits(),
    };
    let row = |sample| {
        CHECKS.iter().flat_map(move |check| (0..check.word_count).map(move |i| (check.allowed)(sample, i)))
    };
    samples.iter().flat_map(row).map(word).collect()
}

#[test]
fn f64_holds_the_sums_and_products_of_the_samples() {
    for sample in samples() {
        for (a, b) in sample.a.into_iter().zip(sample.b) {
            let (a, b) = (f64::from(a), f64::from(b));
            for b in [b, -b] {
                // The rounding error of the sum (Knuth 1969).
                let sum = a + b;
                let of_b = sum - a;
                assert!((a - (sum - of_b)) + (b - of_b) == 0.0, "{a} + {b}");
            }
            assert!(b != 0.0 && (a * b).abs() < f32::MAX.into());
        }
    }
}

#[test]
fn the_samples_are_hard() {
    let samples = samples();
    let lanes = || samples.iter().flat_map(|sample| sample.a.into_iter().zip(sample.b));
    let count = |is: &dyn Fn(f64, f64) -> bool| lanes().filter(|&(a, b)| is(a.into(), b.into())).count();
    let is_tie = |x: f64| {
        let (down, rest) = (f64::from_bits(x.to_bits() & !0x1fff_ffff), x.to_bits() & 0x1fff_ffff);
        down != 0.0 && rest == 0x1000_0000
    };
    let nearly_cancel = |a: f64, b: f64| a + b != 0.0 && (a + b).abs() < 1e-5 * a.abs();
    for (what, found) in [
        ("ties of sums", count(&|a, b| is_tie(a + b))),
        ("ties of products", count(&|a, b| is_tie(a * b))),
        (
            "sums that nearly cancel, to the sign of a",
            count(&|a, b| nearly_cancel(a, b) && a.abs() > b.abs()),
        ),
        (
            "sums that nearly cancel, to the sign of b",
            count(&|a, b| nearly_cancel(a, b) && a.abs() < b.abs()),
        ),
        ("sums that cancel", count(&|a, b| a + b == 0.0)),
        ("sums that are not f32", count(&|a, b| f64::from((a + b) as f32) != a + b)),
        ("zeros", count(&|a, _| a == 0.0)),
        ("powers of two", count(&|a, _| a.to_bits() << 12 == 0)),
    ] {
        println!("{found} {what}");
        assert!(found > 100, "{found} {what}");
    }
}

#[test]
fn every_word_of_the_comparison_counts() {
    let samples = samples();
    let words = ideal(&samples);
    judge(&samples, &words).unwrap();
    let row_len = word_count();
    let mut column = 0;
    for check in CHECKS {
        for word in 0..check.word_count {
            let mut wrong_count = 0;
            // A few rows: the judge reads all rows before it finds a late fault.
            for (row, sample) in samples.iter().enumerate().step_by(97) {
                let place = row * row_len + column;
                let wrong = match (check.allowed)(sample, word) {
                    Allowed::Word(right) => right ^ 1,
                    // The sign of a zero doesn't count.
                    Allowed::Exactly(right) => right.to_bits() ^ 1,
                    Allowed::Within(exact, error) => {
                        let past = (exact + 1.5 * error) as f32;
                        if (f64::from(past) - exact).abs() <= error {
                            continue;
                        }
                        past.to_bits()
                    }
                    Allowed::Anything => continue,
                };
                for wrong in [wrong, f32::NAN.to_bits()] {
                    let mut perturbed = words.clone();
                    perturbed[place] = wrong;
                    let fault = judge(&samples, &perturbed).unwrap_err();
                    assert_eq!(fault.operation, check.operation);
                }
                wrong_count += 1;
            }
            assert!(wrong_count > 0, "{}", check.operation);
            column += 1;
        }
    }
}

#[test]
fn a_fault_is_one_sentence_with_the_operands() {
    let mut samples = samples();
    samples.truncate(1);
    (samples[0].a, samples[0].b) = ([1.0, 2.0, 0.5], [3.0, 4.0, 0.25]);
    let mut words = ideal(&samples);
    let column = CHECKS
        .iter()
        .take_while(|check| check.operation != "a / b")
        .map(|check| check.word_count)
        .sum::<usize>();
    words[column] = 0.25_f32.to_bits();
    let text = judge(&samples, &words).unwrap_err().to_string();
    let expected = "its arithmetic failed the self-test: `a / b` with a = 1, b = 3 gave 0.25, it must give 0.3333333333333333 within \
                    9.9e-8; update the driver, or take the CPU engine";
    assert_eq!(text, expected);
}

/// The verdict of a kernel on a device.
fn verdict(engine: &Engine, kernel: &'static Kernel) -> Result<()> {
    let (device, queue) = engine.device().unwrap();
    with_kernel(kernel, || pollster::block_on(test(device, queue))).map(drop)
}

#[test]
fn the_device_passes() {
    let Some(engine) = testing::own_gpu() else { return };
    verdict(&engine, &SELF_TEST).unwrap();
    assert_eq!(engine.counters(), crate::account::Counters::default(), "the test counts as nothing");
}

/// The kernel with one text of its WGSL replaced.
fn changed(from: &str, to: &str) -> &'static Kernel {
    let mut change_count = 0;
    let sources = SELF_TEST.sources.map(|list| {
        let texts = list.iter().map(|text| {
            change_count += text.matches(from).count();
            &*Box::leak(text.replace(from, to).into_boxed_str())
        });
        &*Box::leak(texts.collect::<Vec<&'static str>>().into_boxed_slice())
    });
    assert_eq!(change_count, 1, "{from}");
    Box::leak(Box::new(Kernel {
        label: SELF_TEST.label,
        sources,
        workgroup_size: SELF_TEST.workgroup_size,
        trust: SELF_TEST.trust,
        bindings: SELF_TEST.bindings,
    }))
}

/// For each operation: a text of the WGSL, and a wrong one in its place. What a driver might make of the right text stands here as
/// text: other roundings, fused products, sums in another order.
const WRONG: [(&str, &str, &str); 44] = [
    ("a", "put_f32(wide_a);", "put_f32(wide_a * 1.0000001);"),
    ("-a", "put_f32(-wide_a);", "put_f32(wide_a);"),
    ("abs(a)", "put_f32(abs(wide_a));", "put_f32(wide_a);"),
    ("select(a, b, condition)", "(word & 1u) != 0u", "(word & 3u) != 0u"),
    ("a < b, a <= b, a > b, a >= b, a == b, a != b", "u32(a < b)", "u32(a <= b)"),
    ("min(a, b)", "min(wide_a, wide_b)", "wide_a"),
    ("max(a, b)", "max(wide_a, wide_b)", "wide_b"),
    ("word * 0x9e3779b9u", "word * 0x9e3779b9u", "(word & 0xffffffu) * 0x9e3779b9u"),
    ("word / ((word >> 16u) | 1u)", "word / (", "u32(f32(word)) / ("),
    ("word << (word & 31u)", "word << (word & 31u)", "word << (word & 15u)"),
    ("word >> (word & 31u)", "word >> (word & 31u)", "bitcast<u32>(bitcast<i32>(word) >> (word & 31u))"),
    ("countOneBits(word)", "countOneBits(word)", "countOneBits(word & 0x7fffffffu)"),
    ("countTrailingZeros(word)", "countTrailingZeros(word)", "firstTrailingBit(word)"),
    ("firstTrailingBit(word)", "firstTrailingBit(word)", "countTrailingZeros(word)"),
    ("firstLeadingBit(word)", "firstLeadingBit(word)", "countLeadingZeros(word)"),
    ("f32(word & 0xffffffu)", "put_f32(whole)", "put_f32(whole + 0.5)"),
    ("u32(f32(word & 0xffffffu) / 256)", "u32(part)", "u32(part + 0.5)"),
    ("i32(-f32(word & 0xffffffu) / 256)", "i32(-part)", "i32(floor(-part))"),
    ("floor(-f32(word & 0xffffffu) / 256)", "floor(-part)", "ceil(-part)"),
    ("a + b", "put_vec3(a + b)", "put_vec3(bitcast<vec3f>(bitcast<vec3u>(a + b) & vec3u(0xfffffffeu)))"),
    ("a - b", "put_vec3(a - b)", "put_vec3((a + 1.0) - (b + 1.0))"),
    ("a * b", "put_vec3(a * b)", "put_vec3(bitcast<vec3f>(bitcast<vec3u>(a * b) | vec3u(1u)))"),
    ("a / b", "put_vec3(a / b)", "put_vec3(a * (1.0000004 / b))"),
    ("sqrt(abs(a))", "sqrt(abs(a))", "1.0000007 * sqrt(abs(a))"),
    ("dot(a, b)", "dot(a, b)", "dot(a * 1.0000005, b)"),
    ("cross(a, b)", "cross(a, b)", "cross(a * 1.0000005, b)"),
    ("mat3x3f(a, b, c) * d", "mat3x3f(a, b, c) * d", "mat3x3f(a, b, c) * (d * 1.0000005)"),
    ("d * mat3x3f(a, b, c)", "d * mat3x3f(a, b, c)", "(d * 1.0000005) * mat3x3f(a, b, c)"),
    ("length(a)", "put_f32(length(a))", "put_f32(length(a) * 1.000001)"),
    ("normalize(a)", "normalize(a)", "normalize(a) * 1.000001"),
    ("flush(a)", "abs(x) < TINY", "abs(x) <= TINY"),
    ("add(a, b)", "return opaque(a + b);", "return opaque(a + b * 1.0000001);"),
    // Not flushed.
    ("mul(a, b)", "return flush(opaque(a * b));", "return opaque(a * b);"),
    ("add3(a.x, b.x, c.x)", "return add(add(a, b), c);", "return add(a, add(b, c));"),
    (
        "dot3(a, b)",
        "return add3(mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z));",
        "return flush(fma(a.z, b.z, fma(a.y, b.y, a.x * b.x)));",
    ),
    (
        "opaque3(a - b) + (c - d) * 0x1p-24",
        "opaque3(a - b) + (c - d) * 0x1p-24",
        "(a + c * 0x1p-24) - (b + d * 0x1p-24)",
    ),
    ("two_sum(a, b).sum", "put_vec3(sum.sum)", "put_vec3(sum.sum + sum.sum * 1e-7)"),
    // By the rules of real numbers the rest is zero.
    ("two_sum(a, b).rest", "opaque3(opaque3(a - of_a) + opaque3(b - of_b))", "vec3f(0.0)"),
    ("upper(a)", "0xfffff000u", "0xffffe000u"),
    ("a - upper(a)", "put_vec3(low_a)", "put_vec3(low_a * 1.0000001)"),
    ("upper(a) * upper(b)", "put_vec3(high_a * high_b)", "put_vec3(fma(high_a, b, -(high_a * low_b)))"),
    ("upper(a) * (b - upper(b))", "put_vec3(high_a * low_b)", "put_vec3(high_a * b - high_a * high_b)"),
    ("(a - upper(a)) * upper(b)", "put_vec3(low_a * high_b)", "put_vec3(a * high_b - high_a * high_b)"),
    (
        "offset_at(two_sum(a, -b), two_sum(c, -d), time)",
        "return opaque3(third.sum + rest);",
        "return opaque3(apart.sum + velocity.sum * time);",
    ),
];

#[test]
fn each_wrong_operation_is_refused_by_its_name() {
    let mut tried: Vec<_> = WRONG.iter().map(|&(operation, ..)| operation).collect();
    let mut all: Vec<_> = CHECKS.iter().map(|check| check.operation).collect();
    // Two checks have the same comparisons.
    all.dedup();
    tried.sort_unstable();
    all.sort_unstable();
    assert_eq!(tried, all, "a wrong text for each operation");
    let Some(engine) = testing::own_gpu() else { return };
    let mut accepted = Vec::new();
    for (operation, right, wrong) in WRONG {
        match verdict(&engine, changed(right, wrong)) {
            Err(Error::NoGpu { message }) => {
                let begin = format!("its arithmetic failed the self-test: `{operation}` with ");
                assert!(message.starts_with(&begin), "{operation}: {message}");
            }
            other => accepted.push((operation, other)),
        }
    }
    assert!(accepted.is_empty(), "{accepted:?}");
}

#[test]
fn a_device_that_fails_is_not_used() {
    let Some(good) = testing::gpu() else { return };
    let wrong = changed("put_vec3(a + b)", "put_vec3(a + b + a)");
    let name = good.adapter_name().unwrap().to_owned();
    let said = |message: &str| {
        assert!(message.contains(&name), "{message}");
        assert_eq!(
            message.matches("its arithmetic failed the self-test: `a + b` with a = ").count(),
            1,
            "{message}"
        );
        assert!(message.ends_with("update the driver, or take the CPU engine"), "{message}");
        assert_eq!(message.matches("no GPU can do this").count(), 0, "{message}");
    };
    with_kernel(wrong, || {
        let options = EngineOptions { backend: BackendChoice::Gpu, ..Default::default() };
        let Err(Error::NoGpu { message }) = Engine::new(&options) else { panic!("an engine") };
        said(&message);
        let (device, queue) = good.device().unwrap();
        let shared = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default());
        let Err(Error::NoGpu { message }) = shared else { panic!("an engine") };
        said(&message);
        // What `auto` does with the real GPUs of a machine, here with its software adapters.
        let adapters = pollster::block_on(software());
        let account = Arc::new(Account::new(None, None));
        if !adapters.is_empty() {
            let all: Vec<_> = adapters.iter().collect();
            said(&pollster::block_on(open_first(&all, &account)).unwrap_err());
        }
        // Without a GPU `auto` is the CPU, and says so.
        assert_eq!(Engine::auto().unwrap().backend(), crate::engine::Backend::Cpu);
    });
    // Not for good: the next device is tested anew.
    let (device, queue) = good.device().unwrap();
    Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default()).unwrap();
}

/// In a browser the verdict on a device of the caller comes after the engine.
#[test]
fn a_device_that_is_refused_later_gives_no_answer() {
    let Some(engine) = testing::own_gpu() else { return };
    let context = engine.context().unwrap();
    let values = Buffer::<u32>::new(context, "hullfield.test.refused", 64).unwrap();
    let frame = || {
        let mut frame = Frame::new(context, "hullfield.test.refused")?;
        frame.upload(&values, 0, &[7; 64])?;
        let all = frame.read(&values, 0..64)?;
        frame.submit(move |results| Ok(Next::Answer(results.get(&all)?.into_owned())))
    };
    assert_eq!(frame().unwrap().wait().unwrap(), [7; 64]);
    let error = Error::NoGpu { message: "its arithmetic failed the self-test".to_owned() };
    context.faults().refuse(error.clone());
    for _ in 0..2 {
        assert_eq!(frame().map(drop), Err(error.clone()));
    }
}

#[test]
fn a_device_that_computes_nothing_is_not_tested() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    assert!(!is_needed(&device));
    assert_eq!(pollster::block_on(test(&device, &queue)).unwrap(), Subgroups::Absent);
}
