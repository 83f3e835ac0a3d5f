// The tiles of relax.wgsl in two dimensions, 32 x 32 cells, and their windows: the tile with a margin of cells around
// it.
// No twin: on the host these sizes are in `TileMethod::tile_size` (src/flow/field/gpu/strips.rs); the CPU relaxes no
// tiles.
const TILE: vec3<u32> = vec3<u32>(32u, 32u, 1u);
const MARGIN: vec3<i32> = vec3<i32>(1, 1, 0);
const WINDOW: vec3<u32> = vec3<u32>(34u, 34u, 1u);
const WINDOW_CELLS: u32 = 1156u;
