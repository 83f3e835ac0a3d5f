// Marks the pairs that touched before and no longer do. One thread per pair, and one for the end.
//
// Bindings: params, before, now, flags (one more than pairs).
//
// No twin: the CPU merges two sorted lists (`TouchingPairs` in src/collide/bodies/events.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.first + flat_index(group, groups, local);
    if index >= params.end {
        return;
    }
    let has_ended = index < min(before[0].x, params.pair_room) && !is_touching(before[1u + index]);
    flags[index] = select(0u, 1u, has_ended);
}
