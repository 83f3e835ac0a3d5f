// The distances of cells.
//
// One invocation per cell. If there are several strips, each writes the distances of its own cells.
//
// No twin: on the CPU this is one line of `Field::distances_at` in src/flow/agents/next_cells.rs.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index < params.agent_count) {
        let cell = cells[index];
        if (is_in_strip(cell)) {
            found[index] = distances[params.first_distance + (cell - params.first_cell)];
        }
    }
}
