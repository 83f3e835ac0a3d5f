// Writes the pairs of the heavy rows in the order of the columns, with the groups and tests of heavy_count.wgsl.
//
// Bindings: params, boxes of all bodies, heavy, sums (first index of each segment in its row), offsets, pairs.
//
// No twin: the CPU has no heavy rows, as one thread finds all pairs of a leaf or a row (src/collide/broad_phase/search.rs).

// Adjacent columns that one invocation tests at a time.
const STRIP: u32 = 8u;

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
    let first = offsets[a];
    let last = offsets[a + 1u];
    // No pair of the row is in the window.
    if last <= params.window_begin || (first >= params.window_begin && first - params.window_begin >= params.window_len) {
        return;
    }
    let box = boxes[a];
    // Indices before the window wrap to large numbers and reach 0 where it begins.
    var carry = first + sums[place.index * params.segment_count + place.segment] - params.window_begin;
    let columns = columns_of(a, place.begin, place.end);
    for (var strip = columns.x; strip < columns.y; strip += WORKGROUP_SIZE * STRIP) {
        var hits = 0u;
        for (var k = 0u; k < STRIP; k += 1u) {
            let b = strip + local * STRIP + k;
            if b < columns.y && meets(box, boxes[b], select(0.0, params.static_grow, b >= params.body_count)) && may_meet(a, b) {
                hits |= 1u << k;
            }
        }
        let block = block_prefix(local, countOneBits(hits));
        var at = carry + block.before;
        carry += block.all;
        for (var k = 0u; k < STRIP; k += 1u) {
            if (hits & (1u << k)) != 0u {
                if at < params.window_len {
                    pairs[at] = vec2u(a, strip + local * STRIP + k);
                }
                at += 1u;
            }
        }
        workgroupBarrier();
    }
}
