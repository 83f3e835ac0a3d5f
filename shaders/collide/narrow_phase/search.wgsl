// The entry point of the kernels that examine every pair: verdict.wgsl, measure.wgsl and sweep/pair.wgsl.
//
// They define `decide(index)`, which writes the result of a pair if little work shows it and returns whether it did, and
// `search(index)` for the others. Many pairs end with `decide`; the first invocations of a workgroup search the others,
// so that most of its subgroups have nothing left to do, instead of each waiting for a few invocations.
//
// No twin: the CPU examines pair by pair.

var<workgroup> open_count: atomic<u32>;
// The pairs to search.
var<workgroup> open_pairs: array<u32, WORKGROUP_SIZE>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    if local == 0u {
        atomicStore(&open_count, 0u);
    }
    workgroupBarrier();
    let index = params.first + flat_index(group, groups, local);
    if index < pair_count() {
        if !decide(index) {
            open_pairs[atomicAdd(&open_count, 1u)] = index;
        }
    }
    if local < workgroupUniformLoad(&open_count) {
        search(open_pairs[local]);
    }
}
