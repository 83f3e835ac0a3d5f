// A breadth-first wave over bits, for four neighbours and unit costs: 32 levels in one round.
//
// One workgroup of 256 invocations per tile of 64 x 64 cells. It loads the tile and a halo of 32 cells around it, 128
// rows of four words. It advances the wave 32 steps, and writes what it found for the tile alone. In 32 steps the wave
// gets no further than 32 cells, so the tile is exact though the halo is not: exact temporal blocking. Bit i of a word
// is the cell in its column i. Each invocation has two words, 64 rows apart; at most one of them belongs to the tile.
//
// `planes_in`, `planes_out`: per word the open cells (free, and not reached when the round started) and the front
// (cells reached at exactly the level at which the round starts). The two copies swap every round. The copies of a tile
// that is not active are equal. A tile that changed stays active for one more round, which brings its other copy up to
// date.
//
// The step that reached a cell is a number of five bits. They are gathered in bit planes, and the levels are then
// written row by row.
//
// Source: temporal blocking of stencils (Wonnacott 2000), of which a bit-parallel breadth-first search is one.
//
// No twin: the CPU's waves advance one level (src/flow/field/cpu/tiles.rs) or one cell (src/flow/field/cpu/queue.rs) at
// a time.

const ROWS: u32 = 128u;
// Words of a row, with an empty word on each side; likewise an empty row above and below.
const PITCH: u32 = 6u;
const FRONT_WORDS: u32 = 780u;
const STEPS: u32 = 32u;
const TILE_WORDS: u32 = 128u;
const ALIVE_FLAG: u32 = 256u;

var<workgroup> fronts: array<u32, 1560>;
// The new cells of the words of the tile, then the five bit planes of their steps.
var<workgroup> levels: array<u32, 768>;
// Flags. 1: a cell is in the front. 2: the two copies differ. 16 to 128: the next front is in that quarter of the tile.
// From 256 on: the wave was still moving after 4 steps, after 8, and so on.
var<workgroup> flags: atomic<u32>;

