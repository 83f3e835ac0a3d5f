//! The self-test of a device's arithmetic.
//!
//! What f32 decides rests on how a device rounds (ARCHITECTURE, "Bounds of the f32 paths"). WGSL promises the accuracy of each operation,
//! but lets a compiler fuse and reorder them, and does not say which neighbour of a result is taken. So each device computes some
//! thousand samples once, before it gets work, by the functions that the kernels use. The host compares every result with its own: exactly
//! where kernels need the exact bits, else within the share of the result that the bounds allow. Nothing is asked of NaN, infinities and
//! denormals, which WGSL lets a compiler ignore.

use std::fmt;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};

use crate::account::Account;
use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::device::Origin;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, Trust, only, read, read_write, uniform};
use crate::gpu::subgroup_test::{self, Subgroups};
use crate::gpu::submit::Next;
use crate::gpu::wgsl::wgsl;
use crate::gpu::{DISPATCH_WGSL, ROUNDING_WGSL, TWICE_WGSL};
use crate::pending::{Pending, WasmNotSend};
use crate::rounding;

/// The kernel of the self-test.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[&SELF_TEST];

static SELF_TEST: Kernel = Kernel {
    label: "hullfield.gpu.self_test",
    sources: only(&[DISPATCH_WGSL, ROUNDING_WGSL, TWICE_WGSL, wgsl!("../../shaders/gpu/self_test.wgsl")]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "SelfTestParams"),
        read("samples", "array<Sample>"),
        read_write("outcomes", "array<u32>"),
    ]),
};

/// The same struct stands in `shaders/gpu/self_test.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct SelfTestParams {
    sample_count: u32,
    zero: u32,
    word_count: u32,
    padding: u32,
}

/// The operands of all operations. The same struct stands in `shaders/gpu/self_test.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Sample {
    a: [f32; 3],
    time: f32,
    b: [f32; 3],
    wide_a: f32,
    c: [f32; 3],
    wide_b: f32,
    d: [f32; 3],
    word: u32,
}

/// Tests a device, its subgroup operations last. In a browser it awaits the browser, natively it waits for the device's queue.
///
/// What it uses is freed at its end and counts as nothing that the engine has made. A device that computes nothing (wgpu's `noop`) is
/// not tested.
///
/// # Errors
/// [`Error::NoGpu`] with the operation, its operands, what it gave, and what is allowed; [`Error::DeviceLost`] and the like. Wrong subgroup
/// operations are no error.
pub(crate) async fn test(device: &wgpu::Device, queue: &wgpu::Queue) -> Result<Subgroups> {
    let Some(SelfTest { context, outcome }) = begin(device, queue, |verdict| verdict)? else {
        return Ok(Subgroups::Absent);
    };
    let outcome = match outcome.await {
        Ok(()) => Ok(subgroup_test::test(&context).await),
        Err(error) => Err(error),
    };
    context.close();
    outcome
}

/// A self-test that runs. Dropping its outcome cancels it.
#[derive(Debug)]
pub(crate) struct SelfTest {
    context: Context,
    pub(crate) outcome: Pending<()>,
}

/// Starts the test of a device; none for a device that needs no test. `then` gets the verdict, and its result is the outcome.
///
/// # Errors
/// What went wrong before the device took the work.
pub(crate) fn begin(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    then: impl FnOnce(Result<()>) -> Result<()> + WasmNotSend + 'static,
) -> Result<Option<SelfTest>> {
    if !is_needed(device) {
        return Ok(None);
    }
    // Of its own, so that nothing counts for the engine, and the callbacks of the device stay as they are.
    let account = Arc::new(Account::new(None, None));
    let context = Context::new(device.clone(), queue.clone(), account, Origin::Given)?;
    let outcome = start(&context, kernel(), then)?;
    Ok(Some(SelfTest { context, outcome }))
}

fn is_needed(device: &wgpu::Device) -> bool {
    device.adapter_info().backend != wgpu::Backend::Noop
}

#[cfg(not(test))]
fn kernel() -> &'static Kernel {
    &SELF_TEST
}

#[cfg(test)]
use tests::kernel;

