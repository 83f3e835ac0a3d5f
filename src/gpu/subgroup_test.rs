//! The test of a device's subgroup operations.
//!
//! WGSL does not say which invocations of a group form a subgroup. The forms of kernels with subgroup operations need that a subgroup's
//! invocations have consecutive local indices, in their order within the subgroup, from a multiple of four on. So each device that offers
//! subgroup operations runs the functions that those kernels use, once, in groups of each size that they have, and the host compares every
//! word. Where one is wrong, kernels do without.

use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::form::{BLOCK_PREFIX_WGSL, BLOCK_SUM_WGSL, Form};
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Binding, Kernel, Trust, only, read, read_write};
use crate::gpu::scan::BLOCK;
use crate::gpu::submit::Next;
use crate::gpu::wgsl::wgsl;
use crate::pending::Pending;

/// The kernels of the test: one for each size of a group that a kernel with subgroup operations has.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[&OF_128, &OF_256];

static OF_128: Kernel = kernel("hullfield.gpu.subgroup_test_128", 128);
static OF_256: Kernel = kernel("hullfield.gpu.subgroup_test_256", 256);

const BINDINGS: &[Binding] = &[read("values", "array<u32>"), read_write("outcomes", "array<u32>")];

const fn kernel(label: &'static str, workgroup_size: u32) -> Kernel {
    Kernel {
        label,
        sources: only(&[
            BLOCK,
            BLOCK_PREFIX_WGSL,
            BLOCK_SUM_WGSL,
            wgsl!("../../shaders/gpu/subgroup_test.wgsl"),
        ]),
        workgroup_size,
        trust: Trust::Checked,
        bindings: only(BINDINGS),
    }
}

/// What is known of a device's subgroup operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subgroups {
    /// The device has none, or was opened without.
    Absent,
    /// They passed the test.
    Tested,
    /// They failed the test: what was wrong, as a clause.
    Failed(String),
}

impl Subgroups {
    /// The form of the kernels, and why it is the plain one although the device has subgroup operations.
    pub(crate) fn form(self) -> (Form, Option<String>) {
        match self {
            Self::Absent => (Form::Plain, None),
            Self::Tested => (Form::Subgroups, None),
            Self::Failed(fault) => {
                let why = format!("kernels use no subgroup operations, which failed the self-test: {fault}");
                (Form::Plain, Some(why))
            }
        }
    }
}

/// Tests a device. `context` serves for nothing else. An error of the device is a failed test: the plain forms need nothing of this.
///
/// Browsers need WGSL that says `enable subgroups;`, which naga 30 does not know. So kernels use no subgroup operations there.
pub(crate) async fn test(context: &Context) -> Subgroups {
    if cfg!(target_arch = "wasm32") || !context.device().features().contains(wgpu::Features::SUBGROUP) {
        return Subgroups::Absent;
    }
    context.set_form(Form::Subgroups);
    for kernel in kernels() {
        let verdict = match start(context, kernel) {
            Ok(pending) => pending.await,
            Err(error) => Err(error),
        };
        match verdict {
            Ok(None) => {}
            Ok(Some(fault)) => return Subgroups::Failed(fault),
            Err(error) => return Subgroups::Failed(error.to_string()),
        }
    }
    Subgroups::Tested
}

#[cfg(not(test))]
fn kernels() -> [&'static Kernel; 2] {
    [&OF_128, &OF_256]
}

#[cfg(test)]
use tests::kernels;

/// The words that an invocation writes: `WORDS` in `shaders/gpu/subgroup_test.wgsl`.
const WORDS: usize = 6;

/// Groups of each size.
const GROUPS: usize = 12;

/// One dispatch and one readback. The answer is what was wrong.
fn start(context: &Context, kernel: &'static Kernel) -> Result<Pending<Option<String>>> {
    let group_len = kernel.workgroup_size as usize;
    let given = values(GROUPS * group_len);
    let mut frame = Frame::new(context, "hullfield.gpu.subgroup_test")?;
    let values = Buffer::<u32>::new(context, "hullfield.gpu.subgroup_test_values", given.len())?;
    let outcomes = Buffer::<u32>::new(context, "hullfield.gpu.subgroup_test_outcomes", given.len() * WORDS)?;
    frame.upload(&values, 0, &given)?;
    frame.dispatch(kernel, &[values.bind(), outcomes.bind()], GROUPS as u64)?;
    let words = frame.read(&outcomes, 0..outcomes.len())?;
    frame.submit(move |results| Ok(Next::Answer(judge(group_len, &given, &results.get(&words)?))))
}

/// The operands: the same in every run. Prefixes of the first group are small, all others wrap around.
fn values(count: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |at: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = (state >> 32) as u32;
        match at / 128 {
            0 | 1 => word >> 16,
            2 | 3 => u32::MAX,
            _ => word,
        }
    };
    (0..count).map(&mut next).collect()
}

/// The first word that is wrong, as a clause.
fn judge(group_len: usize, values: &[u32], words: &[u32]) -> Option<String> {
    let groups = values.chunks_exact(group_len).zip(words.chunks_exact(group_len * WORDS));
    groups.into_iter().find_map(|(values, words)| {
        let rows: Vec<&[u32]> = words.chunks_exact(WORDS).collect();
        let all: u64 = values.iter().map(|&value| u64::from(value)).sum();
        let wide: u64 = values.iter().map(|&value| u64::from(value) | u64::from(value >> 17) << 32).sum();
        let mut before = 0_u32;
        values.iter().zip(&rows).enumerate().find_map(|(local, (value, row))| {
            let (first, len) = (row[0] as usize, row[1] as usize);
            let is_whole = first % 4 == 0 && len % 4 == 0 && (first..first + len).contains(&local);
            let is_shared = rows
                .get(first..first + len)
                .is_some_and(|members| members.iter().all(|member| member[..2] == row[..2]));
            let named = format!("invocation {local} of {group_len}");
            if !is_whole || !is_shared {
                return Some(format!(
                    "{named} is in a subgroup of {len} that begins with invocation {first}"
                ));
            }
            let right = [before, all as u32, wide as u32, (wide >> 32) as u32];
            before = before.wrapping_add(*value);
            let names = ["prefix", "sum", "low word of the sum", "high word of the sum"];
            let found = names.iter().zip(&row[2..]).zip(right).find(|((_, found), right)| **found != *right);
            found.map(|((name, found), right)| format!("the {name} in {named} is {found:#x}, not {right:#x}"))
        })
    })
}

#[cfg(test)]
mod tests;
