// Parameters of the stages that walk the tree of boxes.
//
// The tree is implicit: level 0 has the bodies' boxes in Morton order, and four neighbours of a level have the box
// around them in the next. The levels lie one after the other in `nodes`, those of the movers first, then those of
// the statics.
//
// No twin: a struct declaration; the Rust struct is in src/collide/broad_phase/kernels.rs.

struct TreeParams {
    // Bodies that move; their ids come first.
    body_count: u32,
    static_count: u32,
    // Half-spaces among both; `planes` has their ids.
    plane_count: u32,
    // Always zero (see bvh/rounding.wgsl).
    zero: u32,
    // Rows (in Morton order) or heavy rows of this dispatch.
    begin: u32,
    end: u32,
    // Window of the pairs' order that is written.
    window_begin: u32,
    window_len: u32,
    // Rows that the list of heavy rows has room for, and parts that their columns are cut into.
    heavy_capacity: u32,
    segment_count: u32,
    // Topmost level of each tree.
    mover_top: u32,
    static_top: u32,
    // What the boxes of a mover and a static lack of the margin.
    static_grow: f32,
    // Bodies before this one are nobody's partners: the movers, where only statics are asked about; else 0.
    column_begin: u32,
    padding_1: u32,
    padding_2: u32,
    // Where each level begins, and where the last one ends.
    mover_levels: array<vec4u, 5>,
    static_levels: array<vec4u, 5>,
}

// Pairs of a row that its own thread sorts; longer rows are heavy.
const ROW_LIMIT: u32 = 512u;
// Nodes that a row's thread looks at in each tree; a row that needs more is heavy.
const VISIT_LIMIT: u32 = 8192u;
