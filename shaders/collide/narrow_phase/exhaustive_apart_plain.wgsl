// Whether a pair of the exhaustive search can be skipped, as in exhaustive_apart.wgsl, if there are no half-spaces and
// no groups: software drivers also execute the branches that are not taken. Reads the binding `spheres`.
// No twin: the CPU calls `QueryInput::accepts_all` (src/collide/scene/query_input.rs) once and `Spheres`
// (src/collide/gjk/pose.rs) per pair.

fn surely_apart(pair: vec2u) -> bool {
    if pair.x == pair.y {
        return true;
    }
    let a = spheres[pair.x];
    let b = spheres[pair.y];
    let offset = a.xyz - b.xyz;
    let reach = min(a.w + b.w + params.margin, FARTHEST);
    return dot(offset, offset) > reach * reach;
}
