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

fn keep_corner(a: Corner) -> Closest {
    return Closest(WeightedSimplex(a, a, a, a, vec3f(1.0, 0.0, 0.0), 1u), a.point, a.point, false);
}

// Closest point on the segment `a b`, whose newest corner is `a`.
fn closest_on_segment(a: Corner, b: Corner) -> Closest {
    let ab = b.point - a.point;
    let t = -dot(a.point, ab);
    if t <= 0.0 {
        return keep_corner(a);
    }
    let squared = dot(ab, ab);
    if t >= squared {
        return keep_corner(b);
    }
    let inverse = 1.0 / squared;
    let weight = t * inverse;
    let point = a.point + ab * weight;
    // The remaining component along the segment is rounding error. Removing it once more leaves only the rounding
    // error of the small difference.
    let direction = point - ab * (dot(point, ab) * inverse);
    return Closest(WeightedSimplex(b, a, a, a, vec3f(weight, 1.0 - weight, 0.0), 2u), point, direction, false);
}

// Closest point on the triangle `a b c`, whose newest corner is `a`: inside, on `ab`, on `ac` or at `a`.
fn closest_on_triangle(a: Corner, b: Corner, c: Corner) -> Closest {
    let ab = b.point - a.point;
    let ac = c.point - a.point;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    let area_b = dot(cross(ac, a.point), normal);
    let area_c = dot(cross(a.point, ab), normal);
    if area_b > 0.0 && area_c > 0.0 && area_b + area_c < squared {
        let inverse = 1.0 / squared;
        let weight_b = area_b * inverse;
        let weight_c = area_c * inverse;
        let direction = select(normal, -normal, dot(a.point, normal) < 0.0);
        let weights = vec3f(weight_c, weight_b, 1.0 - weight_b - weight_c);
        return Closest(WeightedSimplex(c, b, a, a, weights, 3u), a.point + ab * weight_b + ac * weight_c, direction, false);
    }
    let toward_b = -dot(a.point, ab) > 0.0;
    let toward_c = -dot(a.point, ac) > 0.0;
    if (area_c <= 0.0 && toward_b) || (toward_b && !toward_c) {
        return closest_on_segment(a, b);
    }
    if toward_c {
        return closest_on_segment(a, c);
    }
    return keep_corner(a);
}

// Closest point on the tetrahedron `a b c d`, whose newest corner is `a`.
fn closest_on_tetrahedron(a: Corner, b: Corner, c: Corner, d: Corner) -> Closest {
    let ab = b.point - a.point;
    let ac = c.point - a.point;
    let ad = d.point - a.point;
    let abc = cross(ab, ac);
    let volume = dot(abc, ad);
    var best = Closest(WeightedSimplex(d, c, b, a, vec3f(0.0), 4u), vec3f(0.0), vec3f(0.0), true);
    var least = 0.0;
    // At most three faces; the single call keeps one copy of the triangle's code.
    for (var face = 0u; face < 3u; face += 1u) {
        var normal = abc;
        var p = b;
        var q = c;
        if face == 1u {
            normal = cross(ac, ad);
            p = c;
            q = d;
        } else if face == 2u {
            normal = cross(ad, ab);
            p = d;
            q = b;
        }
        if outside(normal, a.point, volume) {
            let other = closest_on_triangle(a, p, q);
            let squared = dot(other.point, other.point);
            if best.inside || squared < least {
                best = other;
                least = squared;
            }
        }
    }
    return best;
}

// The simplex with one more corner, the newest, reduced to the feature closest to the origin.
fn closest_of(simplex: WeightedSimplex, newest: Corner) -> Closest {
    switch simplex.len {
        case 0u: { return keep_corner(newest); }
        case 1u: { return closest_on_segment(newest, simplex.p); }
        case 2u: { return closest_on_triangle(newest, simplex.q, simplex.p); }
        default: { return closest_on_tetrahedron(newest, simplex.r, simplex.q, simplex.p); }
    }
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
        if along > nearest.lower {
            nearest.lower = along;
            nearest.axis = direction * inverse;
            if along > beyond {
                nearest.stop = STOP_BEYOND;
                return nearest;
            }
        }
        // The current direction must prove it, not an earlier one: the points are apart along this one.
        if nearest.upper - along <= 0.25 * slack_at(along) {
            nearest.stop = STOP_CONVERGED;
            nearest.lower = along;
            nearest.axis = direction * inverse;
            return nearest;
        }
        let step = closest_of(nearest.simplex, corner);
        if step.inside {
            nearest.stop = STOP_INSIDE;
            nearest.simplex = step.simplex;
            return nearest;
        }
        let length = sqrt(dot(step.point, step.point));
        if !(length < nearest.upper) {
            return nearest;
        }
        nearest.upper = length;
        nearest.simplex = step.simplex;
        nearest.point = step.point;
        direction = step.direction;
        squared = dot(direction, direction);
        if !(squared > 0.0) {
            return nearest;
        }
    }
    return nearest;
}
