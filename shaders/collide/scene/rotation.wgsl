// Rotation matrix of a stored quaternion, which has unit length up to the rounding of its components.
//
// Sums of four squares on the diagonal are off by less than `1 - 2 (y² + z²)`, and a quaternion that is too long by a share
// makes the matrix too long by twice that share and no more. Dividing by the length in f32 would cost more accuracy.
// No twin: the CPU's form is `rotation` in src/collide/scene/placed.rs, which is in f64 and divides by the length.
fn rotation(q: vec4f) -> mat3x3f {
    let v = q.xyz + q.xyz;
    let squares = q * q;
    let x = q.x * v;
    let y = q.y * v;
    let z = q.z * v;
    let w = q.w * v;
    return mat3x3f(
        vec3f((squares.w - squares.z) + (squares.x - squares.y), x.y + w.z, x.z - w.y),
        vec3f(x.y - w.z, (squares.w - squares.x) + (squares.y - squares.z), y.z + w.x),
        vec3f(x.z + w.y, y.z - w.x, (squares.w - squares.y) + (squares.z - squares.x)),
    );
}
