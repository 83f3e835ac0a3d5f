// Verdicts of measured pairs, in addition to those of params.wgsl.
// No twin: kernel codes, which src/collide/query/gpu/measures.rs and sweeps.rs read.

// A separated pair within the margin: it has a row.
const VERDICT_WITHIN: u32 = 4u;
// The record's point is on b, relative to b's position, not on a.
const ANCHOR_B: u32 = 0x100u;
