// Replaces plane.wgsl if no body is a half-space: the same names, without effect.
// No twin: a stand-in for plane.wgsl.

struct Plane {
    gap: f32,
    error: f32,
    normal: vec3f,
    point: vec3f,
    anchor: u32,
    tolerance: f32,
    excess: f32,
}

fn is_plane(a: u32, b: u32) -> bool {
    return false;
}

fn plane_of(a: u32, b: u32) -> Plane {
    return Plane(0.0, 0.0, vec3f(0.0), vec3f(0.0), 0u, 0.0, 0.0);
}

fn plane_verdict(plane: Plane) -> u32 {
    return VERDICT_SEPARATED;
}
