// The grid that orders the bodies, as morton_frame.wgsl lays it and morton_keys.wgsl reads it.
// No twin: the CPU's `Grid` is in src/collide/bvh/morton.rs, the struct of the parameters in src/collide/broad_phase/kernels.rs.

// Bits of a key.
const KEY_BITS: u32 = 30u;

struct MortonParams {
    count: u32,
    // Boxes of this dispatch.
    begin: u32,
    end: u32,
    zero: u32,
}

struct Grid {
    begin: vec3f,
    padding_0: u32,
    // Cells per unit of length.
    scale: vec3f,
    padding_1: u32,
    // How often each axis is halved.
    cuts: vec3u,
    padding_2: u32,
    // Which axis each bit of the key belongs to, from the highest bit on, two bits an axis, sixteen in a word.
    axes: vec4u,
}

// The middle of a box; of a half-space any place.
fn middle(box: Aabb) -> vec3f {
    return 0.5 * box.min + 0.5 * box.max;
}
