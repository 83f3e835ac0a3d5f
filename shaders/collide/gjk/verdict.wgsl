// GJK on the Minkowski difference of `relative`: a verdict with a certificate. src/collide/gjk/verdict.rs cites the
// papers. The step of the simplex has the same cases there, and this differs:
//
// - Here one loop goes over the faces of the simplex, for verdicts and for distances (`closest_feature`); the CPU has a
//   function for each number of points. The newest point of the simplex is the first here and the last on the CPU.
// - It searches cores, with the rounding radii in its thresholds: cores that are near enough overlap by the radii
//   alone. The CPU searches rounded bodies with gjk/lanes.rs instead (narrow_phase/verdict.rs).
// - The CPU also notes if a direction proves `D` to be shallow; narrow_phase/verdict.rs then skips EPA for pairs in
//   resting contact. Here they go on to EPA, with the same verdict.
// - If a number is NaN, the CPU's `enclosure` is 0; WGSL does not define results of NaN.
//
// A compiler puts the functions into the loop of the search. One with an early return would keep its last result in
// registers from step to step, so they have one return each. Likewise the loop has one exit, and what only a last step
// sets is reset before the next.

const ITERATION_LIMIT: u32 = 32u;

// One to four points of D, from GJK the newest first; a tetrahedron is full. GJK repeats points for missing ones.
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

// Whether the origin is outside a face through `a` with this normal: on the side opposite to the fourth point.
fn outside(normal: vec3f, a: vec3f, volume: f32) -> bool {
    let side = -dot(a, normal);
    return select(side > 0.0, (side < 0.0), volume > 0.0);
}

// The feature of a simplex that is closest to the origin.
struct Feature {
    // Its face `a p q`: 0 for a b c, 1 for a c d, 2 for a d b.
    face: u32,
    // Which corners of the face it needs: 1 for p, 2 for q, and 4 for a beside one of them. 0: a alone.
    needs: u32,
    // The tetrahedron contains the origin: no face is closest.
    inside: bool,
    // The closest point, and its weights at p and q.
    point: vec3f,
    weights: vec2f,
}

// The closest feature of a simplex of `len` points b c d, from the newest to the oldest, and a newer one, a.
//
// Each invocation examines the faces that the origin is outside of, one by one, so those of a subgroup share the code
// whatever their faces. A segment is a triangle with two equal corners.
fn closest_feature(len: u32, a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> Feature {
    // A bit for each face.
    var faces = min(len, 1u);
    if len == 3u {
        let ab = b - a;
        let ac = c - a;
        let ad = d - a;
        let abc = cross(ab, ac);
        let volume = dot(abc, ad);
        faces = u32(outside(abc, a, volume))
            | (u32(outside(cross(ac, ad), a, volume)) << 1u)
            | (u32(outside(cross(ad, ab), a, volume)) << 2u);
    }
    var best = Feature(0u, 0u, len == 3u && faces == 0u, a, vec2f(0.0));
    var least = 3e38;
    while faces != 0u {
        let face = firstTrailingBit(faces);
        faces &= faces - 1u;
        let p = select(select(d, c, face == 1u), b, face == 0u);
        let q = select(select(b, d, face == 1u), c, face == 0u);
        let ap = p - a;
        let aq = q - a;
        let normal = cross(ap, aq);
        let squared = dot(normal, normal);
        let area_p = dot(cross(aq, a), normal);
        let area_q = dot(cross(a, ap), normal);
        let is_face = len > 1u && area_p > 0.0 && area_q > 0.0 && area_p + area_q < squared;
        // Otherwise the point is on the edge to p or q, or at a.
        let along_p = -dot(a, ap);
        let along_q = -dot(a, aq);
        let is_p = along_p > 0.0 && (area_q <= 0.0 || along_q <= 0.0);
        let edge = select(aq, ap, is_p);
        let along = select(along_q, along_p, is_p);
        let length_squared = dot(edge, edge);
        let inverse = 1.0 / select(length_squared, squared, is_face);
        // The older end of an edge is the closest point only by rounding.
        let weight = select(0.0, min(along * inverse, 1.0), along > 0.0);
        let point = select(a + edge * weight, normal * (dot(a, normal) * inverse), is_face);
        let edge_needs = select(2u, 1u, is_p) | select(4u, 0u, along >= length_squared);
        let distance_squared = dot(point, point);
        if distance_squared < least {
            least = distance_squared;
            best.face = face;
            best.needs = select(select(0u, edge_needs, along > 0.0), 7u, is_face);
            best.point = point;
            best.weights = select(
                select(vec2f(0.0, weight), vec2f(weight, 0.0), is_p),
                vec2f(area_p, area_q) * inverse,
                is_face,
            );
        }
    }
    return best;
}

// The points of a feature, if the tetrahedron does not contain the origin.
fn reduced(found: Feature, a: vec3f, b: vec3f, c: vec3f, d: vec3f) -> Simplex {
    let p = select(select(d, c, found.face == 1u), b, found.face == 0u);
    let q = select(select(b, d, found.face == 1u), c, found.face == 0u);
    let older = select(p, q, (found.needs & 2u) != 0u);
    let is_face = found.needs == 7u;
    let newest = select(a, older, found.needs == 1u || found.needs == 2u);
    let second = select(select(older, p, is_face), a, found.needs == 0u);
    let len = max(countOneBits(found.needs), 1u);
    return Simplex(newest, second, select(second, q, is_face), vec3f(0.0), len);
}

// Bound of the error of `dot(cross(ab, ac), a)` as the height of a plane, times the computed length of the cross product.
// src/collide/gjk/verdict.rs has the proof.
fn face_error(a: vec3f, ab: vec3f, ac: vec3f) -> f32 {
    return 16.0 * ROUNDING * sqrt(dot(a, a) * dot(ab, ab) * dot(ac, ac));
}

// Lower bound of how far the origin is below the plane `a b c`, counter-clockwise seen from above.
fn face_bound(a: vec3f, b: vec3f, c: vec3f) -> f32 {
    let ab = b - a;
    let ac = c - a;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    if !(squared > 0.0) {
        return 0.0;
    }
    return (dot(normal, a) - face_error(a, ab, ac)) / sqrt(squared);
}

// The simplex with its points in cyclic order, one further.
fn turned(simplex: Simplex) -> Simplex {
    return Simplex(simplex.q, simplex.r, simplex.s, simplex.p, simplex.len);
}

// Lower bound, rounding included, of the distance from the origin to the faces of a tetrahedron that contains it; 0 if
// it may not contain it.
fn enclosure(simplex: Simplex) -> f32 {
    let pq = simplex.q - simplex.p;
    let pr = simplex.r - simplex.p;
    let ps = simplex.s - simplex.p;
    let volume = dot(cross(pq, pr), ps);
    // Otherwise the tetrahedron may be inside out.
    let is_sure = abs(volume) > 12.0 * ROUNDING * sqrt(dot(pq, pq) * dot(pr, pr) * dot(ps, ps));
    var least = select(0.0, 3e38, is_sure);
    var rest = simplex;
    // Each turn of the points swaps inside and outside of the first three. The loop keeps one copy of the code.
    var is_inward = volume > 0.0;
    for (var face = 0u; face < 4u; face += 1u) {
        least = min(least, face_bound(rest.p, select(rest.q, rest.r, is_inward), select(rest.r, rest.q, is_inward)));
        rest = turned(rest);
        is_inward = !is_inward;
    }
    return max(least, 0.0);
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
            point = origin + edge * min(t / squared, 1.0);
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
        // Clamped, as rounding may make their sum more than 1.
        let share_b = min(weight_b / squared, 1.0);
        let share_c = min(weight_c / squared, 1.0 - share_b);
        let point = a + ab * share_b + ac * share_c;
        least = min(least, dot(point, point));
    }
    least = min(least, edge_distance_squared(a, ab));
    least = min(least, edge_distance_squared(a, ac));
    return min(least, edge_distance_squared(b, c - b));
}

