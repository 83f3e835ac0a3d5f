// GJK on the Minkowski difference of `relative`: a verdict with a certificate. src/collide/gjk/verdict.rs cites the
// papers; the steps of the simplex and the order of their operations are the same there. The loop differs:
//
// - It searches cores, with the rounding radii in its thresholds: cores that are near enough overlap by the radii
//   alone. The CPU searches rounded bodies with gjk/lanes.rs instead (narrow_phase/verdict.rs).
// - The CPU also notes if a direction proves `D` to be shallow; narrow_phase/verdict.rs then skips EPA for pairs in
//   resting contact. Here they go on to EPA, with the same verdict.
// - If a number is NaN, the CPU's `enclosure` is 0; WGSL does not define results of NaN.

const ITERATION_LIMIT: u32 = 32u;

// One to four points of D; a tetrahedron is full.
struct Simplex {
    p: vec3f,
    q: vec3f,
    r: vec3f,
    s: vec3f,
    len: u32,
}

// D lies beyond a plane perpendicular to `axis`, which points from b to a and has any length.
const OUTCOME_SEPARATED: u32 = 0u;
// A tetrahedron encloses the origin deeply enough.
const OUTCOME_PENETRATING: u32 = 1u;
// The origin is near the simplex, or not deep enough inside it, or rounding stopped the descent.
const OUTCOME_NEAR: u32 = 2u;

struct Outcome {
    kind: u32,
    axis: vec3f,
    simplex: Simplex,
}

// A simplex reduced to the feature that has the point closest to the origin, and that point.
struct Reduced {
    simplex: Simplex,
    point: vec3f,
    // The tetrahedron contains the origin; `point` is 0.
    inside: bool,
}

fn simplex1(p: vec3f) -> Simplex {
    return Simplex(p, p, p, p, 1u);
}

fn keep1(a: vec3f) -> Reduced {
    return Reduced(simplex1(a), a, false);
}

// Closest point on the segment `a b`, whose newest corner is `a`.
fn segment(a: vec3f, b: vec3f) -> Reduced {
    let ab = b - a;
    let t = -dot(a, ab);
    if t <= 0.0 {
        return keep1(a);
    }
    let squared = dot(ab, ab);
    if t >= squared {
        return keep1(b);
    }
    return Reduced(Simplex(b, a, a, a, 2u), a + ab * (t / squared), false);
}

// Closest point on the triangle `a b c`, whose newest corner is `a`: inside, on `ab`, on `ac` or at `a`.
fn triangle(a: vec3f, b: vec3f, c: vec3f) -> Reduced {
    let ab = b - a;
    let ac = c - a;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    let weight_b = dot(cross(ac, a), normal);
    let weight_c = dot(cross(a, ab), normal);
    if weight_b > 0.0 && weight_c > 0.0 && weight_b + weight_c < squared {
        return Reduced(Simplex(c, b, a, a, 3u), normal * (dot(a, normal) / squared), false);
    }
    let along_ab = -dot(a, ab);
    let along_ac = -dot(a, ac);
    if weight_c <= 0.0 && along_ab > 0.0 {
        return segment(a, b);
    }
    if along_ac > 0.0 {
        return segment(a, c);
    }
    if along_ab > 0.0 {
        return segment(a, b);
    }
    return keep1(a);
}

// Whether the origin is outside a face through `a` with this normal: on the side opposite to the fourth point.
fn outside(normal: vec3f, a: vec3f, volume: f32) -> bool {
    let side = -dot(a, normal);
    return select(side > 0.0, (side < 0.0), volume > 0.0);
}

