// The pairs that touch now: sorted, behind an element whose first word is their number.
// No twin: the CPU merges two sorted lists (`TouchingPairs` in src/collide/bodies/events.rs).

// The number of pairs before this one in the list.
fn place_now(pair: vec2u) -> u32 {
    var low = 0u;
    var high = min(now[0].x, params.pair_room);
    for (var turn = 0u; turn < 32u && low < high; turn += 1u) {
        let middle = (low + high) / 2u;
        if is_before(now[1u + middle], pair) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

fn is_touching(pair: vec2u) -> bool {
    let place = place_now(pair);
    return place < min(now[0].x, params.pair_room) && all(now[1u + place] == pair);
}
