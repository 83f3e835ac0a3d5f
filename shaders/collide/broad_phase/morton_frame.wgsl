// The grid that orders the bodies, for a list too long for morton_runs.wgsl. One workgroup; morton_fit.wgsl does the work.
//
// Bindings: params, what `box_at` reads, grid.
//
// No twin: the CPU's form is `Grid::new` in src/collide/bvh/morton.rs. The grids may differ; the pairs found do not.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(local_invocation_index) local: u32) {
    let fitted = fitted_grid(local);
    if local == 0u {
        grid = fitted;
    }
}
