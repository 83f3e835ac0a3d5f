// How bodies move. Reads the binding `motions`: one a body that moves; those after them stand still.
// The CPU asks `SweepQuery::motion` and `SweepQuery::spin` in src/collide/sweep/query.rs.

struct PackedMotion {
    // World units a second.
    velocity: vec3f,
    padding_0: u32,
    // Radians a second about the world's axes, through the hull's origin.
    angular_velocity: vec3f,
    padding_1: u32,
}

fn motion_of(body: u32) -> PackedMotion {
    if body < arrayLength(&motions) {
        return motions[body];
    }
    return PackedMotion(vec3f(0.0), 0u, vec3f(0.0), 0u);
}

// Whether a body turns; a ball about its own origin does not, whatever it is said to.
fn turns(hull: HullRecord, motion: PackedMotion) -> bool {
    let still = hull.vertex_count <= 1u && all(hull.mean == vec3f(0.0)) && hull.half_space == 0u;
    return any(motion.angular_velocity != vec3f(0.0)) && !still;
}

// How far turning may take a point of a body from where its translation alone does, at most: the chord of the angle,
// `arm` from the hull's origin to the mean of its vertices. Rounded up.
fn spin_of(body: PackedBody, motion: PackedMotion, arm: vec3f, duration: f32) -> f32 {
    let angle = length(motion.angular_velocity * duration);
    return (length(arm) + body.radius) * min(angle, 2.0) * 1.0001;
}
