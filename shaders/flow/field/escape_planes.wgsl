// Starts the wave out of obstacles in the bit planes: all reached cells are its front, and the obstacles are open.
// Tiles with obstacles become active.
//
// One invocation per word of 32 cells of this strip. Does nothing while the wave from the goals is not finished.
//
// No twin: on the CPU that wave starts from the obstacles that have a code (src/flow/field/cpu/escape.rs).

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) group_count: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let index = flat_index(group, group_count, local);
    let row_words = 2u * params.tiles.x;
    let first_row = params.first_cell / params.size.x;
    let strip_rows = params.cell_count / params.size.x;
    let field_words = row_words * strip_rows;
    if (index >= params.field_count * field_words || atomicLoad(&state[ACTIVE_COUNT]) != 0u) {
        return;
    }
    let field = index / field_words;
    let word = index % row_words;
    let y = first_row + index % field_words / row_words;
    let inside = inside_word(word);
    let free = open_word(word, y);
    let first_distance = place_of(field, y * params.size.x + 32u * word);
    var front = 0u;
    for (var bit = 0u; bit < 32u; bit += 1u) {
        if (((free >> bit) & 1u) != 0u && distances[first_distance + bit] != UNREACHABLE) {
            front |= 1u << bit;
        }
    }
    let walls = inside & ~free;
    let plane_index = (field * params.size.y + y) * row_words + word;
    planes_even[plane_index] = vec2<u32>(walls, front);
    planes_odd[plane_index] = vec2<u32>(walls, front);
    if (walls != 0u) {
        let tile = vec3<u32>(32u * word, y, 0u) / params.tile_size;
        activate_neighbour(field, tile, vec3<i32>(0));
    }
}
