// Manifolds of measured pairs: up to four points of the overlap of the two features that meet along the normal. One
// thread per row of an encoded query for contacts.
//
// src/collide/narrow_phase/manifold.rs describes the method and is its form in f64. There the features are clipped one
// edge after the other. Here each corner of a feature that lies in the other, and each crossing of two edges, is offered
// in turn, once for each point that is wanted: the deepest, the furthest from it, the two furthest aside. So nothing is
// stored. Faces that are coplanar up to rounding are joined by the host.
//
// Lengths are in units of the sum of both bounding radii, along the world's axes, from the centre of a body that is no
// half-space.
//
// Bindings: params, bodies, hulls, vertices, features, measured, counts, rows.

struct ManifoldParams {
    // World units.
    margin: f32,
    row_room: u32,
    padding_0: u32,
    padding_1: u32,
}

// A face or an edge counts as level up to an angle of this sine: one degree.
const LEVEL: f32 = 0.0174524;
// A corner counts as inside a feature that it is outside of by no more than this share of the tolerance.
const SLACK: f32 = 0.25;
// Edges that are parallel up to this sine do not cross.
const PARALLEL: f32 = 1e-6;

// Words of a hull's table of features before its faces: their number, and where the lists of the vertices' faces and
// of their neighbours begin.
const TABLE_HEAD: u32 = 3u;
// Words of a face: normal, area, first corner, number of corners.
const FACE_WORDS: u32 = 6u;

const FEATURE_VERTEX: u32 = 0u;
const FEATURE_EDGE: u32 = 1u;
const FEATURE_FACE: u32 = 2u;
// The plane of a half-space.
const FEATURE_PLANE: u32 = 3u;

struct Feature {
    kind: u32,
    corner_count: u32,
    // First corner of a face in `features`, or the two vertices of an edge.
    first: u32,
    second: u32,
    vertex_offset: u32,
    // Rows of the map from the hull's stored frame to the contact's: right, up, along the normal.
    right: vec4f,
    up: vec4f,
    along: vec4f,
    // A point of the plane or the line, and the heights' slope.
    base: vec3f,
    slope: vec2f,
}

fn hull_vertex(feature: Feature, corner: u32) -> u32 {
    if feature.kind == FEATURE_FACE {
        return features[feature.first + corner];
    }
    return select(feature.first, feature.second, corner == 1u);
}

fn corner_of(feature: Feature, corner: u32) -> vec3f {
    let point = vec4f(vertices[feature.vertex_offset + hull_vertex(feature, corner)].xyz, 1.0);
    return vec3f(dot(feature.right, point), dot(feature.up, point), dot(feature.along, point));
}

fn height_of(feature: Feature, at: vec2f) -> f32 {
    return feature.base.z + dot(feature.slope, at - feature.base.xy);
}

fn perp_dot(a: vec2f, b: vec2f) -> f32 {
    return a.x * b.y - a.y * b.x;
}

// The contact's frame: columns are right, up and the normal.
fn contact_frame(normal: vec3f) -> mat3x3f {
    let other = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), abs(normal.x) > 0.6);
    let right = normalize(cross(other, normal));
    return mat3x3f(right, cross(normal, right), normal);
}

