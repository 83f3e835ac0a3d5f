// The codes of the next cells, from final distances, and what the field amounts to: cells reached, the farthest, the first
// that is reached by no distance that 32 bits hold.
//
// One invocation a word of four codes; a group has words of one field only. Obstacles hold how many steps lead out of
// them; they get back their own distance later (reset.wgsl). Does nothing while a wave is not done.
//
// No twin: the CPU's forms are src/flow/field/cpu/codes.rs and, for ways out of obstacles, src/flow/field/cpu/exits.rs.

const NEXT_NONE: u32 = 255u;

var<workgroup> reached: atomic<u32>;
var<workgroup> farthest: atomic<u32>;

fn is_free(cell: vec3<i32>) -> bool {
    return is_inside(cell) && !is_blocked(vec3<u32>(max(cell, vec3<i32>(0))));
}

// Whether the move passes the corners.
fn may_pass(cell: vec3<i32>, offset: vec3<i32>) -> bool {
    let axes = axes_of(offset);
    if (params.corner_rule == ANY_CORNERS || countOneBits(axes) < 2u) {
        return true;
    }
    var free = 0u;
    for (var part = 1u; part < axes; part += 1u) {
        if ((part & ~axes) == 0u && is_free(cell + part_of(offset, part))) {
            free |= 1u << part;
        }
    }
    return passes(axes, free);
}

// The distance by way of the cell that a move leads to.
fn by_way_of(field: u32, cell: vec3<i32>, step: vec4<i32>) -> u32 {
    let to = cell + step.xyz;
    if (!is_free(to)) {
        return UNREACHABLE;
    }
    let index = index_of(vec3<u32>(to));
    let distance = distances[place_of(field, index)];
    if (distance == UNREACHABLE || !may_pass(cell, step.xyz)) {
        return UNREACHABLE;
    }
    var cost = 1u;
    if (params.is_weighted != 0u) {
        cost = costs[place_of(0u, index)];
    }
    return entered(distance, u32(step.w), cost);
}

// Whether a cell from which no goal is reached has a neighbour from which one is.
fn is_beside_reached(field: u32, cell: vec3<i32>) -> bool {
    for (var code = 0u; code < params.move_count; code += 1u) {
        let to = cell + params.moves[code].xyz;
        if (is_free(to) && may_pass(cell, params.moves[code].xyz)
            && distances[place_of(field, index_of(vec3<u32>(to)))] != UNREACHABLE) {
            return true;
        }
    }
    return false;
}

// The code of an obstacle that so many steps lead out of.
fn way_out(field: u32, cell: vec3<i32>, step_count: u32) -> u32 {
    for (var code = 0u; code < params.move_count; code += 1u) {
        let to = cell + params.moves[code].xyz;
        if (is_inside(to)) {
            let distance = distances[place_of(field, index_of(vec3<u32>(to)))];
            let is_wall = is_blocked(vec3<u32>(to));
            if (distance != UNREACHABLE && select(0u, distance, is_wall) == step_count - 1u) {
                return code;
            }
        }
    }
    return NEXT_NONE;
}

fn code_of(field: u32, cell: vec3<i32>, distance: u32) -> u32 {
    for (var code = 0u; code < params.move_count; code += 1u) {
        if (by_way_of(field, cell, params.moves[code]) == distance) {
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
    let is_done = (atomicLoad(&state[PENDING]) | atomicLoad(&state[PENDING + 1u])) == 0u;
    if (is_done && field < params.field_count && word < piece.y && first < params.cell_count) {
        var packed = 0u;
        var reached_here = 0u;
        var farthest_here = 0u;
        for (var i = 0u; i < 4u; i += 1u) {
            var code = NEXT_NONE;
            if (first + i < params.cell_count) {
                let index = params.first_cell + first + i;
                let cell = cell_of(index);
                let distance = distances[place_of(field, index)];
                if (is_blocked(cell)) {
                    if (distance != UNREACHABLE) {
                        code = way_out(field, vec3<i32>(cell), distance);
                    }
                } else if (distance == UNREACHABLE) {
                    if (is_beside_reached(field, vec3<i32>(cell))) {
                        atomicMin(&state[state_of(field, OVERFLOW)], index);
                    }
                } else {
                    reached_here += 1u;
                    farthest_here = max(farthest_here, distance);
                    if (distance != 0u) {
                        code = code_of(field, vec3<i32>(cell), distance);
                    }
                }
            }
            packed |= code << (8u * i);
        }
        codes[word] = packed;
        if (reached_here != 0u) {
            atomicAdd(&reached, reached_here);
            atomicMax(&farthest, farthest_here);
        }
    }
    workgroupBarrier();
    if (local == 0u && atomicLoad(&reached) != 0u) {
        atomicAdd(&state[state_of(field, REACHED)], atomicLoad(&reached));
        atomicMax(&state[state_of(field, FARTHEST)], atomicLoad(&farthest));
    }
}
