// Maps an index to a pair out of all pairs, without a list. Reads the binding `spheres`.
//
// Let `m` be the odd one of `n` and `n + 1`, for `n` bodies. Row `r` of the triangle of pairs (`a = r`, `m - 1 - r`
// pairs) and row `m - 2 - r` together form one row of `m` pairs; `(m - 1) / 2` such rows contain all pairs. If `n` is
// even, the body `b = n` does not exist: its pairs return `a = b`.
//
// If there are columns (bodies after the first `n`), the pairs are those of one of the first `n` bodies and one
// column.
//
// No twin: the CPU visits the pairs row by row (`for_partners` in src/collide/query/cpu.rs).

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