// The highest feature of a body along a unit direction. `center` is relative to the origin, in the contact's unit.
fn feature_of(body: PackedBody, direction: vec3f, center: vec3f, frame: mat3x3f, inverse: f32) -> Feature {
    let hull = hulls[body.hull];
    let turn = rotation(body.rotation);
    var feature = Feature(
        FEATURE_VERTEX,
        0u,
        0u,
        0u,
        hull.vertex_offset,
        vec4f(0.0),
        vec4f(0.0),
        vec4f(0.0),
        vec3f(0.0),
        vec2f(0.0),
    );
    if hull.half_space != 0u {
        feature.kind = FEATURE_PLANE;
        return feature;
    }
    let stretch = body.scale * (hull.radius * inverse);
    let local = direction * turn;
    let weights = stretch * local;
    var top = 0u;
    var highest = -3e38;
    for (var vertex = 0u; vertex < hull.vertex_count; vertex += 1u) {
        let height = dot(vertices[hull.vertex_offset + vertex].xyz, weights);
        if height > highest {
            highest = height;
            top = vertex;
        }
    }
    let rounding = body.rounding * inverse;
    let table = features[body.hull];
    var shift = vec3f(0.0);
    var widest = 0.0;
    var level = vec3f(0.0);
    let faces = features[table + 1u] + top;
    let last_face = features[faces + 1u];
    for (var at = features[faces]; at < last_face; at += 1u) {
        let face = table + TABLE_HEAD + FACE_WORDS * features[at];
        let stored = vec3f(
            bitcast<f32>(features[face]),
            bitcast<f32>(features[face + 1u]),
            bitcast<f32>(features[face + 2u]),
        );
        let area = bitcast<f32>(features[face + 3u]);
        // The least scale keeps the quotients finite.
        let least = min(body.scale.x, min(body.scale.y, body.scale.z));
        let normal = turn * normalize(stored * (least / body.scale));
        if area > widest && dot(normal, direction) > 0.0 && length(cross(normal, direction)) <= LEVEL {
            widest = area;
            level = normal;
            feature.kind = FEATURE_FACE;
            feature.first = features[face + 4u];
            feature.corner_count = features[face + 5u];
        }
    }
    if feature.kind == FEATURE_FACE {
        shift = level * rounding;
        let inclined = level * frame;
        feature.slope = -inclined.xy / inclined.z;
    } else {
        var flattest = LEVEL;
        var along = vec3f(0.0);
        let neighbours = features[table + 2u] + top;
        let last = features[neighbours + 1u];
        let corner = vertices[hull.vertex_offset + top].xyz;
        for (var at = features[neighbours]; at < last; at += 1u) {
            let way = stretch * (vertices[hull.vertex_offset + features[at]].xyz - corner);
            let long = length(way);
            let fall = -dot(way, local);
            if fall <= flattest * long && long > 0.0 {
                flattest = fall / long;
                along = way / long;
                feature.kind = FEATURE_EDGE;
                feature.corner_count = 2u;
                feature.first = top;
                feature.second = features[at];
            }
        }
        if feature.kind == FEATURE_EDGE {
            shift = turn * (normalize(local - along * dot(local, along)) * rounding);
            let inclined = (turn * along) * frame;
            feature.slope = inclined.xy * (inclined.z / dot(inclined.xy, inclined.xy));
        }
    }
    let move_by = (center + shift) * frame;
    let to_frame = transpose(frame) * turn;
    let rows = transpose(to_frame);
    feature.right = vec4f(rows[0] * stretch, move_by.x);
    feature.up = vec4f(rows[1] * stretch, move_by.y);
    feature.along = vec4f(rows[2] * stretch, move_by.z);
    if feature.kind != FEATURE_VERTEX {
        feature.base = corner_of(feature, 0u);
    }
    return feature;
}

// Whether a point is in a face, which is counter-clockwise if `sign` is 1 and clockwise if it is -1.
fn is_inside(feature: Feature, sign: f32, at: vec2f, slack: f32) -> bool {
    var before = corner_of(feature, feature.corner_count - 1u).xy;
    var inside = true;
    for (var corner = 0u; corner < feature.corner_count; corner += 1u) {
        let to = corner_of(feature, corner).xy;
        let edge = to - before;
        inside = inside && sign * perp_dot(edge, at - before) >= -slack * length(edge);
        before = to;
    }
    return inside;
}

// What the current turn looks for.
const TURN_DEEPEST: u32 = 0u;
const TURN_FURTHEST: u32 = 1u;
const TURN_ASIDE: u32 = 2u;
const TURN_COUNT: u32 = 3u;

// A point of the overlap.
struct Overlap {
    across: vec2f,
    // Height of a's surface along the normal.
    height: f32,
    depth: f32,
}

