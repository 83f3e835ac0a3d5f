// The faces of a tile at which a cell changed, one bit each: x low, x high, y low, y high, z low, z high. The neighbour over an edge
// or a corner sees a change only where the two or three faces that meet there have one.
//
// No twin: the CPU looks at the neighbours of each changed cell or row of cells.

// The faces that a cell is at, from its place in the tile and the last place.
fn faces_of(inner: vec3<u32>, last: vec3<u32>) -> u32 {
    var faces = select(0u, 1u, inner.x == 0u) | select(0u, 2u, inner.x == last.x);
    faces |= select(0u, 4u, inner.y == 0u) | select(0u, 8u, inner.y == last.y);
    return faces | select(0u, 16u, inner.z == 0u) | select(0u, 32u, inner.z == last.z);
}

// Invocation `local` of 27 activates its neighbour of a tile if a cell changed at the faces between them. The one in the middle
// activates the tile itself if it is not done.
fn activate_beside(field: u32, tile: vec3<u32>, local: u32, faces: u32, is_done: bool) {
    let side = vec3<i32>(vec3<u32>(local % 3u, local / 3u % 3u, local / 9u)) - 1;
    var side_faces = select(0u, 1u, side.x < 0) | select(0u, 2u, side.x > 0);
    side_faces |= select(0u, 4u, side.y < 0) | select(0u, 8u, side.y > 0);
    side_faces |= select(0u, 16u, side.z < 0) | select(0u, 32u, side.z > 0);
    if (select((faces & side_faces) == side_faces, !is_done, local == 13u)) {
        activate_neighbour(field, tile, side);
    }
}
