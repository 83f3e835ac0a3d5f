// The key of a body by its world, and within that by its Morton key. box_key.wgsl is the form for one world.
//
// Each world has a range of keys in proportion to its bodies. So a large world keeps nearly all bits of its Morton keys, however many small
// ones there are.
//
// No twin: the CPU sorts each world by itself (`Sorter` in src/collide/bvh/morton.rs).

fn key_at(index: u32) -> u32 {
    let at = params.start_begin + rules[params.world_begin + index];
    let first = rules[at] * params.world_scale;
    let len = rules[at + 1u] * params.world_scale - first;
    // The product of the key and the length over 2³⁰, rounded down, less 1 at most. Both are at most 2³⁰.
    let key = key_of(box_at(index));
    let high = vec2u(key, len) >> vec2u(15u);
    let low = vec2u(key, len) & vec2u(0x7fffu);
    return first + high.x * high.y + ((high.x * low.y + low.x * high.y) >> 15u);
}
