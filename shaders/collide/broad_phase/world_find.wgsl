// Which bodies behind one in its small world it meets: all their boxes are tested. The answer is kept for world_found.wgsl.
//
// No twin: the CPU tests eight boxes at a time (src/collide/broad_phase/small_worlds.rs).

fn world_mask(a: u32, box: Aabb) -> u32 {
    let end = min(world_span(a).y, a + SMALL_WORLD);
    var mask = 0u;
    for (var b = a + 1u; b < end; b += 1u) {
        let other = boxes[b];
        // A half-space overlaps nothing as a box.
        if overlaps(box.min, box.max, other.min, other.max) && accepts(box, other) && owners_meet(a, b) {
            mask |= 1u << (b - a - 1u);
        }
    }
    masks[a] = mask;
    return mask;
}
