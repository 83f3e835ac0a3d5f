// The distances of cells.
//
// One invocation a cell; of several strips each answers for its own.
//
// No twin: the CPU's form is a line of `Field::distances_at` in src/flow/agents/next_cells.rs.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index < params.agent_count) {
        let at = cells[index];
        if (is_here(at)) {
            found[index] = distances[params.first_distance + (at - params.first_cell)];
        }
    }
}
