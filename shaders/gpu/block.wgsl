// Sums and prefix sums over the 2,048 values that one workgroup works on: 128 invocations, each with 16 neighbours.
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
}

// 64-bit sum of two numbers, each as its low and high word.
fn add_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}
