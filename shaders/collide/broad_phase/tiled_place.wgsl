// The rows and columns that one workgroup of tiled_count.wgsl or tiled_write.wgsl tests.
// No twin: only the GPU distributes boxes to workgroups; the Rust struct is in src/collide/broad_phase/kernels.rs.

struct TileParams {
    // Number of moving bodies.
    body_count: u32,
    // Segments of the columns, each tested by its own threads.
    segment_count: u32,
    // Rows of this dispatch: `row_begin` up to, not including, `row_end`.
    row_begin: u32,
    row_end: u32,
    // Window of the pair order to write (tiled_write.wgsl only).
    window_begin: u32,
    window_len: u32,
    // Always zero (see rounding.wgsl).
    zero: u32,
    // Moving bodies and statics.
    column_count: u32,
    // Margin that the boxes of a moving body and a static do not include yet.
    static_grow: f32,
    // Columns before this one are not tested: the moving bodies, if only statics are wanted; else 0.
    column_begin: u32,
    padding_1: u32,
    padding_2: u32,
}

struct TilePlace {
    // First of the group's WORKGROUP_SIZE rows.
    first_row: u32,
    segment: u32,
    // Columns to test: those of the segment that follow the first row.
    column_begin: u32,
    column_end: u32,
}

// Margin that the boxes of a pair do not include yet, by the second body.
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
