// GJK to the distance, with the corners that realise it. src/collide/gjk/distance.rs proves both bounds. The step of
// the simplex has the same cases there, and verdict.wgsl says how it differs. The loop differs too, so the two may try
// a different number of directions; the bounds hold either way:
//
// - The weights are computed from those of the feature on which the simplex is reduced, the point from the weights.
// - The bounds may differ by a quarter of `slack_at`, which already excludes the errors of f32 and of the hulls'
//   rounded means; on the CPU by `Goal`'s slack and a fraction of the distance (narrow_phase/measure.rs).
// - The limit is 40 directions, on the CPU 64: here one long search holds up its whole workgroup. Undecided pairs go
//   to EPA or to f64 on both.
// - The CPU also ends with `Within`, if no depth is wanted and the cores are so near that they overlap by their
//   rounding radii. Here the search continues to the distance, with the same verdict.
//
// src/collide/gjk/lanes.rs does the same for eight pairs at a time.

const DISTANCE_LIMIT: u32 = 40u;

// One to four corners, the newest first, and the weights of a point in their convex hull.
struct WeightedSimplex {
    p: Corner,
    q: Corner,
    r: Corner,
    s: Corner,
    // Weights of q and r. That of p is the rest of 1. All are at least 0.
    weights: vec2f,
    len: u32,
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

// The point of A that a corner came from, relative to A's centre, in A's frame.
fn on_a(corner: Corner) -> vec3f {
    return relative.stretch_a * vertices[corner.vertex].xyz;
}

fn witness_on_a(simplex: WeightedSimplex) -> vec3f {
    let weights = simplex.weights;
    return on_a(simplex.p) * (1.0 - weights.x - weights.y) + on_a(simplex.q) * weights.x + on_a(simplex.r) * weights.y;
}

// The weighted point of D.
fn witness(simplex: WeightedSimplex) -> vec3f {
    let p = simplex.p.point;
    return p + (simplex.q.point - p) * simplex.weights.x + (simplex.r.point - p) * simplex.weights.y;
}

fn select_corner(no: Corner, yes: Corner, condition: bool) -> Corner {
    return Corner(select(no.point, yes.point, condition), select(no.vertex, yes.vertex, condition));
}

// The corners of a feature, as `reduced` returns its points.
fn reduced_corners(found: Feature, a: Corner, b: Corner, c: Corner, d: Corner) -> WeightedSimplex {
    let p = select_corner(select_corner(d, c, found.face == 1u), b, found.face == 0u);
    let q = select_corner(select_corner(b, d, found.face == 1u), c, found.face == 0u);
    let older = select_corner(p, q, (found.needs & 2u) != 0u);
    let is_face = found.needs == 7u;
    let is_older = found.needs == 1u || found.needs == 2u;
    let second = select_corner(select_corner(older, p, is_face), a, found.needs == 0u);
    // Clamped, as rounding may make their sum more than 1. On an edge one of the weights is 0.
    let weight = min(select(found.weights.x + found.weights.y, found.weights.x, is_face), 1.0);
    let weights = vec2f(weight, select(0.0, min(found.weights.y, 1.0 - weight), is_face));
    return WeightedSimplex(
        select_corner(a, older, is_older),
        second,
        select_corner(second, q, is_face),
        Corner(vec3f(0.0), 0u),
        select(weights, vec2f(0.0), is_older),
        max(countOneBits(found.needs), 1u),
    );
}

// From the origin to the closest point, of any length: parallel to it up to rounding, and exactly perpendicular to the
// feature.
fn direction_of(simplex: WeightedSimplex, point: vec3f) -> vec3f {
    let edge = simplex.q.point - simplex.p.point;
    var direction = point;
    if simplex.len == 3u {
        let normal = cross(edge, simplex.r.point - simplex.p.point);
        direction = select(normal, -normal, dot(simplex.p.point, normal) < 0.0);
    } else if simplex.len == 2u {
        // The remaining component along the segment is rounding error. Removing it once more leaves only the rounding
        // error of the small difference.
        direction = point - edge * (dot(point, edge) / dot(edge, edge));
    }
    return direction;
}

// Largest difference of the bounds of a distance at which the search ends.
fn slack_at(lower: f32) -> f32 {
    return tolerance_at(max(lower - relative.rounding, 0.0)) - relative.error - relative.excess;
}

// Searches from the direction `start` until the distance is known or exceeds `beyond`.
fn nearest_from(start: vec3f, beyond: f32) -> Nearest {
    var direction = select(vec3f(1.0, 0.0, 0.0), start, dot(start, start) > 0.0);
    let blank = Corner(direction, 0u);
    var simplex = WeightedSimplex(blank, blank, blank, Corner(vec3f(0.0), 0u), vec2f(0.0), 0u);
    var fourth = Corner(vec3f(0.0), 0u);
    var stop = STOP_STALLED;
    var lower = -1e30;
    var upper = 1e30;
    for (var iteration = 1u; iteration <= DISTANCE_LIMIT; iteration += 1u) {
        let corner = corner_along(-direction);
        lower = dot(direction, corner.point) / sqrt(dot(direction, direction));
        var goes_on = false;
        if lower > beyond {
            stop = STOP_BEYOND;
        } else if upper - lower <= 0.25 * slack_at(lower) {
            stop = STOP_CONVERGED;
        } else {
            let found = closest_feature(simplex.len, corner.point, simplex.p.point, simplex.q.point, simplex.r.point);
            let next = reduced_corners(found, corner, simplex.p, simplex.q, simplex.r);
            let point = witness(next);
            let length = sqrt(dot(point, point));
            if found.inside {
                fourth = simplex.r;
                simplex.r = simplex.q;
                simplex.q = simplex.p;
                simplex.p = corner;
                stop = STOP_INSIDE;
            } else if length < upper {
                upper = length;
                simplex = next;
                let turned = direction_of(next, point);
                // `lower` belongs to the last direction that was tried.
                goes_on = dot(turned, turned) > 0.0 && iteration < DISTANCE_LIMIT;
                direction = select(direction, turned, goes_on);
            }
        }
        if !goes_on {
            break;
        }
        fourth = Corner(vec3f(0.0), 0u);
        stop = STOP_STALLED;
    }
    if stop == STOP_INSIDE {
        simplex.s = fourth;
        simplex.len = 4u;
    }
    return Nearest(stop, lower, upper, direction * (1.0 / sqrt(dot(direction, direction))), simplex, witness(simplex));
}
