// Radix sort, first half of a pass: how often each digit occurs in each block.
//
// One group a block. Counts lie digit by digit, block by block, so that their exclusive scan is where each block's
// keys of each digit go. Reads `keys`, writes `counts` (DIGITS × block_count).
//
// No twin: the CPU's radix sort is `Sorter` in src/collide/bvh/morton.rs; a test compares this one with a stable sort.

var<workgroup> tally: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = params.block_begin + flat_group(group, group_count);
    if (block >= params.block_end) {
        return;
    }
    for (var digit = local; digit < DIGITS; digit += WORKGROUP_SIZE) {
        atomicStore(&tally[digit], 0u);
    }
    workgroupBarrier();
    let first = block * SORT_BLOCK;
    let skipped = params.block_begin * SORT_BLOCK;
    for (var i = local; i < SORT_BLOCK; i += WORKGROUP_SIZE) {
        if (first + i < params.key_count) {
            atomicAdd(&tally[digit_of(keys[first + i - skipped])], 1u);
        }
    }
    workgroupBarrier();
    for (var digit = local; digit < DIGITS; digit += WORKGROUP_SIZE) {
        counts[digit * params.block_count + block] = atomicLoad(&tally[digit]);
    }
}
