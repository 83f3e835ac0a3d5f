// Exclusive prefix of each invocation's own sum within its group, in 32 bits.
// No twin: only the GPU has groups to sum within.

var<workgroup> block_sums: array<u32, WORKGROUP_SIZE>;

fn block_prefix(local: u32, own: u32) -> u32 {
    block_sums[local] = own;
    for (var reach = 1u; reach < WORKGROUP_SIZE; reach *= 2u) {
        workgroupBarrier();
        var before = 0u;
        if (local >= reach) {
            before = block_sums[local - reach];
        }
        workgroupBarrier();
        block_sums[local] += before;
    }
    return block_sums[local] - own;
}
