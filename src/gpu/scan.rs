//! Prefix sums of any length: a short list in one dispatch by one group; a longer one in two, reduce each block, scan each block.
//!
//! No group waits for another (no "decoupled look-back"): WebGPU promises no forward progress between groups. Each group of the
//! second dispatch sums the blocks before its own, so that no third one is needed to scan their sums.

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, Result};
use crate::gpu::DISPATCH_WGSL;
use crate::gpu::buffer::{Buffer, chunk_len, chunks};
use crate::gpu::form::{BLOCK_PREFIX_WGSL, BLOCK_SUM_WGSL};
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, Trust, only, read, read_write, uniform};
use crate::gpu::wgsl::wgsl;

/// Values of one block, which one workgroup scans: `BLOCK_SIZE` in `shaders/gpu/block.wgsl`.
const BLOCK_SIZE: u32 = WORKGROUP_SIZE * 16;
const WORKGROUP_SIZE: u32 = 128;
/// The longest piece: each group sums at most 2,048 blocks, as many sums as its block has values.
const PIECE_LEN: usize = 2048 * BLOCK_SIZE as usize;
/// The longest list that one group scans alone: eight rounds of 4,096 values.
const SHORT_LEN: usize = 1 << 15;

pub(crate) const BLOCK: &str = wgsl!("../../shaders/gpu/block.wgsl");
const TOTAL: &str = wgsl!("../../shaders/gpu/scan_total.wgsl");

/// The kernels of a scan.
pub(crate) static KERNELS: &[&Kernel] = &[&SCAN_SHORT, &SCAN_REDUCE, &SCAN_BLOCKS];

static SCAN_SHORT: Kernel = Kernel {
    label: "hullfield.gpu.scan_short",
    sources: only(&[BLOCK, BLOCK_PREFIX_WGSL, TOTAL, wgsl!("../../shaders/gpu/scan_short.wgsl")]),
    workgroup_size: 256,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "ScanParams"),
        read_write("values", "array<u32>"),
        read_write("total", "array<u32>"),
    ]),
};

static SCAN_REDUCE: Kernel = Kernel {
    label: "hullfield.gpu.scan_reduce",
    sources: only(&[
        DISPATCH_WGSL,
        BLOCK,
        BLOCK_PREFIX_WGSL,
        BLOCK_SUM_WGSL,
        wgsl!("../../shaders/gpu/scan_reduce.wgsl"),
    ]),
    workgroup_size: WORKGROUP_SIZE,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "ScanParams"),
        read("values", "array<u32>"),
        read_write("partials", "array<vec2<u32>>"),
    ]),
};

static SCAN_BLOCKS: Kernel = Kernel {
    label: "hullfield.gpu.scan_blocks",
    sources: only(&[
        DISPATCH_WGSL,
        BLOCK,
        BLOCK_PREFIX_WGSL,
        BLOCK_SUM_WGSL,
        TOTAL,
        wgsl!("../../shaders/gpu/scan_blocks.wgsl"),
    ]),
    workgroup_size: WORKGROUP_SIZE,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "ScanParams"),
        read_write("values", "array<u32>"),
        read("partials", "array<vec2<u32>>"),
        read_write("total", "array<u32>"),
    ]),
};

/// The same struct stands in `shaders/gpu/block.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct ScanParams {
    value_count: u32,
    block_count: u32,
    carry_at: u32,
    total_at: u32,
}

/// Replaces `values` by their exclusive prefix sums (modulo 2³²), after the kernels that the frame holds so far.
///
/// The first two words of the returned buffer are the exact sum of all values, low and high. Where the high word is not zero
/// the prefix sums have wrapped around.
///
/// # Errors
/// [`Error::TooMany`] past 2³² values; those of [`Buffer::new`].
pub(crate) fn scan(frame: &mut Frame, values: &Buffer<u32>) -> Result<Buffer<u32>> {
    let len = values.len();
    let piece_len = piece_len(frame, len)?;
    let is_short = len <= SHORT_LEN.min(piece_len);
    if !is_short {
        // A shorter list later needs this kernel. Built now, it costs that frame no time.
        frame.pipeline(&SCAN_SHORT)?;
    }
    let pieces = len.div_ceil(piece_len).max(1);
    // Words 0 and 1: the sum. Then the sum up to the end of each piece but the last.
    let total = Buffer::new(frame.context(), "hullfield.gpu.scan_total", 2 * pieces)?;
    if len == 0 {
        frame.clear(&total);
    }
    let context = frame.context().clone();
    for (at, piece) in (0_u32..).zip(chunks(len, piece_len)) {
        let params = ScanParams {
            value_count: piece.len() as u32,
            block_count: (piece.len() as u32).div_ceil(BLOCK_SIZE),
            carry_at: 2 * at,
            total_at: if piece.end == len { 0 } else { 2 * (at + 1) },
        };
        let bound = frame.uniform(&params)?;
        let part = values.bind_range(piece);
        if is_short {
            frame.dispatch(&SCAN_SHORT, &[bound, part, total.bind()], 1)?;
            continue;
        }
        let partials =
            Buffer::<[u32; 2]>::new(&context, "hullfield.gpu.scan_partials", params.block_count as usize)?;
        let blocks = params.block_count.into();
        frame.dispatch(&SCAN_REDUCE, &[bound.clone(), part.clone(), partials.bind()], blocks)?;
        frame.dispatch(&SCAN_BLOCKS, &[bound, part, partials.bind(), total.bind()], blocks)?;
    }
    Ok(total)
}

/// The length of one piece: what a binding spans, a dispatch can do in time, and a group can sum.
fn piece_len(frame: &Frame, len: usize) -> Result<usize> {
    if u32::try_from(len).is_err() {
        return Err(Error::TooMany { what: "values to scan", count: len as u64, limit: u32::MAX.into() });
    }
    let context = frame.context();
    // About four steps for each value.
    let in_time = context.steps_per_dispatch() as usize / (4 * BLOCK_SIZE as usize) * BLOCK_SIZE as usize;
    Ok(chunk_len::<u32>(context).min(in_time).min(PIECE_LEN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::layout::{compare, host_struct};

    #[test]
    fn params_lie_as_in_the_shaders() {
        let params = host_struct!(ScanParams { value_count, block_count, carry_at, total_at });
        for kernel in KERNELS {
            compare(&kernel.wgsl(), "ScanParams", &params).unwrap();
        }
    }
}
