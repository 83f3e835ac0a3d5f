// Writes the rows of the pairs that have one, in the order of the pairs. One thread per run of RUN: the second half of
// the compaction. The exclusive scan of hit_count.wgsl's counts gives the first row of each run. Rows past the end of
// the buffer are dropped; the host detects that by the total.
//
// hit_row.wgsl or hit_row_measured.wgsl says what a row is.
//
// Bindings: params, refine, verdicts, pairs or spheres, offsets, those of a row.
//
// No twin: only the GPU compacts verdicts; the CPU's threads append rows to lists (src/collide/query/cpu.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let run = flat_index(group, groups, local);
    let run_count = arrayLength(&offsets);
    if run >= run_count {
        return;
    }
    var row = offsets[run];
    // In the exhaustive search most runs have no row.
    if run + 1u < run_count {
        if offsets[run + 1u] == row {
            return;
        }
    }
    let capacity = row_capacity();
    let end = min(run * RUN + RUN, pair_count());
    for (var index = run * RUN; index < end; index += 1u) {
        let word = verdicts[index];
        if has_row(word) {
            if row < capacity {
                write_row(row, index, pair_of(index), word);
            }
            row += 1u;
        }
    }
}
