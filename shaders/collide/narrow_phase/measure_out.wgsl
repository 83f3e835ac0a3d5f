// Output of the stages that measure a pair: a verdict, and a record of two vectors.
//
// Reads `relative`; writes the bindings `verdicts` and `measures`, in world units and axes.
//
// No twin: the CPU's form is `conclude` in src/collide/narrow_phase/measure.rs.

fn write_measure(index: u32, verdict: u32, gap: f32, normal: vec3f, point: vec3f, error: f32) {
    verdicts[index] = verdict;
    measures[2u * index] = vec4f(gap, normal);
    measures[2u * index + 1u] = vec4f(point, error);
}

// The verdict for a signed gap between two bounds. Separated pairs have a row only within the margin.
fn verdict_between(lower: f32, upper: f32, gap: f32, margin: f32) -> u32 {
    if upper - lower > slack_at(lower + relative.rounding) {
        return VERDICT_UNSETTLED;
    }
    if lower > relative.separated {
        let error = relative.error + LENGTH_ERROR * upper;
        if lower - error <= margin && upper + error >= margin {
            return VERDICT_UNSETTLED;
        }
        return select(VERDICT_SEPARATED, VERDICT_WITHIN, gap <= margin);
    }
    if upper < -relative.penetrating {
        return VERDICT_PENETRATING;
    }
    if lower >= -relative.touching && upper <= relative.near {
        return VERDICT_TOUCHING;
    }
    return VERDICT_UNSETTLED;
}

// Writes the verdict and the record. `lower` and `upper` bound the gap of the cores; `normal` is a unit vector from A
// to B; `core` is the point of A's core and `witness` the point of D that it came with, in A's frame.
fn write_between(
    index: u32,
    lower: f32,
    upper: f32,
    normal: vec3f,
    core: vec3f,
    witness: vec3f,
    margin: f32,
) {
    let low = lower - relative.rounding;
    let high = upper - relative.rounding;
    // If apart, the gap is the distance of two known points; if overlapping, the depth along a known direction.
    let gap = select(low, high, lower > 0.0);
    // The distance may converge before its direction does: witness points that lie across the direction are not
    // accepted.
    let across = witness + normal * select(lower, upper, lower > 0.0);
    var verdict = verdict_between(low, high, gap, margin);
    if dot(across, across) > slack_at(lower) * slack_at(lower) && verdict != VERDICT_SEPARATED {
        verdict = VERDICT_UNSETTLED;
    }
    let point = relative.frame * (core + normal * relative.rounding_a);
    write_measure(
        index,
        verdict | select(0u, ANCHOR_B, relative.is_swapped),
        gap * relative.unit,
        relative.frame * select(normal, -normal, relative.is_swapped),
        point * relative.unit,
        (max(high - low, 0.0) + relative.error) * relative.unit,
    );
}

// The margin in the pair's unit, clamped to be finite: compilers may assume that there is no infinity.
fn margin_of_pair() -> f32 {
    return min(params.margin, FARTHEST) / max(relative.unit, 1e-18);
}

// A gap that is certainly above the margin and the touching limit.
fn beyond_of(margin: f32) -> f32 {
    return max(margin * (1.0 + 2.0 * LENGTH_ERROR) + relative.error, relative.separated);
}
