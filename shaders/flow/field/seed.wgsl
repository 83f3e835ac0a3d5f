// Seeds the wave: each goal gets the distance 0, and its tile and the tiles around become active.
//
// One invocation per goal of this strip.
//
// No twin: each search on the CPU seeds its own goals (src/flow/field/cpu/buckets.rs, queue.rs, radix.rs, tiles.rs).

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
    // x: the field, y: the index of the cell.
    let goal = goals[index];
    distances[place_of(goal.x, goal.y)] = 0u;
    let cell = cell_of(goal.y);
    mark_goal(goal.x, cell);
    let tile = cell / params.tile_size;
    for (var i = 0; i < 27; i += 1) {
        activate_neighbour(goal.x, tile, vec3<i32>(i % 3, i / 3 % 3, i / 9) - 1);
    }
}
