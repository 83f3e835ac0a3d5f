// GJK to the distance, with the corners that realise it. src/collide/gjk/distance.rs proves both bounds. The steps of
// the simplex are the same there. The loop differs, so the two may try a different number of directions; the bounds
// hold either way:
//
// - The lower bound kept here is the greatest so far, with its direction; the CPU keeps that of the last direction. A
//   stalled search passes it on to EPA (epa/depth.wgsl) or to write_between, which therefore checks that the points
//   lie along the direction. Where the bounds meet, the lower bound is that of the last direction here too.
// - The bounds may differ by a quarter of `slack_at`, which already excludes the errors of f32 and of the hulls'
//   rounded means; on the CPU by `Goal`'s slack and a fraction of the distance (narrow_phase/measure.rs).
// - The limit is 40 directions, on the CPU 64: here one long search holds up its whole workgroup. Undecided pairs go
//   to EPA or to f64 on both.
// - The CPU also ends with `Within`, if no depth is wanted and the cores are so near that they overlap by their
//   rounding radii. Here the search continues to the distance, with the same verdict.
// src/collide/gjk/lanes.rs does the same for four pairs at a time.

const DISTANCE_LIMIT: u32 = 40u;

// A point of D and the vertex of A that it came from.
struct Corner {
    point: vec3f,
    vertex: u32,
}

// One to four corners, and the weights of a point in their convex hull.
struct WeightedSimplex {
    p: Corner,
    q: Corner,
    r: Corner,
    s: Corner,
    // Weights of p, q, r: at least 0, with sum 1.
    weights: vec3f,
    len: u32,
}

// The point of a simplex closest to the origin.
struct Closest {
    simplex: WeightedSimplex,
    // A convex combination of the corners, despite rounding.
    point: vec3f,
    // Parallel to the point up to rounding, and exactly perpendicular to its feature. Any length.
    direction: vec3f,
    // The tetrahedron contains the origin.
    inside: bool,
}

// The lower bound exceeds the given limit.
const STOP_BEYOND: u32 = 0u;
// The bounds have met.
const STOP_CONVERGED: u32 = 1u;
// The computed tetrahedron contains the origin.
const STOP_INSIDE: u32 = 2u;
// Rounding or the iteration limit stopped the search.
const STOP_STALLED: u32 = 3u;

struct Nearest {
    stop: u32,
    // Lower bound of the distance, measured along `axis`; may be negative.
    lower: f32,
    // Upper bound of the distance: the length of `point`.
    upper: f32,
    // Unit vector from b to a.
    axis: vec3f,
    simplex: WeightedSimplex,
    point: vec3f,
}

// The support point of D along a direction of any length.
fn corner_along(direction: vec3f) -> Corner {
    let back = -direction * relative.turn;
    let b = relative.stretch_b * support(relative.shape_b, relative.stretch_b * back);
    let a = relative.stretch_a * support(relative.shape_a, relative.stretch_a * direction);
    return Corner(a - relative.turn * b + relative.offset, support_vertex);
}

// The point of A that a corner came from, relative to A's centre, in A's frame.
fn on_a(corner: Corner) -> vec3f {
    return relative.stretch_a * vertices[corner.vertex].xyz;
}

fn witness_on_a(simplex: WeightedSimplex) -> vec3f {
    var point = on_a(simplex.p) * simplex.weights.x;
    if simplex.len > 1u {
        point += on_a(simplex.q) * simplex.weights.y;
    }
    if simplex.len > 2u {
        point += on_a(simplex.r) * simplex.weights.z;
    }
    return point;
}

fn select_corner(no: Corner, yes: Corner, condition: bool) -> Corner {
    return Corner(select(no.point, yes.point, condition), select(no.vertex, yes.vertex, condition));
}

