// EPA, the expanding polytope algorithm, to the penetration depth: for cores that overlap or nearly touch.
//
// As in epa/verdict.wgsl, which stops at a verdict, the polytope grows at the face nearest to the origin. Each support
// direction gives an upper bound of the depth, each face a lower one; the search ends when the two meet. The polytope
// is in private memory. The exact path's form is src/collide/epa/exact_depth.rs. src/collide/epa/depth.rs also expands
// a polytope, with more faces, four at a time.

// Software drivers compile large arrays slowly: 64 points took four times as long as 40, and left hardly fewer pairs
// to the exact path.
const DEPTH_POINTS: u32 = 40u;
const DEPTH_FACES: u32 = 76u;
const DEPTH_HORIZON: u32 = 48u;

var<private> corners: array<Corner, DEPTH_POINTS>;
var<private> corner_count: u32;
// Outward unit normal, and signed distance of the plane from the origin: positive if the origin is inside.
var<private> planes: array<vec4f, DEPTH_FACES>;
// Indices of the corners of each face, counter-clockwise from outside, eight bits each.
var<private> plane_corners: array<u32, DEPTH_FACES>;
var<private> plane_count: u32;
// Directed edges, `from | to << 8`.
var<private> horizon: array<u32, DEPTH_HORIZON>;
// The polytope is full, flat, or inconsistent through rounding.
var<private> is_stuck: bool;
// Lower bound of the gap of the cores, measured along `depth_normal`, a unit vector from a to b.
var<private> depth_lower: f32;
var<private> depth_normal: vec3f;

// EPA's result: bounds of the signed gap of the cores.
struct Depth {
    lower: f32,
    upper: f32,
    // Unit vector from a to b.
    normal: vec3f,
    // The deepest point of A along the normal, relative to A's centre, in A's frame.
    on_a: vec3f,
    // The point of D there.
    point: vec3f,
}

// The support point along a direction of any length.
fn depth_probe(direction: vec3f) -> Corner {
    let corner = corner_along(direction);
    let inverse = 1.0 / sqrt(dot(direction, direction));
    let lower = -dot(direction, corner.point) * inverse;
    if lower > depth_lower {
        depth_lower = lower;
        depth_normal = direction * inverse;
    }
    return corner;
}

fn add_plane(a_index: u32, b_index: u32, c_index: u32) {
    if plane_count == DEPTH_FACES {
        is_stuck = true;
        return;
    }
    let a = corners[a_index].point;
    let normal = cross(corners[b_index].point - a, corners[c_index].point - a);
    let length = sqrt(dot(normal, normal));
    if !(length > 0.0) {
        is_stuck = true;
        return;
    }
    let unit = normal * (1.0 / length);
    planes[plane_count] = vec4f(unit, dot(unit, a));
    plane_corners[plane_count] = a_index | (b_index << 8u) | (c_index << 16u);
    plane_count += 1u;
}

