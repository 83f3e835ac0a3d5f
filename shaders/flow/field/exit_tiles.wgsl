// Begins the way out of obstacles where there are no bit planes: tiles with obstacles are woken.
//
// One invocation a word of 32 cells of obstacle bits and field; a word spans one tile or two. Does nothing while the wave from
// the goals is not done.
//
// No twin: the CPU finds the ways out of obstacles level by level (src/flow/field/cpu/exits.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    let field_words = params.row_words * params.size.y * params.size.z;
    if (index >= params.field_count * field_words || atomicLoad(&state[PENDING]) != 0u) {
        return;
    }
    let field = index / field_words;
    let at = index % field_words;
    let row = at / params.row_words;
    let cell = vec3<u32>(32u * (at % params.row_words), row % params.size.y, row / params.size.y);
    let walls = blocked[at];
    for (var first = 0u; first < 32u; first += params.tile.x) {
        let part = walls >> first;
        let mask = select((1u << (params.tile.x & 31u)) - 1u, 0xffffffffu, params.tile.x >= 32u);
        if ((part & mask) != 0u) {
            wake_beside(field, (cell + vec3<u32>(first, 0u, 0u)) / params.tile, vec3<i32>(0));
        }
    }
}
