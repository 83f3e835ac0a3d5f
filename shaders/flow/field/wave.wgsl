// Unit cost, four neighbours: 32 levels of a breadth-first wave in one round, by bits.
//
// One group of 256 invocations a tile of 64 x 64 cells. It loads the tile and 32 cells around it, 128 rows of four words,
// lets the wave take 32 steps, and writes what it now knows of the tile alone. In 32 steps nothing comes further than 32
// cells, so what the tile gets is exact, though the margin is not: exact temporal blocking. Bit i of a word is the cell
// of its column i; an invocation has two words, 64 rows apart, at most one of which belongs to the tile.
//
// `planes_in`, `planes_out`: for each word the cells that are open (free, not reached when the round began) and the front
// (reached at exactly the level on which the round begins). They change places every round. A tile off the list has the same in both; one
// that changed stays on the list for one more round and so brings the other copy up to date.
//
// A level is found as five bits of the step that reached the cell, gathered in planes, and written by rows.
//
// Source: temporal blocking of stencils (Wonnacott 2000), of which a bit-parallel breadth-first search is one.
//
// No twin: the CPU's waves go on by one level (src/flow/field/cpu/tiles.rs) or one cell (src/flow/field/cpu/queue.rs) at a time.

const ROWS: u32 = 128u;
// Words of a row, with a zero on each side; rows above and below likewise.
const PITCH: u32 = 6u;
const PLANE: u32 = 780u;
const STEPS: u32 = 32u;
const TILE_WORDS: u32 = 128u;
const ALIVE: u32 = 256u;

var<workgroup> fronts: array<u32, 1560>;
// New cells of the tile's words, then the five bits of their steps.
var<workgroup> levels: array<u32, 768>;
// 1: some cell is in the front; 2: the copies differ; 16 … 128: the next front is in that quarter of the tile; from 256 on:
// the wave was alive after four steps, after eight, …
var<workgroup> seen: atomic<u32>;

// Where a front at `at` gets to in one step.
fn grow(at: u32) -> u32 {
    let here = fronts[at];
    let along = (here << 1u) | (fronts[at - 1u] >> 31u) | (here >> 1u) | (fronts[at + 1u] << 31u);
    return along | fronts[at - PITCH] | fronts[at + PITCH];
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let place = flat_group(group, group_count);
    if (place >= turn_length()) {
        return;
    }
    let id = take(place);
    let field = id / params.tile_count;
    let tile = tile_at(id % params.tile_count);
    let base = STEPS * round_params.round;
    let limit = select(atomicLoad(&state[state_of(field, LIMIT)]), UNREACHABLE - 1u, params.is_exit != 0u);
    // Past the limit nothing is reached any more.
    let step_count = select(0u, min(STEPS, limit - base), limit > base);
    if (local == 0u) {
        atomicStore(&seen, 0u);
        leave(id);
    }
    for (var i = local; i < 2u * PLANE; i += WORKGROUP_SIZE) {
        fronts[i] = 0u;
    }
    workgroupBarrier();

    let column = local & 3u;
    let row = local >> 2u;
    let row_words = 2u * params.tiles.x;
    // Both words: the grid's word, and where it is in `fronts`.
    let word = 2u * tile.x + column - 1u;
    let y0 = 64u * tile.y + row - 32u;
    let y1 = y0 + 64u;
    let at0 = (row + 1u) * PITCH + column + 1u;
    let at1 = at0 + 64u * PITCH;
    var open0 = 0u;
    var open1 = 0u;
    var front0 = 0u;
    var front1 = 0u;
    // Before the first row or word the unsigned numbers are large.
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
        atomicOr(&seen, 1u);
    }
    // This invocation's word of the tile is its second one, or its first, or it has none.
    let is_first = row >= 32u;
    let is_tile = column == 1u || column == 2u;
    let y = select(y1, y0, is_first);
    let is_held = is_tile && word < row_words && y < params.size.y;
    let held = (field * params.size.y + y) * row_words + word;
    let open_before = select(open1, open0, is_first);
    let front_before = select(front1, front0, is_first);
    if ((workgroupUniformLoad(&seen) & 1u) == 0u) {
        if (is_held) {
            planes_out[held] = vec2<u32>(open_before, 0u);
        }
        return;
    }

    var bits = array<u32, 5>(0u, 0u, 0u, 0u, 0u);
    for (var step = 0u; step < STEPS; step += 1u) {
        let source = (step & 1u) * PLANE;
        let to = PLANE - source;
        var new0 = 0u;
        var new1 = 0u;
        if (step < step_count) {
            new0 = grow(source + at0) & open0;
            new1 = grow(source + at1) & open1;
        }
        open0 &= ~new0;
        open1 &= ~new1;
        fronts[to + at0] = new0;
        fronts[to + at1] = new1;
        let new_held = select(new1, new0, is_first);
        bits[0] |= select(0u, new_held, (step & 1u) != 0u);
        bits[1] |= select(0u, new_held, (step & 2u) != 0u);
        bits[2] |= select(0u, new_held, (step & 4u) != 0u);
        bits[3] |= select(0u, new_held, (step & 8u) != 0u);
        bits[4] |= select(0u, new_held, (step & 16u) != 0u);
        if ((step & 3u) == 3u) {
            // Within walls, and at a wave's end, most steps would do nothing.
            if ((new0 | new1) != 0u) {
                atomicOr(&seen, ALIVE << (step >> 2u));
            }
            if ((workgroupUniformLoad(&seen) & (ALIVE << (step >> 2u))) == 0u) {
                break;
            }
        } else {
            workgroupBarrier();
        }
    }

    // After an even number of steps the front is where it began.
    let open = select(open1, open0, is_first);
    let front = fronts[select(at1, at0, is_first)];
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
        if (is_held) {
            planes_out[held] = vec2<u32>(open, front);
        }
        var marks = select(0u, 2u, new_cells != 0u || front != front_before);
        if (front != 0u) {
            // Bit 4: upper left, 5: upper right, 6: lower left, 7: lower right.
            marks |= 16u << ((column - 1u) + select(0u, 2u, tile_row >= 32u));
        }
        if (marks != 0u) {
            atomicOr(&seen, marks);
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
            distances[place_of(field, index_of(cell))] = base + step + 1u;
        }
    }
    // Whose margin the next front is in, wakes; a margin is half a tile wide.
    if (local < 9u) {
        let marks = atomicLoad(&seen);
        let side = vec2<i32>(vec2<u32>(local % 3u, local / 3u)) - 1;
        var quarters = 0xf0u;
        quarters &= select(0xf0u, 0x50u, side.x < 0);
        quarters &= select(0xf0u, 0xa0u, side.x > 0);
        quarters &= select(0xf0u, 0x30u, side.y < 0);
        quarters &= select(0xf0u, 0xc0u, side.y > 0);
        let wanted = quarters | select(0u, 2u, local == 4u);
        if ((marks & wanted) != 0u) {
            wake_beside(field, tile, vec3<i32>(side, 0));
        }
    }
}
