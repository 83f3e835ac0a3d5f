// Sets the distances of obstacles back to unreachable. Until now they held the number of moves that lead out of them.
//
// One invocation per cell of the strip and field. Does nothing while a wave is not finished.
//
// No twin: the CPU stores no escape levels in the distances (src/flow/field/cpu/escape.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = piece.x + flat_index(group, group_count, local);
    let field = index / params.field_pitch;
    let strip_index = index % params.field_pitch;
    if (index >= piece.y || field >= params.field_count || strip_index >= params.cell_count) {
        return;
    }
    if ((atomicLoad(&state[ACTIVE_COUNT]) | atomicLoad(&state[ACTIVE_COUNT + 1u])) != 0u) {
        return;
    }
    let cell = params.first_cell + strip_index;
    if (is_blocked(cell_of(cell))) {
        distances[place_of(field, cell)] = UNREACHABLE;
    }
}
