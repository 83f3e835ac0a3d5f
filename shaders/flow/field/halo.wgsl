// Copies the halos of two neighbouring strips: each holds the nearest row (or layer) of the other.
//
// One invocation per cell of that row. `piece`: the number of cells of the row, and the position in `before` at which
// its own cells end.
//
// No twin: the CPU has all distances in one array (src/flow/field/cpu/tiles.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index < piece.x) {
        after[index] = before[piece.y - piece.x + index];
        before[piece.y + index] = after[piece.x + index];
    }
}
