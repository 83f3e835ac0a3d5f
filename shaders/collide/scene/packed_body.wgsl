// A body as both engines read it.

// A body: checked, its rotation normalised in f32, its bounding radius known.
struct PackedBody {
    // World position of the mean of the hull's vertices, rounded; `remainder` has the rest.
    position: vec3f,
    // Index of the hull.
    hull: u32,
    // Unit quaternion, x y z w.
    rotation: vec4f,
    // Scale along the hull's axes.
    scale: vec3f,
    // Bounding radius in world units about the mean of the hull's vertices, scale and rounding included.
    radius: f32,
    // What rounding took off the position, itself rounded: at most half a unit in the last place of it.
    remainder: vec3f,
    // By how much the tolerance may come out too large because the hull's mean was rounded, in world units.
    excess: f32,
    // Rounding radius in world units: the hull's times the least scale, and the body's own.
    rounding: f32,
    // Groups that the body belongs to, a bit each.
    group: u32,
    // Groups that it meets, a bit each.
    mask: u32,
    // Keeps the size a multiple of 16.
    padding: u32,
}

