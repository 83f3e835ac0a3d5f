// Whether a pair out of all pairs needs no closer look, as exhaustive_apart.wgsl, where no body is a half-space or has groups:
// software drivers run what is skipped as well. Reads the binding `spheres`.
// No twin: the CPU asks `QueryInput::accepts_all` (src/collide/scene/query_input.rs) once and `Spheres` (src/collide/gjk/pose.rs) per pair.

fn surely_apart(pair: vec2u) -> bool {
    if pair.x == pair.y {
        return true;
    }
    let a = spheres[pair.x];
    let b = spheres[pair.y];
    let offset = a.xyz - b.xyz;
    let reach = min(a.w + b.w + params.margin, 1e18);
    return dot(offset, offset) > reach * reach;
}
