// What the stages of the narrow phase share: parameters, verdicts, the list of pairs that EPA refines.
// No twin: only kernels have parameters; the Rust struct is in src/collide/narrow_phase/kernels.rs.

struct NarrowParams {
    // Always zero (see bvh/rounding.wgsl).
    zero: u32,
    // First invocation of this dispatch.
    first: u32,
    // The pairs of this frame: of `refine.total` those from `window_begin`, at most `window_len`.
    window_begin: u32,
    window_len: u32,
    body_count: u32,
    // Where the walk over every pair stands (pair_exhaustive.wgsl only).
    exhaustive_row: u32,
    exhaustive_column: u32,
    // Whether the axes of separated pairs are written.
    write_axes: u32,
    // Pairs apart by up to this have rows too, in world units (measuring queries only).
    margin: f32,
    // Whether the depth of pairs that overlap is wanted (measuring queries only).
    with_depth: u32,
    // Whether pairs that are apart have rows too, so that row and pair have the same index.
    keep_all: u32,
    // Seconds that the bodies move for (sweeps only).
    duration: f32,
    // Bodies behind the `body_count` first ones, where each of those is paired with each of these (pair_exhaustive.wgsl only);
    // else 0.
    column_count: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

// What stages write of a pair, in the low byte of its word.
const VERDICT_SEPARATED: u32 = 0u;
const VERDICT_TOUCHING: u32 = 1u;
const VERDICT_PENETRATING: u32 = 2u;
// Only the exact path can say.
const VERDICT_UNSETTLED: u32 = 3u;

// Verdicts that one thread of the compaction looks at.
const RUN: u32 = 16u;

// Pairs of this frame.
fn pair_count() -> u32 {
    return min(refine.total - min(refine.total, params.window_begin), params.window_len);
}

// The verdict in a pair's word. The bits above say something else, and differ between stages: whose the point of a
// measured pair is (measure_out.wgsl), how far turning takes points (sweep/meeting.wgsl).
fn code_of(word: u32) -> u32 {
    return word & 255u;
}

// Whether a pair with this word has a row.
fn has_row(word: u32) -> bool {
    return code_of(word) != VERDICT_SEPARATED || params.keep_all != 0u;
}
