// Adds up the segments of each heavy row: its count, and where each segment's pairs begin in it. One thread a row.
//
// Bindings: params, heavy (a count, then rows), sums, counts.
//
// No twin: the CPU cuts no row into segments (src/collide/broad_phase/search.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    // Where the list had no room for all, what is counted is wrong. Past all rows stands one more count: with this it
    // makes a total that no frame has room for.
    if flat_index(group, groups, local) == 0u && heavy[0] > params.heavy_capacity {
        counts[params.body_count] = 0xffffffffu;
    }
    let index = params.begin + flat_index(group, groups, local);
    if index >= params.end || index >= heavy[0] {
        return;
    }
    var before = 0u;
    for (var segment = 0u; segment < params.segment_count; segment += 1u) {
        let place = index * params.segment_count + segment;
        let own = sums[place];
        sums[place] = before;
        before += own;
    }
    counts[heavy[1u + index]] = before;
}
