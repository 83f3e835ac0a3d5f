// Whether a pair of the exhaustive search can be skipped, without spheres: it does not exist, its groups and masks
// exclude it, or it is two half-spaces. Reads the bindings `bodies` and `hulls`.
// No twin: the CPU uses `SweepQuery::meets` in src/collide/sweep/query.rs.

fn surely_apart(pair: vec2u) -> bool {
    if pair.x == pair.y {
        return true;
    }
    if hulls[bodies[pair.x].hull].half_space + hulls[bodies[pair.y].hull].half_space == 2u {
        return true;
    }
    let a = vec2u(bodies[pair.x].group, bodies[pair.x].mask);
    let b = vec2u(bodies[pair.y].group, bodies[pair.y].mask);
    return (a.x & b.y) == 0u || (b.x & a.y) == 0u;
}
