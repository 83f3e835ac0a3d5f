// Sets all distances of a strip to unreachable.
//
// One invocation per distance.
//
// No twin: each search on the CPU fills its own arrays (src/flow/field/cpu/buckets.rs, queue.rs, radix.rs, tiles.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index < arrayLength(&distances)) {
        distances[index] = 0xffffffffu;
    }
}
