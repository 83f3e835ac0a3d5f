// Replaces each value by the sum of all values before it, and writes the sum of all: a short list in one dispatch.
//
// One group, which walks over the list block by block. Reads and writes `values` and `total`.
//
// No twin: only the GPU scans in blocks; tests compare with a plain loop (`scan_on_host` in src/gpu/tests.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) local: u32) {
    var carry = carried();
    // This invocation's part of the sum's high word: what its values have there, and each time that the low word wraps around in it.
    var high = 0u;
    for (var base = 0u; base < params.value_count; base += BLOCK_SIZE) {
        let first = base + local * VALUES_PER_INVOCATION;
        var own: array<u32, VALUES_PER_INVOCATION>;
        var sum = vec2<u32>(0u, 0u);
        for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
            own[i] = 0u;
            if (first + i < params.value_count) {
                own[i] = values[first + i];
            }
            sum = add_wide(sum, vec2<u32>(own[i], 0u));
        }
        let block = block_prefix(local, sum.x);
        var prefix = carry.x + block.before;
        high += sum.y + select(0u, 1u, prefix + sum.x < prefix);
        carry.x += block.all;
        for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
            if (first + i < params.value_count) {
                values[first + i] = prefix;
            }
            prefix += own[i];
        }
        workgroupBarrier();
    }
    carry.y += block_prefix(local, high).all;
    if (local == 0u) {
        hand_on(carry);
    }
}
