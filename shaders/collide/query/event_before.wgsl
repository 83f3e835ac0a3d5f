// The pairs that touched before: sorted, behind an element whose first word is their number.
// No twin: the CPU merges two sorted lists (`TouchingPairs` in src/collide/bodies/events.rs).

// What the kernels of events know of their lists.
struct EventParams {
    // Words per row; the third is the status.
    row_words: u32,
    // Capacity for rows, and for pairs that touch.
    row_room: u32,
    pair_room: u32,
    // The first item of this dispatch, and one past the last of all.
    first: u32,
    end: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

fn is_before(p: vec2u, q: vec2u) -> bool {
    return p.x < q.x || (p.x == q.x && p.y < q.y);
}

// The number of pairs before this one in the list.
fn place_before(pair: vec2u) -> u32 {
    var low = 0u;
    var high = min(before[0].x, params.pair_room);
    for (var turn = 0u; turn < 32u && low < high; turn += 1u) {
        let middle = (low + high) / 2u;
        if is_before(before[1u + middle], pair) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

fn was_touching(pair: vec2u) -> bool {
    let place = place_before(pair);
    return place < min(before[0].x, params.pair_room) && all(before[1u + place] == pair);
}