// Closest point on the tetrahedron `a b c d`, whose newest corner is `a`.
fn tetrahedron(a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> Reduced {
    let ab = b - a;
    let ac = c - a;
    let ad = d - a;
    let abc = cross(ab, ac);
    let volume = dot(abc, ad);
    var best = Reduced(Simplex(d, c, b, a, 4u), vec3f(0.0), true);
    var least = 0.0;
    if outside(abc, a, volume) {
        best = triangle(a, b, c);
        least = dot(best.point, best.point);
    }
    if outside(cross(ac, ad), a, volume) {
        let other = triangle(a, c, d);
        let squared = dot(other.point, other.point);
        if best.inside || squared < least {
            best = other;
            least = squared;
        }
    }
    if outside(cross(ad, ab), a, volume) {
        let other = triangle(a, d, b);
        let squared = dot(other.point, other.point);
        if best.inside || squared < least {
            best = other;
            least = squared;
        }
    }
    return best;
}

// The simplex with one more point, the newest, reduced.
fn reduce(simplex: Simplex, newest: vec3f) -> Reduced {
    switch simplex.len {
        case 0u: { return keep1(newest); }
        case 1u: { return segment(newest, simplex.p); }
        case 2u: { return triangle(newest, simplex.q, simplex.p); }
        default: { return tetrahedron(newest, simplex.r, simplex.q, simplex.p); }
    }
}

// Bound of the rounding error of `dot(cross(ab, ac), a)`.
fn face_error(a: vec3f, ab: vec3f, ac: vec3f) -> f32 {
    return 8.0 * ROUNDING * sqrt(dot(a, a) * dot(ab, ab) * dot(ac, ac));
}

// Lower bound of the origin's distance to the plane `a b c`, inwards: on the side of `opposite`.
fn face_bound(a: vec3f, b: vec3f, c: vec3f, opposite: vec3f) -> f32 {
    let ab = b - a;
    let ac = c - a;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    if !(squared > 0.0) {
        return 0.0;
    }
    let side = dot(normal, opposite - a);
    let height = select(dot(normal, a), -dot(normal, a), side > 0.0);
    return (height - face_error(a, ab, ac)) / sqrt(squared);
}

// Lower bound, rounding included, of the distance from the origin to the faces of a tetrahedron that contains it; 0 if
// it may not contain it.
fn enclosure(simplex: Simplex) -> f32 {
    let p = simplex.p;
    let q = simplex.q;
    let r = simplex.r;
    let s = simplex.s;
    let pqr = face_bound(p, q, r, s);
    let prs = face_bound(p, r, s, q);
    let psq = face_bound(p, s, q, r);
    let qsr = face_bound(q, s, r, p);
    return max(min(min(pqr, prs), min(psq, qsr)), 0.0);
}

// Squared distance from the origin to the nearest of four points of a triangle: its projection with clamped weights,
// and its projections on the edges.
fn edge_distance_squared(origin: vec3f, edge: vec3f) -> f32 {
    let squared = dot(edge, edge);
    let t = -dot(origin, edge);
    var point = origin;
    if t > 0.0 && squared > 0.0 {
        if t >= squared {
            point = origin + edge;
        } else {
            point = origin + edge * (t / squared);
        }
    }
    return dot(point, point);
}

fn triangle_distance_squared(a: vec3f, b: vec3f, c: vec3f) -> f32 {
    let ab = b - a;
    let ac = c - a;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    var least = dot(a, a);
    let weight_b = dot(cross(ac, a), normal);
    let weight_c = dot(cross(a, ab), normal);
    if squared > 0.0 && weight_b > 0.0 && weight_c > 0.0 && weight_b + weight_c < squared {
        let point = a + ab * (weight_b / squared) + ac * (weight_c / squared);
        least = min(least, dot(point, point));
    }
    least = min(least, edge_distance_squared(a, ab));
    least = min(least, edge_distance_squared(a, ac));
    return min(least, edge_distance_squared(b, c - b));
}

// Distance from the origin to a point that is certainly on the simplex. For a tetrahedron, on the nearest face.
fn simplex_distance(simplex: Simplex) -> f32 {
    let p = simplex.p;
    let q = simplex.q;
    let r = simplex.r;
    let s = simplex.s;
    var squared = dot(p, p);
    if simplex.len == 2u {
        squared = triangle_distance_squared(p, q, q);
    } else if simplex.len >= 3u {
        squared = triangle_distance_squared(p, q, r);
    }
    if simplex.len == 4u {
        squared = min(squared, triangle_distance_squared(p, r, s));
        squared = min(squared, triangle_distance_squared(p, s, q));
        squared = min(squared, triangle_distance_squared(q, s, r));
    }
    return sqrt(squared);
}

// Runs GJK on the cores from the direction `start`. The rounding radii are in the thresholds.
fn gjk(start: vec3f) -> Outcome {
    let rounding = relative.rounding;
    let beyond = rounding + relative.separated;
    let separated_squared = beyond * beyond;
    // Negative if the error bound alone exceeds the tolerance: then no distance is small enough.
    let near = rounding + max(relative.touching, 0.0);
    let near_squared = near * near;
    // Cores this near overlap by their rounding radii alone.
    let deep = max(rounding - relative.penetrating, 0.0);
    var closest = start;
    var closest_squared = dot(start, start);
    if !(closest_squared > 0.0) {
        closest = vec3f(1.0, 0.0, 0.0);
        closest_squared = 1.0;
    }
    var simplex = Simplex(closest, closest, closest, closest, 0u);
    for (var iteration = 0u; iteration < ITERATION_LIMIT; iteration += 1u) {
        let newest = difference(-closest);
        let along = dot(closest, newest);
        if along > 0.0 && along * along > separated_squared * closest_squared {
            return Outcome(OUTCOME_SEPARATED, closest, simplex);
        }
        let reduced = reduce(simplex, newest);
        simplex = reduced.simplex;
        if reduced.inside {
            let encloses = enclosure(simplex) > max(relative.penetrating - rounding, 0.0);
            return Outcome(select(OUTCOME_NEAR, OUTCOME_PENETRATING, encloses), closest, simplex);
        }
        let squared = dot(reduced.point, reduced.point);
        if squared <= near_squared {
            if rounding == 0.0 {
                return Outcome(OUTCOME_NEAR, closest, simplex);
            }
            if squared < deep * deep {
                if simplex_distance(simplex) < deep {
                    return Outcome(OUTCOME_PENETRATING, closest, simplex);
                }
            }
        }
        // The first direction is a guess, not a point of D: the distance must decrease only from the second on.
        if iteration > 0u && !(squared < closest_squared) {
            return Outcome(OUTCOME_NEAR, closest, simplex);
        }
        closest = reduced.point;
        closest_squared = squared;
    }
    return Outcome(OUTCOME_NEAR, closest, simplex);
}
