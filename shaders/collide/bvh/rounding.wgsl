// Products and sums that are rounded once each, so that both engines get the same bits (src/collide/scene/bounds.rs says why).
//
// WGSL lets a compiler fuse products into sums and re-associate sums. Each result goes through an exclusive or with
// `params.zero`, which is zero and which no compiler can know.
// On the CPU they are plain: rustc neither fuses nor re-associates.

const TINY: f32 = 1e-30;

fn opaque(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ params.zero);
}

// 0 for magnitudes below TINY.
fn flush(x: f32) -> f32 {
    return select(x, 0.0, abs(x) < TINY);
}

fn flush3(v: vec3f) -> vec3f {
    return vec3f(flush(v.x), flush(v.y), flush(v.z));
}

// A product rounded once.
fn mul(a: f32, b: f32) -> f32 {
    return flush(opaque(a * b));
}

// A sum rounded once.
fn add(a: f32, b: f32) -> f32 {
    return opaque(a + b);
}

// A sum of three, from the left.
fn add3(a: f32, b: f32, c: f32) -> f32 {
    return add(add(a, b), c);
}

// A scalar product in a fixed order.
fn dot3(a: vec3f, b: vec3f) -> f32 {
    return add3(mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z));
}
