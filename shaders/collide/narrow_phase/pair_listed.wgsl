// Pair of an index: out of a list in memory. Reads the binding `pairs`.
// No twin: the CPU reads its pairs from a slice (src/collide/query/cpu.rs).

fn pair_of(index: u32) -> vec2u {
    return pairs[index];
}

// Whether a pair needs no closer look; those of a list all do.
fn surely_apart(pair: vec2u) -> bool {
    return false;
}
