// First times of contact of pairs that do not rotate, as narrow_phase/search.wgsl runs it: casts the pairs that cut.wgsl
// has left, and lists those that may touch at the start for EPA (narrow_phase/measure_refine.wgsl).
//
// Writes to measures for a hit: a time, the normal (unit, from a to b, world axes), a distance and a speed. The time
// of contact is that time plus distance / speed; the host divides in f64. A pair with a half-space that touches at the
// start has distance 0.
//
// Bindings: params, bodies, hulls, vertices, cells, pairs or spheres, refine, verdicts, measures. The order of the
// list may differ between runs; results do not depend on it.
//
// The CPU casts half-spaces in f64: src/collide/sweep/exact.rs.

// Error of translated points, relative to the length of the translation: 14 roundings of its direction, and less than 6 of
// the translation.
const PATH_ERROR: f32 = 20.0 * ROUNDING;
// A hit is certain if the bodies overlap clearly once one has moved this share of the smaller radius further.
const DEEPER: f32 = 0.02;
// As in cut.wgsl.
const CUT_ERROR: f32 = 2e-7;
// Limit of the distance in bounding radii at the nearest point: beyond it, time itself has lost its precision.
const OFFSET_LIMIT: f32 = 8.0;

fn write_hit(index: u32, verdict: u32, time: f32, normal: vec3f, way: f32, rate: f32) {
    verdicts[index] = verdict;
    measures[2u * index] = vec4f(time, normal);
    measures[2u * index + 1u] = vec4f(way, rate, 0.0, 0.0);
}

// `spin` is the rotation's reach. If the bodies enlarged by it do not meet, the pair misses; a pair that touches at
// the start touches. The exact path decides the other rotating pairs.
fn sweep_pair(index: u32, pair: vec2u, spin: f32) {
    let stands = measures[2u * index];
    let moves = measures[2u * index + 1u];
    relate(pair.x, pair.y);
    let inverse = 1.0 / relative.unit;
    // The cut is of a's motion as seen from b.
    let sign = select(1.0, -1.0, relative.is_swapped);
    let to_local = transpose(relative.frame);
    let direction = to_local * (sign * moves.xyz);
    let rate = moves.w * inverse;
    relative.offset = to_local * (sign * stands.xyz * inverse);
    relative.distance = length_of(relative.offset);
    if !(relative.distance <= OFFSET_LIMIT * (relative.sum + spin)) {
        verdicts[index] = VERDICT_UNSETTLED;
        return;
    }
    let lowest = -stands.w * rate;
    let highest = (params.duration - stands.w) * rate;
    let way = way_of(relative.offset, direction, relative.sum * WAY_REACH + spin, lowest, highest);
    if !way.meets {
        verdicts[index] = VERDICT_SEPARATED;
        return;
    }
    let tolerance = tolerance_at(0.0);
    let furthest = max(abs(way.begin), abs(way.end)) * length(direction);
    let error = gap_error(relative.smaller, relative.sum, max(relative.distance, relative.sum + spin))
        + PATH_ERROR * furthest
        + CUT_ERROR * relative.sum;
    set_thresholds(error, error);
    let near = tolerance - relative.error - relative.excess;
    if !(near > 0.1 * tolerance) {
        verdicts[index] = VERDICT_UNSETTLED;
        return;
    }
    // If the spheres meet after the start, the bodies are apart at the start.
    let starts = way.begin <= lowest;
    let clear = relative.separated;
    var least = select(0.0, clear, starts);
    let rounding = relative.rounding + spin;
    relative.rounding = rounding;
    var found = Cast(CAST_MISS, way.begin, relative.offset + direction * way.begin);
    // A hit or a miss counts only if the sweep in f64 must say the same. If planes show a miss, but not by more than the gap that f64
    // takes for an impact, thicker bodies are cast. One call of `cast_along` keeps the code short.
    for (var attempt = 0u; attempt < 2u; attempt += 1u) {
        found = cast_along(found.axis, direction, way.begin, way.end, near, least, clear);
        if found.kind != CAST_MISS {
            break;
        }
        if attempt == 0u {
            relative.rounding = rounding + clear;
            least = 0.0;
        } else {
            found.kind = CAST_CLEAR_MISS;
        }
    }
    var verdict = VERDICT_UNSETTLED;
    let is_first_pass = relative.rounding == rounding;
    if found.kind == CAST_CLEAR_MISS {
        verdict = VERDICT_SEPARATED;
    } else if found.kind == CAST_HIT && spin == 0.0 && is_first_pass {
        relative.frame = frame_again(pair);
        let normal = world_axis(found.axis);
        let falls = -dot(found.axis, direction) / length(found.axis);
        let later = min(found.time + DEEPER * relative.smaller / falls, way.end);
        relative.offset += direction * later;
        if any(normal != vec3f(0.0)) && falls > 0.0 && gjk(relative.offset).kind == OUTCOME_PENETRATING {
            write_hit(index, VERDICT_HIT, stands.w, normal, found.time, rate);
            return;
        }
    } else if found.kind == CAST_START && starts && is_first_pass {
        refine.indices[atomicAdd(&refine.count, 1u)] = index;
    }
    verdicts[index] = verdict;
}

