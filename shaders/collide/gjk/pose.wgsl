// One pair in the frame of its larger body and in units of that one's bounding radius: the Minkowski difference D = A - B, where A is
// the larger body.
// CPU twin: src/collide/gjk/pose.rs (`Spheres`, `Relative` and `Scales`; here they are one struct). The CPU's centres
// are f64; here each is a sum of two f32, whose difference adds one more rounding, which `error` includes.
//
// Reads the bindings `bodies` and `hulls`, and `params.zero`, which is always zero (see rounding.wgsl).

// Rounding of f32: half a unit in the last place of 1.
const ROUNDING: f32 = 5.9604645e-8;
// Share of τ up to which a pair touches (src/collide/gjk/tolerance.rs), less and more than it by what f32 may be off.
const LEAST_TOUCHING: f32 = 0.75 * 0.99999;
const MOST_TOUCHING: f32 = 0.75 * 1.00001;
// Relative error of f32 lengths, and of bounds that are divided by a length.
const LENGTH_ERROR: f32 = 16.0 * ROUNDING;

// Bound of the error of everything that f32 concludes about a gap, from the smaller and the sum of the bounding radii and the
// distance of the centres. ARCHITECTURE ("Bounds of the f32 paths") proves it for pairs with the larger body first.
fn gap_error(smaller: f32, sum: f32, distance: f32) -> f32 {
    return 1.001 * ROUNDING * (25.0 * sum + 24.0 * smaller + 13.0 * distance);
}

// The same for what a point of the simplex or a face of a polytope shows.
fn point_error(smaller: f32, sum: f32, distance: f32) -> f32 {
    return 1.001 * ROUNDING * (21.0 * sum + 14.0 * smaller + 10.0 * distance);
}

struct Relative {
    // A is the pair's second body.
    is_swapped: bool,
    // Indices of the hulls. Compilers do not know that they are those of the bodies, so a search reads the records
    // again in each step instead of keeping them in registers.
    hull_a: u32,
    hull_b: u32,
    // From unit vertices to the pair's unit.
    stretch_a: vec3f,
    stretch_b: vec3f,
    // From b's frame to a's.
    turn: mat3x3f,
    // From b's centre to a's, in a's frame and the pair's unit.
    offset: vec3f,
    // From a's frame to the world.
    frame: mat3x3f,
    // Length of the offset.
    distance: f32,
    // Sum of the bounding radii, and the smaller one.
    sum: f32,
    smaller: f32,
    // Sum of the rounding radii, and a's rounding radius. The hulls without them are the pair's cores.
    rounding: f32,
    rounding_a: f32,
    // World units per pair unit.
    unit: f32,
    // Error bound of gaps.
    error: f32,
    // Possible excess of the tolerance, and error of a gap due to the rounding of the centres.
    excess: f32,
    // Thresholds of the verdicts: see `Limits` in src/collide/gjk/verdict.rs.
    separated: f32,
    touching: f32,
    near: f32,
    penetrating: f32,
}

var<private> relative: Relative;

// Length of a vector whose components' squares may overflow.
fn length_of(v: vec3f) -> f32 {
    let most = max(abs(v.x), max(abs(v.y), abs(v.z)));
    return select(0.0, most * length(v / most), most > 0.0);
}

// The number of a hull that exists. A caller's buffer of bodies may name others: what they get is of the last hull, so that the
// search over its vertices ends.
fn known_hull(hull: u32) -> u32 {
    return min(hull, arrayLength(&hulls) - 1u);
}

fn shape_of(hull: HullRecord) -> Shape {
    return Shape(hull.vertex_offset, hull.vertex_count, hull.cell_offset, hull.cell_side);
}

// The tolerance of a pair at that distance.
fn tolerance_at(distance: f32) -> f32 {
    return max(1e-5 * relative.smaller, 4e-6 * (relative.sum + distance));
}

