// Lines of sight from a point in a cell to the centre of another cell, in integers.
//
// Source: the CPU twin, `is_seen` in src/flow/grid/sight.rs.

// The width of a cell, in the unit of these functions.
const CELL_PARTS: u32 = 4096u;

// Whether a b < c d, in 64 bits.
fn is_less(a: u32, b: u32, c: u32, d: u32) -> bool {
    let left_product = product(a, b);
    let right_product = product(c, d);
    return left_product.y < right_product.y || (left_product.y == right_product.y && left_product.x < right_product.x);
}

// The product in 64 bits: the low word, then the high word.
fn product(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let cross_0 = (a >> 16u) * (b & 0xffffu);
    let cross_1 = (a & 0xffffu) * (b >> 16u);
    let carry_sum = (low >> 16u) + (cross_0 & 0xffffu) + (cross_1 & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (cross_0 >> 16u) + (cross_1 >> 16u) + (carry_sum >> 16u);
    return vec2<u32>((carry_sum << 16u) | (low & 0xffffu), high);
}

// Whether the line from a point (a cell, and a position within it) to the centre of the cell `to` crosses free cells
// only. It spans at most `limit` cells along each axis.
fn is_seen(cell: vec3<i32>, within: vec3<u32>, to: vec3<i32>, limit: u32) -> bool {
    if (!is_free(cell) || !is_free(to)) {
        return false;
    }
    let delta = (to - cell) * i32(CELL_PARTS) + i32(CELL_PARTS / 2u) - vec3<i32>(within);
    let length = vec3<u32>(abs(delta));
    // For each axis: the distance to the next face of a cell, and how many faces lie before the target.
    var to_face = select(CELL_PARTS - within, within, delta < vec3<i32>(0));
    var faces_left = vec3<u32>(abs(to - cell));
    var current = cell;
    for (var crossing = 0u; crossing < 3u * limit; crossing += 1u) {
        if (all(faces_left == vec3<u32>(0u))) {
            return true;
        }
        // The axis whose face comes first.
        var first = 3u;
        for (var axis = 0u; axis < 3u; axis += 1u) {
            if (faces_left[axis] != 0u
                && (first == 3u || is_less(to_face[axis], length[first], to_face[first], length[axis]))) {
                first = axis;
            }
        }
        var offset = vec3<i32>(0);
        for (var axis = 0u; axis < 3u; axis += 1u) {
            if (faces_left[axis] != 0u && !is_less(to_face[first], length[axis], to_face[axis], length[first])) {
                offset[axis] = sign(delta[axis]);
            }
        }
        let crossed = vec3<u32>(abs(offset));
        to_face += CELL_PARTS * crossed;
        faces_left -= crossed;
        if (!is_free(current + offset) || !may_pass_by(steer.sight_rule, current, offset)) {
            return false;
        }
        current += offset;
    }
    return all(faces_left == vec3<u32>(0u));
}
