// Parameters of the stages that read each body: scene/bounds.wgsl, narrow_phase/spheres.wgsl and sweep/bounds.wgsl.
// No twin: a struct declaration; the Rust struct is in src/collide/broad_phase/kernels.rs.

struct BoundsParams {
    body_count: u32,
    // Always zero.
    zero: u32,
    // First body of this dispatch.
    first: u32,
    // Enlargement of each box on every side, in world units.
    grow: f32,
    // Duration of the motion in seconds (sweep/bounds.wgsl only).
    duration: f32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}
