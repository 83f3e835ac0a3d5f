// Support mapping of hulls: the vertex farthest along a direction, relative to the hull's mean and in units of its
// radius. CPU twin: src/collide/hull/support.rs, which describes the table of direction cells.
//
// Reads the bindings `vertices` and `cells`.

// The parts of a hull's record that the support mapping reads.
struct Shape {
    vertex_offset: u32,
    vertex_count: u32,
    cell_offset: u32,
    cell_side: u32,
}

// Direction-cube cell of a direction: `(face * side + row) * side + column`, with faces +x -x +y -y +z -z, and row and
// column along the next two axes in cyclic order.
fn cell_of(direction: vec3f, side: u32) -> u32 {
    let magnitude = abs(direction);
    var face = 0u;
    var major = 0.0;
    var u = 0.0;
    var v = 0.0;
    if magnitude.x >= magnitude.y && magnitude.x >= magnitude.z {
        face = select(0u, 1u, direction.x < 0.0);
        major = magnitude.x;
        u = direction.y;
        v = direction.z;
    } else if magnitude.y >= magnitude.z {
        face = select(2u, 3u, direction.y < 0.0);
        major = magnitude.y;
        u = direction.z;
        v = direction.x;
    } else {
        face = select(4u, 5u, direction.z < 0.0);
        major = magnitude.z;
        u = direction.x;
        v = direction.y;
    }
    let half = f32(side) * 0.5;
    // A zero direction may return any vertex; this avoids a division by zero.
    let inverse = select(0.0, half / major, major > 0.0);
    let column = min(u32(max(u * inverse + half, 0.0)), side - 1u);
    let row = min(u32(max(v * inverse + half, 0.0)), side - 1u);
    return (face * side + row) * side + column;
}

// Vertex found by the last call of `support`.
var<private> support_vertex: u32;

fn support(shape: Shape, direction: vec3f) -> vec3f {
    var index = shape.vertex_offset;
    var best = vertices[index].xyz;
    var most = dot(best, direction);
    if shape.cell_side > 0u {
        let cell = shape.cell_offset + cell_of(direction, shape.cell_side);
        let begin = shape.cell_offset + cells[cell];
        let end = shape.cell_offset + cells[cell + 1u];
        if begin < end {
            index = shape.vertex_offset + cells[begin];
            best = vertices[index].xyz;
            most = dot(best, direction);
            for (var i = begin + 1u; i < end; i += 1u) {
                let other = shape.vertex_offset + cells[i];
                let vertex = vertices[other].xyz;
                let along = dot(vertex, direction);
                if along > most {
                    most = along;
                    best = vertex;
                    index = other;
                }
            }
            support_vertex = index;
            return best;
        }
    }
    for (var i = 1u; i < shape.vertex_count; i += 1u) {
        let vertex = vertices[shape.vertex_offset + i].xyz;
        let along = dot(vertex, direction);
        if along > most {
            most = along;
            best = vertex;
            index = shape.vertex_offset + i;
        }
    }
    support_vertex = index;
    return best;
}
