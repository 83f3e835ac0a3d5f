// The corner rules: when a diagonal move is allowed. See `Corners` in the Rust file.

const BOTH_FREE: u32 = 0u;
const ONE_FREE: u32 = 1u;
const ANY_CORNERS: u32 = 2u;

// Whether the corner rule allows a move. `axes`: the axes of the move, one bit each. `free`: one bit per subset of
// these axes, set if the cell that those axes lead to is free.
fn passes(axes: u32, free: u32) -> bool {
    return passes_by(params.corner_rule, axes, free);
}

// The same for a given rule.
fn passes_by(rule: u32, axes: u32, free: u32) -> bool {
    var reached = 1u;
    for (var part = 1u; part < axes; part += 1u) {
        if ((part & ~axes) != 0u) {
            continue;
        }
        if (((free >> part) & 1u) == 0u) {
            if (rule == BOTH_FREE) {
                return false;
            }
            continue;
        }
        for (var axis = 1u; axis < 8u; axis <<= 1u) {
            if ((part & axis) != 0u && ((reached >> (part & ~axis)) & 1u) != 0u) {
                reached |= 1u << part;
            }
        }
    }
    for (var axis = 1u; axis < 8u; axis <<= 1u) {
        if ((axes & axis) != 0u && ((reached >> (axes & ~axis)) & 1u) != 0u) {
            return true;
        }
    }
    return false;
}

// The axes of a move, one bit each.
fn axes_of(offset: vec3<i32>) -> u32 {
    let along = vec3<u32>(abs(offset));
    return along.x | (along.y << 1u) | (along.z << 2u);
}

// The part of an offset along some of its axes.
fn part_of(offset: vec3<i32>, part: u32) -> vec3<i32> {
    return offset * vec3<i32>(vec3<u32>(part, part >> 1u, part >> 2u) & vec3<u32>(1u));
}

// The distance of a cell whose step leads into a cell of this distance and cost; UNREACHABLE if 32 bits do not hold it.
fn distance_via(distance: u32, step: u32, cost: u32) -> u32 {
    if (distance == UNREACHABLE) {
        return UNREACHABLE;
    }
    // Steps are below 2^12.
    if (cost >= 0x100000u && cost > UNREACHABLE / step) {
        return UNREACHABLE;
    }
    let sum = distance + step * cost;
    return select(sum, UNREACHABLE, sum < distance);
}
