// Replaces each value by the sum of all values before it, and writes the sum of all: a short list in one dispatch.
//
// One group, which walks over the list block by block. Reads and writes `values` and `total`.
//
// No twin: only the GPU scans in blocks; tests compare with a plain loop (`scan_on_host` in src/gpu/tests.rs).

var<workgroup> sums: array<vec2<u32>, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) local: u32) {
    var carry = carried();
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
        sums[local] = sum;
        // Inclusive scan of the invocations' sums.
        for (var reach = 1u; reach < WORKGROUP_SIZE; reach *= 2u) {
            workgroupBarrier();
            var before = vec2<u32>(0u, 0u);
            if (local >= reach) {
                before = sums[local - reach];
            }
            workgroupBarrier();
            sum = add_wide(sum, before);
            sums[local] = sum;
        }
        workgroupBarrier();
        var prefix = carry.x;
        if (local > 0u) {
            prefix += sums[local - 1u].x;
        }
        carry = add_wide(carry, sums[WORKGROUP_SIZE - 1u]);
        for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
            if (first + i < params.value_count) {
                values[first + i] = prefix;
            }
            prefix += own[i];
        }
        workgroupBarrier();
    }
    if (local == 0u) {
        hand_on(carry);
    }
}
