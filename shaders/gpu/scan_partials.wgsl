// Replaces the sums of the blocks by the sums of all blocks before them, and adds their sum to `total`.
//
// One group, which walks over all blocks of the piece; what earlier pieces came to stands in `total` already.
// Reads and writes `partials` and `total` (each sum a low and a high word).
//
// No twin: only the GPU scans in blocks; tests compare with a plain loop (`scan_on_host` in src/gpu/tests.rs).

var<workgroup> sums: array<vec2<u32>, WORKGROUP_SIZE>;
var<workgroup> carry: vec2<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) local: u32) {
    if (local == 0u) {
        carry = vec2<u32>(total[0], total[1]);
    }
    for (var base = 0u; base < params.block_count; base += BLOCK_SIZE) {
        let first = base + local * VALUES_PER_INVOCATION;
        var sum = vec2<u32>(0u, 0u);
        for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
            if (first + i < params.block_count) {
                sum = add_wide(sum, partials[first + i]);
            }
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
            sums[local] = add_wide(sums[local], before);
        }
        workgroupBarrier();
        var prefix = carry;
        if (local > 0u) {
            prefix = add_wide(prefix, sums[local - 1u]);
        }
        for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
            if (first + i < params.block_count) {
                let own = partials[first + i];
                partials[first + i] = prefix;
                prefix = add_wide(prefix, own);
            }
        }
        workgroupBarrier();
        if (local == 0u) {
            carry = add_wide(carry, sums[WORKGROUP_SIZE - 1u]);
        }
        workgroupBarrier();
    }
    if (local == 0u) {
        total[0] = carry.x;
        total[1] = carry.y;
    }
}
