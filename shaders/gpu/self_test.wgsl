// The operations that kernels rely on, for each sample; the host compares what comes out. Each rounded or exact form is the one
// that the kernels use: the files rounding.wgsl and shared/twice.wgsl come before this one.
//
// What a sample gives is a row of words in the order of `CHECKS` in src/gpu/self_test.rs.

struct SelfTestParams {
    sample_count: u32,
    // Always zero (see rounding.wgsl).
    zero: u32,
    // The length of a row.
    word_count: u32,
    padding: u32,
}

struct Sample {
    a: vec3f,
    // At least zero.
    time: f32,
    b: vec3f,
    // These two may have any exponent.
    wide_a: f32,
    c: vec3f,
    wide_b: f32,
    d: vec3f,
    word: u32,
}

// Where the next word goes.
var<private> place: u32;

fn put(word: u32) {
    outcomes[place] = word;
    place += 1u;
}

fn put_f32(x: f32) {
    put(bitcast<u32>(x));
}

fn put_vec3(v: vec3f) {
    put_f32(v.x);
    put_f32(v.y);
    put_f32(v.z);
}

// A bit for each way to compare.
fn compared(a: f32, b: f32) -> u32 {
    return u32(a < b) | (u32(a <= b) << 1u) | (u32(a > b) << 2u) | (u32(a >= b) << 3u) | (u32(a == b) << 4u)
        | (u32(a != b) << 5u);
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, groups, local);
    if index >= params.sample_count {
        return;
    }
    place = index * params.word_count;
    let sample = samples[index];
    let a = sample.a;
    let b = sample.b;
    let c = sample.c;
    let d = sample.d;
    let wide_a = sample.wide_a;
    let wide_b = sample.wide_b;
    let word = sample.word;

    put_f32(wide_a);
    put_f32(-wide_a);
    put_f32(abs(wide_a));
    put_f32(select(wide_a, wide_b, (word & 1u) != 0u));
    put(compared(a.x, b.x));
    put(compared(wide_a, wide_b));
    put_f32(min(wide_a, wide_b));
    put_f32(max(wide_a, wide_b));

    put(word * 0x9e3779b9u);
    put(word / ((word >> 16u) | 1u));
    put(word << (word & 31u));
    put(word >> (word & 31u));
    put(countOneBits(word));
    put(countTrailingZeros(word));
    put(firstTrailingBit(word));
    put(firstLeadingBit(word));

    let whole = f32(word & 0xffffffu);
    let part = whole * 0.00390625;
    put_f32(whole);
    put(u32(part));
    put(bitcast<u32>(i32(-part)));
    put_f32(floor(-part));

    put_vec3(a + b);
    put_vec3(a - b);
    put_vec3(a * b);
    put_vec3(a / b);
    put_vec3(sqrt(abs(a)));

    put_f32(dot(a, b));
    put_vec3(cross(a, b));
    put_vec3(mat3x3f(a, b, c) * d);
    put_vec3(d * mat3x3f(a, b, c));
    put_f32(length(a));
    put_vec3(normalize(a));

    put_f32(flush(wide_a));
    put_f32(add(a.x, b.x));
    put_f32(mul(a.x, b.x));
    put_f32(add3(a.x, b.x, c.x));
    put_f32(dot3(a, b));

    put_vec3(opaque3(a - b) + (c - d) * 0x1p-24);

    let sum = two_sum(a, b);
    put_vec3(sum.sum);
    put_vec3(sum.rest);

    let high_a = upper(a);
    let low_a = a - high_a;
    let high_b = upper(b);
    let low_b = b - high_b;
    put_vec3(high_a);
    put_vec3(low_a);
    put_vec3(high_a * high_b);
    put_vec3(high_a * low_b);
    put_vec3(low_a * high_b);

    put_vec3(offset_at(two_sum(a, -b), two_sum(c, -d), sample.time));
}
