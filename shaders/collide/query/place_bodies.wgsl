// Places bodies that are laid out at poses in a buffer of the caller's: the bytes that `Body::pack` (src/collide/scene/packed_body.rs) gives
// on the host, by the same sums and products of f64, in their order (src/collide/scene/placed.rs). One thread per body.
//
// A pose that `Body::pack` would refuse is listed. Its body is in no group, so it meets nothing, and no bound of f32 holds for it, so that
// a pair that is given nevertheless stays unsettled.
//
// Bindings: params, laid_out (packed bodies), poses, hulls (the records), placed (packed bodies), invalid (a count, then rows). All as words.
//
// No twin: the CPU places bodies as it packs them (src/collide/scene/packed_body.rs).

struct PlaceParams {
    body_count: u32,
    // The first row of this dispatch.
    first: u32,
    // Greatest magnitude of a coordinate, bits of f32.
    most: u32,
    // Bits of the position of the first invalid body.
    aside: u32,
    // Excess of an invalid body, bits of f32.
    unknown: u32,
    padding: u32,
    // All others are f64, low word first. Squares of the least and the greatest length of a rotation.
    least_squared: vec2u,
    most_squared: vec2u,
    // A squared length this near to 1 counts as 1.
    normalised: vec2u,
    // Bounds of roundings: of the mean of a hull, and of a centre.
    mean_rounding: vec2u,
    center_rounding: vec2u,
}

// Words of a body, a hull's record and a pose, by four.
const BODY_QUADS: u32 = 5u;
const HULL_QUADS: u32 = 5u;
const POSE_QUADS: u32 = 2u;
// Bits of 1 in f32.
const ONE: u32 = 0x3f800000u;
// Bits of 2 in f32.
const TWO: u32 = 0x40000000u;

fn sum3(a: Binary64, b: Binary64, c: Binary64) -> Binary64 {
    return add(add(a, b), c);
}

fn is_at_most(a: Binary64, b: Binary64) -> bool {
    return !is_smaller(b, a);
}

// Whether the bits are those of a finite number.
fn is_finite_word(word: u32) -> bool {
    return (word & EXPONENT_32) != EXPONENT_32;
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let row = params.first + flat_index(group, groups, local);
    if row >= params.body_count {
        return;
    }
    let place = poses[POSE_QUADS * row].xyz;
    let turn = poses[POSE_QUADS * row + 1u];
    let at = BODY_QUADS * row;
    let hull = laid_out[at].w;
    let mean_words = hulls[HULL_QUADS * hull].xyz;
    let scale_words = laid_out[at + 2u];
    let last = laid_out[at + 4u];

    let x = of_f32(turn.x);
    let y = of_f32(turn.y);
    let z = of_f32(turn.z);
    let w = of_f32(turn.w);
    let squared = add(sum3(mul(x, x), mul(y, y), mul(z, z)), mul(w, w));
    let is_finite = is_finite_word(turn.x) && is_finite_word(turn.y) && is_finite_word(turn.z) && is_finite_word(turn.w);
    let is_turned = is_at_most(of_f64(params.least_squared), squared) && is_at_most(squared, of_f64(params.most_squared));
    let is_placed = all((place & vec3u(0x7fffffffu)) <= vec3u(params.most));
    if !(is_finite && is_turned && is_placed) {
        atomicStore(&invalid[1u + atomicAdd(&invalid[0], 1u)], row);
        // Each is alone, far away.
        placed[at] = vec4u(params.aside + row, 0u, 0u, hull);
        placed[at + 1u] = vec4u(0u, 0u, 0u, ONE);
        placed[at + 2u] = scale_words;
        placed[at + 3u] = vec4u(0u, 0u, 0u, params.unknown);
        placed[at + 4u] = vec4u(last.x, 0u, 0u, 0u);
        return;
    }

    // The rotation, divided by its length where it is not 1.
    let one = of_f32(ONE);
    var turned = turn;
    if !is_at_most(magnitude(sub(squared, one)), of_f64(params.normalised)) {
        let inverse = div(one, root(squared));
        turned = vec4u(
            to_f32(mul(x, inverse)),
            to_f32(mul(y, inverse)),
            to_f32(mul(z, inverse)),
            to_f32(mul(w, inverse)),
        );
    }

    // The centre: the position, and the mean turned.
    var position = place;
    var remainder = vec3u(0u);
    var excess = 0u;
    let has_mean = any((mean_words & vec3u(0x7fffffffu)) != vec3u(0u));
    // A sum with zero changes a position only where that is -0.
    if has_mean || any(place == vec3u(SIGN_BIT)) {
        let p = mul(of_f32(scale_words.x), of_f32(mean_words.x));
        let q = mul(of_f32(scale_words.y), of_f32(mean_words.y));
        let r = mul(of_f32(scale_words.z), of_f32(mean_words.z));
        let twice = div(of_f32(TWO), squared);
        let tx = mul(x, twice);
        let ty = mul(y, twice);
        let tz = mul(z, twice);
        let xx = mul(x, tx);
        let yy = mul(y, ty);
        let zz = mul(z, tz);
        let xy = mul(x, ty);
        let xz = mul(x, tz);
        let yz = mul(y, tz);
        let wx = mul(w, tx);
        let wy = mul(w, ty);
        let wz = mul(w, tz);
        let along_x = sum3(mul(sub(one, add(yy, zz)), p), mul(sub(xy, wz), q), mul(add(xz, wy), r));
        let along_y = sum3(mul(add(xy, wz), p), mul(sub(one, add(xx, zz)), q), mul(sub(yz, wx), r));
        let along_z = sum3(mul(sub(xz, wy), p), mul(add(yz, wx), q), mul(sub(one, add(xx, yy)), r));
        let cx = add(of_f32(place.x), along_x);
        let cy = add(of_f32(place.y), along_y);
        let cz = add(of_f32(place.z), along_z);
        position = vec3u(to_f32(cx), to_f32(cy), to_f32(cz));
        remainder = vec3u(
            to_f32(sub(cx, of_f32(position.x))),
            to_f32(sub(cy, of_f32(position.y))),
            to_f32(sub(cz, of_f32(position.z))),
        );
        if has_mean {
            let of_mean = mul(sum3(magnitude(p), magnitude(q), magnitude(r)), of_f64(params.mean_rounding));
            let of_center = mul(of_f64(params.center_rounding), sum3(magnitude(cx), magnitude(cy), magnitude(cz)));
            excess = to_f32(add(of_mean, of_center));
        }
    }
    placed[at] = vec4u(position, hull);
    placed[at + 1u] = turned;
    placed[at + 2u] = scale_words;
    placed[at + 3u] = vec4u(remainder, excess);
    placed[at + 4u] = last;
}
