// Starts the rounds of an update, or of a raster's tile, that lower distances: the tiles that are marked as changed become active.
//
// One invocation per tile. Does nothing while the rounds that invalidate distances are not finished.
//
// No twin: the CPU's updates go cell by cell (src/flow/field/cpu/repair.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = flat_index(group, group_count, local);
    if (tile >= params.tile_count || atomicLoad(&state[ACTIVE_COUNT + INVALIDATION_PHASE]) != 0u) {
        return;
    }
    if (is_changed(tile)) {
        activate(0u, tile);
    }
}
