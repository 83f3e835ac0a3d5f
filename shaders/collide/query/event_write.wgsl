// Writes the events, sorted by pair: those of both lists, each pair at the number of pairs of either list before it. One thread per
// place in the lists.
//
// Bindings: params, before, now, places (the scanned marks of ended pairs), events, event_counts.
//
// No twin: the CPU merges two sorted lists (`TouchingPairs` in src/collide/bodies/events.rs).

// `EventCounts` with atomic counters.
struct EventCountsOut {
    event_count: atomic<u32>,
    begin_count: atomic<u32>,
    stay_count: atomic<u32>,
    end_count: atomic<u32>,
    touching_count: u32,
    overflow: u32,
    padding: vec2u,
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= params.end || event_counts.overflow != 0u {
        return;
    }
    if index < min(now[0].x, params.pair_room) {
        let pair = now[1u + index];
        let place = place_before(pair);
        let was = place < min(before[0].x, params.pair_room) && all(before[1u + place] == pair);
        events[index + places[place]] = EventRow(pair.x, pair.y, select(PHASE_BEGIN, PHASE_STAY, was));
        atomicAdd(&event_counts.event_count, 1u);
        if was {
            atomicAdd(&event_counts.stay_count, 1u);
        } else {
            atomicAdd(&event_counts.begin_count, 1u);
        }
    }
    if places[index + 1u] != places[index] {
        let pair = before[1u + index];
        events[places[index] + place_now(pair)] = EventRow(pair.x, pair.y, PHASE_END);
        atomicAdd(&event_counts.event_count, 1u);
        atomicAdd(&event_counts.end_count, 1u);
    }
}
