// A body's pose in a buffer of the caller's.

struct BodyPose {
    // Position of the hull's origin.
    position: vec3f,
    // Not read.
    padding: f32,
    // Unit quaternion, x y z w.
    rotation: vec4f,
}
