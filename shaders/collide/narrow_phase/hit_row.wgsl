// A row of a verdict: `a, b, verdict`. Writes the binding `hits`.
// No twin: see hit_write.wgsl.

fn row_capacity() -> u32 {
    return arrayLength(&hits) / 3u;
}

fn write_row(row: u32, index: u32, pair: vec2u, word: u32) {
    hits[3u * row] = pair.x;
    hits[3u * row + 1u] = pair.y;
    hits[3u * row + 2u] = code_of(word);
}
