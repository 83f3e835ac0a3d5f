// EPA, the expanding polytope algorithm, for the pairs that GJK leaves undecided near the surface.
// src/collide/epa/verdict.rs cites the papers. From the tetrahedron on, that file has the same functions, in f32, with
// the same order of operations. The two differ in how they find the tetrahedron:
//
// - The CPU also detects a penetration before there is a polytope, by the tetrahedra around an edge or on both sides
//   of a triangle (`enclosure_around`, `enclosure_of_two`). Here those pairs get a polytope, with the same verdict.
// - The four directions around an edge are tried in a different order, so one of two equally distant corners may be
//   chosen differently.
//
// With a touching limit of 0, no pair touches because a face is near.
//
// The polytope is in private memory. `decision` ends the search.

const POLYTOPE_POINTS: u32 = 20u;
const POLYTOPE_FACES: u32 = 40u;

const DECISION_SEPARATED: u32 = 0u;
const DECISION_TOUCHING: u32 = 1u;
const DECISION_PENETRATING: u32 = 2u;
// The polytope is full, or inconsistent through rounding.
const DECISION_UNDECIDED: u32 = 3u;
// Not decided yet.
const DECISION_NONE: u32 = 4u;

// A face of the polytope.
struct Face {
    // Outward unit normal.
    normal: vec3f,
    // Signed distance of the plane from the origin; positive if the origin is inside.
    distance: f32,
    // The same minus the plane's rounding error.
    bound: f32,
    // Indices of the corners, counter-clockwise from outside, eight bits each.
    corners: u32,
}

var<private> points: array<vec3f, POLYTOPE_POINTS>;
var<private> point_count: u32;
var<private> faces: array<Face, POLYTOPE_FACES>;
var<private> face_count: u32;
// Directed edges, `from | to << 8`.
var<private> horizon: array<u32, POLYTOPE_FACES>;
// Whether a point of D within the touching limit of the origin has been found.
var<private> is_touch_near: bool;
var<private> decision: u32;
// Separating axis from b to a, of any length, if the decision is a separation.
var<private> decision_axis: vec3f;

// The support point along a direction. Sets the decision if the point proves one.
fn probe(direction: vec3f) -> vec3f {
    let point = difference(direction);
    let along = dot(direction, point);
    let length = sqrt(dot(direction, direction));
    if decision == DECISION_NONE {
        if -along > relative.separated * length {
            decision = DECISION_SEPARATED;
            decision_axis = -direction;
        } else if is_touch_near && along <= relative.touching * length {
            decision = DECISION_TOUCHING;
        }
    }
    return point;
}

fn stop_undecided() {
    if decision == DECISION_NONE {
        decision = DECISION_UNDECIDED;
    }
}

fn add_face(a_index: u32, b_index: u32, c_index: u32) {
    if face_count == POLYTOPE_FACES {
        stop_undecided();
        return;
    }
    let a = points[a_index];
    let ab = points[b_index] - a;
    let ac = points[c_index] - a;
    let normal = cross(ab, ac);
    let length = sqrt(dot(normal, normal));
    if !(length > 0.0) {
        stop_undecided();
        return;
    }
    let inverse = 1.0 / length;
    let unit = normal * inverse;
    let distance = dot(unit, a);
    let bound = distance - face_error(a, ab, ac) * inverse;
    faces[face_count] = Face(unit, distance, bound, a_index | (b_index << 8u) | (c_index << 16u));
    face_count += 1u;
}

fn unit_axis(index: u32) -> vec3f {
    return vec3f(f32(index == 0u), f32(index == 1u), f32(index == 2u));
}

// Extends the simplex to a tetrahedron.
fn make_tetrahedron(simplex: Simplex) {
    let p = simplex.p;
    var q = simplex.q;
    var r = simplex.r;
    var s = simplex.s;
    var len = simplex.len;
    // A simplex that is flat up to rounding has no interior: it is reduced to a smaller one.
    let flat = 32.0 * ROUNDING * 32.0 * ROUNDING;
    if len == 4u {
        let normal = cross(q - p, r - p);
        let height = dot(normal, s - p);
        if !(height * height > flat * dot(normal, normal) * dot(s - p, s - p)) {
            len = 3u;
            let other = cross(q - p, s - p);
            if dot(other, other) > dot(normal, normal) {
                r = s;
            }
        }
    }
    if len == 3u {
        let normal = cross(q - p, r - p);
        if !(dot(normal, normal) > flat * dot(q - p, q - p) * dot(r - p, r - p)) {
            len = 2u;
            if dot(r - p, r - p) > dot(q - p, q - p) {
                q = r;
            }
        }
    }
    if len == 2u && !(dot(q - p, q - p) > 0.0) {
        len = 1u;
    }
    if len < 2u {
        var most = 0.0;
        for (var i = 0u; i < 6u; i += 1u) {
            let axis = unit_axis(i / 2u);
            let point = probe(select(axis, -axis, i % 2u == 1u));
            if decision != DECISION_NONE {
                return;
            }
            let offset = point - p;
            let squared = dot(offset, offset);
            if squared > most {
                most = squared;
                q = point;
            }
        }
        if !(most > 0.0) {
            stop_undecided();
            return;
        }
    }
    if len < 3u {
        let edge = q - p;
        let squares = edge * edge;
        var axis = vec3f(0.0, 0.0, 1.0);
        if squares.x <= squares.y && squares.x <= squares.z {
            axis = vec3f(1.0, 0.0, 0.0);
        } else if squares.y <= squares.z {
            axis = vec3f(0.0, 1.0, 0.0);
        }
        let side = cross(edge, axis);
        let other = cross(edge, side) * (1.0 / sqrt(dot(edge, edge)));
        var most = 0.0;
        for (var i = 0u; i < 4u; i += 1u) {
            let direction = select(side, other, i >= 2u);
            let point = probe(select(direction, -direction, i % 2u == 1u));
            if decision != DECISION_NONE {
                return;
            }
            let area = cross(edge, point - p);
            let squared = dot(area, area);
            if squared > most {
                most = squared;
                r = point;
            }
        }
        if !(most > 0.0) {
            stop_undecided();
            return;
        }
    }
    if len < 4u {
        let normal = cross(q - p, r - p);
        var most = 0.0;
        for (var i = 0u; i < 2u; i += 1u) {
            let direction = select(normal, -normal, i == 1u);
            let point = probe(direction);
            if decision != DECISION_NONE {
                return;
            }
            let height = dot(direction, point - p);
            if height > most {
                most = height;
                s = point;
            }
        }
        if !(most > 0.0) {
            stop_undecided();
            return;
        }
    }
    // `s` must lie below the face p q r, which is counter-clockwise from outside.
    let flip = dot(cross(q - p, r - p), s - p) > 0.0;
    points[0] = p;
    points[1] = select(q, r, flip);
    points[2] = select(r, q, flip);
    points[3] = s;
    point_count = 4u;
    add_face(0u, 1u, 2u);
    add_face(0u, 3u, 1u);
    add_face(1u, 3u, 2u);
    add_face(2u, 3u, 0u);
}

