// Replaces each value by the sum of all values before it.
//
// One group a block. Reads `partials` (what stands before each block), reads and writes `values`.
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
    let first = block * BLOCK_SIZE + local * VALUES_PER_INVOCATION;
    var sum = 0u;
    for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
        if (first + i < params.value_count) {
            sum += values[first + i];
        }
    }
    var prefix = partials[block].x + block_prefix(local, sum);
    for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
        if (first + i < params.value_count) {
            let own = values[first + i];
            values[first + i] = prefix;
            prefix += own;
        }
    }
}
