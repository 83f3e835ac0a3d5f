// The list of pairs for EPA, as GJK appends to it; see refine_list.wgsl.
// No twin: a device list; src/collide/query/gpu/narrow.rs writes its first two words.
struct RefineList {
    count: atomic<u32>,
    total: u32,
    indices: array<u32>,
}
