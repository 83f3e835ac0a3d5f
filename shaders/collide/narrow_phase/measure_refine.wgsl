// EPA, one thread per pair whose cores overlap or nearly touch: the depth, or the distance if they are apart after
// all. GJK runs again to restore its simplex, which is cheaper than storing it.
//
// The exact path's form is src/collide/epa/exact_depth.rs, in f64; in f32 the CPU finds depths with
// src/collide/epa/depth.rs.
//
// No twin: on the CPU src/collide/narrow_phase/measure.rs does both halves.
//
// Bindings: params, bodies, hulls, vertices, cells, pairs or spheres, refine, verdicts, measures.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let slot = params.first + flat_index(group, groups, local);
    if slot >= refine.count {
        return;
    }
    let index = refine.indices[slot];
    let pair = pair_of(index);
    relate(pair.x, pair.y);
    let margin = margin_of_pair();
    let nearest = nearest_from(relative.offset, relative.rounding + beyond_of(margin));
    // Compiled separately from measure.wgsl, GJK may round differently and end differently; the result is as good.
    if nearest.stop == STOP_BEYOND {
        verdicts[index] = VERDICT_SEPARATED;
        return;
    }
    let depth = epa_depth(nearest);
    // As in measure.wgsl.
    let again = pair_of(index ^ params.zero);
    relate(again.x, again.y);
    write_between(index, depth.lower, depth.upper, depth.normal, depth.on_a, depth.point, margin_of_pair());
}
