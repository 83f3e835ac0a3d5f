// What the functions of block_prefix.wgsl and block_sum.wgsl give for known numbers, and where the subgroups are. The host compares every
// word (src/gpu/subgroup_test.rs).
//
// One group takes WORKGROUP_SIZE numbers. Reads `values`, writes `outcomes`, WORDS for each invocation.

const WORDS: u32 = 6u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let index = group.x * WORKGROUP_SIZE + local;
    let own = values[index];
    let span = subgroup_span(local);
    let block = block_prefix(local, own);
    // 47 bits, so that the sum of 256 has 55.
    let sum = block_sum(local, vec2<u32>(own, own >> 17u));
    outcomes[WORDS * index] = span.x;
    outcomes[WORDS * index + 1u] = span.y;
    outcomes[WORDS * index + 2u] = block.before;
    outcomes[WORDS * index + 3u] = block.all;
    outcomes[WORDS * index + 4u] = sum.x;
    outcomes[WORDS * index + 5u] = sum.y;
}
