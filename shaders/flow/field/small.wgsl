// Unit cost, four neighbours, grids of 256 x 256 cells at most: a group solves a field from its goals to its codes.
//
// Each invocation holds a block of 32 columns and 8 rows as bits, in registers: one word a row, two vec4 a plane. Only the rims of the
// fronts go through workgroup memory, three words a block, in two copies that take turns: so a level costs one barrier. It is
// looked every eight levels whether the front is empty; then the wave goes once more, through obstacles, out of them; then the
// codes are made from the last two bits of all levels: cells next to one another are at most one level apart.
//
// A dispatch does so many levels; fields that are not done keep their planes, and are on the list of the next one.
//
// No twin: the CPU solves small grids by the same searches as others (src/flow/field/cpu/search.rs).

const UNREACHABLE: u32 = 0xffffffffu;
const NEXT_NONE: u32 = 255u;
// Most groups along x: rounds of more are two-dimensional.
const GROUPS_X: u32 = 32768u;
// Blocks of a row with one of nothing on each side; blocks of all rows likewise.
const RIM_PITCH: u32 = 10u;
const RIM: u32 = 340u;
const RIMS: u32 = 1020u;
// Rows whose codes are written together, words of a plane of them.
const PART_ROWS: u32 = 64u;
const PART_WORDS: u32 = 512u;
// Planes that are kept from dispatch to dispatch, of eight words an invocation.
const KEPT_WORDS: u32 = 32u;
// Words of a field's state (src/flow/field/gpu/kernels.rs): how far it came.
const HEADER: u32 = 8u;
const FIELD_WORDS: u32 = 8u;
const REACHED: u32 = 1u;
const FARTHEST: u32 = 2u;
const LEVEL: u32 = 5u;
const EXITS: u32 = 6u;

struct SmallParams {
    width: u32,
    height: u32,
    // Words of obstacle bits a row.
    row_words: u32,
    // Blocks of a row, and of a column.
    columns: u32,
    blocks: u32,
    field_count: u32,
    field_pitch: u32,
    // Levels of one dispatch, a multiple of eight.
    level_limit: u32,
    // No distance is larger.
    limit: u32,
    has_obstacles: u32,
    padding_0: u32,
    padding_1: u32,
}

// What changes from dispatch to dispatch.
struct RoundParams {
    round: u32,
    // Where the counts of this dispatch stand, and of the next.
    slot: u32,
    next_slot: u32,
    phase: u32,
}

// The rims of the fronts (tops, bottoms, sides, twice), later parts of the planes that codes are made of.
var<workgroup> words: array<u32, 2048>;
// The level of this dispatch after which some front was not empty; 1 where the wave goes out of obstacles.
var<workgroup> alive: atomic<u32>;
var<workgroup> exits: u32;
var<workgroup> reached: atomic<u32>;
var<workgroup> farthest: atomic<u32>;

// Eight words of a block, one a row.
struct Block {
    low: vec4<u32>,
    high: vec4<u32>,
}

// What surrounds a block: the row above it and that below, of its left and right neighbours the bits that touch it.
struct Surrounding {
    above: u32,
    below: u32,
    left: u32,
    right: u32,
}

fn is_any(block: Block) -> bool {
    return any((block.low | block.high) != vec4<u32>(0u));
}

// The cells of a word that the grid has.
fn inside_word(column: u32, row: u32) -> u32 {
    if (column >= params.columns || row >= params.height) {
        return 0u;
    }
    let count = params.width - 32u * column;
    return select((1u << (count & 31u)) - 1u, 0xffffffffu, count >= 32u);
}

fn wall_word(column: u32, row: u32) -> u32 {
    let inside = inside_word(column, row);
    if (inside == 0u) {
        return 0u;
    }
    return inside & blocked[row * params.row_words + column];
}

fn inside_block(column: u32, row: u32) -> Block {
    let low = vec4<u32>(inside_word(column, row), inside_word(column, row + 1u), inside_word(column, row + 2u),
        inside_word(column, row + 3u));
    let high = vec4<u32>(inside_word(column, row + 4u), inside_word(column, row + 5u),
        inside_word(column, row + 6u), inside_word(column, row + 7u));
    return Block(low, high);
}

