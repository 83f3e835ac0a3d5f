// Numbers as sums of two f32, where the CPU has f64.
//
// Each sum is rounded once, protected from contraction and reassociation by an exclusive or with `params.zero`
// (see rounding.wgsl), so that its rounding error is itself an f32 (Knuth 1969). Factors are split in halves whose products
// are exact.
// No twin: the CPU uses f64.

// Error of `offset_at` before its last rounding, relative to the distance at the start plus the length of the motion: slightly
// more than 2^-46.
const TWICE_ERROR: f32 = 3e-14;

fn opaque3(v: vec3f) -> vec3f {
    return bitcast<vec3f>(bitcast<vec3u>(v) ^ vec3u(params.zero));
}

// A sum and its rounding error.
struct Twice {
    sum: vec3f,
    rest: vec3f,
}

fn two_sum(a: vec3f, b: vec3f) -> Twice {
    let sum = opaque3(a + b);
    let of_b = opaque3(sum - a);
    let of_a = opaque3(sum - of_b);
    return Twice(sum, opaque3(opaque3(a - of_a) + opaque3(b - of_b)));
}

// The upper 12 of 24 bits; subtracting them leaves the lower ones.
fn upper(v: vec3f) -> vec3f {
    return bitcast<vec3f>(bitcast<vec3u>(v) & vec3u(0xfffff000u));
}

// Position at `time` of a point that starts at `apart` and moves with `velocity`.
fn offset_at(apart: Twice, velocity: Twice, time: f32) -> vec3f {
    let time_high = upper(vec3f(time));
    let time_low = vec3f(time) - time_high;
    let high = upper(velocity.sum);
    let low = velocity.sum - high;
    let first = two_sum(apart.sum, high * time_high);
    let second = two_sum(first.sum, high * time_low);
    let third = two_sum(second.sum, low * time_high);
    let rest = apart.rest + first.rest + second.rest + third.rest + low * time_low + velocity.rest * time;
    return opaque3(third.sum + rest);
}
