// A row of a swept pair: two vectors, `SweptRow` in src/collide/query/device_rows.rs. Reads the binding `measures`, writes
// `rows`.
// No twin: for an answer on the host, src/collide/query/gpu/sweeps.rs does this in f64.

// A value that compilers do not see through, so that `a + b` below keeps its rounding error.
fn opaque_time(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero);
}

fn row_capacity() -> u32 {
    return arrayLength(&rows) / 2u;
}

fn write_row(row: u32, index: u32, pair: vec2u, word: u32) {
    let code = code_of(word);
    let first = measures[2u * index];
    let second = measures[2u * index + 1u];
    // All others are unsettled, also pairs that may touch at the start but are apart.
    var outcome = OUTCOME_UNSETTLED;
    var normal = vec3f(0.0);
    var time = 0.0;
    var rest = 0.0;
    if code == VERDICT_SEPARATED {
        outcome = OUTCOME_MISS;
        time = params.duration;
    } else if code == VERDICT_TOUCHING || code == VERDICT_PENETRATING {
        outcome = OUTCOME_TOUCHING;
        normal = first.yzw;
    } else if code == VERDICT_HIT {
        outcome = OUTCOME_HIT;
        normal = first.yzw;
        // The sum of both times, and its rounding error (Knuth 1969).
        let later = second.x / second.y;
        let sum = opaque_time(first.x + later);
        let of_later = opaque_time(sum - first.x);
        rest = opaque_time(first.x - opaque_time(sum - of_later)) + opaque_time(later - of_later);
        time = clamp(sum, 0.0, params.duration);
        if time != sum {
            rest = 0.0;
        }
        // The sum stays within the motion too.
        rest = select(rest, min(rest, 0.0), time == params.duration);
        rest = select(rest, max(rest, 0.0), time == 0.0);
    }
    rows[2u * row] = vec4u(pair, outcome, bitcast<u32>(time));
    rows[2u * row + 1u] = vec4u(bitcast<vec3u>(normal), bitcast<u32>(rest));
}
