// Small grids of at most 256 x 256 cells, with four neighbours and unit costs: a workgroup solves a field from its
// goals to its codes.
//
// Each invocation holds a block of 32 columns and 8 rows as bits in registers: one word per row, two vec4 per bit
// plane. Only the borders of the fronts go through workgroup memory, three words per block, in two copies that are used
// in turn; so a level needs one barrier. Every eighth level checks whether the front is empty. Then the wave goes out
// of obstacles in the same way. Then the codes follow from the last two bits of all levels, because neighbouring cells
// are at most one level apart.
//
// A dispatch advances a number of levels. Fields that are not finished save their planes, and are on the list of the
// next dispatch.
//
// No twin: the CPU solves small grids like others (src/flow/field/cpu/wave_method.rs).

const UNREACHABLE: u32 = 0xffffffffu;
const NEXT_NONE: u32 = 255u;
// The most workgroups along x; larger dispatches are two-dimensional.
const GROUPS_X: u32 = 32768u;
// Blocks of a row, with an empty block on each side; likewise an empty row of blocks above and below. Then the words of
// one border array, and of one copy of all three.
const BORDER_PITCH: u32 = 10u;
const BORDER_LEN: u32 = 340u;
const BORDER_COPY_LEN: u32 = 1020u;
// The rows whose codes are written together, and the words of a plane of them.
const PART_ROWS: u32 = 64u;
const PART_WORDS: u32 = 512u;
// The words that an invocation saves between dispatches: four planes of eight words.
const SAVED_WORDS: u32 = 32u;
// Words of the state of a field, as in params.wgsl; the last two say how far its wave has come.
const HEADER: u32 = 8u;
const FIELD_WORDS: u32 = 8u;
const REACHED: u32 = 1u;
const FARTHEST: u32 = 2u;
const LEVEL: u32 = 5u;
const ESCAPE: u32 = 6u;

struct SmallParams {
    width: u32,
    height: u32,
    // Words of obstacle bits per row.
    row_words: u32,
    // The number of blocks along a row, and along a column.
    columns: u32,
    blocks: u32,
    field_count: u32,
    field_pitch: u32,
    // The levels of one dispatch, a multiple of eight.
    level_limit: u32,
    // The largest distance that a cell may get.
    limit: u32,
    has_obstacles: u32,
    padding_0: u32,
    padding_1: u32,
}

// What differs between the dispatches.
struct RoundParams {
    round: u32,
    // The slot of the field counts of this dispatch, and of the next.
    slot: u32,
    next_slot: u32,
    phase: u32,
}

// The borders of the fronts (top rows, bottom rows, sides; two copies). Later parts of the planes that codes are made
// of.
var<workgroup> shared_words: array<u32, 2048>;
// The last checked step of this dispatch at which some front was not empty.
var<workgroup> last_alive: atomic<u32>;
// 1 once the wave goes out of obstacles.
var<workgroup> escape_phase: u32;
var<workgroup> reached: atomic<u32>;
var<workgroup> farthest: atomic<u32>;

// Eight words of a block, one per row.
struct Block {
    low: vec4<u32>,
    high: vec4<u32>,
}

// The cells around a block: the row above it, the row below it, and the bits of its left and right neighbours that
// touch it, one per row.
struct Border {
    above: u32,
    below: u32,
    left: u32,
    right: u32,
}

fn is_any(block: Block) -> bool {
    return any((block.low | block.high) != vec4<u32>(0u));
}

// The bits of a word that are cells of the grid.
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

// Bits 0 to 3 of a number, one per row.
fn rows_of(bits: u32) -> vec4<u32> {
    return (vec4<u32>(bits) >> vec4<u32>(0u, 1u, 2u, 3u)) & vec4<u32>(1u);
}

fn bits_of(rows: vec4<u32>) -> u32 {
    return rows.x | (rows.y << 1u) | (rows.z << 2u) | (rows.w << 3u);
}

// Writes the border of a block for its neighbours, and reads theirs. All invocations call this together. `copy` tells
// which of the two copies is used; it alternates.
fn exchange_borders(block: Block, border_index: u32, has_block: bool, copy: u32) -> Border {
    let first = copy * BORDER_COPY_LEN;
    if (has_block) {
        var sides = 0u;
        if (is_any(block)) {
            sides = bits_of(block.low >> vec4<u32>(31u)) | (bits_of(block.high >> vec4<u32>(31u)) << 4u);
            sides |= (bits_of(block.low & vec4<u32>(1u)) << 8u) | (bits_of(block.high & vec4<u32>(1u)) << 12u);
        }
        shared_words[first + border_index] = block.low.x;
        shared_words[first + BORDER_LEN + border_index] = block.high.w;
        shared_words[first + 2u * BORDER_LEN + border_index] = sides;
    }
    workgroupBarrier();
    if (!has_block) {
        return Border(0u, 0u, 0u, 0u);
    }
    return Border(
        shared_words[first + BORDER_LEN + border_index - BORDER_PITCH],
        shared_words[first + border_index + BORDER_PITCH],
        shared_words[first + 2u * BORDER_LEN + border_index - 1u] & 255u,
        (shared_words[first + 2u * BORDER_LEN + border_index + 1u] >> 8u) & 255u,
    );
}

