// Any steps and costs, in two and three dimensions: distances of a tile's cells are lowered until nothing changes.
//
// One group of 256 invocations a tile of 1,024 cells, four each. It loads the tile and the cells around it, lowers its own
// up to 64 times in place, each to the least over the moves from it, writes those that improved, and wakes the tiles that
// see one of these; itself where it was not done. Distances only ever fall to lengths of real ways, so the order of
// reads and writes does not matter: what is left when no tile is awake is the one fixpoint. A tile that a neighbour changed while it
// read is woken by that neighbour.
//
// In the phase out of obstacles (`is_exit`) it is the obstacles' cells that are lowered: their distance is the number
// of steps to a reached cell, whose own counts as 0.
//
// Source: the fast iterative method (Jeong and Whitaker 2008), on tiles.
//
// No twin: the CPU settles cells in the order of their distances (src/flow/field/cpu/buckets.rs, radix.rs).

const INNER: u32 = 64u;

var<workgroup> near: array<atomic<u32>, WINDOW_CELLS>;
// Cost of entering each cell; 0 where none may.
var<workgroup> costs_near: array<u32, WINDOW_CELLS>;
// The last inner turn that changed something.
var<workgroup> changed: atomic<u32>;
// Faces of the tile (x, then y, then z, low and high) at which a cell improved.
var<workgroup> faces: atomic<u32>;

// How far a move leads in the window.
fn stride(offset: vec3<i32>) -> i32 {
    return offset.x + i32(WINDOW.x) * (offset.y + i32(WINDOW.y) * offset.z);
}

// The moves that may be made from a cell of the window, a bit each.
fn moves_from(at: u32) -> u32 {
    var allowed = 0u;
    for (var code = 0u; code < params.move_count; code += 1u) {
        let offset = params.moves[code].xyz;
        let axes = axes_of(offset);
        var is_allowed = true;
        if (params.corner_rule != ANY_CORNERS && countOneBits(axes) > 1u) {
            var free = 0u;
            for (var part = 1u; part < axes; part += 1u) {
                if ((part & ~axes) == 0u) {
                    let between = u32(i32(at) + stride(part_of(offset, part)));
                    free |= select(0u, 1u << part, costs_near[between] != 0u);
                }
            }
            is_allowed = passes(axes, free);
        }
        let to = u32(i32(at) + stride(offset));
        if (is_allowed && costs_near[to] != 0u) {
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
    let place = flat_group(group, group_count);
    if (place >= turn_length()) {
        return;
    }
    let id = take(place);
    let field = id / params.tile_count;
    let tile = tile_at(id % params.tile_count);
    let origin = tile * TILE;
    let is_exit = params.is_exit != 0u;
    let limit = select(atomicLoad(&state[state_of(field, LIMIT)]), UNREACHABLE - 1u, is_exit);
    if (local == 0u) {
        atomicStore(&changed, 0u);
        atomicStore(&faces, 0u);
        leave(id);
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
            if (is_exit) {
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
        atomicStore(&near[i], distance);
        costs_near[i] = cost;
    }
    workgroupBarrier();

    var at = array<u32, 4>(0u, 0u, 0u, 0u);
    var allowed = array<u32, 4>(0u, 0u, 0u, 0u);
    var before = array<u32, 4>(0u, 0u, 0u, 0u);
    var mine = array<u32, 4>(0u, 0u, 0u, 0u);
    for (var i = 0u; i < 4u; i += 1u) {
        let own = local + i * WORKGROUP_SIZE;
        let row = own / TILE.x;
        let inner = vec3<u32>(own % TILE.x, row % TILE.y, row / TILE.y);
        let window = inner + vec3<u32>(MARGIN);
        at[i] = window.x + WINDOW.x * (window.y + WINDOW.y * window.z);
        mine[i] = atomicLoad(&near[at[i]]);
        before[i] = mine[i];
        let cell = origin + inner;
        if (all(cell < params.size) && is_blocked(cell) == is_exit) {
            allowed[i] = moves_from(at[i]);
        }
    }

    for (var step = 1u; step <= INNER; step += 1u) {
        var improved = false;
        for (var i = 0u; i < 4u; i += 1u) {
            var best = mine[i];
            for (var left = allowed[i]; left != 0u; left &= left - 1u) {
                let to = params.moves[countTrailingZeros(left)];
                let beside = u32(i32(at[i]) + stride(to.xyz));
                best = min(best, entered(atomicLoad(&near[beside]), u32(to.w), costs_near[beside]));
            }
            if (best < mine[i] && best <= limit) {
                mine[i] = best;
                atomicStore(&near[at[i]], best);
                improved = true;
            }
        }
        if (improved) {
            atomicMax(&changed, step);
        }
        if (workgroupUniformLoad(&changed) < step) {
            break;
        }
    }

    var marks = 0u;
    for (var i = 0u; i < 4u; i += 1u) {
        if (mine[i] < before[i]) {
            let own = local + i * WORKGROUP_SIZE;
            let row = own / TILE.x;
            let inner = vec3<u32>(own % TILE.x, row % TILE.y, row / TILE.y);
            atomicStore(&distances[place_of(field, index_of(origin + inner))], mine[i]);
            marks |= select(0u, 1u, inner.x == 0u) | select(0u, 2u, inner.x == TILE.x - 1u);
            marks |= select(0u, 4u, inner.y == 0u) | select(0u, 8u, inner.y == TILE.y - 1u);
            marks |= select(0u, 16u, inner.z == 0u) | select(0u, 32u, inner.z == TILE.z - 1u);
        }
    }
    if (marks != 0u) {
        atomicOr(&faces, marks);
    }
    workgroupBarrier();

    if (local < 27u) {
        let side = vec3<i32>(vec3<u32>(local % 3u, local / 3u % 3u, local / 9u)) - 1;
        let seen = atomicLoad(&faces);
        var wanted = select(0u, 1u, side.x < 0) | select(0u, 2u, side.x > 0);
        wanted |= select(0u, 4u, side.y < 0) | select(0u, 8u, side.y > 0);
        wanted |= select(0u, 16u, side.z < 0) | select(0u, 32u, side.z > 0);
        let is_done = atomicLoad(&changed) < INNER;
        if (select((seen & wanted) == wanted, !is_done, local == 13u)) {
            wake_beside(field, tile, side);
        }
    }
}
