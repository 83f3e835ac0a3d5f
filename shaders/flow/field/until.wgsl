// Gathers the distances so far of the cells that each field need only reach.
//
// One invocation a cell and field.
//
// No twin: the CPU reads these distances where they lie (`until` in src/flow/field/cpu/solve.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index >= params.field_count * params.until_count) {
        return;
    }
    let cell = until[index];
    // A field that is to be whole has no such cell, and no strip holds it.
    if (cell == UNREACHABLE) {
        gathered[index] = UNREACHABLE;
        return;
    }
    if (cell >= params.first_cell && cell - params.first_cell < params.cell_count) {
        gathered[index] = distances[place_of(index / params.until_count, cell)];
    }
}
