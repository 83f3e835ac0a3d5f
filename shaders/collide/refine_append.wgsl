// The list as GJK appends to it; see refine_list.wgsl.
struct RefineList {
    count: atomic<u32>,
    total: u32,
    indices: array<u32>,
}
