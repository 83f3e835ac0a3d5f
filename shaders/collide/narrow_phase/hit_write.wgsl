// Writes the rows of the pairs that have one, in the order of the pairs. One thread per run of RUN: the second half of
// the compaction, in the workgroups of hit_count.wgsl. Each sums the rows of those before it, so nothing need be scanned in
// between. The last one writes the number of all rows so far. Rows that the buffer does not hold are dropped; the number
// shows that.
//
// hit_row.wgsl or hit_row_measured.wgsl says what a row is.
//
// Bindings: params, refine, verdicts, pairs or spheres, offsets, row_sums, those of a row.
//
// No twin: only the GPU compacts verdicts; the CPU's threads append rows to lists (src/collide/query/cpu.rs).

var<workgroup> rows_before: atomic<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let block = flat_group(group, groups);
    if local == 0u {
        atomicStore(&rows_before, row_sums[EARLIER_ROWS]);
    }
    workgroupBarrier();
    var sum = 0u;
    for (var at = local; at < block; at += WORKGROUP_SIZE) {
        sum += row_sums[ROW_SUMS + at];
    }
    if sum > 0u {
        atomicAdd(&rows_before, sum);
    }
    workgroupBarrier();
    let run = block * WORKGROUP_SIZE + local;
    let run_count = arrayLength(&offsets);
    if run >= run_count {
        return;
    }
    let before = atomicLoad(&rows_before);
    let begin = offsets[run];
    var past = row_sums[ROW_SUMS + block];
    if run + 1u == run_count {
        row_sums[0] = before + past;
        row_sums[1] = 0u;
    } else if local + 1u < WORKGROUP_SIZE {
        past = offsets[run + 1u];
    }
    // In the exhaustive search most runs have no row.
    if past == begin {
        return;
    }
    var row = before + begin;
    let capacity = row_capacity();
    let end = min(run * RUN + RUN, pair_count());
    for (var index = run * RUN; index < end; index += 1u) {
        let word = verdicts[index];
        if has_row(word) {
            // Rows before those of this buffer wrap around.
            let place = row - params.row_begin;
            if place < capacity {
                write_row(place, index, pair_of(index), word);
            }
            row += 1u;
        }
    }
}
