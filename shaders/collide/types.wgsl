// The bytes that both engines read; the same structs stand in src/collide/layout.rs and bounds.rs, and a test
// compares every offset.

// A body: checked, its rotation normalised in f32, its bounding radius known.
struct PackedBody {
    // World position of the mean of the hull's vertices, rounded; `remainder` has the rest.
    position: vec3f,
    // Index of the hull.
    hull: u32,
    // Unit quaternion, x y z w.
    rotation: vec4f,
    // Scale along the hull's axes.
    scale: vec3f,
    // Bounding radius in world units about the mean of the hull's vertices, scale and rounding included.
    radius: f32,
    // What rounding took off the position, itself rounded: at most half a unit in the last place of it.
    remainder: vec3f,
    // By how much the tolerance may come out too large because the hull's mean was rounded, in world units.
    excess: f32,
    // Rounding radius in world units: the hull's times the least scale, and the body's own.
    rounding: f32,
    // Groups that the body belongs to, a bit each.
    group: u32,
    // Groups that it meets, a bit each.
    mask: u32,
    // Keeps the size a multiple of 16.
    padding: u32,
}

// A hull. Its vertices are stored apart, about `mean` and in units of `radius`.
struct HullRecord {
    // Mean of the vertices, in the hull's own frame and units.
    mean: vec3f,
    // Largest distance of a vertex from `mean`, in the hull's units.
    radius: f32,
    // Middle of the hull's box along its own axes, from `mean`, in the hull's frame and units.
    middle: vec3f,
    // First vertex in the arena.
    vertex_offset: u32,
    // Half the extents of that box, rounded up.
    half: vec3f,
    // Number of vertices.
    vertex_count: u32,
    // First word of the hull's direction-cell table, where it has one.
    cell_offset: u32,
    // Cells along one side of a face of the direction cube; 0: no table, all vertices are scanned.
    cell_side: u32,
    // Rounding radius, in the hull's units; not part of `radius` and `half`.
    rounding: f32,
    // 1 for a half-space, else 0.
    half_space: u32,
}

// A box along the world's axes, both ends included.
struct Aabb {
    // Least corner, world units.
    min: vec3f,
    padding_0: u32,
    // Greatest corner, world units.
    max: vec3f,
    padding_1: u32,
}
