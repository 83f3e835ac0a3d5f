// The tiles of relax.wgsl in three dimensions, 16 x 8 x 8 cells, and their windows: the tile with a margin of cells
// around it.
// No twin: on the host these sizes are in `TileMethod::tile_size` (src/flow/field/gpu/strips.rs); the CPU relaxes no
// tiles.
const TILE: vec3<u32> = vec3<u32>(16u, 8u, 8u);
const MARGIN: vec3<i32> = vec3<i32>(1, 1, 1);
const WINDOW: vec3<u32> = vec3<u32>(18u, 10u, 10u);
const WINDOW_CELLS: u32 = 1800u;
