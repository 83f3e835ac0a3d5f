// Where the levels of the trees begin in `nodes`.
// No twin: the CPU has a list for each level (`Tree` in src/collide/bvh/tree.rs).

fn level_begin(tree: u32, level: u32) -> u32 {
    if tree == 0u {
        return params.mover_levels[level >> 2u][level & 3u];
    }
    return params.static_levels[level >> 2u][level & 3u];
}
