// Invalidates the distances of an old field that nothing supports any more.
//
// A distance is supported if it is a goal's 0, or if a move to a neighbour that has kept its own gives no more than it. Steps and
// costs are at least 1, so a chain of such moves ends at a goal, and each distance that is left is at least that of a real path: what
// relaxing may start from. The distances that are left are the greatest set in which each is supported, so the order of reads and
// writes does not matter.
//
// One workgroup of 256 invocations per active tile of 1,024 cells, four cells each. It looks at its cells again until none changes, at
// most 64 times. Then it marks the tile as changed, and activates the tiles that have an invalidated cell beside them, and itself if
// it was not done.
//
// Source: the first phase of Ramalingam and Reps 1996 ("An Incremental Algorithm for a Generalization of the Shortest-Path
// Problem"), without their order.
//
// No twin: the CPU invalidates the nearest cells first (`invalidate` in src/flow/field/cpu/repair.rs).

const MAX_SWEEPS: u32 = 64u;
const CELLS_PER_INVOCATION: u32 = 4u;

// The last sweep that changed something.
var<workgroup> last_change: atomic<u32>;
// The faces of the tile at which a cell lost its distance.
var<workgroup> changed_faces: atomic<u32>;

// Whether a move from a cell gives no more than its distance.
fn is_supported(field: u32, cell: vec3<i32>, distance: u32) -> bool {
    for (var code = 0u; code < params.move_count; code += 1u) {
        if (distance_over(field, cell, params.moves[code]) <= distance) {
            return true;
        }
    }
    return false;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let list_index = flat_group(group, group_count);
    if (list_index >= active_tile_count()) {
        return;
    }
    let id = active_tile(list_index);
    let field = id / params.tile_count;
    let tile = tile_at(id % params.tile_count);
    let origin = tile * params.tile_size;
    if (local == 0u) {
        atomicStore(&last_change, 0u);
        atomicStore(&changed_faces, 0u);
        dequeue(id);
    }
    workgroupBarrier();
    let last = params.tile_size - vec3<u32>(1u);
    var own_faces = 0u;
    for (var sweep = 1u; sweep <= MAX_SWEEPS; sweep += 1u) {
        var is_found = false;
        for (var i = 0u; i < CELLS_PER_INVOCATION; i += 1u) {
            let tile_index = local + i * WORKGROUP_SIZE;
            let row = tile_index / params.tile_size.x;
            let inner = vec3<u32>(tile_index % params.tile_size.x, row % params.tile_size.y, row / params.tile_size.y);
            let cell = origin + inner;
            if (any(cell >= params.size)) {
                continue;
            }
            let place = place_of(field, index_of(cell));
            let distance = distance_at(place);
            if (distance == 0u || distance == UNREACHABLE || is_supported(field, vec3<i32>(cell), distance)) {
                continue;
            }
            // No other workgroup writes the cells of this tile.
            atomicStore(&distances[place], UNREACHABLE);
            is_found = true;
            own_faces |= faces_of(inner, last);
        }
        if (is_found) {
            atomicMax(&last_change, sweep);
        }
        storageBarrier();
        if (workgroupUniformLoad(&last_change) < sweep) {
            break;
        }
    }
    if (own_faces != 0u) {
        atomicOr(&changed_faces, own_faces);
    }
    workgroupBarrier();

    if (local == 0u && atomicLoad(&last_change) != 0u) {
        mark_changed(id);
    }
    if (local < 27u) {
        activate_beside(field, tile, local, atomicLoad(&changed_faces), atomicLoad(&last_change) < MAX_SWEEPS);
    }
}