var<private> feature_a: Feature;
var<private> feature_b: Feature;
// Points that are less deep are no contacts.
var<private> least_depth: f32;
// Height of a's plane and of b's, of half-spaces.
var<private> ground: vec2f;
var<private> turn_now: u32;
var<private> best_score: vec2f;
var<private> best_first: Overlap;
var<private> best_second: Overlap;
var<private> chosen_first: vec2f;
var<private> line: vec2f;

fn offer_point(point: Overlap) {
    var score = point.depth;
    if turn_now == TURN_FURTHEST {
        let way = point.across - chosen_first;
        score = dot(way, way);
    } else if turn_now == TURN_ASIDE {
        score = perp_dot(line, point.across - chosen_first);
        if -score > best_score.y {
            best_score.y = -score;
            best_second = point;
        }
    }
    if score > best_score.x {
        best_score.x = score;
        best_first = point;
    }
}

fn offer(at: vec2f) {
    var height_a = ground.x;
    if feature_a.kind != FEATURE_PLANE {
        height_a = height_of(feature_a, at);
    }
    var height_b = ground.y;
    if feature_b.kind != FEATURE_PLANE {
        height_b = height_of(feature_b, at);
    }
    let depth = height_a - height_b;
    if depth >= least_depth {
        offer_point(Overlap(at, height_a, depth));
    }
}

// Offers the ends of the common part of two edges that are collinear up to the slack.
fn offer_common(slack: f32) {
    let start = feature_a.base.xy;
    let way = corner_of(feature_a, 1u).xy - start;
    let long = length(way);
    let along = way / long;
    let p = feature_b.base.xy - start;
    let q = corner_of(feature_b, 1u).xy - start;
    let begin = vec2f(dot(p, along), perp_dot(along, p));
    let end = vec2f(dot(q, along), perp_dot(along, q));
    let low = max(min(begin.x, end.x), 0.0);
    let high = min(max(begin.x, end.x), long);
    let steep = (begin.y - end.y) / (begin.x - end.x);
    let is_near = abs(begin.y + steep * (low - begin.x)) <= slack && abs(begin.y + steep * (high - begin.x)) <= slack;
    if long > 0.0 && low < high && is_near {
        offer(start + along * low);
        offer(start + along * high);
    }
}

