// Marks the rows of a query whose pairs touch. An unsettled pair touches where it touched before. One thread per row, and one for the end.
//
// Bindings: params, rows, row_counts, before, flags (one more than rows).
//
// No twin: the CPU filters rows as it reads them (src/collide/bodies/set.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= params.end {
        return;
    }
    var flag = false;
    if index < min(row_counts.row_count, params.row_room) {
        let at = params.row_words * index;
        let status = rows[at + 2u];
        flag = status == STATUS_TOUCHING || status == STATUS_PENETRATING;
        if status == STATUS_UNSETTLED {
            flag = was_touching(vec2u(rows[at], rows[at + 1u]));
        }
    }
    flags[index] = select(0u, 1u, flag);
}
