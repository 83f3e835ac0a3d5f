// Verdicts of measured pairs, besides those of params.wgsl.
// No twin: the codes are those of kernels; src/collide/query/gpu/measures.rs and sweeps.rs read them.

// A pair apart, but within the margin: it has a row.
const VERDICT_WITHIN: u32 = 4u;
// The record's point is on b, from b's position, not on a.
const ANCHOR_B: u32 = 0x100u;
