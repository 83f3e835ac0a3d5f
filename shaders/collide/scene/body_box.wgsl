// The world box of a body where it is. Reads `bodies` and `hulls`.
// No twin: the function is `body_aabb` in bounds_core.wgsl; this file only reads its arguments.

fn box_at(index: u32) -> Aabb {
    let body = bodies[index];
    return body_aabb(body, hulls[body.hull]);
}
