//! The lines over a surface: paths and their ends.

use glam::Vec3;

use crate::playground::draw::camera::Camera;
use crate::playground::draw::line::Line;
use crate::playground::draw::palette::{Color, rgb};

/// How far lines are moved towards the camera, as a share of the way: their places on the canvas stay.
const LIFT: f32 = 0.003;
/// How far what is hidden is moved towards the camera: before all that is not right before it.
const GHOST_LIFT: f32 = 0.8;
/// The radius of an end, in pixels of the page.
const END_RADIUS: f32 = 8.0;

/// The colours are those of both themes: the bands below are too.
const GEODESIC: Color = rgb(0xd81b60);
const FUNNEL: Color = rgb(0x14181d);
const EDGE: Color = rgb(0xffffff);

/// Lines that are seen from a camera on a canvas.
#[derive(Debug)]
pub(super) struct Lines {
    eye: Vec3,
    across: [Vec3; 2],
    /// The drawn length of a pixel of the page, at the distance 1 from the camera.
    pixel: f32,
    /// Pixels of the picture in one of the page.
    ratio: f32,
    lines: Vec<Line>,
}

impl Lines {
    /// None yet, on a canvas of this size; widths are multiplied by `ratio`.
    pub(super) fn new(camera: &Camera, canvas: [f32; 2], ratio: f32) -> Self {
        let pixel = camera.height_at_target(canvas) / canvas[1].max(1.0) / camera.distance;
        Self { eye: camera.eye(), across: camera.across(), pixel, ratio, lines: Vec::new() }
    }

    /// The lines.
    pub(super) fn finish(self) -> Vec<Line> {
        self.lines
    }

    /// The lift of what is before the surface by as much as this many pixels are wide: half its width, so that it does not sink into a slope.
    fn lift(&self, pixels: f32) -> f32 {
        (LIFT + pixels * self.pixel).min(0.5)
    }

    fn push(&mut self, [from, to]: [Vec3; 2], width: f32, color: Color, lift: f32) {
        let lifted = |at: Vec3| at.lerp(self.eye, lift).to_array();
        let line = Line { from: lifted(from), width: width * self.ratio, to: lifted(to), color };
        self.lines.push(line);
    }

    /// The shortest path: a line with a light edge.
    pub(super) fn geodesic(&mut self, points: &[Vec3]) {
        for (width, color, lift) in [(6.0, EDGE, self.lift(3.0)), (3.5, GEODESIC, self.lift(9.0))] {
            for pair in points.windows(2) {
                self.push([pair[0], pair[1]], width, color, lift);
            }
        }
    }

    /// What is hidden of the shortest path, and of its ends: a thin line before all else. Where the path is seen it has the same colour.
    pub(super) fn ghost(&mut self, points: &[Vec3], ends: &[Vec3]) {
        let middle = points.get(points.len() / 2).copied().unwrap_or_default();
        let pixel = self.pixel * middle.distance(self.eye);
        for piece in dashes(points, 3.0 * pixel, 3.0 * pixel) {
            self.push(piece, 1.5, GEODESIC, GHOST_LIFT);
        }
        for &end in ends {
            self.disc(end, 2.5 * self.pixel * end.distance(self.eye), GEODESIC, GHOST_LIFT);
        }
    }

    /// The funnel's path: dashes with a light edge, under the shortest path.
    pub(super) fn funnel(&mut self, points: &[Vec3]) {
        let middle = points.get(points.len() / 2).copied().unwrap_or_default();
        let pixel = self.pixel * middle.distance(self.eye);
        let pieces = dashes(points, 9.0 * pixel, 6.0 * pixel);
        for (width, color, lift) in [(5.0, EDGE, self.lift(1.0)), (2.5, FUNNEL, self.lift(5.0))] {
            for &piece in &pieces {
                self.push(piece, width, color, lift);
            }
        }
    }

