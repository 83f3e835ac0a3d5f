// The sum of 64-bit numbers over the invocations of a group: the form with subgroup operations. block_sum.wgsl has the same function
// without. All invocations of the group call it. As for block_prefix_subgroups.wgsl, subgroups have consecutive local indices.
//
// A number is 24 bits and the rest, which are summed apart, so that 32 bits hold each sum.
//
// No twin: only the GPU has groups to sum within.

const SUM_SLOTS: u32 = WORKGROUP_SIZE / 4u;

var<workgroup> wide_sums: array<vec2<u32>, SUM_SLOTS>;

// The sum, for every invocation. It is below 2⁵⁶.
fn block_sum(local: u32, own: vec2<u32>) -> vec2<u32> {
    let span = subgroup_span(local);
    let sum = subgroupAdd(vec2<u32>(own.x & 0xffffffu, (own.y << 8u) | (own.x >> 24u)));
    if ((local & 3u) == 0u) {
        wide_sums[local / 4u] = select(vec2<u32>(0u), sum, local == span.x);
    }
    workgroupBarrier();
    var all = vec2<u32>(0u);
    for (var begin = 0u; begin < SUM_SLOTS; begin += span.y) {
        let at = begin + local - span.x;
        all += select(vec2<u32>(0u), wide_sums[min(at, SUM_SLOTS - 1u)], at < SUM_SLOTS);
    }
    all = subgroupAdd(all);
    return add_wide(vec2<u32>(all.x, 0u), vec2<u32>(all.y << 24u, all.y >> 8u));
}
