// Which pairs of bodies may meet: all of them. pair_rules.wgsl is the other form.
// No twin: the CPU has one form (`PairRules` in src/collide/scene/rules.rs).

// The leaves of a tree that may be partners of body `a`: from the first up to, not including, the second.
fn span_of(tree: u32, a: u32, leaf_count: u32) -> vec2u {
    return vec2u(0u, leaf_count);
}

// The level at which a walk over these leaves begins.
fn top_of(tree: u32, span: vec2u) -> u32 {
    return select(params.static_top, params.mover_top, tree == 0u);
}

// The node of a level above the first of these leaves.
fn first_node(level: u32, span: vec2u) -> u32 {
    return 0u;
}

// The number of nodes of a level that are above these leaves, or above leaves before them.
fn node_count(tree: u32, level: u32, span: vec2u) -> u32 {
    return level_begin(tree, level + 1u) - level_begin(tree, level);
}

// The half-spaces that may be partners of body `a`: two ranges of `planes`.
fn plane_spans(a: u32) -> vec4u {
    return vec4u(0u, params.plane_count, 0u, 0u);
}

// The columns of a range that may be partners of body `a`.
fn columns_of(a: u32, begin: u32, end: u32) -> vec2u {
    return vec2u(max(begin, a + 1u), end);
}

fn may_meet(a: u32, b: u32) -> bool {
    return true;
}
