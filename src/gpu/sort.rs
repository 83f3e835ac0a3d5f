//! Stable sorts of keys with values. No group waits for another, and the answer is the same on every adapter.
//!
//! A short list is sorted in runs of 1,024 keys, each by one group in workgroup memory, by the kernel that makes the keys
//! ([`SORT_RUN_WGSL`]). One more dispatch merges them ([`merge_runs`]): each key looks for its place in all other runs. That
//! takes as many steps a key as there are runs, so a long list has a radix sort of its own ([`sort`]): count each block's
//! digits, scan, place each block. Eight bits a pass, from the least (LSD), three or four dispatches each. Blocks are sorted in
//! workgroup memory before they are written, so that writes go to runs of neighbouring places.

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, Result};
use crate::gpu::buffer::{Buffer, chunk_len, chunks};
use crate::gpu::context::Context;
use crate::gpu::form::BLOCK_PREFIX_WGSL;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, Trust, only, read, read_write, uniform};
use crate::gpu::wgsl::wgsl;
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

const SORT_BLOCK: &str = wgsl!("../../shaders/gpu/sort_block.wgsl");

/// Invocations of a kernel that sorts runs.
pub(crate) const RUN_INVOCATIONS: u32 = 256;
/// Keys of a run: `RUN_LEN` in `shaders/gpu/sort_run.wgsl`.
pub(crate) const RUN_LEN: usize = RUN_INVOCATIONS as usize * 4;
/// Most runs that one dispatch merges.
const WAYS: usize = 32;
/// Sorts the keys of a workgroup of [`RUN_INVOCATIONS`]: `sort_run`.
pub(crate) const SORT_RUN_WGSL: &str = wgsl!("../../shaders/gpu/sort_run.wgsl");

/// The kernels of a sort, scans apart.
pub(crate) static KERNELS: &[&Kernel] = &[&SORT_MERGE, &SORT_COUNT, &SORT_PLACE];

pub(crate) static SORT_MERGE: Kernel = Kernel {
    label: "hullfield.gpu.sort_merge",
    sources: only(&[DISPATCH_WGSL, wgsl!("../../shaders/gpu/sort_merge.wgsl")]),
    workgroup_size: WORKGROUP_SIZE,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "MergeParams"),
        read("keys", "array<u32>"),
        read("values", "array<u32>"),
        read_write("sorted_keys", "array<u32>"),
        read_write("sorted_values", "array<u32>"),
    ]),
};

static SORT_COUNT: Kernel = Kernel {
    label: "hullfield.gpu.sort_count",
    sources: only(&[DISPATCH_WGSL, SORT_BLOCK, wgsl!("../../shaders/gpu/sort_count.wgsl")]),
    workgroup_size: WORKGROUP_SIZE,
    trust: Trust::Checked,
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
        BLOCK_PREFIX_WGSL,
        wgsl!("../../shaders/gpu/sort_place.wgsl"),
    ]),
    workgroup_size: WORKGROUP_SIZE,
    trust: Trust::Checked,
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

/// As in `shaders/gpu/sort_merge.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct MergeParams {
    key_count: u32,
    begin: u32,
    end: u32,
    run_len: u32,
    ways: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

/// Keys and their values.
#[derive(Debug, Clone)]
pub(crate) struct Keyed {
    pub(crate) keys: Buffer<u32>,
    pub(crate) values: Buffer<u32>,
}

/// Bytes of the digits' counts of a list that is not [short](is_short).
pub(crate) fn counts_bytes(count: usize) -> u64 {
    4 * (count.div_ceil(BLOCK) * DIGITS) as u64
}

/// Whether a list is short enough for [`merge_runs`].
pub(crate) fn is_short(context: &Context, count: usize) -> bool {
    count <= (WAYS * RUN_LEN).min(chunk_len::<u32>(context))
}

