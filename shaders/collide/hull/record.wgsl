// A hull as both engines read it. A test compares each offset with the Rust struct.

// A hull. Its vertices are stored separately, relative to `mean` and in units of `radius`.
struct HullRecord {
    // Mean of the vertices, in the hull's own frame and units.
    mean: vec3f,
    // Largest distance of a vertex from `mean`, in the hull's units.
    radius: f32,
    // Centre of the hull's box along its own axes, from `mean`, in the hull's frame and units.
    middle: vec3f,
    // First vertex in the arena.
    vertex_offset: u32,
    // Half extents of that box, rounded up.
    half: vec3f,
    // Number of vertices.
    vertex_count: u32,
    // First word of the hull's direction-cell table, if it has one.
    cell_offset: u32,
    // Cells along one side of a face of the direction cube. 0: no table; all vertices are scanned.
    cell_side: u32,
    // Rounding radius in the hull's units; not included in `radius` and `half`.
    rounding: f32,
    // 1 for a half-space, else 0.
    half_space: u32,
    // Lower bound of how far every support plane of the hull without its rounding is from `mean`, in the hull's units: the radius of a
    // ball inside a solid. Negative for all other hulls.
    inner_radius: f32,
    // Pads the size to a multiple of 16.
    padding: array<u32, 3>,
}
