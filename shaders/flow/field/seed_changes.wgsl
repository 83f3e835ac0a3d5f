// Seeds an update: applies what changed in the grid and in the goals to the old distances. The tiles of the changed cells and the
// tiles around them become active, and are marked as changed.
//
// One invocation per change of this strip. A cell that has become an obstacle and a goal that is one no longer lose their distance;
// a new goal gets the distance 0.
//
// No twin: the CPU's updates go cell by cell (src/flow/field/cpu/repair.rs).

const GOAL_REMOVED: u32 = 1u;
const GOAL_ADDED: u32 = 2u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index >= arrayLength(&changes)) {
        return;
    }
    // x: the index of the cell, y: what happened to it.
    let change = changes[index];
    let cell = cell_of(change.x);
    if (change.y == GOAL_ADDED) {
        distances[place_of(0u, change.x)] = 0u;
    } else if (change.y == GOAL_REMOVED || is_blocked(cell)) {
        distances[place_of(0u, change.x)] = UNREACHABLE;
    }
    let tile = cell / params.tile_size;
    for (var i = 0; i < 27; i += 1) {
        let neighbour = vec3<i32>(tile) + vec3<i32>(i % 3, i / 3 % 3, i / 9) - 1;
        if (all(neighbour >= vec3<i32>(0)) && all(neighbour < vec3<i32>(params.tiles))) {
            let position = vec3<u32>(neighbour);
            let id = (position.z * params.tiles.y + position.y) * params.tiles.x + position.x;
            mark_changed(id);
            activate(0u, id);
        }
    }
}
