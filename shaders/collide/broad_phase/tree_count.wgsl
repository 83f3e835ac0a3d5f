// How many partners each body has: one thread a row, neighbours in Morton order side by side.
//
// Counts lie row by row, so that their exclusive scan is the place of each row's pairs in the order (a, b). A row that
// is too long for one thread goes on the list of heavy rows; that list's order depends on the run, and nothing that is
// returned depends on it.
//
// Bindings: params, boxes of all bodies, nodes, planes, counts, heavy (a count, then rows).
//
// No twin: the CPU counts rows only where it can't hold all pairs (`count_rows` in src/collide/broad_phase/cpu.rs).

var<private> partners: u32;

fn add_partner(id: u32) -> bool {
    partners += 1u;
    return partners <= ROW_LIMIT;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let place = params.begin + flat_index(group, groups, local);
    if place >= params.end {
        return;
    }
    let a = nodes[place].last;
    partners = 0u;
    if !walk_row(a) {
        partners = 0u;
        let slot = atomicAdd(&heavy[0], 1u);
        if slot < params.heavy_capacity {
            atomicStore(&heavy[1u + slot], a);
        }
    }
    counts[a] = partners;
}