// For each cell the bit of the cell above it; likewise for the other three sides.
fn north(block: Block, border: Border) -> Block {
    return Block(
        vec4<u32>(border.above, block.low.x, block.low.y, block.low.z),
        vec4<u32>(block.low.w, block.high.x, block.high.y, block.high.z),
    );
}

fn south(block: Block, border: Border) -> Block {
    return Block(
        vec4<u32>(block.low.y, block.low.z, block.low.w, block.high.x),
        vec4<u32>(block.high.y, block.high.z, block.high.w, border.below),
    );
}

fn west(block: Block, border: Border) -> Block {
    let one = vec4<u32>(1u);
    return Block(
        (block.low << one) | rows_of(border.left),
        (block.high << one) | rows_of(border.left >> 4u),
    );
}

fn east(block: Block, border: Border) -> Block {
    let one = vec4<u32>(1u);
    let last_column = vec4<u32>(31u);
    return Block(
        (block.low >> one) | (rows_of(border.right) << last_column),
        (block.high >> one) | (rows_of(border.right >> 4u) << last_column),
    );
}

// Writes a distance to the cells of a word.
fn write_distance(first: u32, bits: u32, distance: u32) {
    for (var bits_left = bits; bits_left != 0u; bits_left &= bits_left - 1u) {
        distances[first + countTrailingZeros(bits_left)] = distance;
    }
}

fn write_block_distance(first: u32, block: Block, distance: u32) {
    write_distance(first, block.low.x, distance);
    write_distance(first + params.width, block.low.y, distance);
    write_distance(first + 2u * params.width, block.low.z, distance);
    write_distance(first + 3u * params.width, block.low.w, distance);
    write_distance(first + 4u * params.width, block.high.x, distance);
    write_distance(first + 5u * params.width, block.high.y, distance);
    write_distance(first + 6u * params.width, block.high.z, distance);
    write_distance(first + 7u * params.width, block.high.w, distance);
}

// The index of the first goal of a field that is not before a cell. The goals are sorted.
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

// The goals in a block, as bits.
fn goal_block(field: u32, column: u32, row: u32) -> Block {
    var block = Block(vec4<u32>(0u), vec4<u32>(0u));
    let lists = params.field_count + 1u;
    let first = lists + goals[field];
    let end = lists + goals[field + 1u];
    let from_goal = goal_from(first, end, row * params.width);
    let to_goal = goal_from(first, end, (row + 8u) * params.width);
    for (var goal = from_goal; goal < to_goal; goal += 1u) {
        let x = goals[goal] % params.width;
        let y = goals[goal] / params.width - row;
        if (x / 32u == column) {
            let bit = 1u << (x & 31u);
            block.low |= select(vec4<u32>(0u), vec4<u32>(bit), vec4<u32>(y) == vec4<u32>(0u, 1u, 2u, 3u));
            block.high |= select(vec4<u32>(0u), vec4<u32>(bit), vec4<u32>(y) == vec4<u32>(4u, 5u, 6u, 7u));
        }
    }
    return block;
}

// Where a word of an unfinished field is saved: behind the two lists, word by word for all invocations.
fn saved_index(field: u32, local: u32, word: u32) -> u32 {
    return 2u * params.field_count + (field * SAVED_WORDS + word) * WORKGROUP_SIZE + local;
}

fn load_block(field: u32, local: u32, plane: u32) -> Block {
    let first = 8u * plane;
    let low = vec4<u32>(saved[saved_index(field, local, first)], saved[saved_index(field, local, first + 1u)],
        saved[saved_index(field, local, first + 2u)], saved[saved_index(field, local, first + 3u)]);
    let high = vec4<u32>(saved[saved_index(field, local, first + 4u)], saved[saved_index(field, local, first + 5u)],
        saved[saved_index(field, local, first + 6u)], saved[saved_index(field, local, first + 7u)]);
    return Block(low, high);
}

