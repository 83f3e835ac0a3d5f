// A row of a measured pair: three vectors, `MeasuredRow` in src/collide/query/device_rows.rs. Reads the binding
// `measures`, writes `rows`.
// No twin: see hit_write.wgsl.

fn row_capacity() -> u32 {
    return arrayLength(&rows) / 3u;
}

fn write_row(row: u32, index: u32, pair: vec2u, word: u32) {
    let code = code_of(word);
    let status = select(code, VERDICT_SEPARATED, code == VERDICT_WITHIN);
    let first = measures[2u * index];
    rows[3u * row] = vec4u(pair, status, bitcast<u32>(first.x));
    rows[3u * row + 1u] = vec4u(bitcast<vec3u>(first.yzw), word >> 8u);
    rows[3u * row + 2u] = bitcast<vec4u>(measures[2u * index + 1u]);
}
