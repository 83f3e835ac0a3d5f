//! Prefix sums of any length: reduce each block, scan the sums, scan each block.
//!
//! No group waits for another (no "decoupled look-back"): WebGPU promises no forward progress between groups.

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, Result};
use crate::gpu::DISPATCH_WGSL;
use crate::gpu::buffer::{Buffer, chunk_len, chunks};
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, only, read, read_write, uniform};

/// Values of one block, which one workgroup scans: `BLOCK_SIZE` in `shaders/gpu/block.wgsl`.
const BLOCK_SIZE: u32 = WORKGROUP_SIZE * 16;
const WORKGROUP_SIZE: u32 = 128;
/// The longest piece: one group scans the sums of its blocks, 2,048 at a time, at most eight times.
const PIECE_LEN: usize = 1 << 25;

const BLOCK: &str = include_str!("../../shaders/gpu/block.wgsl");
const BLOCK_PREFIX: &str = include_str!("../../shaders/gpu/block_prefix.wgsl");

/// The kernels of a scan.
pub(crate) static KERNELS: &[&Kernel] = &[&SCAN_REDUCE, &SCAN_PARTIALS, &SCAN_BLOCKS];

static SCAN_REDUCE: Kernel = Kernel {
    label: "hullfield.gpu.scan_reduce",
    sources: only(&[DISPATCH_WGSL, BLOCK, include_str!("../../shaders/gpu/scan_reduce.wgsl")]),
    workgroup_size: WORKGROUP_SIZE,
    bindings: only(&[
        uniform("params", "ScanParams"),
        read("values", "array<u32>"),
        read_write("partials", "array<vec2<u32>>"),
    ]),
};

static SCAN_PARTIALS: Kernel = Kernel {
    label: "hullfield.gpu.scan_partials",
    sources: only(&[BLOCK, include_str!("../../shaders/gpu/scan_partials.wgsl")]),
    workgroup_size: WORKGROUP_SIZE,
    bindings: only(&[
        uniform("params", "ScanParams"),
        read_write("partials", "array<vec2<u32>>"),
        read_write("total", "array<u32>"),
    ]),
};

static SCAN_BLOCKS: Kernel = Kernel {
    label: "hullfield.gpu.scan_blocks",
    sources: only(&[DISPATCH_WGSL, BLOCK, BLOCK_PREFIX, include_str!("../../shaders/gpu/scan_blocks.wgsl")]),
    workgroup_size: WORKGROUP_SIZE,
    bindings: only(&[
        uniform("params", "ScanParams"),
        read_write("values", "array<u32>"),
        read("partials", "array<vec2<u32>>"),
    ]),
};

/// The same struct stands in `shaders/gpu/block.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct ScanParams {
    value_count: u32,
    block_count: u32,
}

/// Replaces `values` by their exclusive prefix sums (modulo 2³²), after the kernels that the frame holds so far.
///
/// Returns the exact sum of all values, as its low and its high word. Where the high word is not zero the prefix sums have
/// wrapped around.
///
/// # Errors
/// [`Error::TooMany`] past 2³² values; those of [`Buffer::new`].
pub(crate) fn scan(frame: &mut Frame, values: &Buffer<u32>) -> Result<Buffer<u32>> {
    let total = Buffer::new(frame.context(), "hullfield.gpu.scan_total", 2)?;
    frame.clear(&total);
    let context = frame.context().clone();
    for piece in chunks(values.len(), piece_len(frame, values.len())?) {
        let params = ScanParams {
            value_count: piece.len() as u32,
            block_count: (piece.len() as u32).div_ceil(BLOCK_SIZE),
        };
        let part = values.bind_range(piece);
        let partials =
            Buffer::<[u32; 2]>::new(&context, "hullfield.gpu.scan_partials", params.block_count as usize)?;
        let bound = frame.uniform(&params)?;
        let blocks = params.block_count.into();
        frame.dispatch(&SCAN_REDUCE, &[bound.clone(), part.clone(), partials.bind()], blocks)?;
        frame.dispatch(&SCAN_PARTIALS, &[bound.clone(), partials.bind(), total.bind()], 1)?;
        frame.dispatch(&SCAN_BLOCKS, &[bound, part, partials.bind()], blocks)?;
    }
    Ok(total)
}

/// The length of one piece: what a binding spans, a dispatch can do in time, and one group can scan.
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
        let params = host_struct!(ScanParams { value_count, block_count });
        for kernel in KERNELS {
            compare(&kernel.wgsl(), "ScanParams", &params).unwrap();
        }
    }
}
