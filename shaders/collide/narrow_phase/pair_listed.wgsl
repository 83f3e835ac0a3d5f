// Maps an index to a pair of a list. Reads the binding `pairs`.
// No twin: the CPU reads its pairs from a slice (src/collide/query/cpu.rs).

fn pair_of(index: u32) -> vec2u {
    return pairs[index];
}

// Whether a pair can be skipped; listed pairs never can.
fn surely_apart(pair: vec2u) -> bool {
    return false;
}
