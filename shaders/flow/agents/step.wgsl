// Moves each agent to its next cell, `step_limit` times; it stays where there is none. A cell outside the grid stays as
// it is.
//
// One invocation per agent. If there are several strips, each moves the agents that stand in it, one step per round.
// The stamp keeps an agent that crosses into a later strip from being moved twice.
//
// No twin: the CPU's form is `NextCells::after_steps` in src/flow/agents/next_cells.rs.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index >= params.agent_count) {
        return;
    }
    var cell = cells[index];
    if (!is_in_strip(cell)) {
        return;
    }
    if (params.stamp != 0u) {
        if (stamps[index] == params.stamp) {
            return;
        }
        stamps[index] = params.stamp;
    }
    for (var step = 0u; step < params.step_limit; step += 1u) {
        let code = code_at(cell);
        if (code == NEXT_NONE) {
            break;
        }
        cell += stride_of(code);
    }
    cells[index] = cell;
}
