//! Prefix sums and stream compaction, of any length: reduce each block, scan the sums, scan each block.
//!
//! No group waits for another (no "decoupled look-back"): WebGPU promises no forward progress between groups.

use bytemuck::{Pod, Zeroable};

use super::{
    Buffer, DISPATCH_WGSL, Frame, Kernel,
    buffer::{chunk_len, chunks},
    read, read_write, uniform,
};
use crate::{Error, Result};

/// Values that one workgroup works on: `BLOCK_SIZE` in `shaders/gpu/block.wgsl`.
const BLOCK_SIZE: u32 = WORKGROUP_SIZE * 16;
const WORKGROUP_SIZE: u32 = 128;
/// Longest piece: one group walks over the sums of its blocks, 2,048 at a time, so eight times at most.
const PIECE_LEN: usize = 1 << 25;

const BLOCK: &str = include_str!("../../shaders/gpu/block.wgsl");
const BLOCK_PREFIX: &str = include_str!("../../shaders/gpu/block_prefix.wgsl");
const WEIGH_VALUE: &str = include_str!("../../shaders/gpu/weigh_value.wgsl");
const WEIGH_FLAG: &str = include_str!("../../shaders/gpu/weigh_flag.wgsl");
const REDUCE: &str = include_str!("../../shaders/gpu/scan_reduce.wgsl");

/// The kernels of this folder, for the tests that look at every kernel.
#[cfg(test)]
pub(crate) static KERNELS: &[&Kernel] =
    &[&SCAN_REDUCE, &SCAN_PARTIALS, &SCAN_BLOCKS, &COMPACT_REDUCE, &COMPACT];

static SCAN_REDUCE: Kernel = Kernel {
    label: "hullfield.gpu.scan_reduce",
    sources: &[DISPATCH_WGSL, BLOCK, WEIGH_VALUE, REDUCE],
    workgroup_size: WORKGROUP_SIZE,
    bindings: &[
        uniform("params", "ScanParams"),
        read("values", "array<u32>"),
        read_write("partials", "array<vec2<u32>>"),
    ],
};

static SCAN_PARTIALS: Kernel = Kernel {
    label: "hullfield.gpu.scan_partials",
    sources: &[BLOCK, include_str!("../../shaders/gpu/scan_partials.wgsl")],
    workgroup_size: WORKGROUP_SIZE,
    bindings: &[
        uniform("params", "ScanParams"),
        read_write("partials", "array<vec2<u32>>"),
        read_write("total", "array<u32>"),
    ],
};

static SCAN_BLOCKS: Kernel = Kernel {
    label: "hullfield.gpu.scan_blocks",
    sources: &[DISPATCH_WGSL, BLOCK, BLOCK_PREFIX, include_str!("../../shaders/gpu/scan_blocks.wgsl")],
    workgroup_size: WORKGROUP_SIZE,
    bindings: &[
        uniform("params", "ScanParams"),
        read_write("values", "array<u32>"),
        read("partials", "array<vec2<u32>>"),
    ],
};

static COMPACT_REDUCE: Kernel = Kernel {
    label: "hullfield.gpu.compact_reduce",
    sources: &[DISPATCH_WGSL, BLOCK, WEIGH_FLAG, REDUCE],
    workgroup_size: WORKGROUP_SIZE,
    bindings: &[
        uniform("params", "ScanParams"),
        read("values", "array<u32>"),
        read_write("partials", "array<vec2<u32>>"),
    ],
};

static COMPACT: Kernel = Kernel {
    label: "hullfield.gpu.compact",
    sources: &[
        DISPATCH_WGSL,
        BLOCK,
        BLOCK_PREFIX,
        WEIGH_FLAG,
        include_str!("../../shaders/gpu/compact.wgsl"),
    ],
    workgroup_size: WORKGROUP_SIZE,
    bindings: &[
        uniform("params", "ScanParams"),
        read("values", "array<u32>"),
        read("partials", "array<vec2<u32>>"),
        read_write("indices", "array<u32>"),
    ],
};

/// The same struct stands in `shaders/gpu/block.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
struct ScanParams {
    value_count: u32,
    block_count: u32,
    first_value: u32,
    slot_begin: u32,
    slot_end: u32,
}

/// Replaces `values` by their exclusive prefix sums (modulo 2³²), after the kernels that the frame holds so far.
///
/// Returns the exact sum of all, as its low and its high word: where the high one is not zero, so many items cannot
/// be counted by the prefix sums.
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
            ..Default::default()
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

/// Writes the indices of those `flags` that are not zero to `indices`, in order, as many as fit.
///
/// Returns how many there are, whether they fit or not, as a low and a high word.
///
/// # Errors
/// [`Error::TooMany`] past 2³² flags; those of [`Buffer::new`].
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "collide's kernels write compacted rows themselves; flow's will not")
)]
pub(crate) fn compact(frame: &mut Frame, flags: &Buffer<u32>, indices: &Buffer<u32>) -> Result<Buffer<u32>> {
    let total = Buffer::new(frame.context(), "hullfield.gpu.compact_total", 2)?;
    frame.clear(&total);
    let context = frame.context().clone();
    for piece in chunks(flags.len(), piece_len(frame, flags.len())?) {
        let mut params = ScanParams {
            value_count: piece.len() as u32,
            block_count: (piece.len() as u32).div_ceil(BLOCK_SIZE),
            first_value: piece.start as u32,
            ..Default::default()
        };
        let part = flags.bind_range(piece);
        let partials =
            Buffer::<[u32; 2]>::new(&context, "hullfield.gpu.scan_partials", params.block_count as usize)?;
        let bound = frame.uniform(&params)?;
        let blocks = params.block_count.into();
        frame.dispatch(&COMPACT_REDUCE, &[bound.clone(), part.clone(), partials.bind()], blocks)?;
        frame.dispatch(&SCAN_PARTIALS, &[bound, partials.bind(), total.bind()], 1)?;
        // Which slots a piece writes is known on the device only: it is offered every window of the output.
        for window in chunks(indices.len(), chunk_len::<u32>(&context)) {
            (params.slot_begin, params.slot_end) = (window.start as u32, window.end as u32);
            let bound = frame.uniform(&params)?;
            let slots = indices.bind_range(window);
            frame.dispatch(&COMPACT, &[bound, part.clone(), partials.bind(), slots], blocks)?;
        }
    }
    Ok(total)
}

/// Values of one piece: what a binding spans, what a dispatch may do in time, what one group can walk over.
fn piece_len(frame: &Frame, len: usize) -> Result<usize> {
    if u32::try_from(len).is_err() {
        return Err(Error::TooMany { what: "values to scan", count: len as u64, limit: u32::MAX.into() });
    }
    let context = frame.context();
    // About four steps a value.
    let in_time = context.steps_per_dispatch() as usize / (4 * BLOCK_SIZE as usize) * BLOCK_SIZE as usize;
    Ok(chunk_len::<u32>(context).min(in_time).min(PIECE_LEN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::layout::{compare, host_struct};

    #[test]
    fn params_lie_as_in_the_shaders() {
        let params = host_struct!(ScanParams { value_count, block_count, first_value, slot_begin, slot_end });
        for kernel in KERNELS {
            compare(&kernel.wgsl(), "ScanParams", &params).unwrap();
        }
    }
}
