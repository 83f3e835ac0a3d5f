// The lists of active tiles: one queue is worked through in this round, the other is filled for the next. The tiles of
// all fields are numbered in one sequence.
//
// `queue` holds four arrays: for each tile whether it is in the even queue, and the same for the odd queue; then the
// tiles in the even queue, and those in the odd queue. Updates use a fifth array (changed_tiles.wgsl). Each strip has
// its own part of a queue. `counts_out` has a slot of four words per strip: the workgroup counts x, y, z of the next
// round's indirect dispatch, and the number of active tiles.
//
// No twin: each search on the CPU has a list of its own kind (src/flow/field/cpu/buckets.rs, queue.rs, radix.rs, tiles.rs).

// The most workgroups along x; larger dispatches are two-dimensional.
const GROUPS_X: u32 = 32768u;

// Activates a tile of a field: puts it on the list of the next round, once.
fn activate(field: u32, tile: u32) {
    let tile_total = params.field_count * params.tile_count;
    let next = 1u - (round_params.round & 1u);
    let id = field * params.tile_count + tile;
    if (atomicExchange(&queue[next * tile_total + id], 1u) == 0u) {
        let strip = select(0u, tile / params.strip_tiles, params.strip_count > 1u);
        let slot = 4u * (round_params.next_slot + strip);
        let list_index = atomicAdd(&counts_out[slot + 3u], 1u);
        atomicStore(&queue[(2u + next) * tile_total + strip * params.strip_tiles + list_index], id);
        atomicMax(&counts_out[slot], min(list_index + 1u, GROUPS_X));
        if (list_index >= GROUPS_X) {
            atomicMax(&counts_out[slot + 1u], list_index / GROUPS_X + 1u);
        }
    }
}

// Activates the neighbour of a tile, if it is in the grid.
fn activate_neighbour(field: u32, tile: vec3<u32>, offset: vec3<i32>) {
    let neighbour = vec3<i32>(tile) + offset;
    if (all(neighbour >= vec3<i32>(0)) && all(neighbour < vec3<i32>(params.tiles))) {
        let position = vec3<u32>(neighbour);
        activate(field, (position.z * params.tiles.y + position.y) * params.tiles.x + position.x);
    }
}
