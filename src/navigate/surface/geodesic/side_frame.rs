//! The plane frame of a side of a triangle.

use glam::DVec3;

use crate::navigate::surface::mesh::topology::Mesh;

/// The frame of a side: along it, and from it into its triangle.
pub(crate) struct SideFrame {
    origin: DVec3,
    direction: DVec3,
    pub(crate) width: f64,
}

impl SideFrame {
    pub(crate) fn new(mesh: &Mesh, side: u32) -> Self {
        let [origin, end] = mesh.ends(side).map(|vertex| mesh.points[vertex as usize]);
        let width = origin.distance(end);
        Self { origin, direction: (end - origin) / width, width }
    }

    /// The coordinates of a point of the side's triangle.
    pub(crate) fn local(&self, point: DVec3) -> (f64, f64) {
        let offset = point - self.origin;
        (offset.dot(self.direction), offset.cross(self.direction).length())
    }
}
