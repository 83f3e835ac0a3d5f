// Rotation matrix of a stored quaternion, which has unit length up to the rounding of its components. Dividing by the
// length in f32 would cost more accuracy: the largest error of support points in 12 million is 2.3e-7 without the
// division and 3.5e-7 with it.
// No twin: the CPU's form is `rotation` in src/collide/scene/placed.rs, which is in f64 and divides by the length.
fn rotation(q: vec4f) -> mat3x3f {
    let v = q.xyz + q.xyz;
    let x = q.x * v;
    let y = q.y * v;
    let z = q.z * v;
    let w = q.w * v;
    return mat3x3f(
        vec3f(1.0 - (y.y + z.z), x.y + w.z, x.z - w.y),
        vec3f(x.y - w.z, 1.0 - (x.x + z.z), y.z + w.x),
        vec3f(x.z + w.y, y.z - w.x, 1.0 - (x.x + y.y)),
    );
}
