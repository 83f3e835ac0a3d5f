//! The camera: its pose, and the projection of points of the world.

use glam::{Mat3, Vec2, Vec3};

/// The pose of the camera and the bounds of the scene. y is up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    /// Position of the camera.
    pub(crate) eye: Vec3,
    /// The point in the middle of the picture.
    pub(crate) target: Vec3,
    /// Vertical field of view, radians.
    pub(crate) field: f32,
    /// Height of the ground.
    pub(crate) ground: f32,
    /// Radius of the scene around the target: what the shadow map must cover.
    pub(crate) extent: f32,
    /// A typical distance between neighbouring things: the scale of occlusion.
    pub(crate) near_length: f32,
}

/// A camera: its frame and its scale.
#[derive(Debug)]
pub(super) struct Camera {
    pub(super) eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    /// Samples per unit of x over depth.
    scale: f32,
    middle: Vec2,
    /// From the world to columns and rows of the sample grid times depth, and depth.
    to_grid: Mat3,
}

impl Camera {
    pub(super) fn new(view: &View, width: usize, height: usize) -> Self {
        let forward = (view.target - view.eye).normalize_or(Vec3::NEG_Z);
        let right = forward.cross(Vec3::Y).normalize_or(Vec3::X);
        let up = right.cross(forward);
        let scale = 0.5 * height as f32 / (0.5 * view.field).tan();
        let middle = Vec2::new(0.5 * width as f32, 0.5 * height as f32);
        let rows = [right * scale + forward * middle.x, forward * middle.y - up * scale, forward];
        let to_grid = Mat3::from_cols(rows[0], rows[1], rows[2]).transpose();
        Self { eye: view.eye, right, up, forward, scale, middle, to_grid }
    }

    /// A vector of the world in the camera's frame: right, up, forward.
    pub(super) fn to_camera(&self, vector: Vec3) -> Vec3 {
        Vec3::new(vector.dot(self.right), vector.dot(self.up), vector.dot(self.forward))
    }

    /// A vector of the picture's plane (right, up) in the world.
    pub(super) fn to_world(&self, flat: Vec2) -> Vec3 {
        self.right * flat.x + self.up * flat.y
    }

    /// The position of a point on the sample grid, and 1 / depth.
    pub(super) fn project(&self, point: Vec3) -> (Vec2, f32) {
        divided(self.to_grid * (point - self.eye))
    }

    /// Projects points that are given in a frame: the columns of `axes` are its axes.
    pub(super) fn projection(&self, origin: Vec3, axes: Mat3) -> Projection {
        Projection { origin: self.to_grid * (origin - self.eye), axes: self.to_grid * axes }
    }

    /// The direction through a sample, of depth 1.
    pub(super) fn ray(&self, x: f32, y: f32) -> Vec3 {
        let flat = (Vec2::new(x, y) - self.middle) / self.scale;
        self.forward + self.right * flat.x - self.up * flat.y
    }
}

/// The projection of points of a frame onto the sample grid, in homogeneous coordinates.
#[derive(Debug)]
pub(super) struct Projection {
    origin: Vec3,
    axes: Mat3,
}

impl Projection {
    /// The position of a point of the frame on the sample grid, and 1 / depth.
    pub(super) fn project(&self, point: Vec3) -> (Vec2, f32) {
        divided(self.origin + self.axes * point)
    }
}

/// Columns and rows of the sample grid, and 1 / depth.
fn divided(homogeneous: Vec3) -> (Vec2, f32) {
    let nearness = 1.0 / homogeneous.z;
    (homogeneous.truncate() * nearness, nearness)
}
