// A ray against one body: bounds of the distance at which it hits.
//
// The true distance is that of src/collide/ray/cast.rs, in f64. All here is in units of the body's bounding radius, about its centre, with
// places along the line counted from the point nearest to the centre. The line that is computed is within `error` of the true one there
// (ARCHITECTURE, "Bounds of the f32 paths"). So the true line enters no earlier than the computed one enters the body moved out by that and by
// ε, and no later than it enters the body moved in.

// Bound of the errors that do not depend on where ray and body are: rounding of directions, hulls, rotations and evaluation, and LEAST_SLOPE.
const FIXED_ERROR: f32 = 1.3e-5;
// Per unit of the distance between the ray's start and the body's centre.
const AWAY_ERROR: f32 = 5e-7;
// Per unit of both coordinates: what is beyond two f32.
const PLACE_ERROR: f32 = 2e-14;
// ε: how near a ray must come to a body to hit it.
const REACH: f32 = 3.0001e-6;
// With a greater error nothing is computed.
const MOST_ERROR: f32 = 0.25;
// Bodies of other sizes are open.
const LEAST_SIZE: f32 = 1e-15;
const MOST_SIZE: f32 = 1e18;
// Hulls that a scale stretches more are open.
const MOST_STRETCH: f32 = 1e3;
// Planes with a lesser slope along the line are taken for this one.
const LEAST_SLOPE: f32 = 1e-6;
// Rounding of a place within the body.
const PLACE_SLACK: f32 = 4e-6;
// Rounding of a squared distance from a ball's centre.
const BALL_SLACK: f32 = 2e-6;
// The same for a cylinder, of a line that is turned from its axis by a sine of LEAST_TURN or more (its square).
const LEAST_TURN: f32 = 0.09;
const CYLINDER_SLACK: f32 = 5e-5;
// Rounding of a distance along the ray.
const DISTANCE_SLACK: f32 = 4e-7;
// Hulls of more planes are open.
const PLANE_LIMIT: u32 = 4096u;

// The span of the line in the body moved out, and where it enters the body moved in: the least of its parts that end after the start.
var<private> outer: vec2f;
var<private> inner_enter: f32;
var<private> is_inside: bool;
// The place of the start, and of what is known to be before and after it.
var<private> start_range: vec2f;

// Some part of the body moved in.
fn add_inner(span: vec2f) {
    let enter = span.x + PLACE_SLACK;
    let exit = span.y - PLACE_SLACK;
    if enter <= exit && exit >= start_range.y {
        inner_enter = min(inner_enter, enter);
        is_inside = is_inside || enter <= start_range.x;
    }
}

// Some part of the body moved out.
fn add_outer(span: vec2f) {
    let wider = span + vec2f(-PLACE_SLACK, PLACE_SLACK);
    if wider.x <= wider.y {
        outer = vec2f(min(outer.x, wider.x), max(outer.y, wider.y));
    }
}

// The span of a line in a ball. `off` is the line's start from the centre.
fn ball_span(off: vec3f, along: vec3f, squared_radius: f32) -> vec2f {
    let middle = -dot(off, along);
    let nearest = off + along * middle;
    let left = squared_radius - dot(nearest, nearest);
    if left < 0.0 {
        return vec2f(1.0, -1.0);
    }
    let half = sqrt(left);
    return vec2f(middle - half, middle + half);
}

