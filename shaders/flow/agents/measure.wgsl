// Follows paths and counts their steps, at most `step_limit` per dispatch. Also finds the distance of the first cell
// that is not an obstacle.
//
// One invocation per agent. If there are several strips, each moves the agents that stand in it until they leave it.
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
    if (!is_in_strip(walker.cell)) {
        return;
    }
    var is_finished = false;
    for (var step = 0u; step < params.step_limit; step += 1u) {
        if (walker.slot == UNREACHABLE) {
            walker.slot = distances[params.first_distance + (walker.cell - params.first_cell)];
        }
        let code = code_at(walker.cell);
        if (code == NEXT_NONE) {
            is_finished = true;
            break;
        }
        walker.cell += stride_of(code);
        walker.step_count += 1u;
        if (!is_in_strip(walker.cell)) {
            break;
        }
    }
    walkers[index] = walker;
    if (params.is_counted != 0u && !is_finished) {
        atomicAdd(&unfinished[0], 1u);
    }
}
