// No twin: `View` of src/playground/draw/gpu.rs has its layout; light.rs computes the same light on the CPU.

struct View {
    // From the world to clip space.
    matrix: mat4x4f,
    // Where the camera is; w is the width of the canvas in pixels.
    eye: vec4f,
    // The unit direction towards the light; w is the height of the canvas in pixels.
    light: vec4f,
    // The colours of marks.
    palette: array<vec4f, 8>,
    // Canvas pixels in one CSS pixel.
    density: f32,
}

@group(0) @binding(0) var<uniform> view: View;

const AMBIENT = 0.45;

// How bright a surface is: its normal is turned to the eye.
fn brightness(at: vec3f, normal: vec3f) -> f32 {
    let turned = select(normal, -normal, dot(normal, view.eye.xyz - at) < 0.0);
    return AMBIENT + (1.0 - AMBIENT) * max(dot(turned, view.light.xyz), 0.0);
}
