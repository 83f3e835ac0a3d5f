// The direction in which each agent should go from its position: bilinear between the centres of cells, never into a
// wall, straight to a goal that it sees.
//
// One invocation an agent. The field is one strip.
//
// CPU twin: src/flow/agents/steer.rs, in f64.

struct SteerParams {
    // The grid's axes in the world, its outer corner, the edge of a cell.
    axis_x: vec4<f32>,
    axis_y: vec4<f32>,
    axis_z: vec4<f32>,
    origin: vec3<f32>,
    cell_size: f32,
    agent_count: u32,
    first_distance: u32,
    first_word: u32,
    // Steps to a goal that may be seen; 0 where none may.
    sight: u32,
    sight_rule: u32,
    is_flat: u32,
    padding_0: u32,
    padding_1: u32,
}

const NEXT_NONE: u32 = 255u;
// See LEAST_AGREEMENT in src/flow/agents/steer.rs.
const LEAST_AGREEMENT: f32 = 0.5;
// The axes of a cell's faces, edges and corner, in this order, four bits each.
const PARTS: u32 = 0x7653421u;

fn is_free(cell: vec3<i32>) -> bool {
    return is_inside(cell) && !is_blocked(vec3<u32>(max(cell, vec3<i32>(0))));
}

// Whether a corner rule lets a move pass.
fn may_pass_by(rule: u32, cell: vec3<i32>, offset: vec3<i32>) -> bool {
    let axes = axes_of(offset);
    if (rule == ANY_CORNERS || countOneBits(axes) < 2u) {
        return true;
    }
    var free = 0u;
    for (var part = 1u; part < axes; part += 1u) {
        if ((part & ~axes) == 0u && is_free(cell + part_of(offset, part))) {
            free |= 1u << part;
        }
    }
    return passes_by(rule, axes, free);
}

fn distance_at(cell: vec3<i32>) -> u32 {
    return distances[steer.first_distance + index_of(vec3<u32>(cell))];
}

fn code_at(cell: vec3<i32>) -> u32 {
    let index = index_of(vec3<u32>(cell));
    return (codes[steer.first_word + (index >> 2u)] >> (8u * (index & 3u))) & 255u;
}

// The same direction with the length 1, or 0 where it has none.
fn unit(vector: vec3<f32>) -> vec3<f32> {
    let length_of = sqrt(dot(vector, vector));
    if (length_of > 1e-9) {
        return vector / length_of;
    }
    return vec3<f32>(0.0);
}

// From a place in a cell to the centre of one beside it.
fn to_centre(offset: vec3<i32>, from_centre: vec3<f32>) -> vec3<f32> {
    return unit(vec3<f32>(offset) - from_centre);
}

// The axes as they stand in a number's bits.
fn axes_in(axes: u32) -> vec3<bool> {
    return (vec3<u32>(axes) & vec3<u32>(1u, 2u, 4u)) != vec3<u32>(0u);
}

// The way of the agent's own cell: to the centre of the next one, around the corner where one is cut.
fn around(cell: vec3<i32>, from_centre: vec3<f32>, offset: vec3<i32>) -> vec3<f32> {
    if (may_pass_by(BOTH_FREE, cell, offset)) {
        return to_centre(offset, from_centre);
    }
    for (var axis = 0u; axis < 3u; axis += 1u) {
        var side = vec3<i32>(0);
        side[axis] = offset[axis];
        if (side[axis] != 0 && is_free(cell + side) && may_pass_by(ONE_FREE, cell + side, offset - side)) {
            return to_centre(side, from_centre);
        }
    }
    return vec3<f32>(0.0);
}

// The mean of the directions of the cells around, by how near their centres are.
fn smoothed(cell: vec3<i32>, from_centre: vec3<f32>) -> vec3<f32> {
    let towards = select(vec3<i32>(1), vec3<i32>(-1), from_centre < vec3<f32>(0.0));
    let share = abs(from_centre);
    var sum = vec3<f32>(0.0);
    for (var corner = 0u; corner < 8u; corner += 1u) {
        let on = axes_in(corner);
        let offset = select(vec3<i32>(0), towards, on);
        let parts = select(vec3<f32>(1.0) - share, share, on);
        let weight = parts.x * parts.y * parts.z;
        if (weight <= 0.0 || !is_free(cell + offset) || !may_pass_by(BOTH_FREE, cell, offset)) {
            continue;
        }
        if (distance_at(cell + offset) == 0u) {
            sum += weight * to_centre(offset, from_centre);
        } else {
            let code = code_at(cell + offset);
            if (code != NEXT_NONE) {
                sum += weight * unit(vec3<f32>(params.moves[code].xyz));
            }
        }
    }
    return unit(sum);
}

