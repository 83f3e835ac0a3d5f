// The Morton keys of the bodies, each workgroup's sorted: grid, keys and the first dispatch of the sort in one.
//
// Every workgroup fits the grid to the same sample, as no group waits for another. Their grids are equal: they are the same
// operations on the same numbers.
//
// Bindings: params, what `box_at` reads, keys, values.
//
// No twin: the CPU's form is `Grid` and `Sorter` in src/collide/bvh/morton.rs.

var<workgroup> grid: Grid;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let fitted = fitted_grid(local);
    if local == 0u {
        grid = fitted;
    }
    workgroupBarrier();
    let begin = params.begin + flat_group(group, groups) * RUN_LEN;
    let first = begin + local * KEYS_PER_INVOCATION;
    // Past the end: the greatest key, which stays behind all others as the sort is stable.
    var own = Own(vec4u(0xffffffffu), vec4u(0u));
    for (var k = 0u; k < KEYS_PER_INVOCATION; k += 1u) {
        if first + k < params.end {
            own.keys[k] = key_at(first + k);
            own.values[k] = first + k;
        }
    }
    sort_run(local, own);
    for (var at = local; at < RUN_LEN; at += WORKGROUP_SIZE) {
        if begin + at < params.end {
            keys[begin + at] = run_keys[at];
            values[begin + at] = run_values[at];
        }
    }
}
