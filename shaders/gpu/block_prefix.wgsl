// Sums and exclusive prefixes over the invocations of a group: the form without subgroup operations. block_prefix_subgroups.wgsl has
// the same functions with them.
//
// Hillis and Steele (1986). Two copies in turn, so that a step takes one barrier. All invocations of the group call the functions, and a
// barrier stands between two calls.
//
// No twin: only the GPU has groups to sum within.

struct BlockPrefix {
    // The sum of the invocations before this one, modulo 2³².
    before: u32,
    // The sum of all invocations of the group, modulo 2³².
    all: u32,
}

var<workgroup> block_sums: array<u32, 2u * WORKGROUP_SIZE>;
var<workgroup> block_all: u32;

// The first invocation and the length of a subgroup: in this form the group counts as one.
fn subgroup_span(local: u32) -> vec2<u32> {
    return vec2<u32>(0u, WORKGROUP_SIZE);
}

fn block_prefix(local: u32, own: u32) -> BlockPrefix {
    var sum = own;
    var copy = 0u;
    block_sums[local] = own;
    for (var reach = 1u; reach < WORKGROUP_SIZE; reach *= 2u) {
        workgroupBarrier();
        if (local >= reach) {
            sum += block_sums[copy + local - reach];
        }
        copy = WORKGROUP_SIZE - copy;
        block_sums[copy + local] = sum;
    }
    if (local == WORKGROUP_SIZE - 1u) {
        block_all = sum;
    }
    workgroupBarrier();
    return BlockPrefix(sum - own, block_all);
}
