//! A camera that orbits a point.

use glam::{Mat4, Vec3, Vec4};

/// A camera that orbits a point. `y` is up; lengths are in the scene's units, angles in radians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// The point that it looks at.
    pub target: Vec3,
    /// Angle about the vertical axis; 0 looks along −z.
    pub yaw: f32,
    /// Angle above the horizon.
    pub pitch: f32,
    /// Distance from the target.
    pub distance: f32,
}

/// The vertical angle of view.
const VIEW_ANGLE: f32 = 0.8;

impl Camera {
    /// A camera that shows a ball of this radius about the origin.
    pub fn around(radius: f32) -> Self {
        Self { target: Vec3::ZERO, yaw: 0.6, pitch: 0.4, distance: radius / (VIEW_ANGLE / 2.0).sin() }
    }

    /// Looks at points so that they fill a square canvas but for a margin, and are in its middle. The angles stay. Where the points have no
    /// extent, it stays as it is.
    pub fn frame(&mut self, points: impl Iterator<Item = Vec3> + Clone) {
        const FILLED: f32 = 0.9;
        // A near point is seen larger from nearer, so the view is found in some steps.
        for _ in 0..8 {
            let matrix = self.view_projection(1.0);
            let empty = [Vec3::INFINITY, Vec3::NEG_INFINITY];
            let seen = points.clone().map(|point| matrix.project_point3(point));
            let [low, high] = seen.fold(empty, |[low, high], at| [low.min(at), high.max(at)]);
            let (middle, half) = ((low + high) / 2.0, (high - low).truncate().max_element() / 2.0);
            if !(half > 0.0 && half.is_finite() && middle.is_finite()) {
                return;
            }
            let [right, up] = self.across();
            let unit = self.distance * (VIEW_ANGLE / 2.0).tan();
            self.target += unit * (middle.x * right + middle.y * up);
            self.distance *= (half / FILLED).clamp(0.5, 2.0);
        }
    }

