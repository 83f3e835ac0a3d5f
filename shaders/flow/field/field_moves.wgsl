// The moves that lead from a cell of the grid, and the distance over each.
//
// Reads the bindings `blocked`, `costs` and, by `distance_at`, `distances`.
//
// No twin: the CPU's forms are src/flow/field/cpu/moves.rs and move_lookup.rs.

fn is_free(cell: vec3<i32>) -> bool {
    return is_inside(cell) && !is_blocked(vec3<u32>(max(cell, vec3<i32>(0))));
}

// Whether the corner rule allows a move from a cell.
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

// The distance of a cell over the target of a move; UNREACHABLE if the move is not allowed or the target not reached.
fn distance_over(field: u32, cell: vec3<i32>, step: vec4<i32>) -> u32 {
    let target_cell = cell + step.xyz;
    if (!is_free(target_cell)) {
        return UNREACHABLE;
    }
    let index = index_of(vec3<u32>(target_cell));
    let distance = distance_at(place_of(field, index));
    if (distance == UNREACHABLE || !may_pass(cell, step.xyz)) {
        return UNREACHABLE;
    }
    var cost = 1u;
    if (params.is_weighted != 0u) {
        cost = costs[place_of(0u, index)];
    }
    return distance_via(distance, u32(step.w), cost);
}
