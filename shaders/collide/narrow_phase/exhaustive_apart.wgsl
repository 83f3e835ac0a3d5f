// Whether a pair of the exhaustive search can be skipped: it does not exist, its world spheres are apart (see
// spheres.wgsl), its groups and masks exclude it, or it is two half-spaces. Reads the bindings `spheres` and `bodies`.
// No twin: the CPU uses `QueryInput::accepts` (src/collide/scene/query_input.rs) and `Spheres`
// (src/collide/gjk/pose.rs).

// Greater than the radius of any sphere: marks a half-space.
const PLANE_RADIUS: f32 = 1e30;

fn surely_apart(pair: vec2u) -> bool {
    if pair.x == pair.y {
        return true;
    }
    let a = spheres[pair.x];
    let b = spheres[pair.y];
    let planes = u32(a.w >= PLANE_RADIUS) + u32(b.w >= PLANE_RADIUS);
    if planes == 2u {
        return true;
    }
    if planes == 0u {
        let offset = a.xyz - b.xyz;
        let reach = min(a.w + b.w + params.margin, FARTHEST);
        if dot(offset, offset) > reach * reach {
            return true;
        }
    }
    let a_group = vec2u(bodies[pair.x].group, bodies[pair.x].mask);
    let b_group = vec2u(bodies[pair.y].group, bodies[pair.y].mask);
    return (a_group.x & b_group.y) == 0u || (b_group.x & a_group.y) == 0u;
}