    /// Where it is.
    pub fn eye(&self) -> Vec3 {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        self.target + self.distance * Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch)
    }

    /// From the world to clip space, whose depth is 0 near and 1 far. `aspect` is width over height.
    ///
    /// On a canvas that is higher than wide, the angle is that of the width, so that the same ball is seen whole.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        let half = (VIEW_ANGLE / 2.0).tan();
        let (near, far) = (0.02 * self.distance, 20.0 * self.distance);
        let up = half / aspect.min(1.0);
        let depth = far / (near - far);
        let projection = Mat4::from_cols(
            Vec4::new(1.0 / (up * aspect), 0.0, 0.0, 0.0),
            Vec4::new(0.0, 1.0 / up, 0.0, 0.0),
            Vec4::new(0.0, 0.0, depth, -1.0),
            Vec4::new(0.0, 0.0, depth * near, 0.0),
        );
        projection * self.view()
    }

    /// The unit directions right and up on the canvas.
    pub fn across(&self) -> [Vec3; 2] {
        let back = (self.eye() - self.target).normalize_or(Vec3::Z);
        let right = Vec3::Y.cross(back).normalize_or(Vec3::X);
        [right, back.cross(right)]
    }

    /// The height of what is seen at the target's distance, on a canvas of this size.
    pub fn height_at_target(&self, canvas: [f32; 2]) -> f32 {
        let aspect = canvas[0].max(1.0) / canvas[1].max(1.0);
        2.0 * self.distance * (VIEW_ANGLE / 2.0).tan() / aspect.min(1.0)
    }

    /// From the world to the camera's frame: right, up, back.
    fn view(&self) -> Mat4 {
        let eye = self.eye();
        let [right, up] = self.across();
        let back = right.cross(up);
        let row = |x: f32, y: f32, z: f32| Vec4::new(x, y, z, 0.0);
        let at = |axis: Vec3| -axis.dot(eye);
        Mat4::from_cols(
            row(right.x, up.x, back.x),
            row(right.y, up.y, back.y),
            row(right.z, up.z, back.z),
            Vec4::new(at(right), at(up), at(back), 1.0),
        )
    }

    /// The ray through a point of the canvas: its origin and its unit direction. `point` counts from the canvas's centre, −1 to 1, right and up.
    pub fn ray(&self, point: [f32; 2], aspect: f32) -> (Vec3, Vec3) {
        let back = self.view_projection(aspect).inverse();
        let far = back.project_point3(Vec3::new(point[0], point[1], 1.0));
        (self.eye(), (far - self.eye()).normalize_or_zero())
    }

    /// Turns by these angles; never over the poles.
    pub fn turn(&mut self, yaw: f32, pitch: f32) {
        self.yaw = (self.yaw + yaw) % std::f32::consts::TAU;
        self.pitch = (self.pitch + pitch).clamp(-1.5, 1.5);
    }

    /// Moves nearer (below 1) or away (above 1); `range` limits the distance.
    pub fn zoom(&mut self, factor: f32, range: [f32; 2]) {
        self.distance = (self.distance * factor).clamp(range[0], range[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_in_the_middle_and_up_is_up() {
        let camera = Camera { target: Vec3::new(1.0, 2.0, 3.0), ..Camera::around(2.0) };
        let matrix = camera.view_projection(1.5);
        let middle = matrix.project_point3(camera.target);
        assert!(middle.x.abs() < 1e-5 && middle.y.abs() < 1e-5 && (0.0..1.0).contains(&middle.z), "{middle}");
        let above = matrix.project_point3(camera.target + Vec3::Y);
        assert!(above.y > 0.1 && above.x.abs() < 1e-5, "{above}");
    }

    #[test]
    fn depth_grows_with_the_distance() {
        let camera = Camera::around(1.0);
        let matrix = camera.view_projection(1.0);
        let toward = (camera.eye() - camera.target).normalize();
        let [near, far] = [0.5, -0.5].map(|step| matrix.project_point3(step * toward).z);
        assert!(0.0 < near && near < far && far < 1.0, "{near} {far}");
    }

    #[test]
    fn a_ball_is_seen_whole_on_wide_and_on_high_canvases() {
        let camera = Camera::around(1.0);
        for aspect in [0.4, 1.0, 2.5] {
            let matrix = camera.view_projection(aspect);
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                for end in [-0.999, 0.999] {
                    let seen = matrix.project_point3(end * axis);
                    assert!(seen.x.abs() <= 1.0 && seen.y.abs() <= 1.0, "{aspect} {axis} {seen}");
                }
            }
        }
    }

    #[test]
    fn what_is_framed_is_in_the_middle_and_fills_the_canvas() {
        let corners = |low: Vec3, high: Vec3| {
            (0..8).map(move |at| Vec3::select([1, 2, 4].map(|bit| at & bit == 0).into(), low, high))
        };
        for (low, high) in
            [(Vec3::splat(-3.0), Vec3::splat(3.0)), (Vec3::new(-1.0, 0.2, -0.5), Vec3::new(0.4, 0.3, 2.0))]
        {
            let mut camera = Camera::around(high.distance(low) / 2.0);
            camera.frame(corners(low, high));
            let matrix = camera.view_projection(1.0);
            let seen: Vec<Vec3> = corners(low, high).map(|corner| matrix.project_point3(corner)).collect();
            for axis in 0..2 {
                let least = seen.iter().map(|at| at[axis]).fold(f32::INFINITY, f32::min);
                let most = seen.iter().map(|at| at[axis]).fold(f32::NEG_INFINITY, f32::max);
                assert!((least + most).abs() < 0.02, "{least} {most}");
                assert!(most - least <= 1.82, "{least} {most}");
            }
            let widest = seen.iter().map(|at| at.x.abs().max(at.y.abs())).fold(0.0, f32::max);
            assert!((widest - 0.9).abs() < 0.02, "{widest}");
        }
        let mut camera = Camera::around(1.0);
        camera.frame(std::iter::once(Vec3::ZERO));
        assert_eq!(camera, Camera::around(1.0));
    }

    #[test]
    fn the_ray_of_a_point_meets_what_is_drawn_there() {
        let camera = Camera::around(3.0);
        let point = Vec3::new(0.7, -0.3, 1.1);
        let seen = camera.view_projection(1.3).project_point3(point);
        let (origin, direction) = camera.ray([seen.x, seen.y], 1.3);
        let along = (point - origin).dot(direction);
        assert!((origin + along * direction).distance(point) < 1e-3);
    }
}
