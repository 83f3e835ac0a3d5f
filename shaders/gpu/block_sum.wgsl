// The sum of 64-bit numbers over the invocations of a group: the form without subgroup operations. block_sum_subgroups.wgsl has the
// same function with them. All invocations of the group call it.
//
// No twin: only the GPU has groups to sum within.

var<workgroup> wide_sums: array<vec2<u32>, WORKGROUP_SIZE>;

// The sum, for every invocation. It is below 2⁵⁶.
fn block_sum(local: u32, own: vec2<u32>) -> vec2<u32> {
    wide_sums[local] = own;
    for (var half = WORKGROUP_SIZE / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (local < half) {
            wide_sums[local] = add_wide(wide_sums[local], wide_sums[local + half]);
        }
    }
    workgroupBarrier();
    return wide_sums[0];
}
