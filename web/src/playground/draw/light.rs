//! The view that both renderers draw, and its light.

use glam::{Mat4, Vec3};

use crate::playground::draw::camera::Camera;

/// A camera's view of a canvas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// From the world to clip space; depth is 0 near and 1 far.
    pub matrix: Mat4,
    /// Where the camera is.
    pub eye: Vec3,
    /// The unit direction towards the light, which comes from above the camera's right shoulder.
    pub light: Vec3,
}

/// The share of light that reaches what is turned away from it.
pub const AMBIENT: f32 = 0.45;

impl View {
    /// The view of a camera on a canvas of this many pixels.
    pub fn new(camera: &Camera, size: [u32; 2]) -> Self {
        let aspect = size[0].max(1) as f32 / size[1].max(1) as f32;
        let eye = camera.eye();
        let back = (eye - camera.target).normalize_or(Vec3::Z);
        let right = Vec3::Y.cross(back).normalize_or(Vec3::X);
        let light = (back + 0.4 * right + 0.7 * Vec3::Y).normalize_or(Vec3::Y);
        Self { matrix: camera.view_projection(aspect), eye, light }
    }

    /// How bright a surface with this unit normal is at this point, [`AMBIENT`] to 1. Both sides are lit: the normal is turned to the eye.
    pub fn brightness(&self, point: Vec3, normal: Vec3) -> f32 {
        let normal = if normal.dot(self.eye - point) < 0.0 { -normal } else { normal };
        AMBIENT + (1.0 - AMBIENT) * normal.dot(self.light).max(0.0)
    }
}
