//! A stable radix sort of keys with values, of any length: count each block's digits, scan, place each block.
//!
//! Eight bits a pass, from the least (LSD), five dispatches each. Blocks are sorted in workgroup memory before they
//! are written, so that writes go to runs of neighbouring places. No group waits for another, and the answer is the
//! same on every adapter.

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, Result};
use crate::gpu::buffer::{Buffer, chunk_len, chunks};
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, only, read, read_write, uniform};
use crate::gpu::{DISPATCH_WGSL, scan};

const WORKGROUP_SIZE: u32 = 128;
/// Keys that one workgroup sorts: `SORT_BLOCK` in `shaders/gpu/sort_block.wgsl`.
const BLOCK: usize = WORKGROUP_SIZE as usize * 8;
/// The number of values of a digit.
const DIGITS: usize = 256;
/// Bits of a digit.
const DIGIT_BITS: u32 = 8;
/// The cost of one key, in steps (see `Context::steps_per_dispatch`).
const STEPS: u64 = 16;

const SORT_BLOCK: &str = include_str!("../../shaders/gpu/sort_block.wgsl");

/// The kernels of a sort, scans apart.
pub(crate) static KERNELS: &[&Kernel] = &[&SORT_COUNT, &SORT_PLACE];

static SORT_COUNT: Kernel = Kernel {
    label: "hullfield.gpu.sort_count",
    sources: only(&[DISPATCH_WGSL, SORT_BLOCK, include_str!("../../shaders/gpu/sort_count.wgsl")]),
    workgroup_size: WORKGROUP_SIZE,
    bindings: only(&[
        uniform("params", "SortParams"),
        read("keys", "array<u32>"),
        read_write("counts", "array<u32>"),
    ]),
};

static SORT_PLACE: Kernel = Kernel {
    label: "hullfield.gpu.sort_place",
    sources: only(&[
        DISPATCH_WGSL,
        SORT_BLOCK,
        include_str!("../../shaders/gpu/block_prefix.wgsl"),
        include_str!("../../shaders/gpu/sort_place.wgsl"),
    ]),
    workgroup_size: WORKGROUP_SIZE,
    bindings: only(&[
        uniform("params", "SortParams"),
        read("keys", "array<u32>"),
        read("values", "array<u32>"),
        read("offsets", "array<u32>"),
        read_write("sorted_keys", "array<u32>"),
        read_write("sorted_values", "array<u32>"),
    ]),
};

/// As in `shaders/gpu/sort_block.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
struct SortParams {
    key_count: u32,
    block_count: u32,
    block_begin: u32,
    block_end: u32,
    shift: u32,
    slot_begin: u32,
    slot_end: u32,
    padding: u32,
}

/// Keys and their values.
#[derive(Debug, Clone)]
pub(crate) struct Keyed {
    pub(crate) keys: Buffer<u32>,
    pub(crate) values: Buffer<u32>,
}

