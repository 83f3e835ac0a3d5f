// The list as the stages after GJK read it.
// No twin: a list of the device; src/collide/query/gpu/narrow.rs writes its first two words.
struct RefineList {
    // Entries of `indices`.
    count: u32,
    // Pairs before they are cut into windows.
    total: u32,
    // Pairs (within the frame) that GJK found near the surface, in no certain order.
    indices: array<u32>,
}
