// Results that an encoded query leaves on the device.

// Status of a row.
const STATUS_SEPARATED: u32 = 0u;
const STATUS_TOUCHING: u32 = 1u;
const STATUS_PENETRATING: u32 = 2u;
// The f32 engines cannot decide the pair.
const STATUS_UNSETTLED: u32 = 3u;

// A touching or overlapping pair.
struct IntersectionRow {
    a: u32,
    b: u32,
    status: u32,
}

// A measured pair.
struct MeasuredRow {
    a: u32,
    b: u32,
    status: u32,
    // Signed gap in world units: the distance, or minus the depth.
    gap: f32,
    // Unit vector from a to b.
    normal: vec3f,
    // Body whose surface `point` is on: 0 for a, 1 for b. The other body's point is `gap` away along the normal.
    anchor: u32,
    // Offset from the mean of that body's hull, along the world's axes.
    point: vec3f,
    // Error bound of the gap, in world units.
    error: f32,
}

// A measured pair with the points of its contact.
struct ManifoldRow {
    a: u32,
    b: u32,
    status: u32,
    // As in MeasuredRow.
    gap: f32,
    normal: vec3f,
    // Number of points.
    point_count: u32,
    // Points on a's surface, from the mean of the anchor's hull, along the world's axes; in w the signed gap there, along
    // the normal to the point on b.
    points: array<vec4f, 4>,
    // Body from which the points are measured: 0 for a, 1 for b, if a is a half-space.
    anchor: u32,
    // Error bound of the gap, in world units.
    error: f32,
    padding: vec2u,
}

// Outcome of a sweep.
const OUTCOME_MISS: u32 = 0u;
// The bodies touch or overlap at the start.
const OUTCOME_TOUCHING: u32 = 1u;
const OUTCOME_HIT: u32 = 2u;
// Only f64 can decide the pair.
const OUTCOME_UNSETTLED: u32 = 3u;

// A swept pair.
struct SweptRow {
    a: u32,
    b: u32,
    outcome: u32,
    // When the bodies first meet, in seconds, rounded: `rest` is the rounding error.
    time: f32,
    // Unit vector from a to b at that time.
    normal: vec3f,
    rest: f32,
}

// Numbers of rows and pairs, and whether the buffers were large enough. If rows lie in several parts, each part has its own.
struct DeviceCounts {
    // Rows of this part. In the last part, also those that no part has room for.
    row_count: u32,
    // Capacity for rows.
    row_room: u32,
    // Pairs to examine, stored or not.
    pair_count: u32,
    // Capacity for pairs: no more are examined.
    pair_room: u32,
    // 1: too many rows; 2: too many pairs; 3: both.
    overflow: u32,
    // Rows of this part with status or outcome 3; `unsettled` stores their indices in no particular order.
    unsettled_count: u32,
    padding: vec2u,
}

