// Sums and prefix sums over the values that one workgroup works on at a time: 16 neighbours an invocation.
// (Fewer invocations need fewer barriers a value, which on a software driver are most of the cost.)
//
// Hierarchical reduce and scan after Blelloch ("Prefix Sums and Their Applications", 1990) and Hillis & Steele (1986)
// within the group. No group waits for another, so no forward progress between groups is assumed.
//
// No twin: only the GPU sums in blocks; the Rust struct is in src/gpu/scan.rs.

const VALUES_PER_INVOCATION: u32 = 16u;
const BLOCK_SIZE: u32 = WORKGROUP_SIZE * VALUES_PER_INVOCATION;

struct ScanParams {
    // Values in this piece.
    value_count: u32,
    // Blocks that hold them.
    block_count: u32,
    // Where in `total` the sum of all pieces before this one stands; 0 for the first piece.
    carry_at: u32,
    // Where in `total` the sum up to the end of this piece goes.
    total_at: u32,
}

// 64-bit sum of two numbers, each as its low and high word.
fn add_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
