// Counts the tiles that are still active after the rounds of a frame. The kernels after it do their work only if there
// are none. The host reads this count once per frame. While an update has not finished invalidating, its wave is not finished either.
//
// One invocation.
//
// No twin: a search on the CPU has no frames; it ends when its list is empty.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main() {
    var active_count = 0u;
    for (var strip = 0u; strip < params.strip_count; strip += 1u) {
        active_count += counts_in[4u * (round_params.slot + strip) + 3u];
    }
    if (round_params.phase == 0u) {
        active_count += atomicLoad(&state[ACTIVE_COUNT + INVALIDATION_PHASE]);
    }
    atomicStore(&state[ACTIVE_COUNT + round_params.phase], active_count);
}
