// What a frame leaves on the device.

// A row's status.
const STATUS_SEPARATED: u32 = 0u;
const STATUS_TOUCHING: u32 = 1u;
const STATUS_PENETRATING: u32 = 2u;
// f32 cannot promise it.
const STATUS_UNSETTLED: u32 = 3u;

// A pair that touches or overlaps.
struct IntersectionRow {
    a: u32,
    b: u32,
    status: u32,
}

// A pair that was measured.
struct MeasuredRow {
    a: u32,
    b: u32,
    status: u32,
    // Signed, in world units: the distance, or minus the depth.
    gap: f32,
    // Unit vector from a to b.
    normal: vec3f,
    // Whose surface `point` is on: 0 for a, 1 for b. The other body's point is `gap` along the normal away.
    anchor: u32,
    // From the mean of that body's hull, along the world's axes.
    point: vec3f,
    // By how much the gap may be off, in world units.
    error: f32,
}

// How much there is, and whether there was room for it.
struct DeviceCounts {
    // Rows of the pairs examined, whether they fit or not.
    row_count: u32,
    // Rows that there is room for.
    row_room: u32,
    // Pairs to examine, whether they fit or not.
    pair_count: u32,
    // Pairs that there is room for: no more are examined.
    pair_room: u32,
    // 1: more rows than room; 2: more pairs; 3: both.
    overflow: u32,
    // Rows of status 3; their indices are in `unsettled`, in no certain order.
    unsettled_count: u32,
    padding: vec2u,
}