/// Merges the sorted runs of [`RUN_LEN`] keys that `list` consists of; the last may be shorter. Equal keys keep their order. The list is
/// [short](is_short). `spare`, of the same length, is written; the one with the sorted keys is returned.
///
/// # Errors
/// Those of [`Frame::dispatch`].
pub(crate) fn merge_runs(frame: &mut Frame, list: Keyed, spare: Keyed) -> Result<Keyed> {
    let context = frame.context().clone();
    let count = list.keys.len();
    let runs = count.div_ceil(RUN_LEN);
    if runs < 2 {
        // A longer list later needs the kernel.
        frame.pipeline(&SORT_MERGE)?;
        return Ok(list);
    }
    let ways = runs.next_multiple_of(4);
    // A binary search in each run.
    let steps = ways as u64 * u64::from(RUN_LEN.ilog2() + 1);
    for piece in context.pieces(count as u64, steps, SORT_MERGE.workgroup_size.into()) {
        let params = frame.uniform(&MergeParams {
            key_count: count as u32,
            begin: piece.start as u32,
            end: piece.end as u32,
            run_len: RUN_LEN as u32,
            ways: ways as u32,
            padding_0: 0,
            padding_1: 0,
            padding_2: 0,
        })?;
        let Keyed { keys, values } = &list;
        let bound = [params, keys.bind(), values.bind(), spare.keys.bind(), spare.values.bind()];
        frame.dispatch(&SORT_MERGE, &bound, SORT_MERGE.groups(piece.end - piece.start))?;
    }
    Ok(spare)
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
    // Each pass writes all of it before it is read.
    let counts = Buffer::<u32>::new(&context, "hullfield.gpu.sort_counts", blocks * DIGITS)?;
    for shift in (0..key_bits).step_by(DIGIT_BITS as usize) {
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

    /// Sorts runs of a list in place.
    static RUNS: Kernel = Kernel {
        label: "hullfield.test.sort_runs",
        sources: only(&[
            DISPATCH_WGSL,
            SORT_RUN_WGSL,
            "@compute @workgroup_size(WORKGROUP_SIZE)
            fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
                    @builtin(local_invocation_index) local: u32) {
                let begin = flat_group(group, groups) * RUN_LEN;
                if (begin >= params.x) { return; }
                var own = Own(vec4<u32>(0xffffffffu), vec4<u32>(0u));
                for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
                    let at = begin + local * KEYS_PER_INVOCATION + k;
                    if (at < params.x) { own.keys[k] = keys[at]; own.values[k] = values[at]; }
                }
                sort_run(local, own);
                for (var at = local; at < RUN_LEN && begin + at < params.x; at += WORKGROUP_SIZE) {
                    keys[begin + at] = run_keys[at];
                    values[begin + at] = run_values[at];
                }
            }",
        ]),
        workgroup_size: RUN_INVOCATIONS,
        trust: Trust::Checked,
        bindings: only(&[
            uniform("params", "vec4<u32>"),
            read_write("keys", "array<u32>"),
            read_write("values", "array<u32>"),
        ]),
    };

    fn merge_sort(frame: &mut Frame, list: Keyed, spare: Keyed) -> Result<Keyed> {
        let count = list.keys.len();
        let bound = [frame.uniform(&[count as u32, 0, 0, 0])?, list.keys.bind(), list.values.bind()];
        frame.dispatch(&RUNS, &bound, count.div_ceil(RUN_LEN) as u64)?;
        merge_runs(frame, list, spare)
    }

    /// The list of keys, each with its place, sorted on the device by the radix sort.
    fn sorted(context: &Context, keys: &[u32], key_bits: u32) -> Result<Vec<(u32, u32)>> {
        sorted_by(context, keys, |frame, list, spare| sort(frame, list, spare, key_bits))
    }

    /// The same by sorted runs, which are merged.
    fn merged(context: &Context, keys: &[u32]) -> Result<Vec<(u32, u32)>> {
        sorted_by(context, keys, merge_sort)
    }

    fn sorted_by(
        context: &Context,
        keys: &[u32],
        sort: impl Fn(&mut Frame, Keyed, Keyed) -> Result<Keyed>,
    ) -> Result<Vec<(u32, u32)>> {
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
        let list = sort(&mut frame, list, spare)?;
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
        for kernel in [&SORT_COUNT, &SORT_PLACE] {
            compare(&kernel.wgsl(), "SortParams", &params).unwrap();
        }
        let params = host_struct!(MergeParams {
            key_count,
            begin,
            end,
            run_len,
            ways,
            padding_0,
            padding_1,
            padding_2
        });
        compare(&SORT_MERGE.wgsl(), "MergeParams", &params).unwrap();
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
    fn merged_runs_equal_the_hosts_stable_sort() {
        let Some(engine) = testing::gpu() else { return };
        let context = engine.context().unwrap();
        for count in [0, 1, 2, 3, 4, 5, 1023, 1024, 1025, 2048, 4096, 4097, 5000, 20_000, WAYS * RUN_LEN] {
            for mask in [0, 1, 0xff, 0x00f0_0f00, 0x3fff_ffff, u32::MAX] {
                let keys = noise(count, mask);
                assert!(is_short(context, count));
                assert!(merged(context, &keys).unwrap() == on_host(&keys), "{count} keys, mask {mask:x}");
            }
        }
        assert!(!is_short(context, WAYS * RUN_LEN + 1));
        let rising: Vec<u32> = (0..20_000).map(|i| i * 7).collect();
        let falling: Vec<u32> = rising.iter().rev().copied().collect();
        for keys in [rising, falling, vec![u32::MAX; 3000]] {
            assert!(merged(context, &keys).unwrap() == on_host(&keys));
        }
        // Control: an unstable order of equal keys is found.
        let keys = noise(5000, 3);
        let mut wrong = on_host(&keys);
        wrong.swap(0, 1);
        assert!(merged(context, &keys).unwrap() != wrong);
        // A list is short only if one binding holds it.
        let small = testing::gpu_of_bindings(16 << 10).unwrap();
        assert!(!is_short(small.context().unwrap(), 4097));
    }

    #[test]
    fn both_forms_sort_alike() {
        let engines = [false, true].map(|are_used| Some(testing::own_gpu()?.with_subgroups(are_used)));
        for engine in engines.into_iter().flatten() {
            let context = engine.context().unwrap();
            for count in [0, 1, 127, 128, 129, BLOCK - 1, BLOCK, BLOCK + 1, 10 * BLOCK + 3] {
                for mask in [0, 3, u32::MAX] {
                    let keys = noise(count, mask);
                    let found = sorted(context, &keys, 32).unwrap();
                    assert!(found == on_host(&keys), "{count} keys, mask {mask:x}, {:?}", context.form());
                }
            }
        }
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
        // 4,096 keys a binding of these, and counts for 16,384.
        let Some(engine) = testing::gpu_of_bindings(16 << 10) else { return };
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
        let Some(engine) = testing::own_gpu() else { return };
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
