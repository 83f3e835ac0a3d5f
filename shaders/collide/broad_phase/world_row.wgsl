// The rows of tree_count.wgsl and tree_write.wgsl where all worlds are small: the bodies in the order of their ids. There is no tree of the
// moving bodies: `world_mask`, of world_find.wgsl or world_found.wgsl, says which of its world a body meets. tree_row.wgsl is the other form.
//
// No twin: the CPU tests eight boxes at a time (src/collide/broad_phase/small_worlds.rs).

// The groups that a body meets.
fn mask_of(id: u32) -> u32 {
    return boxes[id].mask;
}

// The first leaf of a tree: that of the statics is the only one.
fn first_leaf(tree: u32) -> u32 {
    return 0u;
}

// The body of a row.
fn row_at(place: u32) -> u32 {
    return place;
}

// All partners of a row: moving bodies with greater ids, statics and half-spaces.
fn walk_row(a: u32) -> bool {
    let box = boxes[a];
    let spans = plane_spans(a);
    if is_plane(box) || spans.y - spans.x + spans.w - spans.z > PLANE_LIMIT {
        return false;
    }
    if params.column_begin == 0u {
        // Bit k is body a + 1 + k.
        var mask = world_mask(a, box);
        for (var turn = 0u; turn < 32u && mask != 0u; turn += 1u) {
            if !add_partner(a + 1u + firstTrailingBit(mask)) {
                return false;
            }
            mask &= mask - 1u;
        }
    }
    if params.static_count > 0u && !walk(1u, grown(box, params.static_grow), a) {
        return false;
    }
    return add_planes(box, a, spans.x, spans.y) && add_planes(box, a, spans.z, spans.w);
}