fn save_block(field: u32, local: u32, plane: u32, block: Block) {
    let first = 8u * plane;
    saved[saved_index(field, local, first)] = block.low.x;
    saved[saved_index(field, local, first + 1u)] = block.low.y;
    saved[saved_index(field, local, first + 2u)] = block.low.z;
    saved[saved_index(field, local, first + 3u)] = block.low.w;
    saved[saved_index(field, local, first + 4u)] = block.high.x;
    saved[saved_index(field, local, first + 5u)] = block.high.y;
    saved[saved_index(field, local, first + 6u)] = block.high.z;
    saved[saved_index(field, local, first + 7u)] = block.high.w;
}

fn both(one: Block, other: Block) -> Block {
    return Block(one.low & other.low, one.high & other.high);
}

fn either(one: Block, other: Block) -> Block {
    return Block(one.low | other.low, one.high | other.high);
}

// The bits of `one` that are not in `other`.
fn difference(one: Block, other: Block) -> Block {
    return Block(one.low & ~other.low, one.high & ~other.high);
}

// The bits in which both are equal.
fn equal(one: Block, other: Block) -> Block {
    return Block(~(one.low ^ other.low), ~(one.high ^ other.high));
}

// Writes a plane of the rows of a part to workgroup memory.
fn share_plane(plane: u32, row: u32, column: u32, block: Block) {
    let first = plane * PART_WORDS + (row % PART_ROWS) * 8u + column;
    shared_words[first] = block.low.x;
    shared_words[first + 8u] = block.low.y;
    shared_words[first + 16u] = block.low.z;
    shared_words[first + 24u] = block.low.w;
    shared_words[first + 32u] = block.high.x;
    shared_words[first + 40u] = block.high.y;
    shared_words[first + 48u] = block.high.z;
    shared_words[first + 56u] = block.high.w;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let list_index = flat_group(group, group_count);
    if (list_index >= counts_in[4u * round_params.slot + 3u]) {
        return;
    }
    // The first dispatch works on all fields, later ones on those of the list.
    var field = list_index;
    if (round_params.round != 0u) {
        field = saved[(round_params.round & 1u) * params.field_count + list_index];
    }
    let state_of = HEADER + field * FIELD_WORDS;
    let column = local % params.columns;
    let row = local / params.columns * 8u;
    let has_block = local / params.columns < params.blocks;
    let border_index = (local / params.columns + 1u) * BORDER_PITCH + column + 1u;
    let first_cell = field * params.field_pitch + row * params.width + 32u * column;
    let empty = Block(vec4<u32>(0u), vec4<u32>(0u));

    for (var i = local; i < 2048u; i += WORKGROUP_SIZE) {
        shared_words[i] = 0u;
    }
    var walls = empty;
    var free = empty;
    if (has_block) {
        walls = wall_block(column, row);
        free = difference(inside_block(column, row), walls);
    }
    // The reached cells, the front, and the last two bits of all levels.
    var reached_cells = empty;
    var front = empty;
    var low_bits = empty;
    var high_bits = empty;
    var level = 0u;
    var is_escape = false;
    if (round_params.round == 0u) {
        if (has_block) {
            front = goal_block(field, column, row);
            reached_cells = front;
            write_block_distance(first_cell, front, 0u);
        }
    } else {
        reached_cells = load_block(field, local, 0u);
        front = load_block(field, local, 1u);
        low_bits = load_block(field, local, 2u);
        high_bits = load_block(field, local, 3u);
        level = atomicLoad(&state[state_of + LEVEL]);
        is_escape = atomicLoad(&state[state_of + ESCAPE]) != 0u;
    }
    if (local == 0u) {
        atomicStore(&last_alive, 0u);
        atomicStore(&reached, 0u);
        atomicStore(&farthest, 0u);
        escape_phase = select(0u, 1u, is_escape);
        atomicMax(&state[0], round_params.round + 1u);
    }
    var last_level = 0u;
    var is_done = false;
    workgroupBarrier();

    for (var step = 0u; step < params.level_limit; step += 1u) {
        let border = exchange_borders(front, border_index, has_block, step & 1u);
        level += 1u;
        var new_cells = empty;
        let border_bits = border.above | border.below | border.left | border.right;
        // Most blocks are far from the front most of the time.
        if ((border_bits != 0u || is_any(front)) && (is_escape || level <= params.limit)) {
            let spread = either(
                either(north(front, border), south(front, border)),
                either(west(front, border), east(front, border)),
            );
            var open_cells = free;
            if (is_escape) {
                open_cells = walls;
            }
            new_cells = difference(both(spread, open_cells), reached_cells);
            reached_cells = either(reached_cells, new_cells);
            if ((level & 1u) != 0u) {
                low_bits = either(low_bits, new_cells);
            }
            if ((level & 2u) != 0u) {
                high_bits = either(high_bits, new_cells);
            }
            if (!is_escape && is_any(new_cells)) {
                last_level = level;
                write_block_distance(first_cell, new_cells, level);
            }
        }
        front = new_cells;
        if ((step & 7u) == 7u) {
            if (is_any(front)) {
                atomicMax(&last_alive, step + 1u);
            }
            if (workgroupUniformLoad(&last_alive) != step + 1u) {
                if (params.has_obstacles == 0u) {
                    is_done = true;
                    break;
                }
                if (workgroupUniformLoad(&escape_phase) != 0u) {
                    is_done = true;
                    break;
                }
                if (local == 0u) {
                    escape_phase = 1u;
                }
                // The wave out of obstacles starts from all reached cells.
                is_escape = true;
                front = reached_cells;
                level = 0u;
            }
        }
    }
    if (last_level != 0u) {
        atomicMax(&farthest, last_level);
    }
    workgroupBarrier();
    if (local == 0u) {
        atomicMax(&state[state_of + FARTHEST], atomicLoad(&farthest));
    }

    if (!is_done) {
        save_block(field, local, 0u, reached_cells);
        save_block(field, local, 1u, front);
        save_block(field, local, 2u, low_bits);
        save_block(field, local, 3u, high_bits);
        if (local == 0u) {
            atomicStore(&state[state_of + LEVEL], level);
            atomicStore(&state[state_of + ESCAPE], escape_phase);
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

    // For each direction: the cells whose neighbour there is one level lower, modulo 4.
    let free_reached = both(reached_cells, free);
    let walls_reached = both(reached_cells, walls);
    let low_before = Block(~low_bits.low, ~low_bits.high);
    let high_before = equal(low_bits, high_bits);
    let border_low = exchange_borders(low_bits, border_index, has_block, 0u);
    let border_high = exchange_borders(high_bits, border_index, has_block, 1u);
    var up = both(equal(north(low_bits, border_low), low_before), equal(north(high_bits, border_high), high_before));
    var right = both(equal(east(low_bits, border_low), low_before), equal(east(high_bits, border_high), high_before));
    var down = both(equal(south(low_bits, border_low), low_before), equal(south(high_bits, border_high), high_before));
    var left = both(equal(west(low_bits, border_low), low_before), equal(west(high_bits, border_high), high_before));
    // The next cell of a free cell is a reached free cell. The next cell of an obstacle is a reached obstacle one level
    // lower, or any reached free cell.
    let border_walls = exchange_borders(walls_reached, border_index, has_block, 0u);
    let border_free = exchange_borders(free_reached, border_index, has_block, 1u);
    up = both(reached_cells, is_next_cell(up, free, walls, north(walls_reached, border_walls), north(free_reached, border_free)));
    right = both(reached_cells, is_next_cell(right, free, walls, east(walls_reached, border_walls), east(free_reached, border_free)));
    down = both(reached_cells, is_next_cell(down, free, walls, south(walls_reached, border_walls), south(free_reached, border_free)));
    left = both(reached_cells, is_next_cell(left, free, walls, west(walls_reached, border_walls), west(free_reached, border_free)));
    right = difference(right, up);
    down = difference(down, either(up, right));
    left = difference(left, either(either(up, right), down));
    let codes_low = either(right, left);
    let codes_high = either(down, left);
    let has_code = either(either(up, right), codes_high);

    let count = dot(countOneBits(free_reached.low) + countOneBits(free_reached.high), vec4<u32>(1u));
    if (count != 0u) {
        atomicAdd(&reached, count);
    }
    for (var part = 0u; part < 4u; part += 1u) {
        let first_row = part * PART_ROWS;
        if (first_row >= params.height) {
            break;
        }
        workgroupBarrier();
        if (has_block && row / PART_ROWS == part) {
            share_plane(0u, row, column, codes_low);
            share_plane(1u, row, column, codes_high);
            share_plane(2u, row, column, has_code);
            share_plane(3u, row, column, free_reached);
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
                    let word_index = y * 8u + (x >> 5u);
                    let bit = x & 31u;
                    if (((shared_words[2u * PART_WORDS + word_index] >> bit) & 1u) != 0u) {
                        code = ((shared_words[word_index] >> bit) & 1u) | (((shared_words[PART_WORDS + word_index] >> bit) & 1u) << 1u);
                    }
                    if (((shared_words[3u * PART_WORDS + word_index] >> bit) & 1u) == 0u) {
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

// Whether a neighbour can be the next cell. `before`: it is one level lower, if both belong to the same wave.
// `to_wall`, `to_free`: it is a reached obstacle, a reached free cell.
fn is_next_cell(before: Block, free: Block, walls: Block, to_wall: Block, to_free: Block) -> Block {
    let along = both(before, either(both(free, to_free), both(walls, to_wall)));
    // The wave out of obstacles starts at free cells, whatever their own level is.
    return either(along, both(walls, to_free));
}