/// One dispatch and one readback.
fn start(
    context: &Context,
    kernel: &'static Kernel,
    then: impl FnOnce(Result<()>) -> Result<()> + WasmNotSend + 'static,
) -> Result<Pending<()>> {
    let samples = samples();
    let word_count = word_count();
    let mut frame = Frame::new(context, "hullfield.gpu.self_test")?;
    let operands = Buffer::<Sample>::new(context, "hullfield.gpu.self_test_samples", samples.len())?;
    let outcomes =
        Buffer::<u32>::new(context, "hullfield.gpu.self_test_outcomes", samples.len() * word_count)?;
    frame.upload(&operands, 0, &samples)?;
    let params = frame.uniform(&SelfTestParams {
        sample_count: samples.len() as u32,
        zero: 0,
        word_count: word_count as u32,
        padding: 0,
    })?;
    let groups = kernel.groups(samples.len() as u64);
    frame.dispatch(kernel, &[params, operands.bind(), outcomes.bind()], groups)?;
    let words = frame.read(&outcomes, 0..outcomes.len())?;
    frame.submit(move |results| {
        let judged = judge(&samples, &results.get(&words)?);
        let verdict = judged.map_err(|fault| Error::NoGpu { message: fault.to_string() });
        then(verdict).map(Next::Answer)
    })
}

/// A result that is not allowed.
#[derive(Debug, Clone, PartialEq)]
struct Fault {
    operation: &'static str,
    operands: String,
    found: String,
    allowed: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, operands, found, allowed } = self;
        write!(
            formatter,
            "its arithmetic failed the self-test: `{operation}` with {operands} gave {found}, it must give {allowed}; \
             update the driver, or take the CPU engine"
        )
    }
}

/// What a word of a row must be.
#[derive(Debug, Clone, Copy)]
enum Allowed {
    Word(u32),
    /// This value; zero with any sign.
    Exactly(f32),
    /// This value, off by no more than that.
    Within(f64, f64),
    /// Anything: the operands are outside of what is asked of a device.
    Anything,
}

impl Allowed {
    fn holds(self, found: u32) -> bool {
        let value = f32::from_bits(found);
        match self {
            Self::Word(word) => found == word,
            Self::Exactly(exact) => found == exact.to_bits() || value == 0.0 && exact == 0.0,
            // False for NaN.
            Self::Within(exact, error) => (f64::from(value) - exact).abs() <= error,
            Self::Anything => true,
        }
    }
}

/// An operation: the words that it adds to a row, and what each must be.
struct Check {
    /// In WGSL.
    operation: &'static str,
    word_count: usize,
    operands: Operands,
    allowed: fn(&Sample, usize) -> Allowed,
}

const fn check(
    operation: &'static str,
    word_count: usize,
    operands: Operands,
    allowed: fn(&Sample, usize) -> Allowed,
) -> Check {
    Check { operation, word_count, operands, allowed }
}

/// Which operands a message shows.
#[derive(Debug, Clone, Copy)]
enum Operands {
    /// The components of `a` and `b` that belong to the word.
    Lanes,
    /// Vectors: how many of `a`, `b`, `c`, `d`.
    Vectors(usize),
    /// All vectors and the time.
    Motion,
    /// The two numbers of any exponent.
    Wide,
    /// The integer.
    Word,
}

impl Operands {
    fn show(self, sample: &Sample, word: usize) -> String {
        let vectors = [("a", sample.a), ("b", sample.b), ("c", sample.c), ("d", sample.d)];
        let shown_vectors = |count: usize| {
            let shown = |(name, [x, y, z]): (&str, [f32; 3])| {
                format!("{name} = ({}, {}, {})", shown(x), shown(y), shown(z))
            };
            vectors.into_iter().take(count).map(shown).collect::<Vec<_>>().join(", ")
        };
        match self {
            Self::Lanes => {
                let lane = word % 3;
                format!("a = {}, b = {}", shown(sample.a[lane]), shown(sample.b[lane]))
            }
            Self::Vectors(count) => shown_vectors(count),
            Self::Motion => format!("{}, time = {}", shown_vectors(vectors.len()), shown(sample.time)),
            Self::Wide => format!("a = {}, b = {}", shown(sample.wide_a), shown(sample.wide_b)),
            Self::Word => format!("the word {:#010x}", sample.word),
        }
    }
}

/// The fewest digits that tell it from every other f32.
fn shown(value: f32) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e9).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

