// Writes the cells of paths, at most `step_limit` of each per dispatch. `slot`: where the next cell of an agent goes.
// Slots outside the window, which may be a part of all paths, are not written; before the window the number has wrapped
// and is large. `cells_left`: the cells still to come.
//
// One invocation per agent. If there are several strips, each moves the agents that stand in it until they leave it.
//
// No twin: the CPU's form is `NextCells::write` in src/flow/agents/next_cells.rs.

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
    if (walker.cells_left == 0u || !is_in_strip(walker.cell)) {
        return;
    }
    for (var step = 0u; step < params.step_limit; step += 1u) {
        if (walker.slot < params.window_len) {
            cells[walker.slot] = walker.cell;
        }
        walker.slot += 1u;
        walker.cells_left -= 1u;
        if (walker.cells_left == 0u) {
            break;
        }
        walker.cell += stride_of(code_at(walker.cell));
        if (!is_in_strip(walker.cell)) {
            break;
        }
    }
    walkers[index] = walker;
    if (params.is_counted != 0u && walker.cells_left != 0u) {
        atomicAdd(&unfinished[0], 1u);
    }
}
