// Distances of a kernel that none of its invocations changes.
// No twin: it only stands in for atomic_distances.wgsl.

fn distance_at(place: u32) -> u32 {
    return distances[place];
}
