// Writes the cells of paths, so many of each at a time. `slot`: where an agent's next cell goes; outside of the room, which may be a
// part of all paths, nothing is written (before it the number has wrapped around and is large). `left`: cells still to come.
//
// One invocation an agent. Of several strips each takes those on that stand in it, until they leave it.
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
    if (walker.left == 0u || !is_here(walker.at)) {
        return;
    }
    for (var turn = 0u; turn < params.step_limit; turn += 1u) {
        if (walker.slot < params.window_len) {
            cells[walker.slot] = walker.at;
        }
        walker.slot += 1u;
        walker.left -= 1u;
        if (walker.left == 0u) {
            break;
        }
        walker.at += stride_of(code_at(walker.at));
        if (!is_here(walker.at)) {
            break;
        }
    }
    walkers[index] = walker;
    if (params.is_counted != 0u && walker.left != 0u) {
        atomicAdd(&pending[0], 1u);
    }
}
