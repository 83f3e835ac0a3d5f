// Counts the boxes that each box meets: the first half of the broad phase.
//
// One thread per row `a` and segment tests the boxes `b > a` of its segment of the columns. The group loads
// WORKGROUP_SIZE boxes at a time into workgroup memory, where all its threads read them (tiled all-pairs: Nyland,
// Harris, Prins 2007). Counts are stored row by row and segment by segment, so that their exclusive scan is the
// position of each thread's pairs in the order (a, b).
//
// Rows are moving bodies; columns are moving bodies, then statics. Bindings: params, boxes of all bodies, counts
// (segment_count per row).
//
// No twin: the CPU finds the same pairs by a tree of eights (src/collide/broad_phase/search.rs).

var<workgroup> tile: array<Aabb, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let place = tile_place(flat_group(group, groups));
    if place.first_row >= params.row_end {
        return;
    }
    let a = place.first_row + local;
    if a == 0u && place.segment == 0u {
        // Behind the last row: where its pairs end.
        counts[params.body_count * params.segment_count] = 0u;
    }
    let box = boxes[min(a, params.body_count - 1u)];
    var count = 0u;
    for (var first = place.column_begin; first < place.column_end; first += WORKGROUP_SIZE) {
        workgroupBarrier();
        tile[local] = boxes[min(first + local, params.column_count - 1u)];
        workgroupBarrier();
        let end = min(WORKGROUP_SIZE, place.column_end - first);
        for (var k = 0u; k < end; k += 1u) {
            if first + k > a && meets(box, tile[k], grow_of(first + k)) {
                count += 1u;
            }
        }
    }
    if a < params.row_end {
        counts[a * params.segment_count + place.segment] = count;
    }
}
