// Casts the Minkowski difference D of `relative` along a line: finds the first time at which `D + t velocity` reaches
// the origin. src/collide/sweep/cast.rs cites the paper and proves the result. The steps are the same there, with these
// exceptions: the function's name, because WGSL reserves `cast`; the interval from `begin` to `end`, which starts at 0
// on the CPU (here cut.wgsl gives the pose at a time in between, for the sake of f32); the test of a miss, by the
// plane's height at the end, on the CPU by the time at which the plane passes; one loop over the faces of any simplex;
// and the test of a hit, which is after the search so that a subgroup runs it once.

// Directions tried before a pair is left to the exact path.
const CAST_LIMIT: u32 = 40u;

// At `time` the gap is at most `near`; until then a plane separates the bodies. `axis` is the normal of the last
// plane.
const CAST_HIT: u32 = 0u;
// Planes separate the bodies until the end; `axis` is the normal of the last one.
const CAST_MISS: u32 = 1u;
// No direction tried separates the bodies far enough at the start.
const CAST_START: u32 = 2u;
// Rounding or the iteration limit stopped the search.
const CAST_STALLED: u32 = 3u;
// A miss: one plane separates the bodies clearly all the time.
const CAST_CLEAR_MISS: u32 = 4u;

struct Cast {
    kind: u32,
    time: f32,
    axis: vec3f,
}

// The point of a simplex closest to the origin.
struct NearestPoint {
    point: vec3f,
    // Indices of its corners, in the order of the simplex.
    i: u32,
    j: u32,
    k: u32,
    // Number of corners; 4 if the simplex contains the origin.
    len: u32,
}

fn pick(simplex: Simplex, corner: u32) -> vec3f {
    let low = select(simplex.p, simplex.q, corner == 1u);
    let high = select(simplex.r, simplex.s, corner == 3u);
    return select(low, high, corner >= 2u);
}

// The face that contains a point.
fn selected(found: NearestPoint, simplex: Simplex) -> Simplex {
    return Simplex(pick(simplex, found.i), pick(simplex, found.j), pick(simplex, found.k), simplex.s, found.len);
}

// The simplex with all corners translated.
fn moved_by(simplex: Simplex, way: vec3f) -> Simplex {
    return Simplex(simplex.p + way, simplex.q + way, simplex.r + way, simplex.s + way, simplex.len);
}

fn with_corner(simplex: Simplex, newest: vec3f) -> Simplex {
    var more = simplex;
    if simplex.len == 0u {
        more.p = newest;
    } else if simplex.len == 1u {
        more.q = newest;
    } else if simplex.len == 2u {
        more.r = newest;
    } else {
        more.s = newest;
    }
    more.len = simplex.len + 1u;
    return more;
}

fn on_segment(a: vec3f, b: vec3f, i: u32, j: u32) -> NearestPoint {
    let ab = b - a;
    let t = -dot(a, ab);
    let squared = dot(ab, ab);
    let is_b = t > 0.0 && t >= squared;
    let is_between = t > 0.0 && t < squared;
    let point = select(select(a, a + ab * (t / squared), is_between), b, is_b);
    return NearestPoint(point, select(i, j, is_b), select(i, j, t > 0.0), select(i, j, is_b), select(1u, 2u, is_between));
}

fn nearer(one: NearestPoint, other: NearestPoint) -> NearestPoint {
    var found = one;
    if one.len == 0u || dot(other.point, other.point) < dot(one.point, one.point) {
        found = other;
    }
    return found;
}

// With two or three equal corners, closest point on the segment or the point.
fn on_triangle(a: vec3f, b: vec3f, c: vec3f, i: u32, j: u32, k: u32) -> NearestPoint {
    let ab = b - a;
    let ac = c - a;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    let weight_b = dot(cross(ac, a), normal);
    let weight_c = dot(cross(a, ab), normal);
    let weight_a = squared - weight_b - weight_c;
    let is_segment = j == k;
    var best = NearestPoint(normal * (dot(a, normal) / squared), i, j, k, 3u);
    if is_segment || !(weight_a > 0.0 && weight_b > 0.0 && weight_c > 0.0) {
        // Outside: on the nearest of the edges that may have the point.
        best = NearestPoint(a, i, i, i, 0u);
        if is_segment || !(weight_c > 0.0) {
            best = nearer(best, on_segment(a, b, i, j));
        }
        if !is_segment && !(weight_b > 0.0) {
            best = nearer(best, on_segment(a, c, i, k));
        }
        if !is_segment && !(weight_a > 0.0) {
            best = nearer(best, on_segment(b, c, j, k));
        }
        best.len = max(best.len, 1u);
    }
    return best;
}

// A face of a simplex: 012, 013, 023 or 123, and the corner that it lacks. Corners past the last one are the last one.
fn face_indices(face: u32, len: u32) -> vec4u {
    // 012 3, 013 2, 023 1, 123 0.
    let i = select(0u, 1u, face == 3u);
    let j = select(1u, 2u, face >= 2u);
    let k = select(3u, 2u, face == 0u);
    return vec4u(min(vec3u(i, j, k), vec3u(len - 1u)), 3u - face);
}

