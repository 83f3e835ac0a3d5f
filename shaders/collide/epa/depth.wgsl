// EPA, the expanding polytope algorithm, to the penetration depth: for cores that overlap or nearly touch.
//
// Each support direction gives an upper bound of the depth, each face of the polytope (polytope.wgsl) a lower one; the
// search ends when the two meet. The exact path's form is src/collide/epa/exact_depth.rs. src/collide/epa/depth.rs also
// expands a polytope, with more faces, four at a time.

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
fn probe(direction: vec3f) -> Corner {
    let corner = corner_along(direction);
    let inverse = 1.0 / sqrt(dot(direction, direction));
    let lower = -dot(direction, corner.point) * inverse;
    if lower > depth_lower {
        depth_lower = lower;
        depth_normal = direction * inverse;
    }
    return corner;
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
    depth_lower = nearest.lower;
    depth_normal = -nearest.axis;
    let outside = nearest.stop != STOP_INSIDE;
    let slack = 0.25 * slack_at(0.0);
    var found = Depth(depth_lower, select(1e30, nearest.upper, outside), depth_normal, vec3f(0.0), vec3f(0.0));
    if outside {
        found.point = nearest.point;
        found.on_a = witness_on_a(nearest.simplex);
    }
    corners[0] = nearest.simplex.p;
    corners[1] = nearest.simplex.q;
    corners[2] = nearest.simplex.r;
    corners[3] = nearest.simplex.s;
    start_polytope(nearest.simplex.len);
    // Each iteration adds a corner.
    for (var iteration = 4u; iteration <= POLYTOPE_POINTS; iteration += 1u) {
        if is_stopped || found.upper - depth_lower <= slack {
            break;
        }
        let plane = planes[nearest_face];
        let corner = probe(plane.xyz);
        let rounding = 4.0 * ROUNDING * sqrt(dot(corner.point, corner.point));
        let is_surface = !(dot(plane.xyz, corner.point) - plane.w > rounding);
        if -depth_lower - plane.w <= slack || corner_count == POLYTOPE_POINTS || is_surface {
            break;
        }
        add_corner(corner, rounding);
    }
    found.lower = depth_lower;
    found.normal = depth_normal;
    if is_stopped || found.upper - depth_lower <= slack {
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
