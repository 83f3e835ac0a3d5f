// World boxes of bodies. src/collide/scene/bounds.rs explains why both engines compute the same bits and proves that
// the boxes are large enough. Reads `params.zero` and `params.grow`.
// No twin: the kernels that need boxes of bodies include this file; the CPU's form is `body_aabb` in src/collide/scene/bounds.rs.

const FLOOR: f32 = 1e-20;
const PAD_BOX: f32 = 2e-6;
const PAD_RADIUS: f32 = 8e-6;
const PAD_POSITION: f32 = 2.0861626e-7;
// Bits of 1e37 and of the largest finite number.
const HUGE_BITS: u32 = 0x7cf0bdc2u;
const EVERYTHING: f32 = 1e38;

fn twice(a: f32) -> f32 {
    return add(a, a);
}

// The greater of two. Comparisons do not depend on the sign of zero, but both engines must return the same zero.
fn greater(a: f32, b: f32) -> f32 {
    return select(b, a, a > b);
}

// Least and greatest coordinate along one axis: the intersection of the hull's box and its bounding sphere.
fn interval(p: f32, r: vec3f, m: vec3f, h: vec3f, pad: f32, wide: f32, ball: f32) -> vec2f {
    let slack = mul(PAD_POSITION, abs(p));
    let centre = add(p, dot3(r, m));
    let extent = add(add3(dot3(abs(r), h), pad, slack), wide);
    let extent_of_ball = add(ball, slack);
    return vec2f(
        greater(add(centre, -extent), add(p, -extent_of_ball)),
        -greater(-add(centre, extent), -add(p, extent_of_ball)),
    );
}

fn body_aabb(body: PackedBody, hull: HullRecord) -> Aabb {
    let p = flush3(body.position);
    let s = select(body.scale, vec3f(TINY), body.scale < vec3f(TINY));
    let middle = flush3(hull.middle);
    let half = flush3(hull.half);
    let radius = flush(body.radius);
    let grow = flush(params.grow);
    let wide = add(flush(body.rounding), grow);
    let m = vec3f(mul(s.x, middle.x), mul(s.y, middle.y), mul(s.z, middle.z));
    let h = vec3f(mul(s.x, half.x), mul(s.y, half.y), mul(s.z, half.z));

    let x = flush(body.rotation.x);
    let y = flush(body.rotation.y);
    let z = flush(body.rotation.z);
    let w = flush(body.rotation.w);
    let xx = mul(x, x);
    let yy = mul(y, y);
    let zz = mul(z, z);
    let xy = mul(x, y);
    let xz = mul(x, z);
    let yz = mul(y, z);
    let wx = mul(w, x);
    let wy = mul(w, y);
    let wz = mul(w, z);
    let r0 = vec3f(add(1.0, -twice(add(yy, zz))), twice(add(xy, -wz)), twice(add(xz, wy)));
    let r1 = vec3f(twice(add(xy, wz)), add(1.0, -twice(add(xx, zz))), twice(add(yz, -wx)));
    let r2 = vec3f(twice(add(xz, -wy)), twice(add(yz, wx)), add(1.0, -twice(add(xx, yy))));

    let away = add3(abs(p.x), abs(p.y), abs(p.z));
    let boxed = add(add(add3(abs(m.x), abs(m.y), abs(m.z)), add3(h.x, h.y, h.z)), wide);
    if hull.half_space != 0u {
        let n = vec3f(r0.y, r1.y, r2.y);
        let pad = add3(mul(PAD_PLANE, away), mul(PAD_BOX, wide), FLOOR);
        return plane_aabb(n, add3(dot3(n, p), wide, pad), body);
    }
    let pad = add3(mul(PAD_BOX, boxed), mul(PAD_RADIUS, radius), FLOOR);
    let round = add(radius, grow);
    let ball = add(round, add3(mul(PAD_BOX, round), mul(PAD_RADIUS, radius), FLOOR));
    let reach = add3(boxed, radius, away);
    // Compared as bits: infinities and NaN count as huge even if the compiler assumes that there are none.
    if (bitcast<u32>(reach) & 0x7fffffffu) >= HUGE_BITS {
        return Aabb(vec3f(-EVERYTHING), body.group, vec3f(EVERYTHING), body.mask);
    }
    let x_range = interval(p.x, r0, m, h, pad, wide, ball);
    let y_range = interval(p.y, r1, m, h, pad, wide, ball);
    let z_range = interval(p.z, r2, m, h, pad, wide, ball);
    return Aabb(
        vec3f(x_range.x, y_range.x, z_range.x),
        body.group,
        vec3f(x_range.y, y_range.y, z_range.y),
        body.mask,
    );
}

fn plane_aabb(n: vec3f, offset: f32, body: PackedBody) -> Aabb {
    return Aabb(vec3f(PLANE, n.x, n.y), body.group, vec3f(-PLANE, n.z, offset), body.mask);
}