// Balls and capsules. `off` and `along` are the line, `half_axis` leads to an end of the segment, `radius` is the rounding.
fn cast_round(off: vec3f, along: vec3f, half_axis: vec3f, radius: f32, error: f32, is_segment: bool) {
    let wide = radius + REACH + error;
    let narrow = max(radius - error, 0.0);
    let squared = vec2f(wide * wide + BALL_SLACK, narrow * narrow - BALL_SLACK);
    for (var end = 0u; end < 2u; end += 1u) {
        let start = off + select(half_axis, -half_axis, end == 0u);
        add_outer(ball_span(start, along, squared.x));
        if squared.y > 0.0 {
            add_inner(ball_span(start, along, squared.y));
        }
    }
    let length = sqrt(dot(half_axis, half_axis));
    if !is_segment {
        return;
    }
    let axis = half_axis / max(length, 1e-2);
    let rise = dot(along, axis);
    let across = along - axis * rise;
    let turn = dot(across, across);
    if length < 1e-2 || turn < LEAST_TURN {
        // The ball around the whole.
        let around = 1.0 + REACH + error;
        add_outer(ball_span(off, along, around * around + BALL_SLACK));
        return;
    }
    let height = dot(off, axis);
    let beside = off - axis * height;
    let middle = -dot(beside, across) / turn;
    let nearest = beside + across * middle;
    let least = dot(nearest, nearest);
    let left = vec2f(wide * wide - least + CYLINDER_SLACK, narrow * narrow - least - CYLINDER_SLACK);
    if left.x < 0.0 {
        return;
    }
    // Between the planes through the ends, moved apart and together.
    let steep = select(-1.0, 1.0, rise >= 0.0) * max(abs(rise), LEAST_SLOPE);
    let between = (vec2f(-length, length) * sign(steep) - height) / steep;
    let slip = (error + PLACE_SLACK) / abs(steep);
    let half_outer = sqrt(left.x / turn) + CYLINDER_SLACK;
    add_outer(vec2f(max(middle - half_outer, between.x - slip), min(middle + half_outer, between.y + slip)));
    if left.y > 0.0 {
        let half_inner = sqrt(left.y / turn) - CYLINDER_SLACK;
        add_inner(vec2f(max(middle - half_inner, between.x + slip), min(middle + half_inner, between.y - slip)));
    }
}

// Whether the foot of a point on a plane is in the face: below all other planes by `slip`.
fn is_above_face(hull: RayHull, face: u32, foot: vec3f, slip: f32) -> bool {
    var is_above = true;
    for (var i = 0u; i < hull.plane_count; i += 1u) {
        let plane = planes[hull.plane_begin + i];
        is_above = is_above && (i == face || dot(plane.xyz, foot) - plane.w <= -slip);
    }
    return is_above;
}

// Solids and polygons. `off` and `along` are the line in the hull's units of its radius; `slip` is the error there and `stretch` is how much
// longer a normal may be than in the world. `radius` is the rounding.
fn cast_planes(hull: RayHull, off: vec3f, along: vec3f, slip: f32, stretch: f32, radius: f32, is_even: bool) {
    let wide = slip + (REACH + radius * 1.000001) * stretch;
    let least_slope = LEAST_SLOPE * stretch;
    var wider = vec2f(-2.0, 2.0);
    var narrower = vec2f(-2.0, 2.0);
    // Where the line crosses a polygon.
    var crossing = vec2f(-BEYOND, BEYOND);
    var face = 0u;
    let side_begin = select(0u, 2u, hull.core == CORE_POLYGON);
    for (var i = 0u; i < hull.plane_count; i += 1u) {
        let plane = planes[hull.plane_begin + i];
        let height = dot(plane.xyz, off) - plane.w;
        let rise = dot(plane.xyz, along);
        let slope = select(rise, least_slope, abs(rise) < least_slope);
        let inverse = -1.0 / slope;
        let far = (height - wide) * inverse;
        let near = (height + select(slip, -slip, i < side_begin)) * inverse;
        if slope < 0.0 {
            if far > wider.x {
                wider.x = far;
                face = i;
            }
            if i < side_begin {
                crossing.x = max(crossing.x, near);
            } else {
                narrower.x = max(narrower.x, near);
            }
        } else {
            wider.y = min(wider.y, far);
            if i < side_begin {
                crossing.y = min(crossing.y, near);
            } else {
                narrower.y = min(narrower.y, near);
            }
        }
    }
    add_outer(wider);
    if side_begin == 0u {
        add_inner(narrower);
    } else if crossing.x > -2.0 && crossing.y < 2.0 && narrower.x + PLACE_SLACK <= crossing.x
        && crossing.y <= narrower.y - PLACE_SLACK && crossing.x - PLACE_SLACK >= start_range.y {
        inner_enter = min(inner_enter, crossing.y + PLACE_SLACK);
    }
    if side_begin == 0u && is_even && radius > 0.0 && wider.x <= wider.y {
        // The flat part of the surface above a face.
        let plane = planes[hull.plane_begin + face];
        let height = dot(plane.xyz, off) - plane.w;
        let rise = dot(plane.xyz, along);
        let top = radius * stretch - slip;
        if rise < -least_slope && top > 0.0 {
            let at = (top - height) / rise;
            let foot = off + along * at - plane.xyz * top;
            if abs(at) <= 2.0 && at - PLACE_SLACK >= start_range.y && is_above_face(hull, face, foot, slip) {
                inner_enter = min(inner_enter, at + PLACE_SLACK);
            }
        }
    }
}

