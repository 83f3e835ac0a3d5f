// The work lists: two queues of tiles, one that is worked through and one for the next round. The tiles of all fields are
// counted in one row.
//
// `queue`: for each tile whether it is in the even queue, the same for the odd one, then the two lists; of several strips
// each has its own part of a list. `counts_out`: four words a slot, the groups (x, y, z) that the next round's
// dispatch takes, and the length of the list.
//
// No twin: each search on the CPU has a list of its own kind (src/flow/field/cpu/buckets.rs, queue.rs, radix.rs, tiles.rs).

// Most groups along x: rounds of more are two-dimensional.
const GROUPS_X: u32 = 32768u;

// Puts a tile of a field on the list of the next round, once.
fn wake(field: u32, tile: u32) {
    let all = params.field_count * params.tile_count;
    let next = 1u - (round_params.round & 1u);
    let id = field * params.tile_count + tile;
    if (atomicExchange(&queue[next * all + id], 1u) == 0u) {
        let strip = select(0u, tile / params.strip_tiles, params.strip_count > 1u);
        let slot = 4u * (round_params.next_slot + strip);
        let index = atomicAdd(&counts_out[slot + 3u], 1u);
        atomicStore(&queue[(2u + next) * all + strip * params.strip_tiles + index], id);
        atomicMax(&counts_out[slot], min(index + 1u, GROUPS_X));
        if (index >= GROUPS_X) {
            atomicMax(&counts_out[slot + 1u], index / GROUPS_X + 1u);
        }
    }
}

// Puts the neighbour of a tile on the list of the next round, where there is one.
fn wake_beside(field: u32, tile: vec3<u32>, step: vec3<i32>) {
    let at = vec3<i32>(tile) + step;
    if (all(at >= vec3<i32>(0)) && all(at < vec3<i32>(params.tiles))) {
        let beside = vec3<u32>(at);
        wake(field, (beside.z * params.tiles.y + beside.y) * params.tiles.x + beside.x);
    }
}
