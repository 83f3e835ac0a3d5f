// Bodies: a mesh, drawn once for each body of its hull.

@group(1) @binding(0) var<storage, read> bodies: array<PackedBody>;
// The mark of each body.
@group(1) @binding(1) var<storage, read> marks: array<u32>;
// The bodies in the order of their hulls.
@group(1) @binding(2) var<storage, read> order: array<u32>;

struct Seen {
    @builtin(position) clip: vec4f,
    @location(0) at: vec3f,
    @location(1) normal: vec3f,
    @location(2) @interpolate(flat) mark: u32,
}

fn turn(rotation: vec4f, vector: vec3f) -> vec3f {
    let t = 2.0 * cross(rotation.xyz, vector);
    return vector + rotation.w * t + cross(rotation.xyz, t);
}

@vertex
fn vertex(@builtin(instance_index) instance: u32, @location(0) position: vec3f, @location(1) normal: vec3f) -> Seen {
    let index = order[instance];
    let body = bodies[index];
    let at = body.position + turn(body.rotation, body.scale * position);
    return Seen(view.matrix * vec4f(at, 1.0), at, turn(body.rotation, normal / body.scale), marks[index]);
}

@fragment
fn fragment(seen: Seen) -> @location(0) vec4f {
    let color = view.palette[min(seen.mark, 7u)].rgb;
    return vec4f(color * brightness(seen.at, normalize(seen.normal)), 1.0);
}
