// Casting the difference D of `relative` along a line: the first time at which `D + t velocity` reaches the origin.
// src/collide/sweep/cast.rs cites the paper and says why it can be trusted. Functions and the order of their operations
// are the same there, but for three things. The name of `cast` is a word that WGSL keeps for itself. The way is from
// `begin` to `end`, where the CPU's is from 0: cut.wgsl tells the pose at a time in between, so that f32 holds
// it. And that a plane is still ahead at the end, a miss, is told by its height there, on the CPU by when it passes.

// Directions tried before a pair is left to the exact path.
const CAST_LIMIT: u32 = 40u;

// At `time` the gap is at most what is near, and until then a plane parts the bodies; `axis` is the last one's normal.
const CAST_HIT: u32 = 0u;
// Planes part the bodies up to the end.
const CAST_MISS: u32 = 1u;
// No direction that was tried parts the bodies at the start by enough.
const CAST_START: u32 = 2u;
// Rounding stopped the search, or it took too long.
const CAST_STALLED: u32 = 3u;

struct Cast {
    kind: u32,
    time: f32,
    axis: vec3f,
}

// The point of a simplex nearest to the origin.
struct NearestPoint {
    point: vec3f,
    // Of which corners, in the simplex' order.
    i: u32,
    j: u32,
    k: u32,
    // How many corners; 4 where the simplex holds the origin.
    len: u32,
}

fn pick(simplex: Simplex, corner: u32) -> vec3f {
    let low = select(simplex.p, simplex.q, corner == 1u);
    let high = select(simplex.r, simplex.s, corner == 3u);
    return select(low, high, corner >= 2u);
}

// The face that a point is in.
fn selected(found: NearestPoint, simplex: Simplex) -> Simplex {
    return Simplex(pick(simplex, found.i), pick(simplex, found.j), pick(simplex, found.k), simplex.s, found.len);
}

// The simplex with all corners moved.
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
    if !(t > 0.0) {
        return NearestPoint(a, i, i, i, 1u);
    }
    let squared = dot(ab, ab);
    if t >= squared {
        return NearestPoint(b, j, j, j, 1u);
    }
    return NearestPoint(a + ab * (t / squared), i, j, i, 2u);
}

fn nearer(one: NearestPoint, other: NearestPoint) -> NearestPoint {
    if one.len == 0u || dot(other.point, other.point) < dot(one.point, one.point) {
        return other;
    }
    return one;
}

fn on_triangle(a: vec3f, b: vec3f, c: vec3f, i: u32, j: u32, k: u32) -> NearestPoint {
    let ab = b - a;
    let ac = c - a;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    let weight_b = dot(cross(ac, a), normal);
    let weight_c = dot(cross(a, ab), normal);
    let weight_a = squared - weight_b - weight_c;
    if weight_a > 0.0 && weight_b > 0.0 && weight_c > 0.0 {
        return NearestPoint(normal * (dot(a, normal) / squared), i, j, k, 3u);
    }
    // Outside: on the nearest of the edges that may hold the point.
    var best = NearestPoint(a, i, i, i, 0u);
    if !(weight_c > 0.0) {
        best = nearer(best, on_segment(a, b, i, j));
    }
    if !(weight_b > 0.0) {
        best = nearer(best, on_segment(a, c, i, k));
    }
    if !(weight_a > 0.0) {
        best = nearer(best, on_segment(b, c, j, k));
    }
    best.len = max(best.len, 1u);
    return best;
}

fn on_tetrahedron(simplex: Simplex) -> NearestPoint {
    var best = NearestPoint(vec3f(0.0), 0u, 1u, 2u, 0u);
    for (var face = 0u; face < 4u; face += 1u) {
        // 012 3, 013 2, 023 1, 123 0.
        let i = select(0u, 1u, face == 3u);
        let j = select(1u, 2u, face >= 2u);
        let k = select(3u, 2u, face == 0u);
        let a = pick(simplex, i);
        let b = pick(simplex, j);
        let c = pick(simplex, k);
        let d = pick(simplex, 3u - face);
        let normal = cross(b - a, c - a);
        let side = -dot(a, normal);
        let inner = dot(d - a, normal);
        // Flat ones are outside of all their faces.
        var is_outside = true;
        if inner > 0.0 {
            is_outside = side <= 0.0;
        } else if inner < 0.0 {
            is_outside = side >= 0.0;
        }
        if is_outside {
            best = nearer(best, on_triangle(a, b, c, i, j, k));
        }
    }
    if best.len == 0u {
        best.len = 4u;
    }
    return best;
}

// The point of a simplex nearest to the origin. Unlike GJK's own step it takes no vertex for granted: after a move
// the nearest face may be any.
fn nearest_point(simplex: Simplex) -> NearestPoint {
    switch simplex.len {
        case 1u: { return NearestPoint(simplex.p, 0u, 0u, 0u, 1u); }
        case 2u: { return on_segment(simplex.p, simplex.q, 0u, 1u); }
        case 3u: { return on_triangle(simplex.p, simplex.q, simplex.r, 0u, 1u, 2u); }
        default: { return on_tetrahedron(simplex); }
    }
}

// Casts `D + t velocity`, for `t` from `begin` to `end`, at the origin. `start` is the first direction that is tried, of
// any length, from b to a. A gap of at most `near` is an impact; at `begin` one of more than `least` is none.
fn cast_along(start: vec3f, velocity: vec3f, begin: f32, end: f32, near: f32, least: f32) -> Cast {
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
    for (var iteration = 0u; iteration < CAST_LIMIT; iteration += 1u) {
        let newest = difference(-closest);
        let rate = dot(closest, velocity);
        let length = sqrt(closest_squared);
        // What is left of the plane's way to the origin at time 0, times the length of `closest`.
        let ahead = dot(closest, newest) - rounding * length;
        var moved = false;
        if ahead + rate * time > select(least * length, 0.0, parted) {
            parted = true;
            if rate >= 0.0 || ahead + rate * end > 0.0 {
                return Cast(CAST_MISS, end, closest);
            }
            let next = min(-ahead / rate, end);
            if next > time {
                time = next;
                axis = closest;
                moved = true;
            }
        }
        simplex = with_corner(simplex, newest);
        let now = moved_by(simplex, velocity * time);
        let found = nearest_point(now);
        let squared = dot(found.point, found.point);
        simplex = selected(found, simplex);
        if squared <= bound * bound || found.len == 4u {
            // A sliver's nearest point may be nearer than the sliver: believed is what clamped weights give.
            if parted && simplex_distance(selected(found, now)) <= bound {
                if rounding > near && found.len < 4u {
                    // Of round bodies the nearest points show the normal better than a plane that was good enough, unless
                    // they are too far off it, or do not show the way here.
                    let point = found.point;
                    let shown = dot(point, difference(-point) + velocity * time);
                    if shown >= (rounding - near) * sqrt(squared) && dot(point, velocity) < 0.0 {
                        axis = point;
                    }
                }
                return Cast(CAST_HIT, time, axis);
            }
            break;
        }
        // The first direction is a guess, not a point of D: only from then on must the distance fall.
        if iteration > 0u && !moved && !(squared < closest_squared) {
            break;
        }
        closest = found.point;
        closest_squared = squared;
    }
    return Cast(select(CAST_START, CAST_STALLED, parted), time, axis);
}