// The simplex with one more corner, the newest, reduced to the feature closest to the origin.
fn closest_of(simplex: WeightedSimplex, a: Corner) -> Closest {
    let is_full = simplex.len == 3u;
    let b = select_corner(select_corner(simplex.p, simplex.q, simplex.len == 2u), simplex.r, is_full);
    let c = select_corner(simplex.p, simplex.q, is_full);
    let d = simplex.p;
    let found = closest_feature(simplex.len, a.point, b.point, c.point, d.point);
    let p = select_corner(select_corner(d, c, found.face == 1u), b, found.face == 0u);
    let q = select_corner(select_corner(b, d, found.face == 1u), c, found.face == 0u);
    let is_face = found.needs == 7u;
    let is_p = (found.needs & 2u) == 0u;
    let ap = p.point - a.point;
    let aq = q.point - a.point;
    let point = a.point + ap * found.weights.x + aq * found.weights.y;
    var direction = point;
    if is_face {
        let normal = cross(ap, aq);
        direction = select(normal, -normal, dot(a.point, normal) < 0.0);
    } else if found.needs > 4u {
        // The remaining component along the segment is rounding error. Removing it once more leaves only the rounding
        // error of the small difference.
        let edge = select(aq, ap, is_p);
        direction = point - edge * (dot(point, edge) / dot(edge, edge));
    }
    let older = select_corner(select_corner(q, p, is_p), a, found.needs == 0u);
    let first = select(select(found.weights.x + found.weights.y, found.weights.y, is_face), 1.0, found.needs == 0u);
    let second = select(1.0 - first, found.weights.x, is_face);
    let reduced = WeightedSimplex(
        select_corner(older, d, found.inside),
        select_corner(select_corner(a, p, is_face), c, found.inside),
        select_corner(a, b, found.inside),
        a,
        vec3f(first, second, select(0.0, 1.0 - first - second, is_face)),
        select(max(countOneBits(found.needs), 1u), 4u, found.inside),
    );
    return Closest(reduced, point, direction, found.inside);
}

// Largest difference of the bounds of a distance at which the search ends.
fn slack_at(lower: f32) -> f32 {
    return tolerance_at(max(lower - relative.rounding, 0.0)) - relative.error - relative.excess;
}

// Searches from the direction `start` until the distance is known or exceeds `beyond`.
fn nearest_from(start: vec3f, beyond: f32) -> Nearest {
    var direction = start;
    var squared = dot(start, start);
    if !(squared > 0.0) {
        direction = vec3f(1.0, 0.0, 0.0);
        squared = 1.0;
    }
    let blank = Corner(direction, 0u);
    let none = WeightedSimplex(blank, blank, blank, blank, vec3f(1.0, 0.0, 0.0), 0u);
    var nearest = Nearest(STOP_STALLED, -1e30, 1e30, direction, none, direction);
    for (var iteration = 0u; iteration < DISTANCE_LIMIT; iteration += 1u) {
        let inverse = 1.0 / sqrt(squared);
        let corner = corner_along(-direction);
        let along = dot(direction, corner.point) * inverse;
        // The current direction must prove it, not an earlier one: the points are apart along this one.
        let is_converged = nearest.upper - along <= 0.25 * slack_at(along);
        if along > nearest.lower || is_converged {
            nearest.lower = along;
            nearest.axis = direction * inverse;
        }
        if along > beyond {
            nearest.stop = STOP_BEYOND;
            break;
        }
        if is_converged {
            nearest.stop = STOP_CONVERGED;
            break;
        }
        let step = closest_of(nearest.simplex, corner);
        let length = sqrt(dot(step.point, step.point));
        if !step.inside && !(length < nearest.upper) {
            break;
        }
        nearest.simplex = step.simplex;
        if step.inside {
            nearest.stop = STOP_INSIDE;
            break;
        }
        nearest.upper = length;
        nearest.point = step.point;
        direction = step.direction;
        squared = dot(direction, direction);
        if !(squared > 0.0) {
            break;
        }
    }
    return nearest;
}