// Replaces the faces visible from `point` by a fan from it to their horizon. `slack` is the rounding error of a plane
// distance to the point.
fn add_point(point: vec3f, slack: f32) {
    var horizon_len = 0u;
    var kept = 0u;
    for (var index = 0u; index < face_count; index += 1u) {
        let face = faces[index];
        if dot(face.normal, point) - face.distance > slack {
            let a = face.corners & 255u;
            let b = (face.corners >> 8u) & 255u;
            let c = face.corners >> 16u;
            for (var side = 0u; side < 3u; side += 1u) {
                var begin = a;
                var end = b;
                if side == 1u {
                    begin = b;
                    end = c;
                } else if side == 2u {
                    begin = c;
                    end = a;
                }
                // An edge between two visible faces occurs twice, once in each direction.
                var twin = 0u;
                while twin < horizon_len && horizon[twin] != (end | (begin << 8u)) {
                    twin += 1u;
                }
                if twin < horizon_len {
                    horizon_len -= 1u;
                    horizon[twin] = horizon[horizon_len];
                } else {
                    if horizon_len == POLYTOPE_FACES {
                        stop_undecided();
                        return;
                    }
                    horizon[horizon_len] = begin | (end << 8u);
                    horizon_len += 1u;
                }
            }
        } else {
            faces[kept] = face;
            kept += 1u;
        }
    }
    if kept == 0u || horizon_len < 3u {
        stop_undecided();
        return;
    }
    face_count = kept;
    let apex = point_count;
    points[apex] = point;
    point_count += 1u;
    for (var i = 0u; i < horizon_len; i += 1u) {
        add_face(horizon[i] & 255u, horizon[i] >> 8u, apex);
    }
    // A closed surface of triangles has 2 V - 4 faces, fewer if points were enclosed. More faces or an odd number mean
    // that the visible faces did not form one disk.
    if face_count % 2u != 0u || face_count > 2u * point_count - 4u {
        stop_undecided();
    }
}

// Runs EPA from a simplex of one to four points of D. Sets `decision`.
fn epa_verdict(simplex: Simplex, near_known: bool) {
    is_touch_near = near_known;
    decision = DECISION_NONE;
    point_count = 0u;
    face_count = 0u;
    make_tetrahedron(simplex);
    // Each iteration adds a point.
    for (var iteration = 4u; iteration <= POLYTOPE_POINTS; iteration += 1u) {
        if decision != DECISION_NONE {
            return;
        }
        var nearest = 0u;
        var nearest_distance = faces[0].distance;
        var bound = faces[0].bound;
        for (var index = 1u; index < face_count; index += 1u) {
            let distance = faces[index].distance;
            if distance < nearest_distance {
                nearest = index;
                nearest_distance = distance;
            }
            bound = min(bound, faces[index].bound);
        }
        if bound > relative.penetrating {
            decision = DECISION_PENETRATING;
            return;
        }
        let face = faces[nearest];
        let point = probe(face.normal);
        if decision != DECISION_NONE {
            return;
        }
        let slack = 4.0 * ROUNDING * sqrt(dot(point, point));
        let along = dot(face.normal, point);
        if !(along - face.distance > slack) || point_count == POLYTOPE_POINTS {
            // The polytope may have come near the origin since the start.
            let a = points[face.corners & 255u];
            let b = points[(face.corners >> 8u) & 255u];
            let c = points[face.corners >> 16u];
            let near_squared = relative.touching * relative.touching;
            // The limit is zero if the error bound alone exceeds the tolerance.
            if relative.touching > 0.0 && along <= relative.touching && triangle_distance_squared(a, b, c) <= near_squared {
                decision = DECISION_TOUCHING;
            } else {
                stop_undecided();
            }
            return;
        }
        add_point(point, slack);
    }
    stop_undecided();
}
