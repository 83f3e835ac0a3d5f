// Counts the tiles that are still awake when the rounds of a frame have run: what comes after is done only where there
// are none, and the host asks this number once a frame.
//
// One invocation.
//
// No twin: a search on the CPU has no frames and sees for itself when its list is empty.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main() {
    var pending = 0u;
    for (var strip = 0u; strip < params.strip_count; strip += 1u) {
        pending += counts_in[4u * (round_params.slot + strip) + 3u];
    }
    atomicStore(&state[PENDING + round_params.phase], pending);
}
