// Sets the distances beyond the limit of a field to unreachable, after all its targets are settled.
//
// One invocation per cell of the strip and field, halos included.
//
// No twin: `solve_by_masks` in src/flow/field/cpu/solve.rs does this; waves of unit steps stop at the limit.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index >= arrayLength(&distances) || atomicLoad(&state[ACTIVE_COUNT]) != 0u) {
        return;
    }
    let field = min(index / params.field_pitch, params.field_count - 1u);
    if (distances[index] > atomicLoad(&state[state_of(field, LIMIT)])) {
        distances[index] = UNREACHABLE;
    }
}
