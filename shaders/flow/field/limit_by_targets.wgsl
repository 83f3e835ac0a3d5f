// Lowers the limit of a field to the distance of its farthest target, once all targets are reached. A distance found so
// far is the length of a real path, so the limit is never too small.
//
// One workgroup per field.
//
// No twin: the CPU's forms are `StopConditions::should_stop` (src/flow/field/cpu/stop.rs) and `farthest_target`
// (src/flow/field/cpu/solve.rs).

var<workgroup> farthest: atomic<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let field = flat_group(group, group_count);
    if (local == 0u) {
        atomicStore(&farthest, 0u);
    }
    workgroupBarrier();
    if (field < params.field_count) {
        for (var i = local; i < params.target_count; i += WORKGROUP_SIZE) {
            atomicMax(&farthest, gathered[field * params.target_count + i]);
        }
    }
    workgroupBarrier();
    let distance = atomicLoad(&farthest);
    if (local == 0u && field < params.field_count && distance != UNREACHABLE) {
        atomicMin(&state[state_of(field, LIMIT)], distance);
        atomicStore(&state[state_of(field, SETTLED)], 1u);
    }
}
