// Gathers the distances that the targets of each field have so far.
//
// One invocation per target and field.
//
// No twin: the CPU reads these distances where they are (`farthest_target` in src/flow/field/cpu/solve.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index >= params.field_count * params.target_count) {
        return;
    }
    let cell = targets[index];
    // A field without targets has this placeholder instead; no strip holds it.
    if (cell == UNREACHABLE) {
        gathered[index] = UNREACHABLE;
        return;
    }
    if (cell >= params.first_cell && cell - params.first_cell < params.cell_count) {
        gathered[index] = distances[place_of(index / params.target_count, cell)];
    }
}
