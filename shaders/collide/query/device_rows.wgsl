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

// Numbers of rows and pairs, and whether the buffers were large enough.
struct DeviceCounts {
    // Rows of the examined pairs, stored or not.
    row_count: u32,
    // Capacity for rows.
    row_room: u32,
    // Pairs to examine, stored or not.
    pair_count: u32,
    // Capacity for pairs: no more are examined.
    pair_room: u32,
    // 1: too many rows; 2: too many pairs; 3: both.
    overflow: u32,
    // Rows with status 3; `unsettled` stores their indices in no particular order.
    unsettled_count: u32,
    padding: vec2u,
}