// Fills `relative`.
fn relate(first: u32, second: u32) {
    // The smaller body's points go through a rotation more, so the error bound is smaller that way.
    let is_swapped = bodies[second].radius > bodies[first].radius;
    let body_a = bodies[select(first, second, is_swapped)];
    let body_b = bodies[select(second, first, is_swapped)];
    let known_a = known_hull(body_a.hull);
    let known_b = known_hull(body_b.hull);
    let hull_a = hulls[known_a];
    let hull_b = hulls[known_b];
    let rotation_a = rotation(body_a.rotation);
    let rotation_b = rotation(body_b.rotation);
    let unit = max(body_a.radius, body_b.radius);
    let inverse = select(1.0, 1.0 / unit, unit > 0.0);
    // Positions first: the difference of close positions is exact. The remainders must not be added before it.
    let apart = body_a.position - body_b.position;
    let positions = bitcast<vec3f>(bitcast<vec3u>(apart) ^ vec3u(params.zero));
    let centres = positions + (body_a.remainder - body_b.remainder);
    let inverse_frame = transpose(rotation_a);
    let ra = body_a.radius * inverse;
    let rb = body_b.radius * inverse;
    relative.is_swapped = is_swapped;
    relative.unit = select(1.0, unit, unit > 0.0);
    relative.smaller = min(ra, rb);
    relative.sum = ra + rb;
    relative.rounding_a = body_a.rounding * inverse;
    relative.rounding = relative.rounding_a + body_b.rounding * inverse;
    relative.excess = (body_a.excess + body_b.excess) * inverse;

    relative.hull_a = known_a ^ params.zero;
    relative.hull_b = known_b ^ params.zero;
    relative.stretch_a = body_a.scale * (hull_a.radius * inverse);
    relative.stretch_b = body_b.scale * (hull_b.radius * inverse);
    relative.turn = inverse_frame * rotation_b;
    relative.offset = inverse_frame * (centres * inverse);
    relative.frame = rotation_a;
    relative.distance = length_of(relative.offset);
    set_thresholds(
        gap_error(relative.smaller, relative.sum, relative.distance),
        point_error(relative.smaller, relative.sum, relative.distance)
    );
}

// Sets the thresholds of the verdicts from the error bound of what a direction shows, and of what a point shows.
fn set_thresholds(error: f32, of_points: f32) {
    let tolerance = tolerance_at(0.0);
    let most = MOST_TOUCHING * tolerance + relative.excess;
    let least = LEAST_TOUCHING * tolerance - relative.excess;
    relative.error = error + relative.excess;
    relative.separated = most + relative.error;
    relative.penetrating = most + of_points;
    relative.touching = max(least - relative.error, 0.0);
    // No point shows a touch if no direction can.
    relative.near = select(0.0, least - of_points, relative.touching > 0.0);
}

// Whether the bounding spheres alone prove a separation, along the line of the centres.
fn apart() -> bool {
    return relative.distance > relative.sum + relative.separated;
}

// Whether these are two points so near each other that f32 may not hold the square of their distance: f64 decides.
fn are_close_points() -> bool {
    return relative.sum == 0.0 && relative.distance < 1e-15;
}

// Lower bound, to within rounding, of the radius of a ball about the centre inside a body; at most 0 if there is none.
fn inner_radius_of(body: u32) -> f32 {
    let scale = bodies[body].scale;
    let least = min(scale.x, min(scale.y, scale.z));
    let most = max(scale.x, max(scale.y, scale.z));
    let core = hulls[bodies[body].hull].inner_radius;
    return core * select(most, least, core > 0.0) + bodies[body].rounding - bodies[body].excess;
}

// Whether balls inside the bodies alone prove a penetration. The touching limit is at most 8e-6; the errors of the radii and of the
// distance are below 1e-6 (S + d), where d is less than S.
fn deep(pair: vec2u) -> bool {
    let inner = (inner_radius_of(pair.x) + inner_radius_of(pair.y)) / relative.unit;
    return relative.distance < inner - 2e-5;
}

// Converts a direction from B to A in A's frame to a unit vector from the pair's first body to its second, in the world.
fn world_axis(axis: vec3f) -> vec3f {
    let turned = relative.frame * select(-axis, axis, relative.is_swapped);
    let most = max(abs(turned.x), max(abs(turned.y), abs(turned.z)));
    return select(vec3f(0.0), normalize(turned / most), most > 0.0);
}

// A point of D and the vertex of A that it came from.
struct Corner {
    point: vec3f,
    vertex: u32,
}

// The support point of D along a direction of any length.
fn corner_along(direction: vec3f) -> Corner {
    let back = -direction * relative.turn;
    let b = relative.stretch_b * support(shape_of(hulls[relative.hull_b]), relative.stretch_b * back);
    let a = relative.stretch_a * support(shape_of(hulls[relative.hull_a]), relative.stretch_a * direction);
    return Corner(a - relative.turn * b + relative.offset, support_vertex);
}

// The same without the vertex.
fn difference(direction: vec3f) -> vec3f {
    return corner_along(direction).point;
}

// The rotation of the larger body, read again at an index that is the same but that compilers do not know: kept from `relate`, it would
// occupy nine registers in a search.
fn frame_again(pair: vec2u) -> mat3x3f {
    let body = select(pair.x, pair.y, relative.is_swapped);
    return rotation(bodies[body ^ params.zero].rotation);
}
