// Products and sums that are rounded once each, so that both engines compute the same bits
// (src/collide/scene/bounds.rs explains why).
//
// WGSL lets a compiler contract products and sums, and reassociate sums. Each result is therefore xor-ed with
// `params.zero`, which is always zero, but not known to the compiler. WGSL doesn't say to which neighbour a result is rounded
// either: gpu/self_test.wgsl finds out on each device that it is the nearest.
// The CPU uses plain operators: rustc neither contracts nor reassociates.

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

// A product, rounded once.
fn mul(a: f32, b: f32) -> f32 {
    return flush(opaque(a * b));
}

// A sum, rounded once.
fn add(a: f32, b: f32) -> f32 {
    return opaque(a + b);
}

// A sum of three, added from the left.
fn add3(a: f32, b: f32, c: f32) -> f32 {
    return add(add(a, b), c);
}

// A dot product, added in a fixed order.
fn dot3(a: vec3f, b: vec3f) -> f32 {
    return add3(mul(a.x, b.x), mul(a.y, b.y), mul(a.z, b.z));
}
