// How a workgroup gets its tile from the list of this round.
// No twin: the CPU's list of active tiles is `TileStrip::current` in src/flow/field/cpu/tiles.rs.

// The number of active tiles in this round and strip.
fn active_tile_count() -> u32 {
    return counts_in[4u * (round_params.slot + params.strip) + 3u];
}

// The tile at an index of the list.
fn active_tile(list_index: u32) -> u32 {
    let tile_total = params.field_count * params.tile_count;
    let parity = round_params.round & 1u;
    return atomicLoad(&queue[(2u + parity) * tile_total + params.strip * params.strip_tiles + list_index]);
}

// Clears the mark of a tile that it is in the queue, and records how many rounds there were.
fn dequeue(id: u32) {
    let tile_total = params.field_count * params.tile_count;
    atomicStore(&queue[(round_params.round & 1u) * tile_total + id], 0u);
    atomicMax(&state[round_params.phase], round_params.round + 1u);
}
