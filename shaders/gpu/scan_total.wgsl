// What the pieces of a long scan hand on: the exact sum so far, as a low and a high word in `total`.
// No twin: only the GPU scans in pieces; the Rust side is in src/gpu/scan.rs.

// The sum of all pieces before this one.
fn carried() -> vec2<u32> {
    if (params.carry_at == 0u) {
        return vec2<u32>(0u, 0u);
    }
    return vec2<u32>(total[params.carry_at], total[params.carry_at + 1u]);
}

fn hand_on(sum: vec2<u32>) {
    total[params.total_at] = sum.x;
    total[params.total_at + 1u] = sum.y;
}
