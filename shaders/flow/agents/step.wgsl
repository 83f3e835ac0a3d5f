// Moves agents on, each to the next cell of its own, as many times as said; it stays where there is none. A cell that is
// not in the grid stays as it is.
//
// One invocation an agent. Of several strips each moves those that stand in it, one step a round; the stamp keeps an agent that
// has crossed into a later strip from being moved twice.
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
    var at = cells[index];
    if (!is_here(at)) {
        return;
    }
    if (params.stamp != 0u) {
        if (stamps[index] == params.stamp) {
            return;
        }
        stamps[index] = params.stamp;
    }
    for (var turn = 0u; turn < params.step_limit; turn += 1u) {
        let code = code_at(at);
        if (code == NEXT_NONE) {
            break;
        }
        at += stride_of(code);
    }
    cells[index] = at;
}
