// Counts the pairs in each run of RUN that are not separated. One thread per run: the first half of the compaction of
// verdicts into rows.
//
// Bindings: params, refine, verdicts, counts (one per run).
//
// No twin: only the GPU compacts verdicts; the CPU's threads append rows to lists (src/collide/query/cpu.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let run = flat_index(group, groups, local);
    if run >= arrayLength(&counts) {
        return;
    }
    let end = min(run * RUN + RUN, pair_count());
    var count = 0u;
    for (var index = run * RUN; index < end; index += 1u) {
        count += select(0u, 1u, has_row(verdicts[index]));
    }
    counts[run] = count;
}
