// Parameters of the stages that look at each body: bounds.wgsl, spheres.wgsl.

struct BoundsParams {
    body_count: u32,
    // Always zero.
    zero: u32,
    // First body of this dispatch.
    first: u32,
    // What each box is wider by on every side, in world units.
    grow: f32,
}