// Distance from the origin to a point that is certainly on the simplex. For a tetrahedron, on the nearest face.
fn simplex_distance(simplex: Simplex) -> f32 {
    // Fewer than three points are a triangle with equal corners.
    var rest = simplex;
    rest.q = select(simplex.p, simplex.q, simplex.len > 1u);
    rest.r = select(rest.q, simplex.r, simplex.len > 2u);
    var squared = 3e38;
    for (var face = select(3u, 0u, simplex.len == 4u); face < 4u; face += 1u) {
        squared = min(squared, triangle_distance_squared(rest.p, rest.q, rest.r));
        rest = turned(rest);
    }
    return sqrt(squared);
}

// Whether the support point of D against a direction from b to a proves that D is farther than `beyond` along it.
fn separates(direction: vec3f, point: vec3f, beyond: f32) -> bool {
    let along = dot(direction, point);
    return along > 0.0 && along * along > beyond * beyond * dot(direction, direction);
}

// Runs GJK on the cores from the direction `start`. The rounding radii are in the thresholds.
fn gjk(start: vec3f) -> Outcome {
    let rounding = relative.rounding;
    let beyond = rounding + relative.separated;
    let enclosed = max(relative.penetrating - rounding, 0.0);
    // Cores this near overlap by their rounding radii alone.
    let deep = max(rounding - relative.penetrating, 0.0);
    // The search ends at this distance. Without rounding it is 0 if the error bound alone exceeds the tolerance.
    let near = select(deep, relative.near, rounding == 0.0);
    let near_squared = near * near;
    var closest = start;
    var closest_squared = dot(start, start);
    if !(closest_squared > 0.0) {
        closest = vec3f(1.0, 0.0, 0.0);
        closest_squared = 1.0;
    }
    var simplex = Simplex(closest, closest, closest, vec3f(0.0), 0u);
    var fourth = vec3f(0.0);
    var kind = OUTCOME_NEAR;
    for (var iteration = 0u; iteration < ITERATION_LIMIT; iteration += 1u) {
        let newest = difference(-closest);
        var goes_on = false;
        if separates(closest, newest, beyond) {
            kind = OUTCOME_SEPARATED;
        } else {
            let found = closest_feature(simplex.len, newest, simplex.p, simplex.q, simplex.r);
            if found.inside {
                fourth = simplex.r;
                simplex = Simplex(newest, simplex.p, simplex.q, vec3f(0.0), 4u);
            } else {
                simplex = reduced(found, newest, simplex.p, simplex.q, simplex.r);
                let squared = dot(found.point, found.point);
                // The first direction is a guess, not a point of D: the distance must decrease only from the second on.
                goes_on = squared > near_squared && (iteration == 0u || squared < closest_squared);
                if goes_on {
                    closest = found.point;
                    closest_squared = squared;
                }
            }
        }
        if !goes_on {
            break;
        }
        fourth = vec3f(0.0);
        kind = OUTCOME_NEAR;
    }
    simplex.s = fourth;
    // What the simplex proves is computed after the loop, in which the rest of the subgroup would wait for it.
    if kind == OUTCOME_NEAR {
        if simplex.len == 4u {
            kind = select(OUTCOME_NEAR, OUTCOME_PENETRATING, enclosure(simplex) > enclosed);
        } else if deep > 0.0 {
            kind = select(OUTCOME_NEAR, OUTCOME_PENETRATING, simplex_distance(simplex) < deep);
        }
    }
    return Outcome(kind, closest, simplex);
}
