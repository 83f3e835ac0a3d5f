// Sums and exclusive prefixes over the invocations of a group: the form with subgroup operations. block_prefix.wgsl has the same
// functions without.
//
// Each subgroup sums its own invocations and leaves its sum in workgroup memory. After one barrier each adds the sums of the subgroups
// before it. It is right for any size of subgroups, and for several sizes in one group, where the invocations of a subgroup have
// consecutive local indices in the order of the subgroup's own, and the first index is a multiple of four. WGSL does not promise that;
// subgroup_test.wgsl asks the device. All invocations of the group call the functions, and a barrier stands between two calls.
//
// No twin: only the GPU has groups to sum within.

struct BlockPrefix {
    // The sum of the invocations before this one, modulo 2³².
    before: u32,
    // The sum of all invocations of the group, modulo 2³².
    all: u32,
}

// No subgroup is smaller than four, so each has a slot of its own. The others are zero.
const BLOCK_SLOTS: u32 = WORKGROUP_SIZE / 4u;

var<workgroup> block_sums: array<u32, BLOCK_SLOTS>;

// The first invocation of the own subgroup, and the subgroup's length, which is at least 1.
fn subgroup_span(local: u32) -> vec2<u32> {
    let bits = countOneBits(subgroupBallot(true));
    return vec2<u32>(subgroupBroadcastFirst(local), bits.x + bits.y + bits.z + bits.w);
}

fn block_prefix(local: u32, own: u32) -> BlockPrefix {
    let span = subgroup_span(local);
    let sum = subgroupInclusiveAdd(own);
    // One invocation of four writes. The last one of the subgroup is among them, and has the sum of all.
    if ((local & 3u) == 3u) {
        block_sums[local / 4u] = select(0u, sum, local + 1u == span.x + span.y);
    }
    workgroupBarrier();
    var before = 0u;
    var all = 0u;
    for (var begin = 0u; begin < BLOCK_SLOTS; begin += span.y) {
        let at = begin + local - span.x;
        let slot = select(0u, block_sums[min(at, BLOCK_SLOTS - 1u)], at < BLOCK_SLOTS);
        before += select(0u, slot, at < span.x / 4u);
        all += slot;
    }
    return BlockPrefix(subgroupAdd(before) + sum - own, subgroupAdd(all));
}
