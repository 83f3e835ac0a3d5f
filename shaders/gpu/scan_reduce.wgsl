// Sums each block of values, exactly, in 64 bits.
//
// One group a block. Reads `values`, writes `partials` (one low and high word a block).
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
    var sum = vec2<u32>(0u, 0u);
    for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
        if (first + i < params.value_count) {
            sum = add_wide(sum, vec2<u32>(values[first + i], 0u));
        }
    }
    let all = block_sum(local, sum);
    if (local == 0u) {
        partials[block] = all;
    }
}
