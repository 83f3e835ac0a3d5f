// Where there are no bit planes a goal is its distance.
// No twin: it only stands in for mark_planes.wgsl.

fn mark(field: u32, cell: vec3<u32>) {
}
