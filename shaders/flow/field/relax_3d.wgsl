// Relaxation of tiles in three dimensions, for any steps and costs: the distances of a tile are lowered until nothing
// changes.
//
// One workgroup of 256 invocations per tile of 16 x 8 x 8 cells, four cells each. It loads its window: the tile and the
// cells around it. It lowers each of its cells in place to the least distance over the moves from it, at most 64 times.
// It writes the distances that improved, and activates the tiles that have an improved cell in their window, and itself
// if it was not done. Distances only ever fall, to lengths of real paths, so the order of reads and writes does not
// matter: when no tile is active the distances are the one fixed point. A neighbour that changes cells while a tile
// reads them activates that tile again.
//
// In the wave out of obstacles (`is_escape`) the cells of obstacles are lowered: their distance is the number of moves
// to a reached cell, and reached cells count as 0.
//
// Source: the fast iterative method (Jeong and Whitaker 2008), on tiles.
//
// No twin: in three dimensions the CPU settles cells in the order of their distances (src/flow/field/cpu/buckets.rs,
// radix.rs).

const TILE: vec3<u32> = vec3<u32>(16u, 8u, 8u);
// The window: the tile with a margin of cells around it.
const MARGIN: vec3<i32> = vec3<i32>(1, 1, 1);
const WINDOW: vec3<u32> = vec3<u32>(18u, 10u, 10u);
const WINDOW_CELLS: u32 = 1800u;

const MAX_SWEEPS: u32 = 64u;

var<workgroup> window_distances: array<atomic<u32>, WINDOW_CELLS>;
// The cost of entering each cell; 0 where none may.
var<workgroup> window_costs: array<u32, WINDOW_CELLS>;
// The last sweep that changed something.
var<workgroup> last_change: atomic<u32>;
// The faces of the tile at which a cell improved.
var<workgroup> improved_faces: atomic<u32>;

// What a move adds to an index of the window.
fn window_stride(offset: vec3<i32>) -> i32 {
    return offset.x + i32(WINDOW.x) * (offset.y + i32(WINDOW.y) * offset.z);
}

// The moves allowed from a cell of the window, one bit each.
fn moves_from(index: u32) -> u32 {
    var allowed = 0u;
    for (var code = 0u; code < params.move_count; code += 1u) {
        let offset = params.moves[code].xyz;
        let axes = axes_of(offset);
        var is_allowed = true;
        if (params.corner_rule != ANY_CORNERS && countOneBits(axes) > 1u) {
            var free = 0u;
            for (var part = 1u; part < axes; part += 1u) {
                if ((part & ~axes) == 0u) {
                    let between = u32(i32(index) + window_stride(part_of(offset, part)));
                    free |= select(0u, 1u << part, window_costs[between] != 0u);
                }
            }
            is_allowed = passes(axes, free);
        }
        let target_index = u32(i32(index) + window_stride(offset));
        if (is_allowed && window_costs[target_index] != 0u) {
            allowed |= 1u << code;
        }
    }
    return allowed;
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
    let origin = tile * TILE;
    let is_escape = params.is_escape != 0u;
    let limit = select(atomicLoad(&state[state_of(field, LIMIT)]), UNREACHABLE - 1u, is_escape);
    if (local == 0u) {
        atomicStore(&last_change, 0u);
        atomicStore(&improved_faces, 0u);
        dequeue(id);
    }
    for (var i = local; i < WINDOW_CELLS; i += WORKGROUP_SIZE) {
        let row = i / WINDOW.x;
        let window = vec3<u32>(i % WINDOW.x, row % WINDOW.y, row / WINDOW.y);
        let cell = vec3<i32>(origin + window) - MARGIN;
        var distance = UNREACHABLE;
        var cost = 0u;
        if (is_inside(cell)) {
            let index = index_of(vec3<u32>(cell));
            let is_wall = is_blocked(vec3<u32>(cell));
            if (is_escape) {
                distance = atomicLoad(&distances[place_of(field, index)]);
                if (!is_wall && distance != UNREACHABLE) {
                    distance = 0u;
                }
                cost = 1u;
            } else if (!is_wall) {
                distance = atomicLoad(&distances[place_of(field, index)]);
                cost = 1u;
                if (params.is_weighted != 0u) {
                    cost = costs[place_of(0u, index)];
                }
            }
        }
        atomicStore(&window_distances[i], distance);
        window_costs[i] = cost;
    }
    workgroupBarrier();

    var own_index = array<u32, 4>(0u, 0u, 0u, 0u);
    var allowed = array<u32, 4>(0u, 0u, 0u, 0u);
    var before = array<u32, 4>(0u, 0u, 0u, 0u);
    var current = array<u32, 4>(0u, 0u, 0u, 0u);
    for (var i = 0u; i < 4u; i += 1u) {
        let tile_index = local + i * WORKGROUP_SIZE;
        let row = tile_index / TILE.x;
        let inner = vec3<u32>(tile_index % TILE.x, row % TILE.y, row / TILE.y);
        let window = inner + vec3<u32>(MARGIN);
        own_index[i] = window.x + WINDOW.x * (window.y + WINDOW.y * window.z);
        current[i] = atomicLoad(&window_distances[own_index[i]]);
        before[i] = current[i];
        let cell = origin + inner;
        if (all(cell < params.size) && is_blocked(cell) == is_escape) {
            allowed[i] = moves_from(own_index[i]);
        }
    }

    for (var sweep = 1u; sweep <= MAX_SWEEPS; sweep += 1u) {
        var improved = false;
        for (var i = 0u; i < 4u; i += 1u) {
            var least = current[i];
            for (var moves_left = allowed[i]; moves_left != 0u; moves_left &= moves_left - 1u) {
                let step = params.moves[countTrailingZeros(moves_left)];
                let neighbour = u32(i32(own_index[i]) + window_stride(step.xyz));
                least = min(least, distance_via(atomicLoad(&window_distances[neighbour]), u32(step.w), window_costs[neighbour]));
            }
            if (least < current[i] && least <= limit) {
                current[i] = least;
                atomicStore(&window_distances[own_index[i]], least);
                improved = true;
            }
        }
        if (improved) {
            atomicMax(&last_change, sweep);
        }
        if (workgroupUniformLoad(&last_change) < sweep) {
            break;
        }
    }

    var own_faces = 0u;
    for (var i = 0u; i < 4u; i += 1u) {
        if (current[i] < before[i]) {
            let tile_index = local + i * WORKGROUP_SIZE;
            let row = tile_index / TILE.x;
            let inner = vec3<u32>(tile_index % TILE.x, row % TILE.y, row / TILE.y);
            atomicStore(&distances[place_of(field, index_of(origin + inner))], current[i]);
            own_faces |= faces_of(inner, TILE - vec3<u32>(1u));
        }
    }
    if (own_faces != 0u) {
        atomicOr(&improved_faces, own_faces);
    }
    workgroupBarrier();

    if (local < 27u) {
        activate_beside(field, tile, local, atomicLoad(&improved_faces), atomicLoad(&last_change) < MAX_SWEEPS);
    }
}
