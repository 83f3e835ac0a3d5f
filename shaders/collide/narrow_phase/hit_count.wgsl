// Counts the pairs in each run of RUN that are not separated. One thread per run: the first half of the compaction of
// verdicts into rows.
//
// Bindings: params, refine, verdicts, offsets (for each run, the rows before it in its workgroup), row_sums (the rows of earlier
// windows, and those of each workgroup).
//
// No twin: only the GPU compacts verdicts; the CPU's threads append rows to lists (src/collide/query/cpu.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let block = flat_group(group, groups);
    let run = block * WORKGROUP_SIZE + local;
    let end = min(run * RUN + RUN, pair_count());
    var count = 0u;
    for (var index = run * RUN; index < end; index += 1u) {
        count += select(0u, 1u, has_row(verdicts[index]));
    }
    let before = block_prefix(local, count).before;
    if run == 0u {
        row_sums[EARLIER_ROWS] = select(0u, row_sums[0], params.is_later_window != 0u);
    }
    if run < arrayLength(&offsets) {
        offsets[run] = before;
    }
    if local == WORKGROUP_SIZE - 1u && ROW_SUMS + block < arrayLength(&row_sums) {
        row_sums[ROW_SUMS + block] = before + count;
    }
}
