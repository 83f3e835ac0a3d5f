//! A surface with its mesh for drawing: about the origin, in the unit ball, whatever its place and its units are.

use glam::{DVec3, Vec3};
use hullfield::navigate::surface::{Point, Surface};

use crate::playground::draw::mesh::Mesh;

/// A surface and what is drawn of it.
#[derive(Debug)]
pub(super) struct Loaded {
    /// The surface, in the units of its model.
    pub(super) surface: Surface,
    /// Its mesh, in the unit ball, with the surface's vertices in their order.
    pub(super) mesh: Mesh,
    middle: DVec3,
    /// The radius of the ball, in the model's units.
    pub(super) radius: f64,
}

impl Loaded {
    /// A surface, fitted to the unit ball. None where it has no extent that f64 can hold.
    pub(super) fn new(surface: Surface) -> Option<Self> {
        let [low, high] = surface.bounds().map(DVec3::from);
        let middle = low / 2.0 + high / 2.0;
        let radius = surface.vertices().map(|at| DVec3::from(at).distance(middle)).fold(0.0, f64::max);
        if !(radius > 0.0 && radius.is_finite()) {
            return None;
        }
        let drawn = |at: [f64; 3]| ((DVec3::from(at) - middle) / radius).as_vec3().to_array();
        let mesh = Mesh::smooth(surface.vertices().map(drawn).collect(), surface.triangles().to_vec());
        Some(Self { surface, mesh, middle, radius })
    }

    /// Where a point of the surface is drawn.
    pub(super) fn drawn(&self, at: [f64; 3]) -> Vec3 {
        ((DVec3::from(at) - self.middle) / self.radius).as_vec3()
    }

    /// The point of the model that is drawn here.
    pub(super) fn model(&self, at: DVec3) -> [f64; 3] {
        (self.middle + self.radius * at).to_array()
    }

    /// The point of the surface nearest to what is drawn here.
    pub(super) fn nearest(&self, at: DVec3) -> Option<Point> {
        self.surface.nearest_point(self.model(at)).ok().flatten()
    }

    /// The corners of a triangle, in the model's units. None where there is no such triangle.
    fn corners(&self, triangle: u32) -> Option<[DVec3; 3]> {
        let corners = self.surface.triangles().get(triangle as usize)?;
        let at = |index: u32| self.surface.vertices().nth(index as usize).map(DVec3::from);
        Some([at(corners[0])?, at(corners[1])?, at(corners[2])?])
    }

    /// The point of a triangle with these barycentric coordinates of its second and third corner. None where it is not on the triangle.
    pub(super) fn at(&self, triangle: u32, [second, third]: [f64; 2]) -> Option<Point> {
        let [a, b, c] = self.corners(triangle)?;
        let is_inside = second >= 0.0 && third >= 0.0 && second + third <= 1.0;
        let position = (a + second * (b - a) + third * (c - a)).to_array();
        is_inside.then_some(Point { triangle, position, distance: 0.0 })
    }

    /// The barycentric coordinates of a point for the second and third corner of its triangle, to five digits.
    pub(super) fn barycentric(&self, point: &Point) -> [f64; 2] {
        let Some([a, b, c]) = self.corners(point.triangle) else { return [0.0; 2] };
        let (u, v, w) = (b - a, c - a, DVec3::from(point.position) - a);
        let (uu, uv, vv, wu, wv) = (u.dot(u), u.dot(v), v.dot(v), w.dot(u), w.dot(v));
        let area = uu * vv - uv * uv;
        let coordinates = [(vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area];
        // A zero has no sign in a link.
        let round = |at: f64| if at.is_finite() { (1e5 * at).round() / 1e5 + 0.0 } else { 0.0 };
        let second = round(coordinates[0]).clamp(0.0, 1.0);
        [second, round(coordinates[1]).clamp(0.0, 1.0 - second)]
    }
}
