// Pair of an index: out of a list in memory. Reads the binding `pairs`.
fn pair_of(index: u32) -> vec2u {
    return pairs[index];
}