/// Half a unit in the last place of 1.
const U: f64 = 1.0 / 16_777_216.0;
/// What may be lost where a denormal is flushed, a few times.
const FLUSHED: f64 = 1e-37;
/// Shares of the result that the bounds allow: see ARCHITECTURE.
const QUOTIENT_ERROR: f64 = 5.0 * U;
const ROOT_ERROR: f64 = 9.0 * U;
const LENGTH_ERROR: f64 = 11.0 * U;
const NORMALIZED_ERROR: f64 = 16.0 * U;
/// `TWICE_ERROR` in `shaders/shared/twice.wgsl`.
const TWICE_ERROR: f64 = 3e-14;

fn within(exact: f64, error: f64) -> Allowed {
    // The second term is for f64's own rounding.
    Allowed::Within(exact, error + 1e-15 * exact.abs() + FLUSHED)
}

/// This value and no other, where no denormal may have been flushed.
fn exactly(value: f32) -> Allowed {
    if value == 0.0 || f64::from(value.abs()) > FLUSHED {
        Allowed::Exactly(value)
    } else {
        Allowed::Within(value.into(), FLUSHED)
    }
}

/// A sum of products, of which as many are added as there are.
fn sum_of_products<const N: usize>(products: [[f32; 2]; N]) -> Allowed {
    let terms = products.map(|[x, y]| f64::from(x) * f64::from(y));
    let sizes: f64 = terms.iter().map(|term| term.abs()).sum();
    within(terms.iter().sum(), (N as f64 * U * 1.001 + 1e-15) * sizes)
}

fn length(v: [f32; 3]) -> f64 {
    v.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt()
}

/// The upper 12 of 24 bits.
fn upper(x: f32) -> f32 {
    f32::from_bits(x.to_bits() & 0xffff_f000)
}

fn compared(a: f32, b: f32) -> u32 {
    let each = [a < b, a <= b, a > b, a >= b, a == b, a != b];
    (0..).zip(each).map(|(bit, holds)| u32::from(holds) << bit).sum()
}

/// The number of 24 bits that the conversions begin with.
fn whole(sample: &Sample) -> u32 {
    sample.word & 0x00ff_ffff
}

/// `whole` over 256, which is exact.
fn part(sample: &Sample) -> f32 {
    whole(sample) as f32 / 256.0
}

