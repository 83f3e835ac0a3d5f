// The list of pairs for EPA, as the stages after GJK read it.
// No twin: a device list; src/collide/query/gpu/narrow.rs writes its first two words.
struct RefineList {
    // Number of `indices`.
    count: u32,
    // Pairs before they are split into windows.
    total: u32,
    // Pairs (indices in the frame) that GJK left to EPA, in no particular order.
    indices: array<u32>,
}
