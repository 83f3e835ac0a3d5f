// Relaxation of tiles in two dimensions, for any steps and costs: the distances of a tile are lowered until nothing
// changes.
//
// One workgroup of 128 invocations per tile of 32 x 32 cells. It loads its window: the tile and the cells around it. Four
// lines of 32 invocations then cross the tile at once: downward, upward, to the right and to the left. In each of 32
// steps a line lowers the cells that it stands on over the three moves to the line of cells that it comes from. So one
// turn finds all paths that go straight on in one of the four directions, along diagonals too, and most tiles are done
// after a few turns; at most 32 are made. The group writes the distances that improved, and activates the tiles that have
// an improved cell in their window, and itself if it was not done. Distances only ever fall, to lengths of real paths, so
// the order of reads and writes does not matter: when no tile is active the distances are the one fixed point. A
// neighbour that changes cells while a tile reads them activates that tile again.
//
// In the wave out of obstacles (`is_escape`) the cells of obstacles are lowered: their distance is the number of moves
// to a reached cell, and reached cells count as 0.
//
// Source: the fast iterative method (Jeong and Whitaker 2008), on tiles; the lines are those of fast sweeping (Zhao 2005).
//
// No twin: src/flow/field/cpu/relax.rs relaxes rows of tiles on the CPU, in another order.

const EDGE: u32 = 32u;
// Words of a row of the window: one more than its cells, so that neither rows nor columns share a bank of memory.
const PITCH: u32 = 35u;
const WINDOW_EDGE: u32 = 34u;
const WINDOW_WORDS: u32 = 1190u;
const MAX_TURNS: u32 = 32u;
// Steps are below 2^12, so 32 bits hold the product with any cost below this.
const MIN_LONG_COST: u32 = 0x100000u;

var<workgroup> window_distances: array<atomic<u32>, WINDOW_WORDS>;
// The cost of entering each cell; 0 where none may.
var<workgroup> window_costs: array<u32, WINDOW_WORDS>;
// The last turn that changed something.
var<workgroup> last_change: atomic<u32>;
// The faces of the tile at which a cell improved.
var<workgroup> improved_faces: atomic<u32>;
// 1 if 32 bits might not hold a cost times a step.
var<workgroup> has_long_steps: atomic<u32>;

