// The key of a body where all are in one world: its Morton key. world_key.wgsl is the other form.
// No twin: the CPU sorts each world by itself (`Sorter` in src/collide/bvh/morton.rs).

fn key_at(index: u32) -> u32 {
    return key_of(box_at(index));
}
