// The obstacles: one bit per cell, set for obstacles. Each row starts a new pair of words; bits past its end are 0.
// No twin: the CPU reads the same bits 64 at a time (`FreeRows` in src/flow/field/cpu/masks.rs).

fn is_blocked(cell: vec3<u32>) -> bool {
    let row = cell.z * params.size.y + cell.y;
    return ((blocked[row * params.row_words + (cell.x >> 5u)] >> (cell.x & 31u)) & 1u) != 0u;
}

// The bits of a word that are cells of the grid.
fn inside_word(word: u32) -> u32 {
    let first = 32u * word;
    if (first >= params.size.x) {
        return 0u;
    }
    let count = params.size.x - first;
    return select((1u << (count & 31u)) - 1u, 0xffffffffu, count >= 32u);
}

// The free cells of a word, in a grid of one layer.
fn open_word(word: u32, y: u32) -> u32 {
    let inside = inside_word(word);
    if (inside == 0u) {
        return 0u;
    }
    return inside & ~blocked[y * params.row_words + word];
}
