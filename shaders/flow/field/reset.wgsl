// Gives obstacles their distance back: unreachable. Until now they held how many steps lead out of them.
//
// One invocation a cell of the strip and field. Does nothing while a wave is not done.
//
// No twin: the CPU never writes steps into the distances of obstacles (src/flow/field/cpu/exits.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = piece.x + flat_index(group, group_count, local);
    let field = index / params.field_pitch;
    let at = index % params.field_pitch;
    if (index >= piece.y || field >= params.field_count || at >= params.cell_count) {
        return;
    }
    if ((atomicLoad(&state[PENDING]) | atomicLoad(&state[PENDING + 1u])) != 0u) {
        return;
    }
    let cell = params.first_cell + at;
    if (is_blocked(cell_of(cell))) {
        distances[place_of(field, cell)] = UNREACHABLE;
    }
}