// Offers the corners of the overlap of both features.
fn offer_all(slack: f32) {
    if feature_a.kind == FEATURE_VERTEX || feature_b.kind == FEATURE_VERTEX {
        return;
    }
    if feature_a.kind == FEATURE_EDGE && feature_b.kind == FEATURE_EDGE {
        offer_common(slack);
        return;
    }
    for (var corner = 0u; corner < feature_a.corner_count; corner += 1u) {
        let at = corner_of(feature_a, corner).xy;
        var is_common = feature_b.kind == FEATURE_PLANE;
        if feature_b.kind == FEATURE_FACE {
            is_common = is_inside(feature_b, -1.0, at, slack);
        }
        if is_common {
            offer(at);
        }
    }
    for (var corner = 0u; corner < feature_b.corner_count; corner += 1u) {
        let at = corner_of(feature_b, corner).xy;
        var is_common = feature_a.kind == FEATURE_PLANE;
        if feature_a.kind == FEATURE_FACE {
            is_common = is_inside(feature_a, 1.0, at, slack);
        }
        if is_common {
            offer(at);
        }
    }
    // The last edge of a face leads back to its first corner; an edge has only one.
    let edges_a = select(feature_a.corner_count, 1u, feature_a.kind == FEATURE_EDGE);
    let edges_b = select(feature_b.corner_count, 1u, feature_b.kind == FEATURE_EDGE);
    for (var i = 0u; i < edges_a; i += 1u) {
        let p = corner_of(feature_a, i).xy;
        let d = corner_of(feature_a, select(i + 1u, 0u, i + 1u == feature_a.corner_count)).xy - p;
        for (var j = 0u; j < edges_b; j += 1u) {
            let q = corner_of(feature_b, j).xy;
            let e = corner_of(feature_b, select(j + 1u, 0u, j + 1u == feature_b.corner_count)).xy - q;
            let area = perp_dot(d, e);
            if abs(area) > PARALLEL * length(d) * length(e) {
                let on_a = perp_dot(q - p, e) / area;
                let on_b = perp_dot(q - p, d) / area;
                if on_a >= 0.0 && on_a <= 1.0 && on_b >= 0.0 && on_b <= 1.0 {
                    offer(p + d * on_a);
                }
            }
        }
    }
}

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) local: u32,
) {
    let row = flat_index(group, groups, local);
    if row >= min(counts.row_count, params.row_room) {
        return;
    }
    let measured_row = measured[row];
    var points: array<vec4f, 4>;
    var point_count = 0u;
    let a = bodies[measured_row.a];
    let b = bodies[measured_row.b];
    let a_is_plane = hulls[a.hull].half_space != 0u;
    let b_is_plane = hulls[b.hull].half_space != 0u;
    let anchor = select(0u, 1u, a_is_plane);
    if measured_row.status != STATUS_UNSETTLED {
        let radius_a = select(a.radius, b.radius, a_is_plane);
        let radius_b = select(b.radius, a.radius, b_is_plane);
        let unit = radius_a + radius_b;
        let inverse = 1.0 / unit;
        let gap = measured_row.gap * inverse;
        let tolerance = max(1e-5 * min(radius_a, radius_b) * inverse, 4e-6 * (1.0 + max(gap, 0.0)));
        let normal = measured_row.normal;
        let frame = contact_frame(normal);
        let apart = ((b.position - a.position) + (b.remainder - a.remainder)) * inverse;
        let center_a = select(vec3f(0.0), -apart, a_is_plane);
        let center_b = select(apart, vec3f(0.0), a_is_plane);
        feature_a = feature_of(a, normal, center_a, frame, inverse);
        feature_b = feature_of(b, -normal, center_b, frame, inverse);
        let on_b = measured_row.anchor != 0u;
        let point = measured_row.point * inverse + select(center_a, center_b, on_b) - select(vec3f(0.0), normal * gap, on_b);
        let base = point * frame;
        let depth = -gap;
        ground = vec2f(base.z, base.z - depth);
        least_depth = min(depth, -min(params.margin * inverse, 1e18)) - tolerance;
        let slack = SLACK * tolerance;
        var goes_on = true;
        var with_base = false;
        for (turn_now = 0u; turn_now < TURN_COUNT && goes_on; turn_now += 1u) {
            best_score = vec2f(-3e38);
            best_first = Overlap(base.xy, base.z, depth);
            best_second = best_first;
            if with_base {
                offer_point(Overlap(base.xy, base.z, depth));
            }
            offer_all(slack);
            if turn_now == TURN_DEEPEST {
                with_base = best_score.x < depth - slack;
                if with_base {
                    best_first = Overlap(base.xy, base.z, depth);
                }
                chosen_first = best_first.across;
            } else if turn_now == TURN_FURTHEST {
                line = best_first.across - chosen_first;
                goes_on = best_score.x > tolerance * tolerance;
            }
            let wide = tolerance * length(line);
            if turn_now != TURN_ASIDE {
                if goes_on {
                    points[point_count] = vec4f(best_first.across, best_first.height, best_first.depth);
                    point_count += 1u;
                }
            } else {
                if best_score.x > wide {
                    points[point_count] = vec4f(best_first.across, best_first.height, best_first.depth);
                    point_count += 1u;
                }
                if best_score.y > wide {
                    points[point_count] = vec4f(best_second.across, best_second.height, best_second.depth);
                    point_count += 1u;
                }
            }
        }
        for (var k = 0u; k < 4u; k += 1u) {
            let found = points[k];
            points[k] = select(vec4f(0.0), vec4f((frame * found.xyz) * unit, -found.w * unit), k < point_count);
        }
    }
    rows[row] = ManifoldRow(
        measured_row.a,
        measured_row.b,
        measured_row.status,
        measured_row.gap,
        measured_row.normal,
        point_count,
        points,
        anchor,
        measured_row.error,
        vec2u(0u),
    );
}
