// Marks nothing: without bit planes the distance of a goal is all that seed.wgsl must set.
// No twin: it only stands in for mark_planes.wgsl.

fn mark_goal(field: u32, cell: vec3<u32>) {
}
