// The direction for each agent at its position: blended between the centres of cells, never into a wall, and straight
// to a goal that it sees.
//
// One invocation per agent. The field must be one strip.
//
// CPU twin: src/flow/agents/steer.rs, in f64.

struct SteerParams {
    // The axes of the grid in the world, its outer corner, and the edge of a cell.
    axis_x: vec4<f32>,
    axis_y: vec4<f32>,
    axis_z: vec4<f32>,
    origin: vec3<f32>,
    cell_size: f32,
    agent_count: u32,
    first_distance: u32,
    first_word: u32,
    // The most steps to a goal that may be seen; 0 if none may.
    sight: u32,
    sight_rule: u32,
    is_flat: u32,
    padding_0: u32,
    padding_1: u32,
}

const NEXT_NONE: u32 = 255u;
// See MIN_AGREEMENT in src/flow/agents/steer.rs.
const MIN_AGREEMENT: f32 = 0.5;
// Subsets of the axes, four bits each: those of faces, of edges and of the corner of a cell, in this order from the low
// end.
const AXIS_SUBSETS: u32 = 0x7653421u;

fn is_free(cell: vec3<i32>) -> bool {
    return is_inside(cell) && !is_blocked(vec3<u32>(max(cell, vec3<i32>(0))));
}

// Whether a corner rule allows a move.
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

// The unit vector in this direction; 0 if the vector is too short to have one.
fn unit(vector: vec3<f32>) -> vec3<f32> {
    let length_of = sqrt(dot(vector, vector));
    if (length_of > 1e-9) {
        return vector / length_of;
    }
    return vec3<f32>(0.0);
}

// The direction from a position in a cell to the centre of a neighbour.
fn to_centre(offset: vec3<i32>, from_centre: vec3<f32>) -> vec3<f32> {
    return unit(vec3<f32>(offset) - from_centre);
}

// The axes whose bits are set.
fn axes_in(axes: u32) -> vec3<bool> {
    return (vec3<u32>(axes) & vec3<u32>(1u, 2u, 4u)) != vec3<u32>(0u);
}

// The direction of the agent's own cell: to the centre of the next cell, or around the corner if the move cuts one.
fn own_direction(cell: vec3<i32>, from_centre: vec3<f32>, offset: vec3<i32>) -> vec3<f32> {
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

// The mean of the directions of the cells around, weighted by how near their centres are.
fn blended_direction(cell: vec3<i32>, from_centre: vec3<f32>) -> vec3<f32> {
    let towards = select(vec3<i32>(1), vec3<i32>(-1), from_centre < vec3<f32>(0.0));
    let fraction = abs(from_centre);
    var sum = vec3<f32>(0.0);
    for (var corner = 0u; corner < 8u; corner += 1u) {
        let is_moved = axes_in(corner);
        let offset = select(vec3<i32>(0), towards, is_moved);
        let parts = select(vec3<f32>(1.0) - fraction, fraction, is_moved);
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

// Removes the parts of a direction that would lead into a wall within half a cell. Along an axis only an agent past the
// middle of its cell can meet a wall that soon.
fn without_walls(cell: vec3<i32>, from_centre: vec3<f32>, direction: vec3<f32>) -> vec3<f32> {
    var allowed = direction;
    for (var attempt = 0u; attempt < 3u; attempt += 1u) {
        // Into which neighbour each axis may lead; 0 for none. Signs are multiplied, because products of small numbers
        // could underflow.
        let leaves = select(vec3<i32>(0), vec3<i32>(sign(allowed)), sign(allowed) * sign(from_centre) > vec3<f32>(0.0));
        var blocked_axis = 3u;
        for (var i = 0u; i < 7u; i += 1u) {
            let is_moved = axes_in((AXIS_SUBSETS >> (4u * i)) & 7u);
            let offset = select(vec3<i32>(0), leaves, is_moved);
            if (all((offset != vec3<i32>(0)) == is_moved) && !is_free(cell + offset)) {
                for (var axis = 0u; axis < 3u; axis += 1u) {
                    if (is_moved[axis] && (blocked_axis == 3u || abs(allowed[axis]) < abs(allowed[min(blocked_axis, 2u)]))) {
                        blocked_axis = axis;
                    }
                }
                break;
            }
        }
        if (blocked_axis == 3u) {
            break;
        }
        allowed[blocked_axis] = 0.0;
    }
    if (all(allowed == direction)) {
        return direction;
    }
    return unit(allowed);
}

// The direction straight to the goal that the field leads to, if it is seen; otherwise 0.
fn goal_direction(cell: vec3<i32>, from_centre: vec3<f32>) -> vec3<f32> {
    var goal = cell;
    for (var step = 0u; step < steer.sight; step += 1u) {
        let code = code_at(goal);
        if (code != NEXT_NONE) {
            goal += params.moves[code].xyz;
        }
        if (distance_at(goal) == 0u) {
            let within = min(vec3<u32>((from_centre + 0.5) * f32(CELL_PARTS)), vec3<u32>(CELL_PARTS - 1u));
            if (is_seen(cell, within, goal, steer.sight)) {
                return to_centre(goal - cell, from_centre);
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
        // The way out of an obstacle ignores other obstacles.
        return to_centre(offset, from_centre);
    }
    let to_goal = goal_direction(cell, from_centre);
    if (any(to_goal != vec3<f32>(0.0)) && all(without_walls(cell, from_centre, to_goal) == to_goal)) {
        return to_goal;
    }
    let own = without_walls(cell, from_centre, own_direction(cell, from_centre, offset));
    let blended = without_walls(cell, from_centre, blended_direction(cell, from_centre));
    return select(own, blended, dot(blended, own) >= MIN_AGREEMENT);
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
    let in_axes = vec3<f32>(dot(steer.axis_x.xyz, offset), dot(steer.axis_y.xyz, offset), dot(steer.axis_z.xyz, offset));
    var place = in_axes / steer.cell_size;
    if (steer.is_flat != 0u) {
        place.z = 0.5;
    }
    let corner = floor(place);
    var found = vec4<f32>(0.0);
    // Beyond 2^24 cells f32 does not tell neighbouring cells apart anyway.
    if (all(corner >= vec3<f32>(0.0)) && all(corner < vec3<f32>(params.size))) {
        let cell = min(vec3<i32>(corner), vec3<i32>(params.size) - 1);
        let direction = direction_at(cell, place - corner - 0.5);
        let world_direction = steer.axis_x.xyz * direction.x + steer.axis_y.xyz * direction.y + steer.axis_z.xyz * direction.z;
        found = vec4<f32>(world_direction, 1.0);
    }
    directions[index] = found;
}