// Bounds of the distance at which a ray hits a body. The upper one is BEYOND where the ray may miss, both are where it does for certain.
// `least` is a lower bound that is known.
fn bounds_of(ray: Ray, body: PackedBody, hull: RayHull, least: f32) -> vec2f {
    let open = vec2f(least, BEYOND);
    let miss = vec2f(BEYOND, BEYOND);
    let size = body.radius;
    if !(size >= LEAST_SIZE && size <= MOST_SIZE) || hull.plane_count > PLANE_LIMIT {
        return open;
    }
    let inverse = 1.0 / size;
    let offset = (ray.origin - body.position) + (ray.remainder - body.remainder);
    let place = -dot(offset, ray.direction);
    let origin_size = max(max(abs(ray.origin.x), abs(ray.origin.y)), abs(ray.origin.z));
    let body_size = max(max(abs(body.position.x), abs(body.position.y)), abs(body.position.z));
    let away = AWAY_ERROR * length(offset) + PLACE_ERROR * (origin_size + body_size) + body.excess;
    let error = FIXED_ERROR + away * inverse;
    if !(error < MOST_ERROR) {
        return open;
    }
    let off = (offset + ray.direction * place) * inverse;
    let around = 1.0 + REACH + error;
    if any(abs(off) > vec3f(2.0)) || dot(off, off) > around * around + BALL_SLACK {
        return miss;
    }
    let turn = rotation(body.rotation);
    let local = off * turn;
    let along = ray.direction * turn;
    let start = -place * inverse;
    start_range = vec2f(start - error, start + error);
    outer = vec2f(BEYOND, -BEYOND);
    inner_enter = BEYOND;
    is_inside = false;
    let radius = body.rounding * inverse;
    if hull.core == CORE_POINT {
        cast_round(local, along, vec3f(0.0), radius, error, false);
    } else {
        let stretch = size / (hull.radius * body.scale);
        let widest = max(stretch.x, max(stretch.y, stretch.z));
        if !(widest <= MOST_STRETCH) {
            return open;
        }
        if hull.core == CORE_SEGMENT {
            cast_round(local, along, hull.end / stretch, radius, error, true);
        } else {
            let is_even = body.scale.x == body.scale.y && body.scale.y == body.scale.z;
            cast_planes(hull, local * stretch, along * stretch, error * widest, widest, radius, is_even);
        }
    }
    if outer.x > outer.y || outer.y < start_range.x {
        return miss;
    }
    let slack = DISTANCE_SLACK * (abs(place) + 2.0 * size);
    let lower = place + outer.x * size - slack;
    if lower > ray.max_distance {
        return miss;
    }
    if is_inside {
        return select(vec2f(0.0), miss, params.skips_start != 0u);
    }
    var upper = BEYOND;
    if inner_enter < 4.0 && !(lower <= 0.0 && params.skips_start != 0u) {
        let bound = max(place + inner_enter * size + slack, 0.0);
        upper = select(BEYOND, bound, bound <= ray.max_distance);
    }
    return vec2f(max(max(lower, least), 0.0), upper);
}