/// Sorts `list` by the low `key_bits` bits of its keys; equal keys keep their order. The bits above must be zero. Both `list` and
/// `spare`, of the same length, are written; the one with the sorted keys is returned.
///
/// # Errors
/// [`Error::TooMany`] where the digits' counts, one word for four keys, outgrow a binding; those of [`Buffer::new`].
pub(crate) fn sort(frame: &mut Frame, list: Keyed, spare: Keyed, key_bits: u32) -> Result<Keyed> {
    let context = frame.context().clone();
    let count = list.keys.len();
    let blocks = count.div_ceil(BLOCK);
    let counts_limit = chunk_len::<u32>(&context);
    if blocks.saturating_mul(DIGITS) > counts_limit || u32::try_from(count).is_err() {
        let limit = (counts_limit / DIGITS * BLOCK) as u64;
        return Err(Error::TooMany { what: "keys to sort", count: count as u64, limit });
    }
    if count < 2 {
        return Ok(list);
    }
    let (mut from, mut to) = (list, spare);
    let in_time = (context.steps_per_dispatch() / STEPS) as usize / BLOCK;
    let piece_blocks = (chunk_len::<u32>(&context) / BLOCK).min(in_time).max(1);
    for shift in (0..key_bits).step_by(DIGIT_BITS as usize) {
        let counts = Buffer::<u32>::new(&context, "hullfield.gpu.sort_counts", blocks * DIGITS)?;
        let params = |piece: &std::ops::Range<usize>, slots: std::ops::Range<usize>| SortParams {
            key_count: count as u32,
            block_count: blocks as u32,
            block_begin: piece.start as u32,
            block_end: piece.end as u32,
            shift,
            slot_begin: slots.start as u32,
            slot_end: slots.end as u32,
            padding: 0,
        };
        let keys_of = |piece: &std::ops::Range<usize>| piece.start * BLOCK..(piece.end * BLOCK).min(count);
        for piece in chunks(blocks, piece_blocks) {
            let bound =
                [frame.uniform(&params(&piece, 0..0))?, from.keys.bind_range(keys_of(&piece)), counts.bind()];
            frame.dispatch(&SORT_COUNT, &bound, piece.len() as u64)?;
        }
        scan(frame, &counts)?;
        for piece in chunks(blocks, piece_blocks) {
            // Only the device knows where a key goes, so each piece runs for every window of the output.
            for slots in chunks(count, chunk_len::<u32>(&context)) {
                let bound = [
                    frame.uniform(&params(&piece, slots.clone()))?,
                    from.keys.bind_range(keys_of(&piece)),
                    from.values.bind_range(keys_of(&piece)),
                    counts.bind(),
                    to.keys.bind_range(slots.clone()),
                    to.values.bind_range(slots),
                ];
                frame.dispatch(&SORT_PLACE, &bound, piece.len() as u64)?;
            }
        }
        std::mem::swap(&mut from, &mut to);
    }
    Ok(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::context::Context;
    use crate::gpu::layout::{compare, host_struct};
    use crate::gpu::submit::Next;
    use crate::testing;

    fn noise(count: usize, mask: u32) -> Vec<u32> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 32) as u32 & mask
        };
        (0..count).map(|_| next()).collect()
    }

    /// The list of keys, each with its place, sorted on the device.
    fn sorted(context: &Context, keys: &[u32], key_bits: u32) -> Result<Vec<(u32, u32)>> {
        let mut frame = Frame::new(context, "hullfield.test.sort")?;
        let count = keys.len();
        let keyed = |[keys, values]: [&'static str; 2]| {
            Result::Ok(Keyed {
                keys: Buffer::new(context, keys, count)?,
                values: Buffer::new(context, values, count)?,
            })
        };
        let list = keyed(["hullfield.test.keys", "hullfield.test.values"])?;
        let spare = keyed(["hullfield.test.keys", "hullfield.test.values"])?;
        frame.upload(&list.keys, 0, keys)?;
        frame.upload(&list.values, 0, &(0..count as u32).collect::<Vec<_>>())?;
        let list = sort(&mut frame, list, spare, key_bits)?;
        let (keys, values) = (frame.read(&list.keys, 0..count)?, frame.read(&list.values, 0..count)?);
        let answer = frame.submit(move |results| {
            let (keys, values) = (results.get(&keys)?, results.get(&values)?);
            Ok(Next::Answer(keys.iter().copied().zip(values.iter().copied()).collect()))
        })?;
        answer.wait()
    }

    fn on_host(keys: &[u32]) -> Vec<(u32, u32)> {
        let mut list: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
        list.sort_by_key(|&(key, _)| key);
        list
    }

    #[test]
    fn params_lie_as_in_the_shaders() {
        let params = host_struct!(SortParams {
            key_count,
            block_count,
            block_begin,
            block_end,
            shift,
            slot_begin,
            slot_end,
            padding
        });
        for kernel in KERNELS {
            compare(&kernel.wgsl(), "SortParams", &params).unwrap();
        }
    }

    #[test]
    fn sort_equals_the_hosts_stable_sort() {
        let Some(engine) = testing::gpu() else { return };
        let context = engine.context().unwrap();
        for count in [0, 1, 2, 3, 127, 128, 129, 1023, 1024, 1025, 5000, 70_001] {
            for (mask, bits) in
                [(0, 8), (0xff, 8), (3, 16), (0x00f0_0f00, 32), (0x3fff_ffff, 30), (u32::MAX, 32)]
            {
                let keys = noise(count, mask);
                let found = sorted(context, &keys, bits).unwrap();
                assert!(found == on_host(&keys), "{count} keys, mask {mask:x}");
            }
        }
        // Control: an unstable order of equal keys is found.
        let keys = noise(5000, 3);
        let mut wrong = on_host(&keys);
        wrong.swap(0, 1);
        assert!(sorted(context, &keys, 8).unwrap() != wrong);
    }

    #[test]
    fn sorted_and_reversed_lists_are_sorted() {
        let Some(engine) = testing::gpu() else { return };
        let context = engine.context().unwrap();
        let rising: Vec<u32> = (0..20_000).map(|i| i * 7).collect();
        let falling: Vec<u32> = rising.iter().rev().copied().collect();
        for keys in [rising, falling, vec![u32::MAX; 3000]] {
            assert!(sorted(context, &keys, 32).unwrap() == on_host(&keys));
        }
    }

    #[test]
    fn sort_spans_bindings() {
        let Some(engine) = testing::gpu() else { return };
        // 4,096 keys a binding of these, and counts for 16,384.
        let engine = engine.with_binding_limit(16 << 10);
        let context = engine.context().unwrap();
        for count in [4095, 4096, 4097, 16_000] {
            let keys = noise(count, u32::MAX);
            assert!(sorted(context, &keys, 32).unwrap() == on_host(&keys), "{count} keys");
        }
        let refused = sorted(context, &noise(16_385, 1), 8);
        assert!(matches!(refused, Err(Error::TooMany { count: 16_385, limit: 16_384, .. })), "{refused:?}");
    }

    #[test]
    fn sort_goes_past_65535_groups() {
        let Some(engine) = testing::gpu() else { return };
        let context = engine.context().unwrap();
        // One pass over 65,537 blocks takes 64 MiB of counts and 1 GiB in all: only where there is room.
        let count = 65_536 * BLOCK + 1;
        let room = context.limits().max_buffer_size.min(context.limits().max_storage_buffer_binding_size);
        if room < count as u64 * 4 || std::env::var_os("HULLFIELD_LARGE").is_none() {
            println!("no sort past 65,535 groups: HULLFIELD_LARGE is unset, or buffers are too small");
            return;
        }
        let keys = noise(count, 0xff);
        assert!(sorted(context, &keys, 8).unwrap() == on_host(&keys));
    }
}
