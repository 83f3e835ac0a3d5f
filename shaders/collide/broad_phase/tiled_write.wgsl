// Writes the pairs of overlapping boxes in the order (a, b): the second half of the broad phase.
//
// Threads, tiles and test are those of tiled_count.wgsl. Each thread writes its pairs from the position that the
// exclusive scan of the counts gives. Only the pairs in one window of that order are written, so memory is bounded
// whatever their number.
//
// Rows are moving bodies; columns are moving bodies, then statics. Bindings: params, boxes of all bodies, offsets (the
// scanned counts), pairs of the window, refine (the list of pairs for EPA, whose second word becomes the number of all
// pairs).
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
        refine[1] = offsets[params.body_count * params.segment_count];
    }
    let box = boxes[min(a, params.body_count - 1u)];
    let slot = min(a, params.body_count - 1u) * params.segment_count + place.segment;
    // Offsets before the window wrap to large numbers and reach 0 where the window begins.
    var index = offsets[slot] - params.window_begin;
    for (var first = place.column_begin; first < place.column_end; first += WORKGROUP_SIZE) {
        workgroupBarrier();
        tile[local] = boxes[min(first + local, params.column_count - 1u)];
        workgroupBarrier();
        let end = min(WORKGROUP_SIZE, place.column_end - first);
        for (var k = 0u; k < end; k += 1u) {
            if first + k > a && a < params.row_end && meets(box, tile[k], grow_of(first + k)) {
                if index < params.window_len {
                    pairs[index] = vec2u(a, first + k);
                }
                index += 1u;
            }
        }
    }
}
