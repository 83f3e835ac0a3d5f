// Rays, and hulls as rays read them.
// No twin: struct declarations; the Rust structs are in src/collide/ray/kernels.rs.

struct RayParams {
    // The rays of this dispatch.
    begin: u32,
    end: u32,
    // Number of moving bodies; their ids come first.
    mover_count: u32,
    static_count: u32,
    // Topmost level of each tree.
    mover_top: u32,
    static_top: u32,
    // 1 where any hit ends the search of a ray.
    is_any: u32,
    // 1 where bodies that a ray starts in are not hit.
    skips_start: u32,
    // First node of each level, and the end of the last level.
    mover_levels: array<vec4u, 5>,
    static_levels: array<vec4u, 5>,
}

// A ray. It starts at the sum of `origin` and `remainder`.
struct Ray {
    origin: vec3f,
    // At most BEYOND.
    max_distance: f32,
    // Unit vector.
    direction: vec3f,
    // Groups of the ray, one bit each.
    group: u32,
    remainder: vec3f,
    // Groups that the ray meets, one bit each.
    mask: u32,
}

// What a hull is made of, about the mean of its vertices and in units of its radius.
struct RayHull {
    // Its planes in `planes`: unit outward normal, and height above the mean. Those of a polygon begin with its two faces.
    plane_begin: u32,
    plane_count: u32,
    // One of the CORE constants.
    core: u32,
    // Greatest distance of a vertex from the mean, in the hull's units.
    radius: f32,
    // One end of a segment; the other is opposite.
    end: vec3f,
    padding: u32,
}

const CORE_POINT: u32 = 0u;
const CORE_SEGMENT: u32 = 1u;
const CORE_SOLID: u32 = 2u;
const CORE_POLYGON: u32 = 3u;
const CORE_HALF_SPACE: u32 = 4u;

// Farther than any hit.
const BEYOND: f32 = 3e38;
