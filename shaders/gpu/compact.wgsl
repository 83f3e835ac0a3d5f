// Writes the index of each value that is not zero to its slot, in order.
//
// One group a block. Reads `values` and `partials` (how many stand before each block), writes those slots of the
// output that `indices` shows.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = flat_group(group, group_count);
    if (block >= params.block_count) {
        return;
    }
    let first = block * BLOCK_SIZE + local * VALUES_PER_INVOCATION;
    var sum = 0u;
    for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
        if (first + i < params.value_count) {
            sum += weigh(values[first + i]);
        }
    }
    var slot = partials[block].x + block_prefix(local, sum);
    for (var i = 0u; i < VALUES_PER_INVOCATION; i += 1u) {
        if (first + i < params.value_count && values[first + i] != 0u) {
            if (slot >= params.slot_begin && slot < params.slot_end) {
                indices[slot - params.slot_begin] = params.first_value + first + i;
            }
            slot += 1u;
        }
    }
}
