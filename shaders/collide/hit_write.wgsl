// Rows `a, b, verdict` of the pairs that are not separated, in the order of the pairs: the second half of the
// compaction. A group's rows begin where the exclusive scan of hit_count.wgsl's counts has placed them; rows past the end
// of `hits` are left out, which the host sees by the total.
//
// Bindings: params, refine, verdicts, [pairs], offsets, hits.

var<workgroup> sums: array<u32, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, groups, local);
    var verdict = VERDICT_SEPARATED;
    if index < pair_count() {
        verdict = verdicts[index];
    }
    let is_hit = select(0u, 1u, verdict != VERDICT_SEPARATED);
    // Inclusive sums within the group (Hillis, Steele 1986).
    sums[local] = is_hit;
    workgroupBarrier();
    for (var reach = 1u; reach < WORKGROUP_SIZE; reach *= 2u) {
        var more = 0u;
        if local >= reach {
            more = sums[local - reach];
        }
        workgroupBarrier();
        sums[local] += more;
        workgroupBarrier();
    }
    let slot = flat_group(group, groups);
    if is_hit == 1u && slot < arrayLength(&offsets) {
        let row = offsets[slot] + sums[local] - 1u;
        if row < arrayLength(&hits) / 3u {
            let pair = pair_of(index);
            hits[3u * row] = pair.x;
            hits[3u * row + 1u] = pair.y;
            hits[3u * row + 2u] = verdict;
        }
    }
}
