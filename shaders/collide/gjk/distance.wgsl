// GJK until the distance is known, with the corners it came from. src/collide/gjk/distance.rs says why both bounds can be
// trusted. The steps of the simplex are the same there. The loop around them differs, so the two may try another number
// of directions; what they tell holds by the bounds, not by the way there:
//
// - The bound from below that is kept is the greatest so far, with its direction; the CPU's is that of the last direction.
//   A search that stalls hands it on to EPA (epa/depth.wgsl) or to write_between, which therefore asks whether the points
//   lie along the direction at all. Where the bounds meet it is that of the last direction here too.
// - The bounds may differ by a quarter of `slack_at`, from which what f32 and the hulls' rounded means may be off is taken
//   already; on the CPU by `Goal`'s slack and a share of the distance (narrow_phase/measure.rs).
// - 40 directions are tried, on the CPU 64: here one long search holds up its whole group. What is left goes to EPA or to
//   f64 on both.
// - There is no end `Within`: the CPU stops where no depth is asked and the cores are so near that they overlap by their
//   rounding; here the distance is told to the end, and the verdict is the same.
// src/collide/gjk/lanes.rs does the same for four pairs at a time.

const DISTANCE_LIMIT: u32 = 40u;

// A point of D and the vertex of A that it came from.
struct Corner {
    point: vec3f,
    vertex: u32,
}

// One to four corners and the weights of a point in their hull.
struct WeightedSimplex {
    p: Corner,
    q: Corner,
    r: Corner,
    s: Corner,
    // Of p, q, r: at least 0, together 1.
    weights: vec3f,
    len: u32,
}

// Where a simplex is closest to the origin.
struct Closest {
    simplex: WeightedSimplex,
    // A convex combination of the corners, whatever rounding did.
    point: vec3f,
    // Parallel to it but for rounding, and perpendicular to its feature to the last bit. Any length.
    direction: vec3f,
    // A tetrahedron holds the origin.
    inside: bool,
}

// The lower bound is above what was asked for.
const STOP_BEYOND: u32 = 0u;
// The bounds are near enough.
const STOP_CONVERGED: u32 = 1u;
// A tetrahedron, as computed, holds the origin.
const STOP_INSIDE: u32 = 2u;
// Rounding or the limit stopped it before.
const STOP_STALLED: u32 = 3u;

struct Nearest {
    stop: u32,
    // The distance is at least this, along `axis`; may be negative.
    lower: f32,
    // The distance is at most this: the length of `point`.
    upper: f32,
    // Unit vector from b to a.
    axis: vec3f,
    simplex: WeightedSimplex,
    point: vec3f,
}

// The corner of D furthest along a direction of any length.
fn corner_along(direction: vec3f) -> Corner {
    let back = -direction * relative.turn;
    let b = relative.stretch_b * support(relative.shape_b, relative.stretch_b * back);
    let a = relative.stretch_a * support(relative.shape_a, relative.stretch_a * direction);
    return Corner(a - relative.turn * b + relative.offset, support_vertex);
}

// Where on A a corner came from, about A's centre and in its frame.
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

// On the segment `a b`, of which `a` is the newest.
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
    // What is left along the segment is rounding: taken off once more it is rounding of the small difference.
    let direction = point - ab * (dot(point, ab) * inverse);
    return Closest(WeightedSimplex(b, a, a, a, vec3f(weight, 1.0 - weight, 0.0), 2u), point, direction, false);
}

// On the triangle `a b c`, of which `a` is the newest: inside, on `ab`, on `ac` or at `a`.
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

// On the tetrahedron `a b c d`, of which `a` is the newest.
fn closest_on_tetrahedron(a: Corner, b: Corner, c: Corner, d: Corner) -> Closest {
    let ab = b.point - a.point;
    let ac = c.point - a.point;
    let ad = d.point - a.point;
    let abc = cross(ab, ac);
    let volume = dot(abc, ad);
    var best = Closest(WeightedSimplex(d, c, b, a, vec3f(0.0), 4u), vec3f(0.0), vec3f(0.0), true);
    var least = 0.0;
    // Of three faces at most; one call, so that the triangle's code is there once.
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

// The simplex with one corner more, the newest, shrunk to what holds the point closest to the origin.
fn closest_of(simplex: WeightedSimplex, newest: Corner) -> Closest {
    switch simplex.len {
        case 0u: { return keep_corner(newest); }
        case 1u: { return closest_on_segment(newest, simplex.p); }
        case 2u: { return closest_on_triangle(newest, simplex.q, simplex.p); }
        default: { return closest_on_tetrahedron(newest, simplex.r, simplex.q, simplex.p); }
    }
}

// By how much the bounds of a distance may differ at most to be an answer.
fn slack_at(lower: f32) -> f32 {
    return tolerance_at(max(lower - relative.rounding, 0.0)) - relative.error - relative.excess;
}

// Searches from the direction `start`, until the distance is above `beyond` or known.
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
        // The direction at hand must show it, not a better one before: the points are apart along this one.
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
