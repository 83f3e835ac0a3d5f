// A half-space and a hull: the gap is the hull's height above a plane. Reads the bindings `bodies` and `hulls`.
// No twin: the CPU's form is `above_half_space` in src/collide/narrow_phase/measure.rs, which compares heights in f64.

// Measurements of such a pair, in world units and axes.

// Bound of the error of a support point's height above a plane, relative to the bounding radius: 48 roundings
// (ARCHITECTURE, "Bounds of the f32 paths").
const PLANE_ERROR: f32 = 48.0 * ROUNDING;

struct Plane {
    // Signed gap, rounding radius included, and its error bound.
    gap: f32,
    error: f32,
    // Unit vector from a to b.
    normal: vec3f,
    // Point on the hull's surface, from the hull's centre, and whether the hull is b.
    point: vec3f,
    anchor: u32,
    tolerance: f32,
    excess: f32,
}

fn is_plane(a: u32, b: u32) -> bool {
    return hulls[bodies[a].hull].half_space + hulls[bodies[b].hull].half_space != 0u;
}

// The y axis of a rotation. Unlike the sums of squares in `rotation`, this one is exact for a rotation about y.
fn up_of(q: vec4f) -> vec3f {
    let x = q.x * (q.xyz + q.xyz);
    let z = q.z * (q.xyz + q.xyz);
    let w = q.w * (q.xyz + q.xyz);
    return vec3f(x.y - w.z, 1.0 - (x.x + z.z), z.y + w.x);
}

fn plane_of(a: u32, b: u32) -> Plane {
    let a_is_plane = hulls[bodies[a].hull].half_space != 0u;
    let ground = bodies[select(b, a, a_is_plane)];
    let body = bodies[select(a, b, a_is_plane)];
    let hull = hulls[known_hull(body.hull)];
    let frame = rotation(body.rotation);
    // The plane's normal is the y axis of its frame. Its error depends on the summed terms: a plane rotated about y
    // alone has an exact normal, however far along it the body is.
    let q = ground.rotation;
    let up = up_of(q);
    let summed = 2.0 * vec3f(abs(q.x * q.y) + abs(q.w * q.z), q.x * q.x + q.z * q.z, abs(q.y * q.z) + abs(q.w * q.x));
    let apart = body.position - ground.position;
    let positions = bitcast<vec3f>(bitcast<vec3u>(apart) ^ vec3u(params.zero));
    let centres = positions + (body.remainder - ground.remainder);
    let along = up * frame;
    let lowest = body.scale * (hull.radius * support(shape_of(hull), -(body.scale * along)));
    let rounding = body.rounding + ground.rounding;
    let gap = dot(up, centres) + dot(along, lowest) - rounding;
    let radius = body.radius;
    let tolerance = max(1e-5 * radius, 4e-6 * (radius + max(gap, 0.0)));
    // The constants are for denormals, which may count as 0: for a point there is no other error.
    let error = dot(8.0 * ROUNDING * summed + 6.0 * ROUNDING * abs(up) + 1e-37, abs(centres))
        + PLANE_ERROR * (radius + rounding) + 1e-36;
    let point = frame * lowest - up * body.rounding;
    return Plane(
        gap,
        error,
        select(-up, up, a_is_plane),
        point,
        select(0u, 1u, a_is_plane),
        tolerance,
        body.excess + ground.excess,
    );
}

// The verdict of such a pair: separated, touching, penetrating, or not known.
fn plane_verdict(plane: Plane) -> u32 {
    let clear = MOST_TOUCHING * plane.tolerance + plane.excess + plane.error;
    if plane.gap > clear {
        return VERDICT_SEPARATED;
    }
    if plane.gap < -clear {
        return VERDICT_PENETRATING;
    }
    if abs(plane.gap) <= LEAST_TOUCHING * plane.tolerance - plane.error - plane.excess {
        return VERDICT_TOUCHING;
    }
    return VERDICT_UNSETTLED;
}
