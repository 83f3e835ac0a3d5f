// The tiles that an update has to relax: a fifth array in `queue`, behind the two queues, one word a tile. Where the distances of a raster's tile are
// lowered from some cells, the host writes it.
// No twin: the CPU's updates go cell by cell (src/flow/field/cpu/repair.rs).

fn changed_place(tile: u32) -> u32 {
    return 4u * params.field_count * params.tile_count + tile;
}

fn mark_changed(tile: u32) {
    atomicStore(&queue[changed_place(tile)], 1u);
}

fn is_changed(tile: u32) -> bool {
    return atomicLoad(&queue[changed_place(tile)]) != 0u;
}
