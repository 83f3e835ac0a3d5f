// EPA, the expanding polytope algorithm, for the pairs that GJK leaves undecided near the surface.
// src/collide/epa/verdict.rs cites the papers. The steps are the same there, in f32, and these differ:
//
// - The CPU also detects a penetration before there is a polytope, by the tetrahedra around an edge or on both sides
//   of a triangle (`enclosure_around`, `enclosure_of_two`). Here those pairs get a polytope, with the same verdict.
// - The four directions around an edge are tried in a different order, so one of two equally distant corners may be
//   chosen differently.
// - The CPU keeps a face's distance less its rounding error. Here the error is computed where the distances suffice.
// - The polytope (polytope.wgsl) is also too small, or inconsistent, in other cases: f64 decides them.
//
// With a touching limit of 0, no pair touches because a face is near.

// Points of the polytope at most; less than it has room for.
const VERDICT_POINTS: u32 = 20u;

const DECISION_SEPARATED: u32 = 0u;
const DECISION_TOUCHING: u32 = 1u;
const DECISION_PENETRATING: u32 = 2u;
// Not decided: the polytope is full, or inconsistent through rounding.
const DECISION_UNDECIDED: u32 = 3u;

// Whether a point of D within the touching limit of the origin has been found.
var<private> is_touch_near: bool;
var<private> decision: u32;
// Separating axis from b to a, of any length, if the decision is a separation.
var<private> decision_axis: vec3f;

// The support point along a direction. Sets the decision, and stops the search, if the point proves one.
fn probe(direction: vec3f) -> Corner {
    let corner = corner_along(direction);
    let along = dot(direction, corner.point);
    let length = sqrt(dot(direction, direction));
    if -along > relative.separated * length {
        decision = DECISION_SEPARATED;
        decision_axis = -direction;
    } else if is_touch_near && along <= relative.touching * length {
        decision = DECISION_TOUCHING;
    }
    is_stopped = decision != DECISION_UNDECIDED;
    return corner;
}

// Whether every face is farther from the origin than `depth`, rounding included.
fn is_deeper(depth: f32) -> bool {
    var is_deep = nearest_distance > depth;
    for (var index = 0u; is_deep && index < plane_count; index += 1u) {
        let indices = plane_corners[index];
        let a = corners[indices & 255u].point;
        let ab = corners[(indices >> 8u) & 255u].point - a;
        let ac = corners[indices >> 16u].point - a;
        let normal = cross(ab, ac);
        is_deep = planes[index].w - face_error(a, ab, ac) / sqrt(dot(normal, normal)) > depth;
    }
    return is_deep;
}

// Runs EPA from a simplex of one to four points of D. Sets `decision`.
fn epa_verdict(simplex: Simplex, near_known: bool) {
    is_touch_near = near_known;
    decision = DECISION_UNDECIDED;
    corners[0].point = simplex.p;
    corners[1].point = simplex.q;
    corners[2].point = simplex.r;
    corners[3].point = simplex.s;
    start_polytope(simplex.len);
    // Each iteration adds a point.
    for (var iteration = 4u; iteration <= VERDICT_POINTS && !is_stopped; iteration += 1u) {
        if is_deeper(relative.penetrating) {
            decision = DECISION_PENETRATING;
            break;
        }
        let plane = planes[nearest_face];
        let corner = probe(plane.xyz);
        if is_stopped {
            break;
        }
        let slack = 4.0 * ROUNDING * sqrt(dot(corner.point, corner.point));
        let along = dot(plane.xyz, corner.point);
        if !(along - plane.w > slack) || corner_count == VERDICT_POINTS {
            // The polytope may have come near the origin since the start.
            let indices = plane_corners[nearest_face];
            let a = corners[indices & 255u].point;
            let b = corners[(indices >> 8u) & 255u].point;
            let c = corners[indices >> 16u].point;
            let near_squared = relative.near * relative.near;
            // The limit is zero if the error bound alone exceeds the tolerance.
            if relative.touching > 0.0 && along <= relative.touching && triangle_distance_squared(a, b, c) <= near_squared {
                decision = DECISION_TOUCHING;
            }
            break;
        }
        add_corner(corner, slack);
    }
}
