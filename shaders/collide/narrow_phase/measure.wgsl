// GJK to the distance, as search.wgsl runs it: measures the pairs that are apart or overlap by their rounding radii
// alone, and lists the others for EPA (measure_refine.wgsl).
//
// CPU twin: src/collide/narrow_phase/measure.rs, with the same verdicts, and numbers equal to within the tolerance. It
// searches eight pairs at a time (gjk/lanes.rs) and compares heights above half-spaces in f64.
//
// Bindings: params, bodies, hulls, vertices, cells, pairs or spheres, refine, verdicts, measures. The order of the
// list may differ between runs; results do not depend on it.

// A margin from which on no pair is too far apart: the queries of given pairs.
const NO_MARGIN: f32 = 1e30;
// Bodies that are more of their radii apart are measured in f64: f32 does not hold the square of a larger number.
const MOST_RADII: f32 = 1e18;

// Decides a pair if its spheres or the first direction show that it is beyond the margin, or if balls inside the bodies show a
// penetration whose depth is not asked.
fn decide(index: u32) -> bool {
    let pair = pair_of(index);
    var is_decided = true;
    if surely_apart(pair) {
        verdicts[index] = VERDICT_SEPARATED;
    } else if is_plane(pair.x, pair.y) {
        write_plane(index, plane_of(pair.x, pair.y));
    } else if params.margin >= NO_MARGIN && params.with_depth != 0u {
        is_decided = false;
    } else {
        relate(pair.x, pair.y);
        if params.with_depth == 0u && deep(pair) {
            write_measure(index, VERDICT_PENETRATING, 0.0, vec3f(0.0), vec3f(0.0), 0.0);
        } else if params.margin >= NO_MARGIN {
            is_decided = false;
        } else {
            let beyond = beyond_of(margin_of_pair());
            is_decided = relative.distance > (relative.sum + beyond) * 1.000006
                || (relative.distance < MOST_RADII && !are_close_points()
                    && separates(relative.offset, difference(-relative.offset), relative.rounding + beyond));
            if is_decided {
                verdicts[index] = VERDICT_SEPARATED;
            }
        }
    }
    return is_decided;
}

fn search(index: u32) {
    let pair = pair_of(index);
    relate(pair.x, pair.y);
    if relative.distance >= MOST_RADII || are_close_points() {
        write_measure(index, VERDICT_UNSETTLED, 0.0, vec3f(0.0), vec3f(0.0), 0.0);
        return;
    }
    let beyond = beyond_of(margin_of_pair());
    let nearest = nearest_from(relative.offset, relative.rounding + beyond);
    if nearest.stop == STOP_BEYOND {
        verdicts[index] = VERDICT_SEPARATED;
        return;
    }
    // Again, from an index that is the same but that compilers do not know: what only the results need would occupy
    // eighteen registers in the search.
    let again = pair_of(index ^ params.zero);
    relate(again.x, again.y);
    if nearest.stop == STOP_INSIDE {
        // A query of distances needs no more of pairs that certainly overlap.
        let deep = max(relative.penetrating - relative.rounding, 0.0);
        let simplex = nearest.simplex;
        let encloses = enclosure(Simplex(simplex.p.point, simplex.q.point, simplex.r.point, simplex.s.point, 4u)) > deep;
        if params.with_depth == 0u && encloses {
            write_measure(index, VERDICT_PENETRATING, 0.0, vec3f(0.0), vec3f(0.0), 0.0);
            return;
        }
        verdicts[index] = VERDICT_UNSETTLED;
        refine.indices[atomicAdd(&refine.count, 1u)] = index;
        return;
    }
    let core = witness_on_a(nearest.simplex);
    write_between(index, nearest.lower, nearest.upper, -nearest.axis, core, nearest.point, margin_of_pair());
    // EPA continues if the bounds do not meet near the surface. Farther away it could not improve them.
    if nearest.upper - nearest.lower > slack_at(nearest.lower) && nearest.lower <= relative.separated {
        refine.indices[atomicAdd(&refine.count, 1u)] = index;
    }
}

fn write_plane(index: u32, plane: Plane) {
    var verdict = plane_verdict(plane);
    // A separated pair has a row if it is within the margin; where f32 can't say, f64 does.
    if verdict == VERDICT_SEPARATED {
        let error = plane.error + plane.excess;
        if plane.gap + error < params.margin {
            verdict = VERDICT_WITHIN;
        } else if plane.gap - error <= params.margin {
            verdict = VERDICT_UNSETTLED;
        }
    }
    // The number itself must be within the tolerance.
    if plane.error + plane.excess > plane.tolerance && verdict != VERDICT_SEPARATED {
        verdict = VERDICT_UNSETTLED;
    }
    write_measure(
        index,
        verdict | (plane.anchor * ANCHOR_B),
        plane.gap,
        plane.normal,
        plane.point,
        plane.error,
    );
}
