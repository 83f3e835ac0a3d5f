// A body in the form that both engines read.

// A body: checked, with its rotation normalised in f32 and its bounding radius computed.
struct PackedBody {
    // World position of the mean of the hull's vertices, rounded. `remainder` is the rounding error.
    position: vec3f,
    // Index of the hull.
    hull: u32,
    // Unit quaternion, x y z w.
    rotation: vec4f,
    // Scale along the hull's axes.
    scale: vec3f,
    // Bounding radius in world units about the mean of the hull's vertices, scale and rounding included.
    radius: f32,
    // Rounding error of `position`, itself rounded: at most half a unit in its last place.
    remainder: vec3f,
    // Possible excess of the tolerance due to the rounding of the hull's mean, and error of a gap due to that of the position, in world
    // units.
    excess: f32,
    // Rounding radius in world units: the hull's times the least scale, plus the body's padding.
    rounding: f32,
    // Groups of the body, one bit each.
    group: u32,
    // Groups that the body meets, one bit each.
    mask: u32,
    // Pads the size to a multiple of 16.
    padding: u32,
}

