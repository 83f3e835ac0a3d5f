// Marks a goal in the bit planes: it is in the front of the even planes, and open in neither.
// No twin: the CPU's form is `add_goal` in src/flow/field/cpu/tiles.rs, whose bits lie in tiles.

fn mark_goal(field: u32, cell: vec3<u32>) {
    let row_words = 2u * params.tiles.x;
    let word = 2u * ((field * params.size.y + cell.y) * row_words + (cell.x >> 5u));
    let bit = 1u << (cell.x & 31u);
    atomicAnd(&planes_even[word], ~bit);
    atomicAnd(&planes_odd[word], ~bit);
    atomicOr(&planes_even[word + 1u], bit);
}
