// Turns the length of the refine list into workgroup counts for the dispatches of EPA. One thread per dispatch, which
// processes one piece of the list. Past 65,535 groups a dispatch is laid out over x and y.
//
// Bindings: params, refine, counts (three words for each dispatch).
//
// No twin: only a device dispatches by a count that the host does not know.

struct RefineGroupsParams {
    // Entries of the list in one piece.
    piece_len: u32,
    piece_count: u32,
    // Invocations in a workgroup of EPA.
    group_size: u32,
    padding: u32,
}

// Most groups of a dispatch along one dimension.
const MAX_GROUPS: u32 = 65535u;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let piece = flat_index(group, groups, local);
    if piece >= params.piece_count {
        return;
    }
    let begin = piece * params.piece_len;
    let len = min(refine.count - min(refine.count, begin), params.piece_len);
    let count = (len + params.group_size - 1u) / params.group_size;
    let y = max((count + MAX_GROUPS - 1u) / MAX_GROUPS, 1u);
    counts[3u * piece] = (count + y - 1u) / y;
    counts[3u * piece + 1u] = y;
    counts[3u * piece + 2u] = 1u;
}
