// Counts the partners of each heavy row in each segment of the columns. One workgroup tests all columns of one row and
// segment.
//
// Heavy rows belong to bodies that meet very many others (a floor, a half-space, a crowd at one place), or whose tree
// traversal takes too long. Bindings: params, boxes of all bodies, heavy (a count, then rows), sums (segment_count per
// row).
//
// No twin: the CPU has no heavy rows, as one thread finds all pairs of a leaf or a row (src/collide/broad_phase/search.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let place = heavy_place(flat_group(group, groups));
    if place.index >= params.end || place.index >= heavy[0] {
        return;
    }
    let a = heavy[1u + place.index];
    let box = boxes[a];
    var count = 0u;
    let columns = columns_of(a, place.begin, place.end);
    for (var b = columns.x + local; b < columns.y; b += WORKGROUP_SIZE) {
        if meets(box, boxes[b], select(0.0, params.static_grow, b >= params.body_count)) && may_meet(a, b) {
            count += 1u;
        }
    }
    let all = block_prefix(local, count).all;
    if local == 0u {
        sums[place.index * params.segment_count + place.segment] = all;
    }
}