// The point of a simplex translated by `way` that is closest to the origin. Unlike GJK's step, it assumes nothing of the
// newest corner: after a translation any face may be the nearest. Each invocation examines its own faces, as in
// `closest_feature`.
fn nearest_point(simplex: Simplex, way: vec3f) -> NearestPoint {
    // A bit for each face that the origin is outside of.
    var faces = 1u;
    if simplex.len == 4u {
        faces = 0u;
        for (var face = 0u; face < 4u; face += 1u) {
            let at = face_indices(face, 4u);
            let a = pick(simplex, at.x);
            let normal = cross(pick(simplex, at.y) - a, pick(simplex, at.z) - a);
            let side = -dot(a + way, normal);
            let inner = dot(pick(simplex, at.w) - a, normal);
            // In a flat tetrahedron the origin counts as outside all faces.
            let is_inside = (inner > 0.0 && side > 0.0) || (inner < 0.0 && side < 0.0);
            faces |= select(1u << face, 0u, is_inside);
        }
    }
    var best = NearestPoint(vec3f(0.0), 0u, 1u, 2u, 0u);
    while faces != 0u {
        let at = face_indices(firstTrailingBit(faces), simplex.len);
        faces &= faces - 1u;
        let a = pick(simplex, at.x) + way;
        let b = pick(simplex, at.y) + way;
        let c = pick(simplex, at.z) + way;
        let found = on_triangle(a, b, c, at.x, at.y, at.z);
        best = nearer(best, found);
    }
    best.len = select(best.len, 4u, best.len == 0u);
    return best;
}

// Casts `D + t velocity` at the origin for `t` from `begin` to `end`. `start` is the first direction, from b to a, of
// any length. A gap of at most `near` is an impact; at `begin` a gap of more than `least` is none. A gap of more than
// `clear` throughout is a clear miss.
fn cast_along(start: vec3f, velocity: vec3f, begin: f32, end: f32, near: f32, least: f32, clear: f32) -> Cast {
    let rounding = relative.rounding;
    let bound = rounding + near;
    var time = begin;
    var parted = false;
    var closest = start;
    var closest_squared = dot(start, start);
    if !(closest_squared > 0.0) {
        closest = vec3f(1.0, 0.0, 0.0);
        closest_squared = 1.0;
    }
    var axis = closest;
    // Points of D at time 0.
    var simplex = Simplex(closest, closest, closest, closest, 0u);
    var kind = CAST_STALLED;
    for (var iteration = 0u; iteration < CAST_LIMIT; iteration += 1u) {
        let newest = difference(-closest);
        let rate = dot(closest, velocity);
        let length = sqrt(closest_squared);
        // Remaining distance of the plane to the origin at time 0, times the length of `closest`.
        let ahead = dot(closest, newest) - rounding * length;
        var moved = false;
        if ahead + rate * time > select(least * length, 0.0, parted) {
            parted = true;
            if rate >= 0.0 || ahead + rate * end > 0.0 {
                // Planes that were used up at their ends did not separate the bodies clearly there.
                let gap = ahead + min(rate * begin, rate * end);
                kind = select(CAST_MISS, CAST_CLEAR_MISS, time == begin && gap > clear * length);
                break;
            }
            let next = min(-ahead / rate, end);
            if next > time {
                time = next;
                axis = closest;
                moved = true;
            }
        }
        simplex = with_corner(simplex, newest);
        let found = nearest_point(simplex, velocity * time);
        simplex = selected(found, simplex);
        let squared = dot(found.point, found.point);
        // The first direction is a guess, not a point of D: the distance must decrease only from the second on.
        let is_stuck = iteration > 0u && !moved && !(squared < closest_squared);
        closest = found.point;
        closest_squared = squared;
        if squared <= bound * bound || found.len == 4u {
            kind = CAST_HIT;
            break;
        }
        if is_stuck {
            break;
        }
    }
    if kind == CAST_MISS || kind == CAST_CLEAR_MISS {
        time = end;
        axis = closest;
    } else if kind == CAST_HIT {
        // A sliver's computed nearest point may be nearer than the sliver: only the point from clamped weights counts.
        let is_full = simplex.len == 4u;
        kind = CAST_STALLED;
        if parted && simplex_distance(moved_by(simplex, velocity * time)) <= bound {
            kind = CAST_HIT;
            if rounding > near && !is_full {
                // The nearest points of rounded bodies give a better normal than a plane that was good enough, unless
                // they are too far from it or face away from the motion.
                let shown = dot(closest, difference(-closest) + velocity * time);
                if shown >= (rounding - near) * sqrt(closest_squared) && dot(closest, velocity) < 0.0 {
                    axis = closest;
                }
            }
        }
    }
    if kind == CAST_STALLED && !parted {
        kind = CAST_START;
    }
    return Cast(kind, time, axis);
}
