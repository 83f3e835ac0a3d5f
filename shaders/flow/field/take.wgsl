// A group's tile out of this round's list.
// No twin: the CPU's list of tiles is `Tiles::now` in src/flow/field/cpu/tiles.rs.

// How many tiles this round has in this strip.
fn turn_length() -> u32 {
    return counts_in[4u * (round_params.slot + params.strip) + 3u];
}

// The tile at a place of the list, which leaves the queue.
fn take(place: u32) -> u32 {
    let all = params.field_count * params.tile_count;
    let even = round_params.round & 1u;
    return atomicLoad(&queue[(2u + even) * all + params.strip * params.strip_tiles + place]);
}

fn leave(id: u32) {
    let all = params.field_count * params.tile_count;
    atomicStore(&queue[(round_params.round & 1u) * all + id], 0u);
    atomicMax(&state[round_params.phase], round_params.round + 1u);
}
