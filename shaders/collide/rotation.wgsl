// The rotation of a quaternion, divided by its length (which f32 keeps only nearly 1).
fn rotation(q: vec4f) -> mat3x3f {
    let s = 2.0 / dot(q, q);
    let v = q.xyz * s;
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
