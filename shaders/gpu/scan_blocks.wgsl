// Replaces each value by the sum of all values before it, and writes the sum of all.
//
// One group a block. Each sums what stands before its block: the earlier pieces, and the blocks before it in `partials`.
// So no dispatch is needed to scan those sums. Reads `partials`, reads and writes `values` and `total`.
//
// No twin: only the GPU scans in blocks; tests compare with a plain loop (`scan_on_host` in src/gpu/tests.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = flat_group(group, group_count);
    if (block >= params.block_count) {
        return;
    }
    var before = vec2<u32>(0u, 0u);
    for (var at = local; at < block; at += WORKGROUP_SIZE) {
        before = add_wide(before, partials[at]);
    }
    before = add_wide(carried(), block_sum(local, before));
    if (local == 0u && block == params.block_count - 1u) {
        hand_on(add_wide(before, partials[block]));
    }
    let first = block * BLOCK_SIZE + local * VALUES_PER_INVOCATION;
    var sum = 0u;
    for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
        if (first + i < params.value_count) {
            sum += values[first + i];
        }
    }
    var prefix = before.x + block_prefix(local, sum).before;
    for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
        if (first + i < params.value_count) {
            let own = values[first + i];
            values[first + i] = prefix;
            prefix += own;
        }
    }
}
