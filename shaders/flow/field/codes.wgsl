// Writes the codes of next cells, from final distances. Counts the reached cells, and finds the largest distance and
// the first cell whose distance 32 bits do not hold.
//
// One invocation per word of four codes; a workgroup has words of one field only. Obstacles hold the number of moves
// that lead out of them; reset_obstacles.wgsl sets them back later. Does nothing while a wave is not finished.
//
// No twin: the CPU's forms are src/flow/field/cpu/codes.rs and, for escape codes, src/flow/field/cpu/escape.rs.

const NEXT_NONE: u32 = 255u;

var<workgroup> reached: atomic<u32>;
var<workgroup> farthest: atomic<u32>;

// Whether a cell that is not reached has a reached neighbour.
fn has_reached_neighbour(field: u32, cell: vec3<i32>) -> bool {
    for (var code = 0u; code < params.move_count; code += 1u) {
        let target_cell = cell + params.moves[code].xyz;
        if (is_free(target_cell) && may_pass(cell, params.moves[code].xyz)
            && distance_at(place_of(field, index_of(vec3<u32>(target_cell)))) != UNREACHABLE) {
            return true;
        }
    }
    return false;
}

// The escape code of an obstacle out of which `escape_moves` moves lead.
fn escape_code(field: u32, cell: vec3<i32>, escape_moves: u32) -> u32 {
    for (var code = 0u; code < params.move_count; code += 1u) {
        let target_cell = cell + params.moves[code].xyz;
        if (is_inside(target_cell)) {
            let distance = distance_at(place_of(field, index_of(vec3<u32>(target_cell))));
            let is_wall = is_blocked(vec3<u32>(target_cell));
            if (distance != UNREACHABLE && select(0u, distance, is_wall) == escape_moves - 1u) {
                return code;
            }
        }
    }
    return NEXT_NONE;
}

// The code of a reached cell with this distance: the first move that attains it.
fn code_of(field: u32, cell: vec3<i32>, distance: u32) -> u32 {
    for (var code = 0u; code < params.move_count; code += 1u) {
        if (distance_over(field, cell, params.moves[code]) == distance) {
            return code;
        }
    }
    return NEXT_NONE;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (local == 0u) {
        atomicStore(&reached, 0u);
        atomicStore(&farthest, 0u);
    }
    workgroupBarrier();
    let word = piece.x + flat_index(group, group_count, local);
    let field_words = params.field_pitch / 4u;
    let field = word / field_words;
    let first = 4u * (word % field_words);
    let is_done = (atomicLoad(&state[ACTIVE_COUNT]) | atomicLoad(&state[ACTIVE_COUNT + 1u])) == 0u;
    if (is_done && field < params.field_count && word < piece.y && first < params.cell_count) {
        var packed = 0u;
        var own_reached = 0u;
        var own_farthest = 0u;
        for (var i = 0u; i < 4u; i += 1u) {
            var code = NEXT_NONE;
            if (first + i < params.cell_count) {
                let index = params.first_cell + first + i;
                let cell = cell_of(index);
                let distance = distance_at(place_of(field, index));
                if (is_blocked(cell)) {
                    if (distance != UNREACHABLE) {
                        code = escape_code(field, vec3<i32>(cell), distance);
                    }
                } else if (distance == UNREACHABLE) {
                    if (has_reached_neighbour(field, vec3<i32>(cell))) {
                        atomicMin(&state[state_of(field, OVERFLOW)], index);
                    }
                } else {
                    own_reached += 1u;
                    own_farthest = max(own_farthest, distance);
                    if (distance != 0u) {
                        code = code_of(field, vec3<i32>(cell), distance);
                    }
                }
            }
            packed |= code << (8u * i);
        }
        codes[word] = packed;
        if (own_reached != 0u) {
            atomicAdd(&reached, own_reached);
            atomicMax(&farthest, own_farthest);
        }
    }
    workgroupBarrier();
    if (local == 0u && atomicLoad(&reached) != 0u) {
        atomicAdd(&state[state_of(field, REACHED)], atomicLoad(&reached));
        atomicMax(&state[state_of(field, FARTHEST)], atomicLoad(&farthest));
    }
}
