// A mesh with a number at each vertex, coloured in bands; `Scale` of src/playground/draw/scale.rs computes the same colours.

struct Scale {
    colors: array<vec4f, 4>,
    none: vec4f,
    range: f32,
    band: f32,
}

@group(1) @binding(0) var<uniform> scale: Scale;

struct Seen {
    @builtin(position) clip: vec4f,
    @location(0) at: vec3f,
    @location(1) value: f32,
    // What share of the number is one: less than 1 where a corner has none.
    @location(2) known: f32,
}

const DARK_BAND = 0.82;

// `value` is negative where the vertex has no number: WGSL may take an infinity or a NaN for any value.
@vertex
fn vertex(@location(0) position: vec3f, @location(2) value: f32) -> Seen {
    let known = select(0.0, 1.0, value >= 0.0);
    return Seen(view.matrix * vec4f(position, 1.0), position, value * known, known);
}

@fragment
fn fragment(seen: Seen) -> @location(0) vec4f {
    let along_x = dpdx(seen.at);
    let along_y = dpdy(seen.at);
    let across = cross(along_x, along_y);
    let normal = across / max(length(across), 1e-30);
    let place = clamp(seen.value / scale.range, 0.0, 1.0) * 3.0;
    let below = min(u32(place), 2u);
    var color = mix(scale.colors[below].rgb, scale.colors[below + 1u].rgb, place - f32(below));
    if scale.band > 0.0 {
        let odd = floor(seen.value / scale.band) % 2.0;
        color *= select(1.0, DARK_BAND, odd == 1.0);
    }
    color = select(scale.none.rgb, color, seen.known > 0.999);
    return vec4f(color * brightness(seen.at, normal), 1.0);
}