// A half-space and a body: the gap is a height that changes at a constant rate. `velocity` is that of a minus that of
// b; `spin` as above.
fn sweep_plane(index: u32, pair: vec2u, velocity: vec3f, spin: f32) {
    let plane = plane_of(pair.x, pair.y);
    let a_is_plane = hulls[bodies[pair.x].hull].half_space != 0u;
    let q = bodies[select(pair.y, pair.x, a_is_plane)].rotation;
    let radius = bodies[select(pair.x, pair.y, a_is_plane)].radius;
    // The tolerance τ at contact, minus its possible excess and a reserve for the division.
    let believed = 9e-6 * radius - plane.excess;
    let start = plane_verdict(plane);
    if start != VERDICT_SEPARATED {
        let sure = plane.error + plane.excess <= plane.tolerance;
        let verdict = select(VERDICT_UNSETTLED, start, sure);
        write_hit(index, verdict, 0.0, plane.normal, 0.0, 1.0);
        return;
    }
    let falls = dot(plane.normal, velocity);
    // Error of the rate, in the same terms as the error of the gap in plane_of.
    let summed = 2.0 * vec3f(abs(q.x * q.y) + abs(q.w * q.z), q.x * q.x + q.z * q.z, abs(q.y * q.z) + abs(q.w * q.x));
    let drift = dot(8.0 * ROUNDING * summed + 8.0 * ROUNDING * abs(plane.normal), abs(velocity));
    let end = plane.gap - falls * params.duration;
    let end_error = plane.error + drift * params.duration;
    var verdict = VERDICT_UNSETTLED;
    // As the sweep in f64 must say: it takes a gap of half the tolerance for an impact if a body rotates.
    if spin > 0.0 {
        if min(end, plane.gap) - spin > end_error + MOST_TOUCHING * plane.tolerance {
            verdict = VERDICT_SEPARATED;
        }
    } else if end > end_error {
        verdict = VERDICT_SEPARATED;
    } else if end < -end_error && falls > 0.0 {
        let error = plane.error + drift * min(plane.gap / falls, params.duration);
        if error <= believed {
            write_hit(index, VERDICT_HIT, 0.0, plane.normal, plane.gap, falls);
            return;
        }
    }
    verdicts[index] = verdict;
}

// Decides the pairs with a half-space; cut.wgsl has decided others.
fn decide(index: u32) -> bool {
    var is_decided = true;
    if code_of(verdicts[index]) == VERDICT_CAST {
        let pair = pair_of(index);
        is_decided = is_plane(pair.x, pair.y);
        if is_decided {
            sweep_plane(index, pair, measures[2u * index].xyz, measures[2u * index].w);
        }
    }
    return is_decided;
}

fn search(index: u32) {
    sweep_pair(index, pair_of(index), bitcast<f32>(verdicts[index] & 0xffffff00u));
}