    /// An end of the path, turned to the camera: the start is a disc, the goal a ring with a point. A chosen one has a ring more.
    pub(super) fn end(&mut self, at: Vec3, is_goal: bool, is_chosen: bool) {
        let pixel = self.pixel * at.distance(self.eye);
        // Before the paths too.
        let lift = self.lift(END_RADIUS + 10.0);
        let mut rings = vec![(END_RADIUS + 2.5, EDGE), (END_RADIUS, GEODESIC)];
        if is_chosen {
            // Light and dark, as the page is one of them.
            rings.splice(0..0, [(END_RADIUS + 7.0, EDGE), (END_RADIUS + 5.0, FUNNEL)]);
        }
        if is_goal {
            rings.extend([(END_RADIUS - 3.0, EDGE), (2.5, GEODESIC)]);
        }
        for (number, (radius, color)) in rings.into_iter().enumerate() {
            self.disc(at, radius * pixel, color, lift + 0.001 * number as f32);
        }
    }

    fn disc(&mut self, middle: Vec3, radius: f32, color: Color, lift: f32) {
        let pixel = self.pixel * middle.distance(self.eye);
        let [right, up] = self.across;
        let rows = (radius / pixel).round().max(1.0) as i32;
        for row in -rows..=rows {
            let height = radius * row as f32 / rows as f32;
            // Rounded caps would be wider than the disc.
            let half = (radius * radius - height * height).max(0.0).sqrt() - 0.4 * pixel;
            if half > 0.0 {
                let at = middle + height * up;
                self.push([at - half * right, at + half * right], 1.5, color, lift);
            }
        }
    }
}

/// The dashes of a polyline: `on` long, `off` apart.
fn dashes(points: &[Vec3], on: f32, off: f32) -> Vec<[Vec3; 2]> {
    let mut pieces = Vec::new();
    let (mut is_on, mut left) = (true, on);
    for pair in points.windows(2) {
        let [mut from, to] = [pair[0], pair[1]];
        let mut rest = from.distance(to);
        // A dash of no length would never end.
        while rest > left && left > 0.0 {
            let at = from.lerp(to, left / rest);
            if is_on {
                pieces.push([from, at]);
            }
            (from, rest) = (at, rest - left);
            is_on = !is_on;
            left = if is_on { on } else { off };
        }
        if is_on && rest > 0.0 {
            pieces.push([from, to]);
        }
        left -= rest;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_go_on_about_corners() {
        let corner = [Vec3::ZERO, 3.0 * Vec3::X, Vec3::new(3.0, 3.0, 0.0)];
        let pieces = dashes(&corner, 2.0, 0.5);
        let lengths: Vec<f32> = pieces.iter().map(|[from, to]| from.distance(*to)).collect();
        assert_eq!(lengths, [2.0, 0.5, 1.5, 1.0]);
        assert_eq!(dashes(&corner, 0.0, 0.0).len(), 2);
        assert!(dashes(&[], 1.0, 1.0).is_empty());
    }

    #[test]
    fn a_ghost_is_before_all_else_and_stays_in_its_place() {
        let camera = Camera::around(1.0);
        let mut lines = Lines::new(&camera, [300.0, 200.0], 1.0);
        let points = [Vec3::new(0.0, 0.0, -0.9), Vec3::new(0.4, 0.1, -0.8)];
        lines.ghost(&points, &[]);
        let matrix = camera.view_projection(1.5);
        // The nearest point of the ball that holds every model.
        let nearest = matrix.project_point3(camera.eye().normalize()).z;
        let ghost = lines.finish();
        assert!(ghost.len() > 5);
        for line in &ghost {
            assert!(matrix.project_point3(Vec3::from(line.from)).z < nearest);
        }
        let [seen, before] = [Vec3::from(ghost[0].from), points[0]].map(|at| matrix.project_point3(at));
        assert!((seen - before).truncate().length() < 1e-5);
    }

    #[test]
    fn what_is_lifted_stays_in_its_place_on_the_canvas() {
        let camera = Camera::around(1.0);
        let mut lines = Lines::new(&camera, [300.0, 200.0], 1.0);
        let points = [Vec3::new(0.3, 0.2, 0.1), Vec3::new(-0.4, 0.1, 0.6)];
        lines.geodesic(&points);
        let matrix = camera.view_projection(1.5);
        for line in lines.finish() {
            for (drawn, at) in [(line.from, points[0]), (line.to, points[1])] {
                let [seen, before] = [Vec3::from(drawn), at].map(|at| matrix.project_point3(at));
                assert!((seen - before).truncate().length() < 1e-5 && seen.z < before.z);
            }
        }
    }
}
