// Where there are no bit planes a goal is its distance.

fn mark(field: u32, cell: vec3<u32>) {
}
