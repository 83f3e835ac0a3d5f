// Distances that other invocations may change meanwhile.
// No twin: it only stands in for plain_distances.wgsl.

fn distance_at(place: u32) -> u32 {
    return atomicLoad(&distances[place]);
}
