// Writes the rows of measured pairs in the order of the pairs, as hit_write.wgsl does, with their measurements. One
// thread per run of RUN. A row is three vectors: see `MeasuredRow` in src/collide/query/device_rows.rs.
//
// Bindings: params, refine, verdicts, pairs or spheres, offsets, measures, rows.
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
    if run + 1u < run_count {
        if offsets[run + 1u] == row {
            return;
        }
    }
    let capacity = arrayLength(&rows) / 3u;
    let end = min(run * RUN + RUN, pair_count());
    for (var index = run * RUN; index < end; index += 1u) {
        let word = verdicts[index];
        if has_row(word) {
            if row < capacity {
                let pair = pair_of(index);
                let code = code_of(word);
                let status = select(code, VERDICT_SEPARATED, code == VERDICT_WITHIN);
                let first = measures[2u * index];
                rows[3u * row] = vec4u(pair, status, bitcast<u32>(first.x));
                rows[3u * row + 1u] = vec4u(bitcast<vec3u>(first.yzw), word >> 8u);
                rows[3u * row + 2u] = bitcast<vec4u>(measures[2u * index + 1u]);
            }
            row += 1u;
        }
    }
}
