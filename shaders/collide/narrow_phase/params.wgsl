// Shared by the stages of the narrow phase: parameters, verdicts and the list of pairs for EPA.
// No twin: only kernels have parameters; the Rust struct is in src/collide/narrow_phase/kernels.rs.

struct NarrowParams {
    // Always zero (see rounding.wgsl).
    zero: u32,
    // First invocation of this dispatch.
    first: u32,
    // Pairs of this frame: of the `refine.total` pairs, at most `window_len` from `window_begin` on.
    window_begin: u32,
    window_len: u32,
    body_count: u32,
    // Position of the exhaustive search (pair_exhaustive.wgsl only).
    exhaustive_row: u32,
    exhaustive_column: u32,
    // 1 if the axes of separated pairs are written.
    write_axes: u32,
    // Separated pairs up to this gap have rows too, in world units (measuring queries only).
    margin: f32,
    // 1 if depths of overlapping pairs are wanted (measuring queries only).
    with_depth: u32,
    // 1 if separated pairs have rows too, so that row and pair have the same index.
    keep_all: u32,
    // Duration of the motion in seconds (sweeps only).
    duration: f32,
    // Bodies after the first `body_count`, if each of those is paired with each of these (pair_exhaustive.wgsl only);
    // else 0.
    column_count: u32,
    // Number of the first row that the bound rows hold; 0 unless rows lie in several buffers.
    row_begin: u32,
    // 1 if the rows of this window come behind those that `row_sums` has counted already.
    is_later_window: u32,
    padding_0: u32,
}

// Verdicts that stages write for a pair, in the low byte of its word.
const VERDICT_SEPARATED: u32 = 0u;
const VERDICT_TOUCHING: u32 = 1u;
const VERDICT_PENETRATING: u32 = 2u;
// Only the exact path can decide.
const VERDICT_UNSETTLED: u32 = 3u;

// Farther than any two bodies are apart, in world units: positions and offsets of means are at most 1e18 along each axis. Its square is finite.
const FARTHEST: f32 = 1e19;

// Verdicts that one thread of the compaction reads.
const RUN: u32 = 16u;
// Where in `row_sums` the number of the rows of earlier windows stands. Before it stands the number of all rows so far, as
// a low and a high word.
const EARLIER_ROWS: u32 = 2u;
// Where in `row_sums` the rows of each workgroup of hit_count.wgsl begin.
const ROW_SUMS: u32 = 3u;

// Pairs of this frame.
fn pair_count() -> u32 {
    return min(refine.total - min(refine.total, params.window_begin), params.window_len);
}

// The verdict in a pair's word. The upper bits depend on the stage: the body of a measured pair's point
// (measure_out.wgsl), or the rotation's reach (sweep/meeting.wgsl).
fn code_of(word: u32) -> u32 {
    return word & 255u;
}

// Whether a pair with this word has a row.
fn has_row(word: u32) -> bool {
    return code_of(word) != VERDICT_SEPARATED || params.keep_all != 0u;
}