// Extends the simplex to a tetrahedron.
fn make_depth_tetrahedron(simplex: WeightedSimplex) {
    let p = simplex.p;
    var q = simplex.q;
    var r = simplex.r;
    var s = simplex.s;
    var len = simplex.len;
    // A simplex that is flat up to rounding has no interior: it is reduced to a smaller one.
    let flat = 32.0 * ROUNDING * 32.0 * ROUNDING;
    if len == 4u {
        let normal = cross(q.point - p.point, r.point - p.point);
        let arm = s.point - p.point;
        let height = dot(normal, arm);
        if !(height * height > flat * dot(normal, normal) * dot(arm, arm)) {
            len = 3u;
            let other = cross(q.point - p.point, arm);
            if dot(other, other) > dot(normal, normal) {
                r = s;
            }
        }
    }
    if len == 3u {
        let pq = q.point - p.point;
        let pr = r.point - p.point;
        let normal = cross(pq, pr);
        if !(dot(normal, normal) > flat * dot(pq, pq) * dot(pr, pr)) {
            len = 2u;
            if dot(pr, pr) > dot(pq, pq) {
                q = r;
            }
        }
    }
    if len == 2u && !(dot(q.point - p.point, q.point - p.point) > 0.0) {
        len = 1u;
    }
    // Up to three rounds, each of which adds the support point that extends the simplex most. One call of the support
    // mapping keeps the code short.
    while len < 4u {
        let edge = q.point - p.point;
        let squares = edge * edge;
        var axis = vec3f(0.0, 0.0, 1.0);
        if squares.x <= squares.y && squares.x <= squares.z {
            axis = vec3f(1.0, 0.0, 0.0);
        } else if squares.y <= squares.z {
            axis = vec3f(0.0, 1.0, 0.0);
        }
        let side = cross(edge, axis);
        let other = cross(edge, side) * (1.0 / sqrt(dot(edge, edge)));
        let normal = cross(edge, r.point - p.point);
        let count = select(select(2u, 4u, len == 2u), 6u, len == 1u);
        var most = 0.0;
        var best = p;
        for (var i = 0u; i < count; i += 1u) {
            var direction = normal;
            if len == 1u {
                direction = vec3f(f32(i / 2u == 0u), f32(i / 2u == 1u), f32(i / 2u == 2u));
            } else if len == 2u {
                direction = select(side, other, i >= 2u);
            }
            direction = select(direction, -direction, i % 2u == 1u);
            let corner = depth_probe(direction);
            let offset = corner.point - p.point;
            var gain = dot(direction, offset);
            if len == 1u {
                gain = dot(offset, offset);
            } else if len == 2u {
                let area = cross(edge, offset);
                gain = dot(area, area);
            }
            if gain > most {
                most = gain;
                best = corner;
            }
        }
        if !(most > 0.0) {
            is_stuck = true;
            return;
        }
        if len == 1u {
            q = best;
        } else if len == 2u {
            r = best;
        } else {
            s = best;
        }
        len += 1u;
    }
    // `s` must lie below the face p q r, which is counter-clockwise from outside.
    if dot(cross(q.point - p.point, r.point - p.point), s.point - p.point) > 0.0 {
        let swap = q;
        q = r;
        r = swap;
    }
    corners[0] = p;
    corners[1] = q;
    corners[2] = r;
    corners[3] = s;
    corner_count = 4u;
    add_plane(0u, 1u, 2u);
    add_plane(0u, 3u, 1u);
    add_plane(1u, 3u, 2u);
    add_plane(2u, 3u, 0u);
}

// Replaces the faces visible from the corner by a fan from it to their horizon.
fn add_corner(corner: Corner, slack: f32) {
    var horizon_len = 0u;
    var kept = 0u;
    for (var index = 0u; index < plane_count; index += 1u) {
        let plane = planes[index];
        let corner_indices = plane_corners[index];
        if dot(plane.xyz, corner.point) - plane.w > slack {
            for (var side = 0u; side < 3u; side += 1u) {
                let begin = (corner_indices >> (8u * side)) & 255u;
                let end = (corner_indices >> (8u * ((side + 1u) % 3u))) & 255u;
                // An edge between two visible faces occurs twice, once in each direction.
                var twin = 0u;
                while twin < horizon_len && horizon[twin] != (end | (begin << 8u)) {
                    twin += 1u;
                }
                if twin < horizon_len {
                    horizon_len -= 1u;
                    horizon[twin] = horizon[horizon_len];
                } else {
                    if horizon_len == DEPTH_HORIZON {
                        is_stuck = true;
                        return;
                    }
                    horizon[horizon_len] = begin | (end << 8u);
                    horizon_len += 1u;
                }
            }
        } else {
            planes[kept] = plane;
            plane_corners[kept] = corner_indices;
            kept += 1u;
        }
    }
    if kept == 0u || horizon_len < 3u {
        is_stuck = true;
        return;
    }
    plane_count = kept;
    let apex = corner_count;
    corners[apex] = corner;
    corner_count += 1u;
    for (var i = 0u; i < horizon_len; i += 1u) {
        add_plane(horizon[i] & 255u, horizon[i] >> 8u, apex);
    }
    // A closed surface of triangles has 2 V - 4 faces, fewer if points were enclosed. More faces or an odd number mean
    // that the visible faces did not form one disk.
    if plane_count % 2u != 0u || plane_count > 2u * corner_count - 4u {
        is_stuck = true;
    }
}

