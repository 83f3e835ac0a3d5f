// Motions of bodies. Reads the binding `motions`, one for each moving body; the bodies after them do not move.
// The CPU's forms are `SweepQuery::motion` and `SweepQuery::spin` in src/collide/sweep/query.rs.

fn motion_of(body: u32) -> PackedMotion {
    if body < arrayLength(&motions) {
        return motions[body];
    }
    return PackedMotion(vec3f(0.0), 0u, vec3f(0.0), 0u);
}

// Whether the body rotates. A ball about its own origin does not, whatever its angular velocity.
fn turns(hull: HullRecord, motion: PackedMotion) -> bool {
    let still = hull.vertex_count <= 1u && all(hull.mean == vec3f(0.0)) && hull.half_space == 0u;
    return any(motion.angular_velocity != vec3f(0.0)) && !still;
}

// Upper bound of the distance by which rotation moves a point of the body away from its translated position: the chord
// of the angle. `arm` points from the hull's origin to the mean of its vertices. Rounded up.
fn spin_of(body: PackedBody, motion: PackedMotion, arm: vec3f, duration: f32) -> f32 {
    let angle = length(motion.angular_velocity * duration);
    return (length(arm) + body.radius) * min(angle, 2.0) * 1.0001;
}
