// A world box, or a half-space's plane in the same bytes, and the overlap test of the broad phase. Needs `mul`, `add`
// and `add3` of rounding.wgsl.
// The CPU's results are equal bit for bit.

// An axis-aligned world box, both ends included. The record of a half-space has `min.x = PLANE` and `max.x = -PLANE`,
// its normal in `min.y`, `min.z`, `max.y`, and its offset along the normal in `max.z`.
struct Aabb {
    min: vec3f,
    group: u32,
    max: vec3f,
    mask: u32,
}

const PLANE: f32 = 0x1.fffffep+127;
const PAD_PLANE: f32 = 4e-6;
const PAD_GROWN: f32 = 2.5e-7;

fn overlaps(a_min: vec3f, a_max: vec3f, b_min: vec3f, b_max: vec3f) -> bool {
    return all(a_min <= b_max) && all(b_min <= a_max);
}

fn is_plane(box: Aabb) -> bool {
    return box.min.x == PLANE;
}

// Whether the groups and masks of two bodies accept each other.
fn accepts(a: Aabb, b: Aabb) -> bool {
    return (a.group & b.mask) != 0u && (b.group & a.mask) != 0u;
}

// The box enlarged by `grow` on all sides. Planes do not change.
fn grown(box: Aabb, grow: f32) -> Aabb {
    if grow == 0.0 || is_plane(box) {
        return box;
    }
    var wider = box;
    wider.min = vec3f(less(box.min.x, grow), less(box.min.y, grow), less(box.min.z, grow));
    wider.max = -vec3f(less(-box.max.x, grow), less(-box.max.y, grow), less(-box.max.z, grow));
    return wider;
}

fn less(x: f32, grow: f32) -> f32 {
    return add(x, -add(grow, mul(PAD_GROWN, abs(x))));
}

// Whether a box overlaps the half-space of `plane` moved outwards by `grow`.
fn reaches(box: Aabb, plane: Aabb, grow: f32) -> bool {
    let n = vec3f(plane.min.y, plane.min.z, plane.max.y);
    // The deepest corner.
    let c = select(box.max, box.min, n > vec3f(0.0));
    let depth = add3(mul(n.x, c.x), mul(n.y, c.y), mul(n.z, c.z));
    let pad = mul(PAD_PLANE, add3(abs(c.x), abs(c.y), abs(c.z)));
    return depth <= add3(plane.max.z, grow, pad);
}

// Whether two bodies are a candidate pair. `grow` is the margin that the boxes do not include yet.
fn meets(a: Aabb, b: Aabb, grow: f32) -> bool {
    if !accepts(a, b) {
        return false;
    }
    if is_plane(a) {
        return !is_plane(b) && reaches(b, a, grow);
    }
    if is_plane(b) {
        return reaches(a, b, grow);
    }
    let wider = grown(a, grow);
    return overlaps(wider.min, wider.max, b.min, b.max);
}
