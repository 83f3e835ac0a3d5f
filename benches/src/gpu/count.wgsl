// Hardly any work: one invocation adds one to one word. Dispatches of it must wait for each other.
@group(0) @binding(0) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(1)
fn main() {
    words[0] += 1u;
}
