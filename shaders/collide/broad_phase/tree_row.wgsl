// The rows of tree_count.wgsl and tree_write.wgsl: the leaves of the tree, in its order. world_row.wgsl is the form for small worlds.
//
// No twin: the CPU searches from all bodies of a leaf at once (`TreeSearch` in src/collide/broad_phase/search.rs).

// The groups that a body meets.
fn mask_of(id: u32) -> u32 {
    return bodies[id].mask;
}

// The first leaf of a tree.
fn first_leaf(tree: u32) -> u32 {
    return select(params.body_count, 0u, tree == 0u);
}

// The body of a row.
fn row_at(place: u32) -> u32 {
    return leaves[place].last;
}

// All partners of a row: moving bodies with greater ids, statics and half-spaces.
fn walk_row(place: u32) -> bool {
    let leaf = leaves[place];
    let a = leaf.last;
    let box = Aabb(leaf.min, leaf.groups, leaf.max, bodies[a].mask);
    let spans = plane_spans(a);
    if is_plane(box) || spans.y - spans.x + spans.w - spans.z > PLANE_LIMIT {
        return false;
    }
    if params.column_begin == 0u && !walk(0u, box, a) {
        return false;
    }
    if params.static_count > 0u && !walk(1u, grown(box, params.static_grow), a) {
        return false;
    }
    return add_planes(box, a, spans.x, spans.y) && add_planes(box, a, spans.z, spans.w);
}
