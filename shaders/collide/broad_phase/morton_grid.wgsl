// The grid that orders the bodies: morton_fit.wgsl fits it to them, and their keys are made from it.
// No twin: the CPU's `Grid` is in src/collide/bvh/morton.rs, the parameters' struct in
// src/collide/broad_phase/kernels.rs.

// Bits of a key.
const KEY_BITS: u32 = 30u;

struct MortonParams {
    count: u32,
    // Bodies in this dispatch.
    begin: u32,
    end: u32,
    // Always zero (see rounding.wgsl).
    zero: u32,
    // Enlargement of each box on every side, in world units.
    grow: f32,
    // Duration of the motion in seconds (sweep/bounds.wgsl only).
    duration: f32,
    // 1 if tree_leaves.wgsl writes the boxes by id too.
    keeps_boxes: u32,
    // Where `rules` has the world of each body, and where each world begins (world_key.wgsl only).
    world_begin: u32,
    start_begin: u32,
    // Keys for each body: 2³⁰ over their number, rounded down.
    world_scale: u32,
    padding_0: u32,
    padding_1: u32,
}

struct Grid {
    begin: vec3f,
    padding_0: u32,
    // Cells per unit of length.
    scale: vec3f,
    padding_1: u32,
    // Number of halvings of each axis.
    cuts: vec3u,
    padding_2: u32,
    // Axis of each bit of the key, from the highest bit down: two bits per axis, sixteen axes per word.
    axes: vec4u,
}

// Centre of a box. For a half-space, an arbitrary point.
fn middle(box: Aabb) -> vec3f {
    return 0.5 * box.min + 0.5 * box.max;
}
