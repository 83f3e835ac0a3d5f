// Walks to the goal and counts the steps, so many of them at a time; takes the distance of the first cell that is no
// obstacle.
//
// One invocation an agent. Of several strips each takes those on that stand in it, until they leave it.
//
// No twin: the CPU's form is `NextCells::measure` in src/flow/agents/next_cells.rs.

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
    var walker = walkers[index];
    if (!is_here(walker.at)) {
        return;
    }
    var is_there = false;
    for (var turn = 0u; turn < params.step_limit; turn += 1u) {
        if (walker.slot == UNREACHABLE) {
            walker.slot = distances[params.first_distance + (walker.at - params.first_cell)];
        }
        let code = code_at(walker.at);
        if (code == NEXT_NONE) {
            is_there = true;
            break;
        }
        walker.at += stride_of(code);
        walker.step_count += 1u;
        if (!is_here(walker.at)) {
            break;
        }
    }
    walkers[index] = walker;
    if (params.is_counted != 0u && !is_there) {
        atomicAdd(&pending[0], 1u);
    }
}
