// Parameters, state words and index functions that the kernels of fields share.
//
// A strip is a range of whole rows of tiles (in three dimensions, layers of tiles) with buffers of its own: a grid too
// large for one binding is cut into several. Most grids are one strip. The fields of a batch, over one grid, lie one
// after the other in that one strip, `field_pitch` cells apart.
//
// No twin: struct declarations and indices; the Rust structs are in src/flow/field/gpu/kernels.rs.

struct FlowParams {
    // The columns, rows and layers of the grid.
    size: vec3<u32>,
    field_count: u32,
    // The number of tiles along each axis, and in one field.
    tiles: vec3<u32>,
    tile_count: u32,
    // The cells of a tile along each axis.
    tile_size: vec3<u32>,
    // Words of obstacle bits per row.
    row_words: u32,
    // The strip: its first cell and its number of cells, and the cells of the halo, a copy of the neighbouring strips'
    // nearest row or layer, before and after its own.
    first_cell: u32,
    cell_count: u32,
    halo: u32,
    field_pitch: u32,
    strip: u32,
    strip_count: u32,
    // The number of tiles of a strip; the last strip may have fewer.
    strip_tiles: u32,
    is_weighted: u32,
    move_count: u32,
    // 0: both free, 1: one free, 2: any.
    corner_rule: u32,
    // 1 for the wave out of obstacles.
    is_escape: u32,
    target_count: u32,
    // The offset x, y, z of each move, and the length of its step.
    moves: array<vec4<i32>, 26>,
}

// What differs between the dispatches of the rounds.
struct RoundParams {
    // The number of the round within its phase. Its parity tells which of the two queues is worked through.
    round: u32,
    // The slot of the first strip in the tile counts of this round, and of the next round. The other strips follow.
    slot: u32,
    next_slot: u32,
    // 0: the wave from the goals, 1: the wave out of obstacles, 2: an update invalidates distances.
    phase: u32,
}

const UNREACHABLE: u32 = 0xffffffffu;

// Words of the state. The header has the rounds so far and the active tiles, each for every phase; then follow the
// words of each field.
const ACTIVE_COUNT: u32 = 3u;
const INVALIDATION_PHASE: u32 = 2u;
const HEADER: u32 = 8u;
const FIELD_WORDS: u32 = 8u;
const LIMIT: u32 = 0u;
const REACHED: u32 = 1u;
const FARTHEST: u32 = 2u;
const OVERFLOW: u32 = 3u;
const SETTLED: u32 = 4u;

// The index of a word in the state of a field.
fn state_of(field: u32, word: u32) -> u32 {
    return HEADER + field * FIELD_WORDS + word;
}

// The index of a cell of the grid, row-major.
fn index_of(cell: vec3<u32>) -> u32 {
    return (cell.z * params.size.y + cell.y) * params.size.x + cell.x;
}

fn cell_of(index: u32) -> vec3<u32> {
    let row = index / params.size.x;
    return vec3<u32>(index % params.size.x, row % params.size.y, row / params.size.y);
}

// The position of a cell in the arrays of the strip, by its index in the grid. Cells of the halo have one too.
fn place_of(field: u32, index: u32) -> u32 {
    return field * params.field_pitch + params.halo + (index - params.first_cell);
}

fn is_inside(cell: vec3<i32>) -> bool {
    return all(cell >= vec3<i32>(0)) && all(vec3<u32>(max(cell, vec3<i32>(0))) < params.size);
}

// The position of a tile along each axis, by its number within a field.
fn tile_at(tile: u32) -> vec3<u32> {
    let row = tile / params.tiles.x;
    return vec3<u32>(tile % params.tiles.x, row % params.tiles.y, row / params.tiles.y);
}