// Where the front gets to in one step in the word `index`, whose own front is `word`. Only the words around it are read
// from workgroup memory.
fn grow(word: u32, index: u32) -> u32 {
    let along = (word << 1u) | (fronts[index - 1u] >> 31u) | (word >> 1u) | (fronts[index + 1u] << 31u);
    return along | fronts[index - PITCH] | fronts[index + PITCH];
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
    let first_level = STEPS * round_params.round;
    let limit = select(atomicLoad(&state[state_of(field, LIMIT)]), UNREACHABLE - 1u, params.is_escape != 0u);
    // Beyond the limit no cell is reached.
    let step_count = select(0u, min(STEPS, limit - first_level), limit > first_level);
    if (local == 0u) {
        atomicStore(&flags, 0u);
        dequeue(id);
    }
    for (var i = local; i < 2u * FRONT_WORDS; i += WORKGROUP_SIZE) {
        fronts[i] = 0u;
    }
    workgroupBarrier();

    let column = local & 3u;
    let row = local >> 2u;
    let row_words = 2u * params.tiles.x;
    // For both words: the word in a row of the grid, and its index in `fronts`.
    let word = 2u * tile.x + column - 1u;
    let y0 = 64u * tile.y + row - 32u;
    let y1 = y0 + 64u;
    let at0 = (row + 1u) * PITCH + column + 1u;
    let at1 = at0 + 64u * PITCH;
    var open0 = 0u;
    var open1 = 0u;
    var front0 = 0u;
    var front1 = 0u;
    // Before the first row or word these unsigned numbers wrap and are large.
    if (word < row_words) {
        let first = field * params.size.y * row_words + word;
        if (y0 < params.size.y) {
            let planes = planes_in[first + y0 * row_words];
            open0 = planes.x;
            front0 = planes.y;
        }
        if (y1 < params.size.y) {
            let planes = planes_in[first + y1 * row_words];
            open1 = planes.x;
            front1 = planes.y;
        }
    }
    fronts[at0] = front0;
    fronts[at1] = front1;
    if ((front0 | front1) != 0u) {
        atomicOr(&flags, 1u);
    }
    // The word of the tile that this invocation has: its second one, its first, or none.
    let is_first = row >= 32u;
    let is_tile = column == 1u || column == 2u;
    let y = select(y1, y0, is_first);
    let is_own = is_tile && word < row_words && y < params.size.y;
    let own_word = (field * params.size.y + y) * row_words + word;
    let open_before = select(open1, open0, is_first);
    let front_before = select(front1, front0, is_first);
    if ((workgroupUniformLoad(&flags) & 1u) == 0u) {
        if (is_own) {
            planes_out[own_word] = vec2<u32>(open_before, 0u);
        }
        return;
    }

    // Four steps a turn, so that the two lowest bits of a step are known where it is written.
    var bits = array<u32, 5>(0u, 0u, 0u, 0u, 0u);
    for (var step = 0u; step < STEPS; step += 4u) {
        var new_cells = 0u;
        var own_cells = 0u;
        var is_open = select(0u, 0xffffffffu, step < step_count);
        front0 = grow(front0, at0) & open0 & is_open;
        front1 = grow(front1, at1) & open1 & is_open;
        open0 &= ~front0;
        open1 &= ~front1;
        fronts[FRONT_WORDS + at0] = front0;
        fronts[FRONT_WORDS + at1] = front1;
        var own = select(front1, front0, is_first);
        new_cells |= front0 | front1;
        own_cells |= own;
        workgroupBarrier();

        is_open = select(0u, 0xffffffffu, step + 1u < step_count);
        front0 = grow(front0, FRONT_WORDS + at0) & open0 & is_open;
        front1 = grow(front1, FRONT_WORDS + at1) & open1 & is_open;
        open0 &= ~front0;
        open1 &= ~front1;
        fronts[at0] = front0;
        fronts[at1] = front1;
        own = select(front1, front0, is_first);
        new_cells |= front0 | front1;
        own_cells |= own;
        bits[0] |= own;
        workgroupBarrier();

        is_open = select(0u, 0xffffffffu, step + 2u < step_count);
        front0 = grow(front0, at0) & open0 & is_open;
        front1 = grow(front1, at1) & open1 & is_open;
        open0 &= ~front0;
        open1 &= ~front1;
        fronts[FRONT_WORDS + at0] = front0;
        fronts[FRONT_WORDS + at1] = front1;
        own = select(front1, front0, is_first);
        new_cells |= front0 | front1;
        own_cells |= own;
        bits[1] |= own;
        workgroupBarrier();

        is_open = select(0u, 0xffffffffu, step + 3u < step_count);
        front0 = grow(front0, FRONT_WORDS + at0) & open0 & is_open;
        front1 = grow(front1, FRONT_WORDS + at1) & open1 & is_open;
        open0 &= ~front0;
        open1 &= ~front1;
        fronts[at0] = front0;
        fronts[at1] = front1;
        own = select(front1, front0, is_first);
        new_cells |= front0 | front1;
        own_cells |= own;
        bits[0] |= own;
        bits[1] |= own;

        bits[2] |= select(0u, own_cells, (step & 4u) != 0u);
        bits[3] |= select(0u, own_cells, (step & 8u) != 0u);
        bits[4] |= select(0u, own_cells, (step & 16u) != 0u);
        // Inside walls, and at the end of a wave, most steps would do nothing.
        if (new_cells != 0u) {
            atomicOr(&flags, ALIVE_FLAG << (step >> 2u));
        }
        if ((workgroupUniformLoad(&flags) & (ALIVE_FLAG << (step >> 2u))) == 0u) {
            break;
        }
    }

    let open = select(open1, open0, is_first);
    let front = select(front1, front0, is_first);
    if (is_tile) {
        let tile_row = row ^ 32u;
        let slot = 2u * tile_row + column - 1u;
        let new_cells = open_before & ~open;
        levels[slot] = new_cells;
        levels[TILE_WORDS + slot] = bits[0];
        levels[2u * TILE_WORDS + slot] = bits[1];
        levels[3u * TILE_WORDS + slot] = bits[2];
        levels[4u * TILE_WORDS + slot] = bits[3];
        levels[5u * TILE_WORDS + slot] = bits[4];
        if (is_own) {
            planes_out[own_word] = vec2<u32>(open, front);
        }
        var found_flags = select(0u, 2u, new_cells != 0u || front != front_before);
        if (front != 0u) {
            // Flag 16: upper left quarter, 32: upper right, 64: lower left, 128: lower right.
            found_flags |= 16u << ((column - 1u) + select(0u, 2u, tile_row >= 32u));
        }
        if (found_flags != 0u) {
            atomicOr(&flags, found_flags);
        }
    }
    workgroupBarrier();

    for (var i = local; i < 32u * TILE_WORDS; i += WORKGROUP_SIZE) {
        let slot = i >> 5u;
        let bit = i & 31u;
        if (((levels[slot] >> bit) & 1u) != 0u) {
            var step = (levels[TILE_WORDS + slot] >> bit) & 1u;
            step |= ((levels[2u * TILE_WORDS + slot] >> bit) & 1u) << 1u;
            step |= ((levels[3u * TILE_WORDS + slot] >> bit) & 1u) << 2u;
            step |= ((levels[4u * TILE_WORDS + slot] >> bit) & 1u) << 3u;
            step |= ((levels[5u * TILE_WORDS + slot] >> bit) & 1u) << 4u;
            let cell = vec3<u32>(64u * tile.x + (i & 63u), 64u * tile.y + (i >> 6u), 0u);
            distances[place_of(field, index_of(cell))] = first_level + step + 1u;
        }
    }
    // Activates the neighbours whose halo the next front is in; a halo is half a tile wide.
    if (local < 9u) {
        let all_flags = atomicLoad(&flags);
        let side = vec2<i32>(vec2<u32>(local % 3u, local / 3u)) - 1;
        var quarters = 0xf0u;
        quarters &= select(0xf0u, 0x50u, side.x < 0);
        quarters &= select(0xf0u, 0xa0u, side.x > 0);
        quarters &= select(0xf0u, 0x30u, side.y < 0);
        quarters &= select(0xf0u, 0xc0u, side.y > 0);
        let wanted_flags = quarters | select(0u, 2u, local == 4u);
        if ((all_flags & wanted_flags) != 0u) {
            activate_neighbour(field, tile, vec3<i32>(side, 0));
        }
    }
}