/// All operations, in the order of the row.
static CHECKS: &[Check] = &[
    check("a", 1, Operands::Wide, |s, _| Allowed::Exactly(s.wide_a)),
    check("-a", 1, Operands::Wide, |s, _| Allowed::Exactly(-s.wide_a)),
    check("abs(a)", 1, Operands::Wide, |s, _| Allowed::Exactly(s.wide_a.abs())),
    check("select(a, b, condition)", 1, Operands::Wide, |s, _| {
        Allowed::Exactly(if s.word & 1 != 0 { s.wide_b } else { s.wide_a })
    }),
    check("a < b, a <= b, a > b, a >= b, a == b, a != b", 1, Operands::Lanes, |s, _| {
        Allowed::Word(compared(s.a[0], s.b[0]))
    }),
    check("a < b, a <= b, a > b, a >= b, a == b, a != b", 1, Operands::Wide, |s, _| {
        Allowed::Word(compared(s.wide_a, s.wide_b))
    }),
    check("min(a, b)", 1, Operands::Wide, |s, _| Allowed::Exactly(s.wide_a.min(s.wide_b))),
    check("max(a, b)", 1, Operands::Wide, |s, _| Allowed::Exactly(s.wide_a.max(s.wide_b))),
    check("word * 0x9e3779b9u", 1, Operands::Word, |s, _| Allowed::Word(s.word.wrapping_mul(0x9e37_79b9))),
    check("word / ((word >> 16u) | 1u)", 1, Operands::Word, |s, _| {
        Allowed::Word(s.word / (s.word >> 16 | 1))
    }),
    check("word << (word & 31u)", 1, Operands::Word, |s, _| Allowed::Word(s.word << (s.word & 31))),
    check("word >> (word & 31u)", 1, Operands::Word, |s, _| Allowed::Word(s.word >> (s.word & 31))),
    check("countOneBits(word)", 1, Operands::Word, |s, _| Allowed::Word(s.word.count_ones())),
    check("countTrailingZeros(word)", 1, Operands::Word, |s, _| Allowed::Word(s.word.trailing_zeros())),
    check("firstTrailingBit(word)", 1, Operands::Word, |s, _| {
        Allowed::Word(if s.word == 0 { u32::MAX } else { s.word.trailing_zeros() })
    }),
    check("firstLeadingBit(word)", 1, Operands::Word, |s, _| {
        Allowed::Word(s.word.checked_ilog2().unwrap_or(u32::MAX))
    }),
    check("f32(word & 0xffffffu)", 1, Operands::Word, |s, _| Allowed::Exactly(whole(s) as f32)),
    check("u32(f32(word & 0xffffffu) / 256)", 1, Operands::Word, |s, _| Allowed::Word(whole(s) / 256)),
    check("i32(-f32(word & 0xffffffu) / 256)", 1, Operands::Word, |s, _| {
        Allowed::Word((whole(s) / 256).wrapping_neg())
    }),
    check("floor(-f32(word & 0xffffffu) / 256)", 1, Operands::Word, |s, _| {
        Allowed::Exactly((-part(s)).floor())
    }),
    check("a + b", 3, Operands::Lanes, |s, i| {
        let exact = f64::from(s.a[i]) + f64::from(s.b[i]);
        within(exact, U * exact.abs())
    }),
    check("a - b", 3, Operands::Lanes, |s, i| {
        let exact = f64::from(s.a[i]) - f64::from(s.b[i]);
        within(exact, U * exact.abs())
    }),
    check("a * b", 3, Operands::Lanes, |s, i| {
        let exact = f64::from(s.a[i]) * f64::from(s.b[i]);
        within(exact, U * exact.abs())
    }),
    check("a / b", 3, Operands::Lanes, |s, i| {
        let exact = f64::from(s.a[i]) / f64::from(s.b[i]);
        within(exact, QUOTIENT_ERROR * exact.abs())
    }),
    check("sqrt(abs(a))", 3, Operands::Lanes, |s, i| {
        let exact = f64::from(s.a[i]).abs().sqrt();
        within(exact, ROOT_ERROR * exact)
    }),
    check("dot(a, b)", 1, Operands::Vectors(2), |s, _| sum_of_products([0, 1, 2].map(|k| [s.a[k], s.b[k]]))),
    check("cross(a, b)", 3, Operands::Vectors(2), |s, i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        sum_of_products([[s.a[j], s.b[k]], [-s.a[k], s.b[j]]])
    }),
    check("mat3x3f(a, b, c) * d", 3, Operands::Vectors(4), |s, i| {
        sum_of_products([[s.a[i], s.d[0]], [s.b[i], s.d[1]], [s.c[i], s.d[2]]])
    }),
    check("d * mat3x3f(a, b, c)", 3, Operands::Vectors(4), |s, i| {
        sum_of_products([0, 1, 2].map(|k| [s.d[k], [s.a, s.b, s.c][i][k]]))
    }),
    check("length(a)", 1, Operands::Vectors(1), |s, _| within(length(s.a), LENGTH_ERROR * length(s.a))),
    check("normalize(a)", 3, Operands::Vectors(1), |s, i| {
        let exact = f64::from(s.a[i]) / length(s.a);
        if exact.is_nan() { Allowed::Anything } else { within(exact, NORMALIZED_ERROR * exact.abs()) }
    }),
    check("flush(a)", 1, Operands::Wide, |s, _| Allowed::Exactly(rounding::flush(s.wide_a))),
    check("add(a, b)", 1, Operands::Lanes, |s, _| exactly(rounding::add(s.a[0], s.b[0]))),
    check("mul(a, b)", 1, Operands::Lanes, |s, _| exactly(rounding::mul(s.a[0], s.b[0]))),
    check("add3(a.x, b.x, c.x)", 1, Operands::Vectors(3), |s, _| {
        exactly(rounding::add3(s.a[0], s.b[0], s.c[0]))
    }),
    check("dot3(a, b)", 1, Operands::Vectors(2), |s, _| exactly(rounding::dot(s.a, s.b))),
    check("opaque3(a - b) + (c - d) * 0x1p-24", 3, Operands::Vectors(4), |s, i| {
        // The remainders may be added in any order, but not before the positions are subtracted.
        let apart = f64::from(s.a[i] - s.b[i]);
        let (c, d) = (f64::from(s.c[i]) * U, f64::from(s.d[i]) * U);
        within(apart + (c - d), U * 1.001 * (apart.abs() + 3.0 * (c.abs() + d.abs())))
    }),
    check("two_sum(a, b).sum", 3, Operands::Lanes, |s, i| exactly(s.a[i] + s.b[i])),
    check("two_sum(a, b).rest", 3, Operands::Lanes, |s, i| {
        let (a, b) = (f64::from(s.a[i]), f64::from(s.b[i]));
        exactly((a + b - f64::from(s.a[i] + s.b[i])) as f32)
    }),
    check("upper(a)", 3, Operands::Lanes, |s, i| exactly(upper(s.a[i]))),
    check("a - upper(a)", 3, Operands::Lanes, |s, i| exactly(s.a[i] - upper(s.a[i]))),
    check("upper(a) * upper(b)", 3, Operands::Lanes, |s, i| exactly(upper(s.a[i]) * upper(s.b[i]))),
    check("upper(a) * (b - upper(b))", 3, Operands::Lanes, |s, i| {
        exactly(upper(s.a[i]) * (s.b[i] - upper(s.b[i])))
    }),
    check("(a - upper(a)) * upper(b)", 3, Operands::Lanes, |s, i| {
        exactly((s.a[i] - upper(s.a[i])) * upper(s.b[i]))
    }),
    check("offset_at(two_sum(a, -b), two_sum(c, -d), time)", 3, Operands::Motion, |s, i| {
        let apart = f64::from(s.a[i]) - f64::from(s.b[i]);
        let way = (f64::from(s.c[i]) - f64::from(s.d[i])) * f64::from(s.time);
        let exact = apart + way;
        within(exact, U * exact.abs() + TWICE_ERROR * (apart.abs() + way.abs()))
    }),
];