// The same as `distance_via`, for costs whose product with the step fits into 32 bits.
fn distance_via_short(distance: u32, step: u32, cost: u32) -> u32 {
    let sum = distance + step * cost;
    return select(sum, UNREACHABLE, sum < distance);
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
    let origin = tile * EDGE;
    let is_escape = params.is_escape != 0u;
    let limit = select(atomicLoad(&state[state_of(field, LIMIT)]), UNREACHABLE - 1u, is_escape);
    if (local == 0u) {
        atomicStore(&last_change, 0u);
        atomicStore(&improved_faces, 0u);
        atomicStore(&has_long_steps, 0u);
        dequeue(id);
    }
    workgroupBarrier();
    for (var i = local; i < WINDOW_EDGE * WINDOW_EDGE; i += WORKGROUP_SIZE) {
        let x = i % WINDOW_EDGE;
        let y = i / WINDOW_EDGE;
        // Before the first column or row these unsigned numbers wrap and are large.
        let cell = vec3<u32>(origin.x + x - 1u, origin.y + y - 1u, 0u);
        var distance = UNREACHABLE;
        var cost = 0u;
        if (cell.x < params.size.x && cell.y < params.size.y) {
            let index = index_of(cell);
            let is_wall = is_blocked(cell);
            if (is_escape || !is_wall) {
                distance = atomicLoad(&distances[place_of(field, index)]);
                cost = 1u;
                if (is_escape) {
                    if (!is_wall) {
                        // A cell that is not reached leads nowhere.
                        cost = select(1u, 0u, distance == UNREACHABLE);
                        distance = select(0u, UNREACHABLE, distance == UNREACHABLE);
                    }
                } else if (params.is_weighted != 0u) {
                    cost = costs[place_of(0u, index)];
                }
            }
        }
        atomicStore(&window_distances[y * PITCH + x], distance);
        window_costs[y * PITCH + x] = cost;
        if (cost >= MIN_LONG_COST) {
            atomicOr(&has_long_steps, 1u);
        }
    }
    let is_long = workgroupUniformLoad(&has_long_steps) != 0u;

    let unit = u32(params.moves[0].w);
    // Without diagonals this is not used, but no division may be by 0.
    let diagonal = max(u32(params.moves[4].w), 1u);
    // How many of the two cells that a diagonal passes must be free: two, one or none.
    let min_free = select(3u, 2u - params.corner_rule, params.move_count > 4u);
    // Where the invocation's line starts, what a step adds to an index, and from one cell of the line to the next.
    let lane = local % EDGE;
    let is_vertical = local < 2u * EDGE;
    let is_backward = (local & EDGE) != 0u;
    let across = select(PITCH, 1u, is_vertical);
    let forward = select(1u, PITCH, is_vertical);
    let along = select(forward, 0u - forward, is_backward);
    let start = (lane + 1u) * across + select(1u, EDGE, is_backward) * forward;

    for (var turn = 1u; turn <= MAX_TURNS; turn += 1u) {
        var improved = false;
        var index = start;
        // Of the line of cells that the line comes from: the own cell's distance, and the costs.
        var near_distance = atomicLoad(&window_distances[index - along]);
        var near_cost = window_costs[index - along];
        var near_left = window_costs[index - along - across];
        var near_right = window_costs[index - along + across];
        for (var step = 0u; step < EDGE; step += 1u) {
            let cost = window_costs[index];
            let left = window_costs[index - across];
            let right = window_costs[index + across];
            var distance = atomicLoad(&window_distances[index]);
            var least = UNREACHABLE;
            var left_least = UNREACHABLE;
            var right_least = UNREACHABLE;
            let left_distance = atomicLoad(&window_distances[index - along - across]);
            let right_distance = atomicLoad(&window_distances[index - along + across]);
            if (is_long) {
                least = distance_via(near_distance, unit, near_cost);
                left_least = distance_via(left_distance, diagonal, near_left);
                right_least = distance_via(right_distance, diagonal, near_right);
            } else {
                least = distance_via_short(near_distance, unit, near_cost);
                left_least = distance_via_short(left_distance, diagonal, near_left);
                right_least = distance_via_short(right_distance, diagonal, near_right);
            }
            // Without diagonals `min_free` is more than there are.
            let free = select(0u, 1u, near_cost != 0u);
            least = min(least, select(UNREACHABLE, left_least, free + select(0u, 1u, left != 0u) >= min_free));
            least = min(least, select(UNREACHABLE, right_least, free + select(0u, 1u, right != 0u) >= min_free));
            if ((cost != 0u) & (least < distance) & (least <= limit)) {
                atomicMin(&window_distances[index], least);
                distance = least;
                improved = true;
            }
            near_distance = distance;
            near_cost = cost;
            near_left = left;
            near_right = right;
            index += along;
            workgroupBarrier();
        }
        if (improved) {
            atomicMax(&last_change, turn);
        }
        if (workgroupUniformLoad(&last_change) < turn) {
            break;
        }
    }

    var own_faces = 0u;
    for (var i = local; i < EDGE * EDGE; i += WORKGROUP_SIZE) {
        let x = i % EDGE;
        let y = i / EDGE;
        let cell = origin + vec3<u32>(x, y, 0u);
        if (all(cell < params.size) && is_blocked(cell) == is_escape) {
            let place = place_of(field, index_of(cell));
            let distance = atomicLoad(&window_distances[(y + 1u) * PITCH + x + 1u]);
            // No other workgroup writes the cells of this tile.
            if (distance < atomicLoad(&distances[place])) {
                atomicStore(&distances[place], distance);
                own_faces |= faces_of(vec3<u32>(x, y, 0u), vec3<u32>(EDGE - 1u));
            }
        }
    }
    if (own_faces != 0u) {
        atomicOr(&improved_faces, own_faces);
    }
    workgroupBarrier();

    // The nine neighbours in the plane are in the middle of the 27.
    if (local < 9u) {
        activate_beside(field, tile, local + 9u, atomicLoad(&improved_faces), atomicLoad(&last_change) < MAX_TURNS);
    }
}
