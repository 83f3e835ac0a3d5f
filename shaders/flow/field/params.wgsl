// What all kernels of flow know of the grid, of the strip they work on, and of the moves.
//
// A strip is a range of whole rows of tiles (of layers of tiles in three dimensions), which has buffers of its own: where
// a grid is too large for one binding it is cut into several. Most grids are one strip. Several fields over one grid lie one
// after the other in the one strip, `field_pitch` cells apart.
//
// No twin: struct declarations and indices; the Rust structs are in src/flow/field/gpu/kernels.rs.

struct FlowParams {
    // Columns, rows, layers.
    size: vec3<u32>,
    field_count: u32,
    // Tiles along each axis, and in all of one field.
    tiles: vec3<u32>,
    tile_count: u32,
    // Cells of a tile along each axis.
    tile: vec3<u32>,
    // Words of obstacle bits a row.
    row_words: u32,
    // The strip: its first cell, how many there are, cells of the neighbouring strip that stand before its own and behind.
    first_cell: u32,
    cell_count: u32,
    halo: u32,
    field_pitch: u32,
    strip: u32,
    strip_count: u32,
    // Tiles of a strip, the last one apart.
    strip_tiles: u32,
    is_weighted: u32,
    move_count: u32,
    // 0 both free, 1 one free, 2 any.
    corner_rule: u32,
    // 1 where the wave goes through obstacles, out of them.
    is_exit: u32,
    until_count: u32,
    // x, y, z, length of each move.
    moves: array<vec4<i32>, 26>,
}

// What changes from dispatch to dispatch.
struct RoundParams {
    // From the beginning of the phase; its parity says which of the two queues is worked through.
    round: u32,
    // Slot of the first strip's counts, of this round and of the next.
    slot: u32,
    next_slot: u32,
    // 0 the wave from the goals, 1 that out of obstacles.
    phase: u32,
}

const UNREACHABLE: u32 = 0xffffffffu;

// Words of the state: rounds and pending tiles of each phase, then of each field.
const PENDING: u32 = 2u;
const HEADER: u32 = 8u;
const FIELD_WORDS: u32 = 8u;
const LIMIT: u32 = 0u;
const REACHED: u32 = 1u;
const FARTHEST: u32 = 2u;
const OVERFLOW: u32 = 3u;
const SETTLED: u32 = 4u;

// Index of a word of a field's state.
fn state_of(field: u32, word: u32) -> u32 {
    return HEADER + field * FIELD_WORDS + word;
}

// Index of a cell of the grid in row-major order.
fn index_of(cell: vec3<u32>) -> u32 {
    return (cell.z * params.size.y + cell.y) * params.size.x + cell.x;
}

fn cell_of(index: u32) -> vec3<u32> {
    let row = index / params.size.x;
    return vec3<u32>(index % params.size.x, row % params.size.y, row / params.size.y);
}

// Place of a cell in the strip's arrays, by its index. The cells next to the strip are there too.
fn place_of(field: u32, index: u32) -> u32 {
    return field * params.field_pitch + params.halo + (index - params.first_cell);
}

fn is_inside(cell: vec3<i32>) -> bool {
    return all(cell >= vec3<i32>(0)) && all(vec3<u32>(max(cell, vec3<i32>(0))) < params.size);
}

// The tile `tile` of a field, along the axes.
fn tile_at(tile: u32) -> vec3<u32> {
    let row = tile / params.tiles.x;
    return vec3<u32>(tile % params.tiles.x, row % params.tiles.y, row / params.tiles.y);
}
