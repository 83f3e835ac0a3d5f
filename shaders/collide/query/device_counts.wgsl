// Counts the rows of a frame that stays on the device and lists its unsettled rows. One thread per row.
//
// Bindings: params, pair_total and row_total (low and high words), rows, counts, unsettled.
//
// No twin: only encoded queries leave their counts on the device (src/collide/query/gpu/device.rs).

struct DeviceParams {
    // Words per row; the third is the status.
    row_words: u32,
    row_room: u32,
    pair_room: u32,
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
    let row_count = saturated(row_total[0], row_total[1]);
    if index == 0u {
        let pair_count = saturated(pair_total[0], pair_total[1]);
        counts.row_count = row_count;
        counts.row_room = params.row_room;
        counts.pair_count = pair_count;
        counts.pair_room = params.pair_room;
        counts.overflow = select(0u, 1u, row_count > params.row_room) + select(0u, 2u, pair_count > params.pair_room);
    }
    if index >= min(row_count, params.row_room) {
        return;
    }
    if rows[params.row_words * index + 2u] == STATUS_UNSETTLED {
        unsettled[atomicAdd(&counts.unsettled_count, 1u)] = index;
    }
}
