// Lines: a rectangle for each, as wide as it says in pixels of the page. Where both ends are the same it is a square.

struct Line {
    @location(0) start: vec3f,
    @location(1) width: f32,
    @location(2) end: vec3f,
    @location(3) color: vec4f,
}

struct Seen {
    @builtin(position) clip: vec4f,
    @location(0) color: vec4f,
}

// As in src/playground/draw/software.rs.
const LIFT = 5e-5;

@vertex
fn vertex(@builtin(vertex_index) corner: u32, line: Line) -> Seen {
    var a = view.matrix * vec4f(line.start, 1.0);
    var b = view.matrix * vec4f(line.end, 1.0);
    // What is before the near plane is cut off, so that both ends have a place on the canvas.
    if a.z < 0.0 && b.z > 0.0 { a = mix(a, b, a.z / (a.z - b.z)); }
    if b.z < 0.0 && a.z > 0.0 { b = mix(b, a, b.z / (b.z - a.z)); }
    let size = vec2f(view.eye.w, view.light.w);
    let along = 0.5 * size * (b.xy / b.w - a.xy / a.w);
    let length = length(along);
    let direction = select(vec2f(1.0, 0.0), along / max(length, 1e-6), length > 1e-3);
    let half = 0.5 * max(line.width * view.density, 1.0);
    let is_end = corner == 1u || corner == 2u || corner == 4u;
    let is_left = corner == 2u || corner == 4u || corner == 5u;
    // A short cap at each end joins the lines of a path.
    let cap = select(-half, half, is_end) * select(0.5, 1.0, length <= 1e-3);
    let aside = select(-half, half, is_left);
    let offset = cap * direction + aside * vec2f(-direction.y, direction.x);
    var end = select(a, b, is_end);
    end = vec4f(end.xy + offset * 2.0 / size * end.w, end.z - LIFT * end.w, end.w);
    return Seen(end, line.color);
}

@fragment
fn fragment(seen: Seen) -> @location(0) vec4f {
    return vec4f(seen.color.rgb, 1.0);
}