fn wall_block(column: u32, row: u32) -> Block {
    let low = vec4<u32>(wall_word(column, row), wall_word(column, row + 1u), wall_word(column, row + 2u),
        wall_word(column, row + 3u));
    let high = vec4<u32>(wall_word(column, row + 4u), wall_word(column, row + 5u), wall_word(column, row + 6u),
        wall_word(column, row + 7u));
    return Block(low, high);
}

// Bits 0 … 3 of a number, one a row.
fn rows_of(bits: u32) -> vec4<u32> {
    return (vec4<u32>(bits) >> vec4<u32>(0u, 1u, 2u, 3u)) & vec4<u32>(1u);
}

fn bits_of(rows: vec4<u32>) -> u32 {
    return rows.x | (rows.y << 1u) | (rows.z << 2u) | (rows.w << 3u);
}

// Shows a block's rim to its neighbours, and gets theirs. All invocations come here together; `copy` says which of the two copies is
// used, another one each time.
fn surround(block: Block, at: u32, is_on: bool, copy: u32) -> Surrounding {
    let first = copy * RIMS;
    if (is_on) {
        var sides = 0u;
        if (is_any(block)) {
            sides = bits_of(block.low >> vec4<u32>(31u)) | (bits_of(block.high >> vec4<u32>(31u)) << 4u);
            sides |= (bits_of(block.low & vec4<u32>(1u)) << 8u) | (bits_of(block.high & vec4<u32>(1u)) << 12u);
        }
        words[first + at] = block.low.x;
        words[first + RIM + at] = block.high.w;
        words[first + 2u * RIM + at] = sides;
    }
    workgroupBarrier();
    if (!is_on) {
        return Surrounding(0u, 0u, 0u, 0u);
    }
    return Surrounding(
        words[first + RIM + at - RIM_PITCH],
        words[first + at + RIM_PITCH],
        words[first + 2u * RIM + at - 1u] & 255u,
        (words[first + 2u * RIM + at + 1u] >> 8u) & 255u,
    );
}

// For each cell what the one above it has, and so on.
fn north(block: Block, around: Surrounding) -> Block {
    return Block(
        vec4<u32>(around.above, block.low.x, block.low.y, block.low.z),
        vec4<u32>(block.low.w, block.high.x, block.high.y, block.high.z),
    );
}

fn south(block: Block, around: Surrounding) -> Block {
    return Block(
        vec4<u32>(block.low.y, block.low.z, block.low.w, block.high.x),
        vec4<u32>(block.high.y, block.high.z, block.high.w, around.below),
    );
}

fn west(block: Block, around: Surrounding) -> Block {
    let one = vec4<u32>(1u);
    return Block(
        (block.low << one) | rows_of(around.left),
        (block.high << one) | rows_of(around.left >> 4u),
    );
}

fn east(block: Block, around: Surrounding) -> Block {
    let one = vec4<u32>(1u);
    let last = vec4<u32>(31u);
    return Block(
        (block.low >> one) | (rows_of(around.right) << last),
        (block.high >> one) | (rows_of(around.right >> 4u) << last),
    );
}

// Writes the distance of the cells of a word.
fn put(first: u32, bits: u32, distance: u32) {
    for (var left = bits; left != 0u; left &= left - 1u) {
        distances[first + countTrailingZeros(left)] = distance;
    }
}

fn put_block(first: u32, block: Block, distance: u32) {
    put(first, block.low.x, distance);
    put(first + params.width, block.low.y, distance);
    put(first + 2u * params.width, block.low.z, distance);
    put(first + 3u * params.width, block.low.w, distance);
    put(first + 4u * params.width, block.high.x, distance);
    put(first + 5u * params.width, block.high.y, distance);
    put(first + 6u * params.width, block.high.z, distance);
    put(first + 7u * params.width, block.high.w, distance);
}

