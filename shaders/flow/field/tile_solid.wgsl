// Tiles of three dimensions, 16 x 8 x 8 cells, and with the cells around them.
// No twin: the host has these sizes in `Kind::tile` (src/flow/field/gpu/strips.rs), and the CPU relaxes no tiles.
const TILE: vec3<u32> = vec3<u32>(16u, 8u, 8u);
const MARGIN: vec3<i32> = vec3<i32>(1, 1, 1);
const WINDOW: vec3<u32> = vec3<u32>(18u, 10u, 10u);
const WINDOW_CELLS: u32 = 1800u;
