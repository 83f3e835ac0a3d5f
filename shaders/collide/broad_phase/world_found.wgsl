// Which bodies behind one in its small world it meets, as world_find.wgsl has found.
//
// No twin: the CPU finds each pair once (src/collide/broad_phase/small_worlds.rs).

fn world_mask(a: u32, box: Aabb) -> u32 {
    return masks[a];
}
