// EPA's polytope, which verdict.wgsl and depth.wgsl grow at the face nearest to the origin. Each of them defines
// `probe(direction)`, which returns the support point along a direction of any length.
//
// The polytope is in private memory. With 2.5 KB an invocation, it is scratch memory on a GPU: registers do not hold it,
// and 32 invocations would need five times the workgroup memory that WebGPU guarantees.
//
// No twin: the CPU's forms are in src/collide/epa/verdict.rs and depth.rs. They search the horizon's edges for twins;
// here an edge is a bit, and its twin another one.

// Software drivers compile large arrays slowly: 64 points took four times as long as 40, and left hardly fewer pairs
// to the exact path.
const POLYTOPE_POINTS: u32 = 40u;
const POLYTOPE_FACES: u32 = 76u;

var<private> corners: array<Corner, POLYTOPE_POINTS>;
var<private> corner_count: u32;
// Outward unit normal, and signed distance of the plane from the origin: positive if the origin is inside.
var<private> planes: array<vec4f, POLYTOPE_FACES>;
// Indices of the corners of each face, counter-clockwise from outside, eight bits each.
var<private> plane_corners: array<u32, POLYTOPE_FACES>;
var<private> plane_count: u32;
// The face nearest to the origin, and its distance.
var<private> nearest_face: u32;
var<private> nearest_distance: f32;
// The directed edges around the visible faces: a bit for the end of each edge from a corner. All are 0 between calls.
var<private> horizon: array<vec2u, POLYTOPE_POINTS>;
// `probe` has proved the result, or the polytope is full, flat, or inconsistent through rounding.
var<private> is_stopped: bool;

// Adds a face. `c` is the point of its last corner.
fn add_face(a_index: u32, b_index: u32, c_index: u32, c: vec3f) {
    let a = corners[a_index].point;
    let normal = cross(corners[b_index].point - a, c - a);
    let length = sqrt(dot(normal, normal));
    if plane_count == POLYTOPE_FACES || !(length > 0.0) {
        is_stopped = true;
    } else {
        let unit = normal * (1.0 / length);
        let plane = vec4f(unit, dot(unit, a));
        planes[plane_count] = plane;
        plane_corners[plane_count] = a_index | (b_index << 8u) | (c_index << 16u);
        nearest_face = select(nearest_face, plane_count, plane.w < nearest_distance);
        nearest_distance = min(nearest_distance, plane.w);
        plane_count += 1u;
    }
}

// Starts with the first `count` of `corners`, one to four, and extends them to a tetrahedron.
fn start_polytope(count: u32) {
    var len = count;
    is_stopped = false;
    plane_count = 0u;
    nearest_face = 0u;
    nearest_distance = 3e38;
    // A simplex that is flat up to rounding has no interior: it is reduced to a smaller one.
    let flat = 32.0 * ROUNDING * 32.0 * ROUNDING;
    let p = corners[0].point;
    if len == 4u {
        let pq = corners[1].point - p;
        let ps = corners[3].point - p;
        let normal = cross(pq, corners[2].point - p);
        let height = dot(normal, ps);
        if !(height * height > flat * dot(normal, normal) * dot(ps, ps)) {
            len = 3u;
            let other = cross(pq, ps);
            if dot(other, other) > dot(normal, normal) {
                corners[2] = corners[3];
            }
        }
    }
    if len == 3u {
        let pq = corners[1].point - p;
        let pr = corners[2].point - p;
        let normal = cross(pq, pr);
        if !(dot(normal, normal) > flat * dot(pq, pq) * dot(pr, pr)) {
            len = 2u;
            if dot(pr, pr) > dot(pq, pq) {
                corners[1] = corners[2];
            }
        }
    }
    if len == 2u {
        let pq = corners[1].point - p;
        len = select(1u, 2u, dot(pq, pq) > 0.0);
    }
    // Up to three rounds, each of which adds the support point that extends the simplex most. One call of the support
    // mapping keeps the code short.
    while len < 4u && !is_stopped {
        let edge = corners[1].point - p;
        let squares = edge * edge;
        var axis = vec3f(0.0, 0.0, 1.0);
        if squares.x <= squares.y && squares.x <= squares.z {
            axis = vec3f(1.0, 0.0, 0.0);
        } else if squares.y <= squares.z {
            axis = vec3f(0.0, 1.0, 0.0);
        }
        let side = cross(edge, axis);
        let other = cross(edge, side) * (1.0 / sqrt(dot(edge, edge)));
        let normal = cross(edge, corners[2].point - p);
        let probe_count = select(select(2u, 4u, len == 2u), 6u, len == 1u);
        var most = 0.0;
        var best = corners[0];
        for (var i = 0u; i < probe_count && !is_stopped; i += 1u) {
            var direction = normal;
            if len == 1u {
                direction = vec3f(f32(i / 2u == 0u), f32(i / 2u == 1u), f32(i / 2u == 2u));
            } else if len == 2u {
                direction = select(side, other, i >= 2u);
            }
            direction = select(direction, -direction, i % 2u == 1u);
            let corner = probe(direction);
            let offset = corner.point - p;
            var gain = dot(direction, offset);
            if len == 1u {
                gain = dot(offset, offset);
            } else if len == 2u {
                let area = cross(edge, offset);
                gain = dot(area, area);
            }
            if gain > most {
                most = gain;
                best = corner;
            }
        }
        is_stopped = is_stopped || !(most > 0.0);
        corners[len] = best;
        len += 1u;
    }
    if !is_stopped {
        // The last one must lie below the face of the others, which is counter-clockwise from outside.
        let q = corners[1];
        let r = corners[2];
        if dot(cross(q.point - p, r.point - p), corners[3].point - p) > 0.0 {
            corners[1] = r;
            corners[2] = q;
        }
        corner_count = 4u;
        // 0 1 2, 0 3 1, 1 3 2, 2 3 0; the loop keeps one copy of the code.
        for (var face = 0u; face < 4u; face += 1u) {
            let b_index = select(3u, 1u, face == 0u);
            let c_index = (0x0212u >> (4u * face)) & 3u;
            add_face(select(face - 1u, 0u, face == 0u), b_index, c_index, corners[c_index].point);
        }
    }
}

