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

// A sum that begins here is that of its terms alone, the sign of a zero too.
const NO_TERM = Binary64(SIGN_BIT, 0, 0u, 0u);

// Three numbers. A loop over them keeps the kernel small.
struct Binary64x3 {
    sign: vec3u,
    exponent: vec3i,
    high: vec3u,
    low: vec3u,
}

fn component(a: Binary64x3, axis: u32) -> Binary64 {
    return Binary64(a.sign[axis], a.exponent[axis], a.high[axis], a.low[axis]);
}

fn with_component(a: Binary64x3, axis: u32, value: Binary64) -> Binary64x3 {
    let is_it = vec3u(0u, 1u, 2u) == vec3u(axis);
    return Binary64x3(
        select(a.sign, vec3u(value.sign), is_it),
        select(a.exponent, vec3i(value.exponent), is_it),
        select(a.high, vec3u(value.high), is_it),
        select(a.low, vec3u(value.low), is_it),
    );
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

    var squared = NO_TERM;
    for (var axis = 0u; axis < 4u; axis += 1u) {
        let q = of_f32(turn[axis]);
        squared = add(squared, mul(q, q));
    }
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
        for (var axis = 0u; axis < 4u; axis += 1u) {
            let bits = to_f32(mul(of_f32(turn[axis]), inverse));
            turned = select(turned, vec4u(bits), vec4u(0u, 1u, 2u, 3u) == vec4u(axis));
        }
    }

    // The centre: the position, and the mean turned.
    var position = place;
    var remainder = vec3u(0u);
    var excess = 0u;
    let has_mean = any((mean_words & vec3u(0x7fffffffu)) != vec3u(0u));
    // A sum with zero changes a position only where that is -0.
    if has_mean || any(place == vec3u(SIGN_BIT)) {
        // The mean of the scaled hull, and the rotation times 2 / its squared length.
        var mean: Binary64x3;
        var twice: Binary64x3;
        var mean_length = NO_TERM;
        let factor = div(of_f32(TWO), squared);
        for (var axis = 0u; axis < 3u; axis += 1u) {
            let along = mul(of_f32(scale_words[axis]), of_f32(mean_words[axis]));
            mean = with_component(mean, axis, along);
            mean_length = add(mean_length, magnitude(along));
            twice = with_component(twice, axis, mul(of_f32(turn[axis]), factor));
        }
        var center_length = NO_TERM;
        for (var row_axis = 0u; row_axis < 3u; row_axis += 1u) {
            // The rotation's row times the mean.
            var along = NO_TERM;
            for (var axis = 0u; axis < 3u; axis += 1u) {
                // 1 - (the products of the two other axes) on the diagonal. Elsewhere the product of both axes, plus or minus the scalar part
                // times the third axis.
                let is_diagonal = axis == row_axis;
                let third = select(3u - row_axis - axis, select(0u, 1u, axis == 0u), is_diagonal);
                let last_axis = select(max(row_axis, axis), select(2u, 1u, axis == 2u), is_diagonal);
                let first_axis = select(min(row_axis, axis), last_axis, is_diagonal);
                let first = mul(of_f32(turn[first_axis]), component(twice, last_axis));
                var second = mul(of_f32(turn[select(3u, third, is_diagonal)]), component(twice, third));
                // Subtracted in the entries (0, 1), (1, 2) and (2, 0).
                let is_subtracted = axis == (row_axis + 1u) % 3u;
                second.sign ^= select(0u, SIGN_BIT, is_subtracted);
                var entry = add(first, second);
                if is_diagonal {
                    entry = sub(one, entry);
                }
                along = add(along, mul(entry, component(mean, axis)));
            }
            let center = add(of_f32(place[row_axis]), along);
            let nearest = to_f32(center);
            let rest = to_f32(sub(center, of_f32(nearest)));
            let is_it = vec3u(0u, 1u, 2u) == vec3u(row_axis);
            position = select(position, vec3u(nearest), is_it);
            remainder = select(remainder, vec3u(rest), is_it);
            center_length = add(center_length, magnitude(center));
        }
        if has_mean {
            let of_mean = mul(mean_length, of_f64(params.mean_rounding));
            let of_center = mul(of_f64(params.center_rounding), center_length);
            excess = to_f32(add(of_mean, of_center));
        }
    }
    placed[at] = vec4u(position, hull);
    placed[at + 1u] = turned;
    placed[at + 2u] = scale_words;
    placed[at + 3u] = vec4u(remainder, excess);
    placed[at + 4u] = last;
}
