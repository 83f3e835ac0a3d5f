// EPA, one thread per pair that GJK left undecided near the surface. GJK runs again to restore its simplex, which is
// cheaper than storing it: there are few such pairs.
//
// No twin: on the CPU src/collide/narrow_phase/verdict.rs does both halves.
//
// Bindings: params, bodies, hulls, vertices, cells, pairs or spheres, refine, verdicts, axes.

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
    let outcome = gjk(relative.offset);
    var verdict = VERDICT_UNSETTLED;
    var axis = outcome.axis;
    // Compiled separately from narrow_phase/verdict.wgsl, GJK may round differently and end differently; the result is
    // as good.
    if outcome.kind == OUTCOME_SEPARATED {
        verdict = VERDICT_SEPARATED;
    } else if outcome.kind == OUTCOME_PENETRATING {
        verdict = VERDICT_PENETRATING;
    } else if relative.rounding > 0.0 {
        verdict = rounded_verdict();
        axis = rounded_axis;
    } else if outcome.kind == OUTCOME_NEAR {
        epa_verdict(outcome.simplex, simplex_distance(outcome.simplex) <= relative.near);
        if decision == DECISION_SEPARATED {
            verdict = VERDICT_SEPARATED;
            axis = decision_axis;
        } else if decision == DECISION_TOUCHING {
            verdict = VERDICT_TOUCHING;
        } else if decision == DECISION_PENETRATING {
            verdict = VERDICT_PENETRATING;
        }
    }
    verdicts[index] = verdict;
    if params.write_axes != 0u {
        let unit = world_axis(axis);
        axes[3u * index] = unit.x;
        axes[3u * index + 1u] = unit.y;
        axes[3u * index + 2u] = unit.z;
    }
}

// Separating axis from b to a, if `rounded_verdict` returns separated.
var<private> rounded_axis: vec3f;

// The cores of rounded bodies are mostly apart; their distance then decides.
fn rounded_verdict() -> u32 {
    let nearest = nearest_from(relative.offset, relative.rounding + relative.separated);
    rounded_axis = nearest.axis;
    if nearest.stop == STOP_BEYOND {
        return VERDICT_SEPARATED;
    }
    if nearest.stop == STOP_INSIDE {
        let p = nearest.simplex.p.point;
        let q = nearest.simplex.q.point;
        let r = nearest.simplex.r.point;
        let s = nearest.simplex.s.point;
        let simplex = Simplex(p, q, r, s, 4u);
        let deep = max(relative.penetrating - relative.rounding, 0.0);
        if enclosure(simplex) > deep || simplex_distance(simplex) < relative.rounding - relative.penetrating {
            return VERDICT_PENETRATING;
        }
        return VERDICT_UNSETTLED;
    }
    let lower = nearest.lower - relative.rounding;
    let upper = nearest.upper - relative.rounding;
    if upper < -relative.penetrating {
        return VERDICT_PENETRATING;
    }
    if lower >= -relative.touching && upper <= relative.near {
        return VERDICT_TOUCHING;
    }
    return VERDICT_UNSETTLED;
}
