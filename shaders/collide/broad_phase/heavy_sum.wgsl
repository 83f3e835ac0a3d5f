// Sums the segments of each heavy row: the row's count, and the first index of each segment's pairs in the row. One
// thread per row.
//
// Bindings: params, heavy (a count, then rows), sums, counts.
//
// No twin: the CPU does not split rows into segments (src/collide/broad_phase/search.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    // If the list was too short, the counts are wrong. The extra count after the last row then makes the total larger
    // than any frame can hold.
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
