// Lines of sight, from a place within a cell to the centre of another one, in whole numbers.
//
// Source: the CPU twin, `is_seen` in src/flow/grid/sight.rs.

// A cell is so many parts wide.
const FINE: u32 = 4096u;

// Whether the product of the first two is less than that of the others, in 64 bits.
fn is_less(a: u32, b: u32, c: u32, d: u32) -> bool {
    let one = wide(a, b);
    let other = wide(c, d);
    return one.y < other.y || (one.y == other.y && one.x < other.x);
}

// The product of two numbers: its low word and its high one.
fn wide(a: u32, b: u32) -> vec2<u32> {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let one = (a >> 16u) * (b & 0xffffu);
    let other = (a & 0xffffu) * (b >> 16u);
    let middle = (low >> 16u) + (one & 0xffffu) + (other & 0xffffu);
    let high = (a >> 16u) * (b >> 16u) + (one >> 16u) + (other >> 16u) + (middle >> 16u);
    return vec2<u32>((middle << 16u) | (low & 0xffffu), high);
}

// Whether the line from a place (a cell, and how far within it) to the centre of the cell `to` runs through free cells alone. No part
// of the way is longer than `limit` cells.
fn is_seen(cell: vec3<i32>, within: vec3<u32>, to: vec3<i32>, limit: u32) -> bool {
    if (!is_free(cell) || !is_free(to)) {
        return false;
    }
    let way = (to - cell) * i32(FINE) + i32(FINE / 2u) - vec3<i32>(within);
    let length = vec3<u32>(abs(way));
    // How much of the way along each axis there is to the next face, and how many faces.
    var ahead = select(FINE - within, within, way < vec3<i32>(0));
    var left = vec3<u32>(abs(to - cell));
    var at = cell;
    for (var turn = 0u; turn < 3u * limit; turn += 1u) {
        if (all(left == vec3<u32>(0u))) {
            return true;
        }
        // The axis whose face comes first.
        var first = 3u;
        for (var axis = 0u; axis < 3u; axis += 1u) {
            if (left[axis] != 0u
                && (first == 3u || is_less(ahead[axis], length[first], ahead[first], length[axis]))) {
                first = axis;
            }
        }
        var offset = vec3<i32>(0);
        for (var axis = 0u; axis < 3u; axis += 1u) {
            if (left[axis] != 0u && !is_less(ahead[first], length[axis], ahead[axis], length[first])) {
                offset[axis] = sign(way[axis]);
            }
        }
        let crossed = vec3<u32>(abs(offset));
        ahead += FINE * crossed;
        left -= crossed;
        if (!is_free(at + offset) || !may_pass_by(steer.sight_rule, at, offset)) {
            return false;
        }
        at += offset;
    }
    return all(left == vec3<u32>(0u));
}