// The bit of a corner in a row of `horizon`.
fn corner_bit(index: u32) -> vec2u {
    let bit = 1u << (index & 31u);
    return select(vec2u(bit, 0u), vec2u(0u, bit), index >= 32u);
}

fn is_any(bits: vec2u) -> bool {
    return (bits.x | bits.y) != 0u;
}

fn lowest_bit(bits: vec2u) -> u32 {
    return select(32u + firstTrailingBit(bits.y), firstTrailingBit(bits.x), bits.x != 0u);
}

// Removes a face, in whose place the last one moves, and takes its edges into `horizon`. Returns its corners' bits.
fn remove_face(face: u32) -> vec2u {
    let indices = plane_corners[face];
    plane_count -= 1u;
    planes[face] = planes[plane_count];
    plane_corners[face] = plane_corners[plane_count];
    nearest_face = select(nearest_face, face, nearest_face == plane_count);
    let a_index = indices & 255u;
    let b_index = (indices >> 8u) & 255u;
    let c_index = indices >> 16u;
    let a = corner_bit(a_index);
    let b = corner_bit(b_index);
    let c = corner_bit(c_index);
    let from_a = horizon[a_index];
    let from_b = horizon[b_index];
    let from_c = horizon[c_index];
    // An edge between two visible faces occurs twice, once in each direction, and goes.
    horizon[a_index] = (from_a & ~c) | select(b, vec2u(0u), is_any(from_b & a));
    horizon[b_index] = (from_b & ~a) | select(c, vec2u(0u), is_any(from_c & b));
    horizon[c_index] = (from_c & ~b) | select(a, vec2u(0u), is_any(from_a & c));
    return a | b | c;
}

// Replaces the faces visible from the corner by a fan from it to their horizon. `slack` is the rounding error of a plane
// distance to the corner.
fn add_corner(corner: Corner, slack: f32) {
    // Corners of visible faces.
    var around = vec2u(0u);
    nearest_distance = 3e38;
    // The visible ones of 32 faces are found first, a bit each: then each invocation of a subgroup removes its own. From
    // the last to the first, so that a face that moves is not visible.
    for (var first = 96u; first > 0u; ) {
        first -= 32u;
        let end = min(plane_count, first + 32u);
        var visible = 0u;
        // Two faces a turn; the last one may be examined twice.
        for (var face = first; face < end; face += 2u) {
            let next = min(face + 1u, end - 1u);
            let plane = planes[face];
            let other = planes[next];
            let is_visible = dot(plane.xyz, corner.point) - plane.w > slack;
            let is_other_visible = dot(other.xyz, corner.point) - other.w > slack;
            visible |= select(0u, 1u << (face & 31u), is_visible) | select(0u, 1u << (next & 31u), is_other_visible);
            let is_nearer = !is_visible && plane.w < nearest_distance;
            nearest_face = select(nearest_face, face, is_nearer);
            nearest_distance = select(nearest_distance, plane.w, is_nearer);
            let is_other_nearer = !is_other_visible && other.w < nearest_distance;
            nearest_face = select(nearest_face, next, is_other_nearer);
            nearest_distance = select(nearest_distance, other.w, is_other_nearer);
        }
        while visible != 0u {
            let bit = firstLeadingBit(visible);
            visible ^= 1u << bit;
            around |= remove_face(first + bit);
        }
    }
    let kept = plane_count;
    let apex = corner_count;
    corners[apex] = corner;
    corner_count += 1u;
    var edge_count = 0u;
    while is_any(around) {
        let begin = lowest_bit(around);
        around &= ~corner_bit(begin);
        let ends = horizon[begin];
        horizon[begin] = vec2u(0u);
        if is_any(ends) {
            let end = lowest_bit(ends);
            add_face(begin, end, apex, corner.point);
            edge_count += 1u;
            // Around one disk an edge leaves each corner once.
            is_stopped = is_stopped || countOneBits(ends.x) + countOneBits(ends.y) > 1u;
        }
    }
    // A closed surface of triangles has 2 V - 4 faces, fewer if points were enclosed. More faces or an odd number mean
    // that the visible faces did not form one disk.
    if kept == 0u || edge_count < 3u || plane_count % 2u != 0u || plane_count > 2u * corner_count - 4u {
        is_stopped = true;
    }
}