/// The length of a row.
fn word_count() -> usize {
    CHECKS.iter().map(|check| check.word_count).sum()
}

/// Compares all rows, operation by operation, so that an operation is named before those that are made of it.
fn judge(samples: &[Sample], words: &[u32]) -> std::result::Result<(), Fault> {
    let row_len = word_count();
    let mut begin = 0;
    for check in CHECKS {
        for (sample, row) in samples.iter().zip(words.chunks_exact(row_len)) {
            for word in 0..check.word_count {
                let (found, allowed) = (row[begin + word], (check.allowed)(sample, word));
                if !allowed.holds(found) {
                    return Err(fault(check, sample, word, found, allowed));
                }
            }
        }
        begin += check.word_count;
    }
    Ok(())
}

fn fault(check: &Check, sample: &Sample, word: usize, found: u32, allowed: Allowed) -> Fault {
    let value = shown(f32::from_bits(found));
    let (found, allowed) = match allowed {
        Allowed::Word(word) => (format!("{found:#x}"), format!("{word:#x}")),
        Allowed::Exactly(exact) => (value, shown(exact)),
        Allowed::Within(exact, error) => {
            (value, format!("{} within {error:.1e}", crate::error::shown(exact)))
        }
        Allowed::Anything => (value, "anything".to_owned()),
    };
    let operands = check.operands.show(sample, word);
    Fault { operation: check.operation, operands, found, allowed }
}

/// Rows of operands.
const SAMPLE_COUNT: usize = 2048;

/// The operands: the same in every run.
fn samples() -> Vec<Sample> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    (0..SAMPLE_COUNT).map(|row| sample(row, &mut random)).collect()
}

fn sample(row: usize, random: &mut Random) -> Sample {
    let kind = row % 8;
    let mut lanes = [[0.0; 4]; 3];
    for lane in &mut lanes {
        let (a, b) = random.pair(kind);
        let other_kind = if random.below(2) == 0 { kind } else { 0 };
        let (c, d) = random.pair(other_kind);
        *lane = [a, b, c, d];
    }
    // Powers of two, so that nothing that is exact becomes inexact.
    let scale = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, FAR, 1.0 / FAR][random.below(8) as usize];
    let of = |operand: usize| lanes.map(|lane| lane[operand] * scale);
    let (wide_a, wide_b) = random.wide_pair();
    let word = random.word() >> [0, 0, 0, 8, 16, 24, 28, 31][random.below(8) as usize];
    let word = if random.below(4) == 0 { word.reverse_bits() } else { word };
    let time = if random.below(16) == 0 { 0.0 } else { random.float(0).abs() };
    Sample { a: of(0), time, b: of(1), wide_a, c: of(2), wide_b, d: of(3), word }
}

