// GJK, one thread per pair: verdicts, and the list of the pairs for EPA (verdict_refine.wgsl).
//
// Bindings: params, bodies, hulls, vertices, cells, pairs or spheres, refine, verdicts, axes. CPU twin:
// src/collide/narrow_phase/verdict.rs. The order of the list may differ between runs; results do not depend on it.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= pair_count() {
        return;
    }
    let pair = pair_of(index);
    if surely_apart(pair) {
        verdicts[index] = VERDICT_SEPARATED;
        return;
    }
    if is_plane(pair.x, pair.y) {
        let plane = plane_of(pair.x, pair.y);
        verdicts[index] = plane_verdict(plane);
        if params.write_axes != 0u {
            axes[3u * index] = plane.normal.x;
            axes[3u * index + 1u] = plane.normal.y;
            axes[3u * index + 2u] = plane.normal.z;
        }
        return;
    }
    relate(pair.x, pair.y);
    var verdict = VERDICT_SEPARATED;
    var axis = relative.offset;
    if !apart() {
        let outcome = gjk(relative.offset);
        axis = outcome.axis;
        if outcome.kind == OUTCOME_PENETRATING {
            verdict = VERDICT_PENETRATING;
        } else if outcome.kind == OUTCOME_NEAR {
            verdict = VERDICT_UNSETTLED;
            refine.indices[atomicAdd(&refine.count, 1u)] = index;
        }
    }
    verdicts[index] = verdict;
    if params.write_axes != 0u {
        // Read again, at an index that is the same but that compilers do not know: it would occupy nine registers in
        // the search.
        relative.frame = rotation(bodies[pair.x ^ params.zero].rotation);
        let unit = world_axis(axis);
        axes[3u * index] = unit.x;
        axes[3u * index + 1u] = unit.y;
        axes[3u * index + 2u] = unit.z;
    }
}
