// Starts the wave out of obstacles where there are no bit planes: tiles with obstacles become active.
//
// One invocation per word of 32 obstacle bits and per field; a word spans one tile or two. Does nothing while the wave
// from the goals is not finished.
//
// No twin: the CPU finds the escape codes level by level (src/flow/field/cpu/escape.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    let field_words = params.row_words * params.size.y * params.size.z;
    if (index >= params.field_count * field_words || atomicLoad(&state[ACTIVE_COUNT]) != 0u) {
        return;
    }
    let field = index / field_words;
    let word = index % field_words;
    let row = word / params.row_words;
    let cell = vec3<u32>(32u * (word % params.row_words), row % params.size.y, row / params.size.y);
    let walls = blocked[word];
    for (var first = 0u; first < 32u; first += params.tile_size.x) {
        let part = walls >> first;
        let mask = select((1u << (params.tile_size.x & 31u)) - 1u, 0xffffffffu, params.tile_size.x >= 32u);
        if ((part & mask) != 0u) {
            activate_neighbour(field, (cell + vec3<u32>(first, 0u, 0u)) / params.tile_size, vec3<i32>(0));
        }
    }
}
