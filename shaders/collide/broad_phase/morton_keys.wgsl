// The Morton key of each body, for a list too long for morton_runs.wgsl.
//
// Bindings: params, what `box_at` reads, grid, keys, values.
//
// No twin: the CPU's form is `Grid::key` in src/collide/bvh/morton.rs.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = params.begin + flat_index(group, groups, local);
    if index >= params.end {
        return;
    }
    keys[index] = key_at(index);
    values[index] = index;
}