// A direction without what would lead into a wall within half a cell: along an axis a wall can be met only by who is past the
// middle of the cell.
fn held_back(cell: vec3<i32>, from_centre: vec3<f32>, direction: vec3<f32>) -> vec3<f32> {
    var held = direction;
    for (var turn = 0u; turn < 3u; turn += 1u) {
        // Which way each axis may leave the cell. Products of small numbers could be 0.
        let leaves = select(vec3<i32>(0), vec3<i32>(sign(held)), sign(held) * sign(from_centre) > vec3<f32>(0.0));
        var blocked_axis = 3u;
        for (var i = 0u; i < 7u; i += 1u) {
            let on = axes_in((PARTS >> (4u * i)) & 7u);
            let offset = select(vec3<i32>(0), leaves, on);
            if (all((offset != vec3<i32>(0)) == on) && !is_free(cell + offset)) {
                for (var axis = 0u; axis < 3u; axis += 1u) {
                    if (on[axis] && (blocked_axis == 3u || abs(held[axis]) < abs(held[min(blocked_axis, 2u)]))) {
                        blocked_axis = axis;
                    }
                }
                break;
            }
        }
        if (blocked_axis == 3u) {
            break;
        }
        held[blocked_axis] = 0.0;
    }
    if (all(held == direction)) {
        return direction;
    }
    return unit(held);
}

// Straight to the goal that the field leads to, where it is seen; else 0.
fn seen_goal(cell: vec3<i32>, from_centre: vec3<f32>) -> vec3<f32> {
    var at = cell;
    for (var step = 0u; step < steer.sight; step += 1u) {
        let code = code_at(at);
        if (code != NEXT_NONE) {
            at += params.moves[code].xyz;
        }
        if (distance_at(at) == 0u) {
            let within = min(vec3<u32>((from_centre + 0.5) * f32(CELL_PARTS)), vec3<u32>(CELL_PARTS - 1u));
            if (is_seen(cell, within, at, steer.sight)) {
                return to_centre(at - cell, from_centre);
            }
            break;
        }
    }
    return vec3<f32>(0.0);
}

fn direction_at(cell: vec3<i32>, from_centre: vec3<f32>) -> vec3<f32> {
    let code = code_at(cell);
    if (code == NEXT_NONE) {
        return vec3<f32>(0.0);
    }
    let offset = params.moves[code].xyz;
    if (distance_at(cell) == UNREACHABLE) {
        // Out of an obstacle, whatever is in the way.
        return to_centre(offset, from_centre);
    }
    let seen = seen_goal(cell, from_centre);
    if (any(seen != vec3<f32>(0.0)) && all(held_back(cell, from_centre, seen) == seen)) {
        return seen;
    }
    let own = held_back(cell, from_centre, around(cell, from_centre, offset));
    let held = held_back(cell, from_centre, smoothed(cell, from_centre));
    return select(own, held, dot(held, own) >= LEAST_AGREEMENT);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    if (index >= steer.agent_count) {
        return;
    }
    let offset = positions[index].xyz - steer.origin;
    let along = vec3<f32>(dot(steer.axis_x.xyz, offset), dot(steer.axis_y.xyz, offset), dot(steer.axis_z.xyz, offset));
    var place = along / steer.cell_size;
    if (steer.is_flat != 0u) {
        place.z = 0.5;
    }
    let corner = floor(place);
    var found = vec4<f32>(0.0);
    // Cells of a coordinate past 2^24 are not told apart in any case.
    if (all(corner >= vec3<f32>(0.0)) && all(corner < vec3<f32>(params.size))) {
        let cell = min(vec3<i32>(corner), vec3<i32>(params.size) - 1);
        let direction = direction_at(cell, place - corner - 0.5);
        let turned = steer.axis_x.xyz * direction.x + steer.axis_y.xyz * direction.y + steer.axis_z.xyz * direction.z;
        found = vec4<f32>(turned, 1.0);
    }
    directions[index] = found;
}
