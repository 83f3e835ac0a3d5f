// Counts the rows of one part of an answer that stays on the device and lists its unsettled rows. One thread per row.
//
// Bindings: params, pair_total (low and high words), heavy (the number of heavy rows, then more), row_total (low and high
// words, then more), rows, counts, unsettled.
//
// No twin: only encoded queries leave their counts on the device (src/collide/query/gpu/device.rs).

struct DeviceParams {
    // Words per row; the third is the status.
    row_words: u32,
    // Capacity of this part for rows, the number of its first row, and the capacity of all parts.
    row_room: u32,
    row_begin: u32,
    total_room: u32,
    pair_room: u32,
    // Capacity for heavy rows of the broad phase.
    heavy_room: u32,
    // Fewest pairs that another heavy row may need.
    row_limit: u32,
    padding: u32,
}

// `DeviceCounts` with atomic counters.
struct CountsOut {
    row_count: u32,
    row_room: u32,
    pair_count: u32,
    pair_room: u32,
    overflow: u32,
    unsettled_count: atomic<u32>,
    padding: vec2u,
}

// A sum in 32 bits, saturating.
fn saturated(low: u32, high: u32) -> u32 {
    return select(low, 0xffffffffu, high != 0u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, groups, local);
    let all_rows = saturated(row_total[0], row_total[1]);
    var row_count = all_rows - min(all_rows, params.row_begin);
    if params.row_begin + params.row_room < params.total_room {
        // Rows that do not fit count in the last part.
        row_count = min(row_count, params.row_room);
    }
    if index == 0u {
        var pair_count = saturated(pair_total[0], pair_total[1]);
        let missing = heavy[0] - min(heavy[0], params.heavy_room);
        if missing > 0u {
            // The pairs of these rows were not counted. A list that has room for them comes with so many pairs.
            let more = min(missing, 0xffffffffu / params.row_limit) * params.row_limit;
            pair_count = max(pair_count, params.pair_room + min(more, 0xffffffffu - params.pair_room));
        }
        counts.row_count = row_count;
        counts.row_room = params.row_room;
        counts.pair_count = pair_count;
        counts.pair_room = params.pair_room;
        counts.overflow = select(0u, 1u, all_rows > params.total_room) + select(0u, 2u, pair_count > params.pair_room);
    }
    if index >= min(row_count, params.row_room) {
        return;
    }
    if rows[params.row_words * index + 2u] == STATUS_UNSETTLED {
        unsettled[atomicAdd(&counts.unsettled_count, 1u)] = index;
    }
}
