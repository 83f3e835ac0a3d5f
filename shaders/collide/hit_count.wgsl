// How many pairs of each group are not separated: the first half of the compaction of verdicts into rows.
//
// Bindings: params, refine, verdicts, counts (one a group).

var<workgroup> hit_count: atomic<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    if local == 0u {
        atomicStore(&hit_count, 0u);
    }
    workgroupBarrier();
    let index = flat_index(group, groups, local);
    if index < pair_count() {
        if verdicts[index] != VERDICT_SEPARATED {
            atomicAdd(&hit_count, 1u);
        }
    }
    workgroupBarrier();
    let slot = flat_group(group, groups);
    if local == 0u && slot < arrayLength(&counts) {
        counts[slot] = atomicLoad(&hit_count);
    }
}