/// The largest binary exponent of an operand, and the least with a minus: so narrow that f64 holds every sum and product of two exactly.
const EXPONENT: i32 = 14;

/// The scale of some samples: 2⁴⁵, so that products of two operands are still f32.
const FAR: f32 = (1_u64 << 45) as f32;

/// Pseudorandom numbers (splitmix64: Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 32) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.word() % limit
    }

    fn exponent(&mut self) -> i32 {
        self.below(2 * EXPONENT as u32 + 1) as i32 - EXPONENT
    }

    /// A number with this exponent and mantissa, of either sign.
    fn number(&mut self, exponent: i32, mantissa: u32) -> f32 {
        let sign = self.word() & 0x8000_0000;
        f32::from_bits(sign | ((127 + exponent) as u32) << 23 | mantissa & 0x007f_ffff)
    }

    /// A number of a kind: 5 next to a power of two, 6 with hard halves, 7 small and whole, or zero; else any.
    fn float(&mut self, kind: usize) -> f32 {
        let (exponent, mantissa) = (self.exponent(), self.word());
        match kind {
            5 => {
                let mantissa = [0, 1, 2, 0x7f_ffff, 0x7f_fffe, 0x40_0000][self.below(6) as usize];
                self.number(exponent, mantissa)
            }
            6 => {
                let low = [0, 1, 0x7ff, 0x800, 0x801, 0xfff][self.below(6) as usize];
                let high = [mantissa, 0, 0xffff_ffff][self.below(3) as usize];
                self.number(exponent, high & !0xfff | low)
            }
            7 => [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 10.0, 0.1][self.below(8) as usize],
            _ => self.number(exponent, mantissa),
        }
    }

    /// Two operands. The second is not zero.
    fn pair(&mut self, kind: usize) -> (f32, f32) {
        let a = self.float(kind);
        match kind {
            // They cancel but for a few units in the last place.
            2 => (a, -f32::from_bits(a.to_bits() + self.below(8) - 4)),
            // The sum is a tie, or next to one.
            3 => {
                let exponent = (a.to_bits() >> 23 & 0xff) as i32 - 127 - 24;
                let (below, mantissa) = [(0, 0), (0, 1), (1, 0x7f_ffff)][self.below(3) as usize];
                (a, self.number(exponent - below, mantissa))
            }
            // The product has 25 bits, of which the last is 1: a tie, where it does not have 24.
            4 => {
                let (e, f) = (self.exponent(), self.exponent());
                let (m, n) = (self.word(), self.word());
                (self.number(e, m << 12 | 1 << 12), self.number(f, n << 11 | 1 << 11))
            }
            7 => {
                let b = self.float(7);
                (a, if b == 0.0 { 7.0 } else { b })
            }
            _ => (a, self.float(kind)),
        }
    }

    /// Two numbers of any exponent, often equal or next to one another, or one that kernels give a meaning.
    fn wide_pair(&mut self) -> (f32, f32) {
        let any = |random: &mut Self| {
            let (exponent, mantissa) = (random.below(253) as i32 - 126, random.word());
            random.number(exponent, mantissa)
        };
        let marks = [
            f32::MAX,
            -f32::MAX,
            1e38,
            -1e38,
            1e37,
            rounding::TINY,
            -rounding::TINY,
            f32::from_bits(rounding::TINY.to_bits() - 1),
            0.0,
            -0.0,
            f32::MIN_POSITIVE,
            1.0,
        ];
        let mark = |random: &mut Self| marks[random.below(marks.len() as u32) as usize];
        let a = if self.below(3) == 0 { mark(self) } else { any(self) };
        let b = match self.below(4) {
            0 => a,
            1 => -a,
            2 => mark(self),
            _ => any(self),
        };
        (a, b)
    }
}

#[cfg(test)]
mod tests;