// Barycentric weights of the point of a triangle closest to the origin (Ericson 2005, §5.1.5).
fn closest_weights(a: vec3f, b: vec3f, c: vec3f) -> vec3f {
    let ab = b - a;
    let ac = c - a;
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    let area_b = dot(cross(ac, a), normal);
    let area_c = dot(cross(a, ab), normal);
    if area_b >= 0.0 && area_c >= 0.0 && area_b + area_c <= squared && squared > 0.0 {
        let inverse = 1.0 / squared;
        return vec3f(1.0 - (area_b + area_c) * inverse, area_b * inverse, area_c * inverse);
    }
    var least = 1e30;
    var weights = vec3f(1.0, 0.0, 0.0);
    for (var i = 0u; i < 3u; i += 1u) {
        let begin = select(a, b, i == 2u);
        let edge = select(select(ab, ac, i == 1u), c - b, i == 2u);
        let length = dot(edge, edge);
        let t = select(0.0, clamp(-dot(begin, edge) / length, 0.0, 1.0), length > 0.0);
        let point = begin + edge * t;
        let squared = dot(point, point);
        if squared < least {
            least = squared;
            if i == 0u {
                weights = vec3f(1.0 - t, t, 0.0);
            } else if i == 1u {
                weights = vec3f(1.0 - t, 0.0, t);
            } else {
                weights = vec3f(0.0, 1.0 - t, t);
            }
        }
    }
    return weights;
}

// Continues from where GJK stopped.
fn epa_depth(nearest: Nearest) -> Depth {
    is_stuck = false;
    corner_count = 0u;
    plane_count = 0u;
    depth_lower = nearest.lower;
    depth_normal = -nearest.axis;
    let outside = nearest.stop != STOP_INSIDE;
    let slack = 0.25 * slack_at(0.0);
    var found = Depth(depth_lower, select(1e30, nearest.upper, outside), depth_normal, vec3f(0.0), vec3f(0.0));
    if outside {
        found.point = nearest.point;
        found.on_a = witness_on_a(nearest.simplex);
    }
    make_depth_tetrahedron(nearest.simplex);
    // Each iteration adds a corner.
    var is_done = false;
    for (var iteration = 4u; iteration <= DEPTH_POINTS; iteration += 1u) {
        if is_stuck || is_done || found.upper - depth_lower <= slack {
            break;
        }
        var plane = planes[0];
        for (var index = 1u; index < plane_count; index += 1u) {
            let other = planes[index];
            if other.w < plane.w {
                plane = other;
            }
        }
        let corner = depth_probe(plane.xyz);
        if -depth_lower - plane.w <= slack || corner_count == DEPTH_POINTS {
            is_done = true;
        } else {
            let rounding = 4.0 * ROUNDING * sqrt(dot(corner.point, corner.point));
            if dot(plane.xyz, corner.point) - plane.w > rounding {
                add_corner(corner, rounding);
            } else {
                is_done = true;
            }
        }
    }
    found.lower = depth_lower;
    found.normal = depth_normal;
    if is_stuck || found.upper - depth_lower <= slack {
        return found;
    }
    // Lower bound from the faces. The origin is enclosed if it is below every plane by more than the plane's error. A
    // face is then at least as far from the origin as its nearest corner is along any one direction.
    var floor = 1e30;
    var least = 1e30;
    for (var index = 0u; index < plane_count; index += 1u) {
        let plane = planes[index];
        let corner_indices = plane_corners[index];
        let a = corners[corner_indices & 255u];
        let b = corners[(corner_indices >> 8u) & 255u];
        let c = corners[corner_indices >> 16u];
        let along = vec3f(dot(plane.xyz, a.point), dot(plane.xyz, b.point), dot(plane.xyz, c.point));
        let sizes = vec3f(dot(a.point, a.point), dot(b.point, b.point), dot(c.point, c.point));
        let lowest = min(along.x, min(along.y, along.z))
            - 4.0 * ROUNDING * sqrt(max(sizes.x, max(sizes.y, sizes.z)));
        let ab = b.point - a.point;
        let ac = c.point - a.point;
        let normal = cross(ab, ac);
        let nearer = select(a.point, b.point, sizes.y < sizes.x);
        let size = min(sizes.x, min(sizes.y, sizes.z));
        let error = face_error(select(nearer, c.point, sizes.z <= size), ab, ac) / sqrt(dot(normal, normal));
        floor = min(floor, select(0.0, lowest, plane.w > error));
        if plane.w <= -depth_lower + slack {
            let weights = closest_weights(a.point, b.point, c.point);
            let point = a.point * weights.x + b.point * weights.y + c.point * weights.z;
            let squared = dot(point, point);
            if squared < least {
                least = squared;
                found.point = point;
                found.on_a = on_a(a) * weights.x + on_a(b) * weights.y + on_a(c) * weights.z;
            }
        }
    }
    found.upper = min(found.upper, sqrt(least));
    if floor > 0.0 {
        found.upper = min(found.upper, -floor);
    }
    return found;
}
