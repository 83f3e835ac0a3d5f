// The motion of a body in the form that kernels read.

// How a body moves: straight, and about the origin of its hull.
struct PackedMotion {
    // World units per second.
    velocity: vec3f,
    padding_0: u32,
    // Radians per second about the world's axes, through the hull's origin.
    angular_velocity: vec3f,
    padding_1: u32,
}
