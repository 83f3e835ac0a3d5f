// Sets the goals: distance 0, and their tiles and all beside them on the list of the first round.
//
// One invocation a goal of this strip.
//
// No twin: each search on the CPU sets its own goals (src/flow/field/cpu/buckets.rs, queue.rs, radix.rs, tiles.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index >= arrayLength(&goals)) {
        return;
    }
    // The field, the cell.
    let goal = goals[index];
    distances[place_of(goal.x, goal.y)] = 0u;
    let cell = cell_of(goal.y);
    mark(goal.x, cell);
    let tile = cell / params.tile;
    for (var i = 0; i < 27; i += 1) {
        wake_beside(goal.x, tile, vec3<i32>(i % 3, i / 3 % 3, i / 9) - 1);
    }
}
