// Pair of an index: out of all pairs, without a list of them. Reads the binding `spheres`.
//
// With `n` bodies and `m` the odd one of `n` and `n + 1`, row `r` of the triangle of pairs (`a = r`, `m - 1 -
// r` pairs) and row `m - 2 - r` make one row of `m` pairs, and `(m - 1) / 2` such rows hold all. Where `n` is
// even the body `b = n` does not exist: those pairs answer `a = b`.
//
// Where there are columns, bodies behind the `n` first ones, all pairs are those of one of either.
//
// No twin: the CPU goes through the pairs row by row (`for_partners` in src/collide/query/cpu.rs).

fn pair_of(index: u32) -> vec2u {
    if params.column_count > 0u {
        let place = params.exhaustive_column + index;
        let across = place / params.column_count;
        return vec2u(params.exhaustive_row + across, params.body_count + (place - across * params.column_count));
    }
    let m = params.body_count | 1u;
    let flat = params.exhaustive_column + index;
    let row = params.exhaustive_row + flat / m;
    let column = flat % m;
    let length = m - 1u - row;
    var a = row;
    var b = row + 1u + column;
    if column >= length {
        a = m - 2u - row;
        b = a + 1u + (column - length);
    }
    return vec2u(a, select(a, b, b < params.body_count));
}
