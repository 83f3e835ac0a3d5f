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

// Vertices that a scan reads at once. A hull with fewer is filled up with its first vertex.
const VERTEX_GROUP: u32 = 4u;

// Vertex found by the last call of `support`.
var<private> support_vertex: u32;

// Dot products of a group of vertices with a direction.
fn along_group(at: u32, direction: vec3f) -> vec4f {
    return vec4f(
        dot(vertices[at].xyz, direction),
        dot(vertices[at + 1u].xyz, direction),
        dot(vertices[at + 2u].xyz, direction),
        dot(vertices[at + 3u].xyz, direction),
    );
}

fn highest(along: vec4f) -> f32 {
    return max(max(along.x, along.y), max(along.z, along.w));
}

// The loops keep an index, not a vertex, and have several loads in flight. There is one return: an early one would
// keep its value in registers from call to call.
fn support(shape: Shape, direction: vec3f) -> vec3f {
    var index = shape.vertex_offset;
    var most = -3e38;
    var begin = 0u;
    var end = 0u;
    if shape.cell_side > 0u {
        let cell = shape.cell_offset + cell_of(direction, shape.cell_side);
        begin = shape.cell_offset + cells[cell];
        end = shape.cell_offset + cells[cell + 1u];
    }
    if begin < end {
        for (var i = begin; i < end; i += 2u) {
            let first = shape.vertex_offset + cells[i];
            let second = shape.vertex_offset + cells[min(i + 1u, end - 1u)];
            let along_first = dot(vertices[first].xyz, direction);
            let along_second = dot(vertices[second].xyz, direction);
            index = select(index, first, along_first > most);
            most = max(most, along_first);
            index = select(index, second, along_second > most);
            most = max(most, along_second);
        }
    } else {
        // Two groups a turn, the best one kept. Those at the end overlap.
        let last = index + max(shape.vertex_count, VERTEX_GROUP) - VERTEX_GROUP;
        for (var at = index; at < last + VERTEX_GROUP; at += 2u * VERTEX_GROUP) {
            let first = min(at, last);
            let second = min(at + VERTEX_GROUP, last);
            let along_first = highest(along_group(first, direction));
            let along_second = highest(along_group(second, direction));
            index = select(index, first, along_first > most);
            most = max(most, along_first);
            index = select(index, second, along_second > most);
            most = max(most, along_second);
        }
        let along = along_group(index, direction);
        let low = u32(along.y > along.x);
        let high = 2u + u32(along.w > along.z);
        index += select(low, high, max(along.z, along.w) > max(along.x, along.y));
    }
    support_vertex = index;
    return vertices[index].xyz;
}
