// Lists the pairs that touch now, in the order of their rows. Where rows are missing, or there is no room for the pairs, the list is that of
// before. One thread per row or pair.
//
// Bindings: params, rows, row_counts, before, places (the scanned flags), total (of the flags, low and high word), now, event_counts.
//
// No twin: the CPU keeps a list that grows (`TouchingPairs` in src/collide/bodies/events.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= params.end {
        return;
    }
    let overflow = select(0u, 1u, row_counts.overflow != 0u) | select(0u, 2u, total[0] > params.pair_room);
    if index == 0u {
        let count = select(before[0].x, total[0], overflow == 0u);
        now[0] = vec2u(count, 0u);
        event_counts.event_count = 0u;
        event_counts.begin_count = 0u;
        event_counts.stay_count = 0u;
        event_counts.end_count = 0u;
        event_counts.touching_count = count;
        event_counts.overflow = overflow;
        event_counts.padding = vec2u(0u);
    }
    if overflow != 0u {
        if index < min(before[0].x, params.pair_room) {
            now[1u + index] = before[1u + index];
        }
        return;
    }
    if index < params.row_room && places[index + 1u] != places[index] {
        let at = params.row_words * index;
        now[1u + places[index]] = vec2u(rows[at], rows[at + 1u]);
    }
}
