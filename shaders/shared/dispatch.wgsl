// Flat indices. A dispatch of more than 65,535 groups is laid out over x and y (see Frame::dispatch), so a kernel
// never reads workgroup_id.x alone.
// No twin: only kernels have invocations; `group_grid` in src/gpu/frame.rs lays their groups out.

fn flat_group(group: vec3<u32>, group_count: vec3<u32>) -> u32 {
    return group.y * group_count.x + group.x;
}

// Index of an invocation. May lie past the end of the work: compare it before use.
fn flat_index(group: vec3<u32>, group_count: vec3<u32>, local: u32) -> u32 {
    return flat_group(group, group_count) * WORKGROUP_SIZE + local;
}