// The first of a field's goals, which are sorted, that is not before a cell.
fn goal_from(first: u32, end: u32, cell: u32) -> u32 {
    var low = first;
    var high = end;
    for (var turn = 0u; turn < 32u; turn += 1u) {
        if (low >= high) {
            break;
        }
        let middle = (low + high) / 2u;
        if (goals[middle] < cell) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// The goals in a block.
fn goal_block(field: u32, column: u32, row: u32) -> Block {
    var block = Block(vec4<u32>(0u), vec4<u32>(0u));
    let lists = params.field_count + 1u;
    let first = lists + goals[field];
    let end = lists + goals[field + 1u];
    let from_goal = goal_from(first, end, row * params.width);
    let to_goal = goal_from(first, end, (row + 8u) * params.width);
    for (var at = from_goal; at < to_goal; at += 1u) {
        let x = goals[at] % params.width;
        let y = goals[at] / params.width - row;
        if (x / 32u == column) {
            let bit = 1u << (x & 31u);
            block.low |= select(vec4<u32>(0u), vec4<u32>(bit), vec4<u32>(y) == vec4<u32>(0u, 1u, 2u, 3u));
            block.high |= select(vec4<u32>(0u), vec4<u32>(bit), vec4<u32>(y) == vec4<u32>(4u, 5u, 6u, 7u));
        }
    }
    return block;
}

// The planes of a field that is not done lie behind the two lists, word by word of all invocations.
fn kept_at(field: u32, local: u32, word: u32) -> u32 {
    return 2u * params.field_count + (field * KEPT_WORDS + word) * WORKGROUP_SIZE + local;
}

fn take_block(field: u32, local: u32, plane: u32) -> Block {
    let first = 8u * plane;
    let low = vec4<u32>(saved[kept_at(field, local, first)], saved[kept_at(field, local, first + 1u)],
        saved[kept_at(field, local, first + 2u)], saved[kept_at(field, local, first + 3u)]);
    let high = vec4<u32>(saved[kept_at(field, local, first + 4u)], saved[kept_at(field, local, first + 5u)],
        saved[kept_at(field, local, first + 6u)], saved[kept_at(field, local, first + 7u)]);
    return Block(low, high);
}

fn keep_block(field: u32, local: u32, plane: u32, block: Block) {
    let first = 8u * plane;
    saved[kept_at(field, local, first)] = block.low.x;
    saved[kept_at(field, local, first + 1u)] = block.low.y;
    saved[kept_at(field, local, first + 2u)] = block.low.z;
    saved[kept_at(field, local, first + 3u)] = block.low.w;
    saved[kept_at(field, local, first + 4u)] = block.high.x;
    saved[kept_at(field, local, first + 5u)] = block.high.y;
    saved[kept_at(field, local, first + 6u)] = block.high.z;
    saved[kept_at(field, local, first + 7u)] = block.high.w;
}

fn meet(one: Block, other: Block) -> Block {
    return Block(one.low & other.low, one.high & other.high);
}

fn join(one: Block, other: Block) -> Block {
    return Block(one.low | other.low, one.high | other.high);
}

// Those of the first that are not in the second.
fn without(one: Block, other: Block) -> Block {
    return Block(one.low & ~other.low, one.high & ~other.high);
}

// Where both have the same.
fn equal(one: Block, other: Block) -> Block {
    return Block(~(one.low ^ other.low), ~(one.high ^ other.high));
}

// Shows a plane of the codes' rows to the group.
fn show(plane: u32, row: u32, column: u32, block: Block) {
    let first = plane * PART_WORDS + (row % PART_ROWS) * 8u + column;
    words[first] = block.low.x;
    words[first + 8u] = block.low.y;
    words[first + 16u] = block.low.z;
    words[first + 24u] = block.low.w;
    words[first + 32u] = block.high.x;
    words[first + 40u] = block.high.y;
    words[first + 48u] = block.high.z;
    words[first + 56u] = block.high.w;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = flat_group(group, group_count);
    if (place >= counts_in[4u * round_params.slot + 3u]) {
        return;
    }
    // The first dispatch has all fields.
    var field = place;
    if (round_params.round != 0u) {
        field = saved[(round_params.round & 1u) * params.field_count + place];
    }
    let state_of = HEADER + field * FIELD_WORDS;
    let column = local % params.columns;
    let row = local / params.columns * 8u;
    let is_on = local / params.columns < params.blocks;
    let at = (local / params.columns + 1u) * RIM_PITCH + column + 1u;
    let first_cell = field * params.field_pitch + row * params.width + 32u * column;
    let nothing = Block(vec4<u32>(0u), vec4<u32>(0u));

    for (var i = local; i < 2048u; i += WORKGROUP_SIZE) {
        words[i] = 0u;
    }
    var walls = nothing;
    var free = nothing;
    if (is_on) {
        walls = wall_block(column, row);
        free = without(inside_block(column, row), walls);
    }
    // What is reached, the front, and the last two bits of all levels.
    var seen = nothing;
    var front = nothing;
    var low_bits = nothing;
    var high_bits = nothing;
    var level = 0u;
    var is_exit = false;
    if (round_params.round == 0u) {
        if (is_on) {
            front = goal_block(field, column, row);
            seen = front;
            put_block(first_cell, front, 0u);
        }
    } else {
        seen = take_block(field, local, 0u);
        front = take_block(field, local, 1u);
        low_bits = take_block(field, local, 2u);
        high_bits = take_block(field, local, 3u);
        level = atomicLoad(&state[state_of + LEVEL]);
        is_exit = atomicLoad(&state[state_of + EXITS]) != 0u;
    }
    if (local == 0u) {
        atomicStore(&alive, 0u);
        atomicStore(&reached, 0u);
        atomicStore(&farthest, 0u);
        exits = select(0u, 1u, is_exit);
        atomicMax(&state[0], round_params.round + 1u);
    }
    var last = 0u;
    var is_done = false;
    workgroupBarrier();

    for (var step = 0u; step < params.level_limit; step += 1u) {
        let around = surround(front, at, is_on, step & 1u);
        level += 1u;
        var fresh = nothing;
        let edge = around.above | around.below | around.left | around.right;
        // Most of a grid is far from the front, most of the time.
        if ((edge != 0u || is_any(front)) && (is_exit || level <= params.limit)) {
            let grown = join(
                join(north(front, around), south(front, around)),
                join(west(front, around), east(front, around)),
            );
            var ground = free;
            if (is_exit) {
                ground = walls;
            }
            fresh = without(meet(grown, ground), seen);
            seen = join(seen, fresh);
            if ((level & 1u) != 0u) {
                low_bits = join(low_bits, fresh);
            }
            if ((level & 2u) != 0u) {
                high_bits = join(high_bits, fresh);
            }
            if (!is_exit && is_any(fresh)) {
                last = level;
                put_block(first_cell, fresh, level);
            }
        }
        front = fresh;
        if ((step & 7u) == 7u) {
            if (is_any(front)) {
                atomicMax(&alive, step + 1u);
            }
            if (workgroupUniformLoad(&alive) != step + 1u) {
                if (params.has_obstacles == 0u) {
                    is_done = true;
                    break;
                }
                if (workgroupUniformLoad(&exits) != 0u) {
                    is_done = true;
                    break;
                }
                if (local == 0u) {
                    exits = 1u;
                }
                // Out of obstacles: all that is reached is the front.
                is_exit = true;
                front = seen;
                level = 0u;
            }
        }
    }
    if (last != 0u) {
        atomicMax(&farthest, last);
    }
    workgroupBarrier();
    if (local == 0u) {
        atomicMax(&state[state_of + FARTHEST], atomicLoad(&farthest));
    }

    if (!is_done) {
        keep_block(field, local, 0u, seen);
        keep_block(field, local, 1u, front);
        keep_block(field, local, 2u, low_bits);
        keep_block(field, local, 3u, high_bits);
        if (local == 0u) {
            atomicStore(&state[state_of + LEVEL], level);
            atomicStore(&state[state_of + EXITS], exits);
            let slot = 4u * round_params.next_slot;
            let index = atomicAdd(&counts_out[slot + 3u], 1u);
            saved[(1u - (round_params.round & 1u)) * params.field_count + index] = field;
            atomicMax(&counts_out[slot], min(index + 1u, GROUPS_X));
            if (index >= GROUPS_X) {
                atomicMax(&counts_out[slot + 1u], index / GROUPS_X + 1u);
            }
        }
        return;
    }

    // Where the neighbour of a cell is one level before it, in each direction.
    let inside_reached = meet(seen, free);
    let walls_reached = meet(seen, walls);
    let low_before = Block(~low_bits.low, ~low_bits.high);
    let high_before = equal(low_bits, high_bits);
    let around_low = surround(low_bits, at, is_on, 0u);
    let around_high = surround(high_bits, at, is_on, 1u);
    var up = meet(equal(north(low_bits, around_low), low_before), equal(north(high_bits, around_high), high_before));
    var right = meet(equal(east(low_bits, around_low), low_before), equal(east(high_bits, around_high), high_before));
    var down = meet(equal(south(low_bits, around_low), low_before), equal(south(high_bits, around_high), high_before));
    var left = meet(equal(west(low_bits, around_low), low_before), equal(west(high_bits, around_high), high_before));
    // Of a free cell it must be reached, of an obstacle it is an obstacle that is, or any free cell that is.
    let around_walls = surround(walls_reached, at, is_on, 0u);
    let around_free = surround(inside_reached, at, is_on, 1u);
    up = meet(seen, leads(up, free, walls, north(walls_reached, around_walls), north(inside_reached, around_free)));
    right = meet(seen, leads(right, free, walls, east(walls_reached, around_walls), east(inside_reached, around_free)));
    down = meet(seen, leads(down, free, walls, south(walls_reached, around_walls), south(inside_reached, around_free)));
    left = meet(seen, leads(left, free, walls, west(walls_reached, around_walls), west(inside_reached, around_free)));
    right = without(right, up);
    down = without(down, join(up, right));
    left = without(left, join(join(up, right), down));
    let codes_low = join(right, left);
    let codes_high = join(down, left);
    let has_code = join(join(up, right), codes_high);

    let count = dot(countOneBits(inside_reached.low) + countOneBits(inside_reached.high), vec4<u32>(1u));
    if (count != 0u) {
        atomicAdd(&reached, count);
    }
    for (var part = 0u; part < 4u; part += 1u) {
        let first_row = part * PART_ROWS;
        if (first_row >= params.height) {
            break;
        }
        workgroupBarrier();
        if (is_on && row / PART_ROWS == part) {
            show(0u, row, column, codes_low);
            show(1u, row, column, codes_high);
            show(2u, row, column, has_code);
            show(3u, row, column, inside_reached);
        }
        workgroupBarrier();
        let cell_count = min(params.height - first_row, PART_ROWS) * params.width;
        let part_cell = field * params.field_pitch + first_row * params.width;
        for (var word = local; 4u * word < cell_count; word += WORKGROUP_SIZE) {
            var y = 4u * word / params.width;
            var x = 4u * word % params.width;
            var packed = 0u;
            for (var i = 0u; i < 4u; i += 1u) {
                var code = NEXT_NONE;
                if (4u * word + i < cell_count) {
                    let held = y * 8u + (x >> 5u);
                    let bit = x & 31u;
                    if (((words[2u * PART_WORDS + held] >> bit) & 1u) != 0u) {
                        code = ((words[held] >> bit) & 1u) | (((words[PART_WORDS + held] >> bit) & 1u) << 1u);
                    }
                    if (((words[3u * PART_WORDS + held] >> bit) & 1u) == 0u) {
                        distances[part_cell + 4u * word + i] = UNREACHABLE;
                    }
                    x += 1u;
                    if (x == params.width) {
                        x = 0u;
                        y += 1u;
                    }
                }
                packed |= code << (8u * i);
            }
            codes[part_cell / 4u + word] = packed;
        }
    }
    if (local == 0u) {
        atomicStore(&state[state_of + REACHED], atomicLoad(&reached));
    }
}

// Whether a neighbour is where a cell leads. `before`: it is one level before, if both were of one wave; `to_wall`, `to_free`: it is a
// reached obstacle, a reached free cell.
fn leads(before: Block, free: Block, walls: Block, to_wall: Block, to_free: Block) -> Block {
    let along = meet(before, join(meet(free, to_free), meet(walls, to_wall)));
    // Free cells are where the wave out of obstacles began, whatever their own level is.
    return join(along, meet(walls, to_free));
}
