// GJK, as search.wgsl runs it: verdicts, and the list of the pairs for EPA (verdict_refine.wgsl).
//
// Bindings: params, bodies, hulls, vertices, cells, pairs or spheres, refine, verdicts, axes. CPU twin:
// src/collide/narrow_phase/verdict.rs. The order of the list may differ between runs; results do not depend on it.

fn write_axis(index: u32, unit: vec3f) {
    axes[3u * index] = unit.x;
    axes[3u * index + 1u] = unit.y;
    axes[3u * index + 2u] = unit.z;
}

// Decides a pair if its spheres or the first direction do.
fn decide(index: u32) -> bool {
    let pair = pair_of(index);
    var is_decided = true;
    if surely_apart(pair) {
        verdicts[index] = VERDICT_SEPARATED;
    } else if is_plane(pair.x, pair.y) {
        let plane = plane_of(pair.x, pair.y);
        verdicts[index] = plane_verdict(plane);
        if params.write_axes != 0u {
            write_axis(index, plane.normal);
        }
    } else {
        relate(pair.x, pair.y);
        if deep(pair) {
            verdicts[index] = VERDICT_PENETRATING;
        } else if are_close_points() {
            verdicts[index] = VERDICT_UNSETTLED;
        } else {
            is_decided = apart() || separates(relative.offset, difference(-relative.offset), relative.rounding + relative.separated);
            if is_decided {
                verdicts[index] = VERDICT_SEPARATED;
                if params.write_axes != 0u {
                    write_axis(index, world_axis(relative.offset));
                }
            }
        }
    }
    return is_decided;
}

fn search(index: u32) {
    let pair = pair_of(index);
    relate(pair.x, pair.y);
    let outcome = gjk(relative.offset);
    var verdict = VERDICT_SEPARATED;
    if outcome.kind == OUTCOME_PENETRATING {
        verdict = VERDICT_PENETRATING;
    } else if outcome.kind == OUTCOME_NEAR {
        verdict = VERDICT_UNSETTLED;
        refine.indices[atomicAdd(&refine.count, 1u)] = index;
    }
    verdicts[index] = verdict;
    if params.write_axes != 0u {
        relative.frame = frame_again(pair);
        write_axis(index, world_axis(outcome.axis));
    }
}
