// The Morton key of each body: its cell in the grid's order (Morton 1966, with axes cut in the grid's own order).
//
// Bindings: params, boxes, grid, keys, values.
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
    let limit = vec3f((vec3u(1u) << grid.cuts) - vec3u(1u));
    let cell = vec3u(clamp((middle(boxes[index]) - grid.begin) * grid.scale, vec3f(0.0), limit));
    var left = grid.cuts;
    var key = 0u;
    for (var bit = 0u; bit < KEY_BITS; bit += 1u) {
        let axis = (grid.axes[bit / 16u] >> (2u * (bit % 16u))) & 3u;
        left[axis] -= 1u;
        key = (key << 1u) | ((cell[axis] >> left[axis]) & 1u);
    }
    keys[index] = key;
    values[index] = index;
}
