// Initialises the bit planes: free cells are open, and the front is empty.
//
// One invocation per word of 32 cells; rows of words are padded to whole tiles. Writes both copies of the planes.
//
// No twin: the CPU's form is `TileStrip::new` in src/flow/field/cpu/tiles.rs, whose words lie in tiles.

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    let row_words = 2u * params.tiles.x;
    let field_words = row_words * params.size.y;
    if (index >= params.field_count * field_words) {
        return;
    }
    let word = index % field_words % row_words;
    let y = index % field_words / row_words;
    planes_even[index] = vec2<u32>(open_word(word, y), 0u);
    planes_odd[index] = vec2<u32>(open_word(word, y), 0u);
}
