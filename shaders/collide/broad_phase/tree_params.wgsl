// Parameters of the stages that traverse the tree of boxes.
//
// The tree is implicit. Its leaves are the bodies' boxes in Morton order: those of the moving bodies, then those of the
// statics. Each node of level 0 is the box around four adjacent leaves, each node of the next level that around four
// adjacent nodes. The levels follow each other in `nodes`: first the tree of the moving bodies, then that of the statics.
//
// No twin: a struct declaration; the Rust struct is in src/collide/broad_phase/kernels.rs.

struct TreeParams {
    // Number of moving bodies; their ids come first.
    body_count: u32,
    static_count: u32,
    // Number of half-spaces, moving and static; `planes` stores their ids.
    plane_count: u32,
    // Always zero (see rounding.wgsl).
    zero: u32,
    // Rows (in Morton order) or heavy rows of this dispatch.
    begin: u32,
    end: u32,
    // Window of the pair order to write.
    window_begin: u32,
    window_len: u32,
    // Capacity of the list of heavy rows, and segments of their columns.
    heavy_capacity: u32,
    segment_count: u32,
    // Topmost level of each tree.
    mover_top: u32,
    static_top: u32,
    // Margin that the boxes of a moving body and a static do not include yet.
    static_grow: f32,
    // Bodies before this one are not partners: the moving bodies, if only statics are wanted; else 0.
    column_begin: u32,
    // First body whose box is in `boxes`: 0, or the first static if only boxes of static half-spaces are needed.
    boxes_begin: u32,
    // For pair_rules.wgsl, where `planes` has: the world of each body, the first body of each world, the owner of each body, where each
    // owner's list of excluded owners begins. 0 where it has none.
    world_begin: u32,
    start_begin: u32,
    owner_begin: u32,
    list_begin: u32,
    // Number of half-spaces that are moving bodies.
    moving_plane_count: u32,
    // First node of each level, and the end of the last level.
    mover_levels: array<vec4u, 5>,
    static_levels: array<vec4u, 5>,
}

// Bodies that a world has at most where all are small.
const SMALL_WORLD: u32 = 32u;
// Pairs of a row that one thread can sort. Longer rows are heavy.
const ROW_LIMIT: u32 = 512u;
// Nodes that one thread may visit in each tree, leaves apart. A row that needs more is heavy.
const VISIT_LIMIT: u32 = 4096u;
