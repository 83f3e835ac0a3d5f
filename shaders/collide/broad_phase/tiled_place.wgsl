// Which rows and columns a group of the broad phase tests: shared by tiled_count.wgsl and tiled_write.wgsl.
// No twin: only the GPU deals boxes out to groups; the Rust struct is in src/collide/broad_phase/kernels.rs.

struct TileParams {
    // Bodies that move.
    body_count: u32,
    // Parts that the columns are cut into, each tested by threads of its own.
    segment_count: u32,
    // Rows of this dispatch: from `row_begin`, before `row_end`.
    row_begin: u32,
    row_end: u32,
    // Window of the pairs' order that is written (tiled_write.wgsl only).
    window_begin: u32,
    window_len: u32,
    // Always zero (see bvh/rounding.wgsl).
    zero: u32,
    // Bodies and statics.
    column_count: u32,
    // What the boxes of a mover and a static lack of the margin.
    static_grow: f32,
    // Columns before this one are nobody's partners: the movers, where only statics are asked about; else 0.
    column_begin: u32,
    padding_1: u32,
    padding_2: u32,
}

struct TilePlace {
    // First of the group's WORKGROUP_SIZE rows.
    first_row: u32,
    segment: u32,
    // Columns to test: of the segment, those after the first row.
    column_begin: u32,
    column_end: u32,
}

// What the boxes of a pair lack of the margin, by its second body.
fn grow_of(b: u32) -> f32 {
    return select(0.0, params.static_grow, b >= params.body_count);
}

fn tile_place(group: u32) -> TilePlace {
    let first_row = params.row_begin + group / params.segment_count * WORKGROUP_SIZE;
    let segment = group % params.segment_count;
    let segment_len = (params.column_count + params.segment_count - 1u) / params.segment_count;
    let begin = min(segment * segment_len, params.column_count);
    let end = min(begin + segment_len, params.column_count);
    return TilePlace(first_row, segment, min(max(begin, max(first_row + 1u, params.column_begin)), end), end);
}
