// The Morton key of a body: its cell in the order of `grid` (Morton 1966, with axes cut in the grid's own order).
// No twin: the CPU's form is `Grid::key` in src/collide/bvh/morton.rs.

fn key_of(box: Aabb) -> u32 {
    let limit = vec3f((vec3u(1u) << grid.cuts) - vec3u(1u));
    let cell = vec3u(clamp((middle(box) - grid.begin) * grid.scale, vec3f(0.0), limit));
    var left = grid.cuts;
    var key = 0u;
    for (var bit = 0u; bit < KEY_BITS; bit += 1u) {
        let axis = (grid.axes[bit / 16u] >> (2u * (bit % 16u))) & 3u;
        left[axis] -= 1u;
        key = (key << 1u) | ((cell[axis] >> left[axis]) & 1u);
    }
    return key;
}
