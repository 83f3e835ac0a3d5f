// Counts the partners of each body. One thread per row, adjacent in Morton order, or in the order of the ids (world_row.wgsl).
//
// Counts are stored row by row, so that their exclusive scan is the position of each row's pairs in the order (a, b).
// A row that is too long for one thread is appended to the list of heavy rows. The order of that list may differ
// between runs; results do not depend on it.
//
// Bindings: params, bodies, leaves, nodes, planes, boxes (of half-spaces), counts, heavy (a count, then rows). With small worlds: params,
// boxes (of all bodies), leaves and nodes (of the statics), planes, counts, heavy, masks (of each body, for the write).
//
// No twin: the CPU counts rows only where it cannot hold all pairs (`count_rows` in src/collide/broad_phase/cpu.rs).

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
    if place == 0u {
        // Behind the last row: where its pairs end.
        counts[params.body_count] = 0u;
    }
    let a = row_at(place);
    partners = 0u;
    if !walk_row(place) {
        partners = 0u;
        let slot = atomicAdd(&heavy[0], 1u);
        if slot < params.heavy_capacity {
            atomicStore(&heavy[1u + slot], a);
        }
    }
    counts[a] = partners;
}
