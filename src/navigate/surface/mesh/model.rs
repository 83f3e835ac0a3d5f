//! The models of which a surface is built.

/// A model: points, and faces of three or more corners over them, placed by a transform.
///
/// ```
/// use hullfield::navigate::surface::Model;
///
/// let square = Model::polygons(vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2, 3]]);
/// assert_eq!(square.face_count(), 1);
/// let moved = square.with_transform([[1.0, 0.0, 0.0, 5.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
/// assert_eq!(moved.place([0.0, 1.0, 0.0]), [5.0, 1.0, 0.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    points: Vec<[f64; 3]>,
    corners: Vec<u32>,
    /// Where the corners of each face begin, and where the last face ends; empty where all faces are triangles. There may be more than
    /// 2³² corners; the build then refuses the model.
    starts: Vec<usize>,
    transform: [[f64; 4]; 3],
}

/// The identity transform.
const IDENTITY: [[f64; 4]; 3] = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

impl Model {
    /// A model of triangles, each three indices of points. Indices are checked when a surface is built.
    pub fn triangles(points: Vec<[f64; 3]>, triangles: &[[u32; 3]]) -> Self {
        Self { points, corners: triangles.as_flattened().to_vec(), starts: Vec::new(), transform: IDENTITY }
    }

    /// A model of polygons, each the indices of its corners in order. Indices are checked when a surface is built.
    ///
    /// A polygon becomes the fan of triangles from its first corner. Where a triangle of the fan would turn over, as it may in a polygon
    /// that is not convex, it becomes a constrained Delaunay triangulation, seen along its normal. The corners need not lie in one plane.
    /// The surface's [report](crate::navigate::surface::Report::not_simple) lists polygons that are not simple.
    pub fn polygons<P: AsRef<[u32]>>(points: Vec<[f64; 3]>, polygons: impl IntoIterator<Item = P>) -> Self {
        let (mut corners, mut starts) = (Vec::new(), vec![0]);
        for polygon in polygons {
            corners.extend_from_slice(polygon.as_ref());
            starts.push(corners.len());
        }
        Self { points, corners, starts, transform: IDENTITY }
    }

    /// The same model with another transform: the three rows of an affine matrix (3×4, translation in the last column) from the model's
    /// frame to the surface's. It may scale and mirror.
    #[must_use]
    pub fn with_transform(self, transform: [[f64; 4]; 3]) -> Self {
        Self { transform, ..self }
    }

    /// The points, in the model's own frame.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// The number of faces.
    pub fn face_count(&self) -> usize {
        if self.starts.is_empty() { self.corners.len() / 3 } else { self.starts.len() - 1 }
    }

    /// The corners of a face, as indices of points; empty for a face that does not exist.
    pub fn face(&self, face: usize) -> &[u32] {
        let range = if self.starts.is_empty() {
            face.saturating_mul(3)..face.saturating_mul(3).saturating_add(3)
        } else {
            let at = |i: usize| self.starts.get(i).copied().unwrap_or(usize::MAX);
            at(face)..at(face.saturating_add(1))
        };
        self.corners.get(range).unwrap_or(&[])
    }

    /// Transforms a point from the model's frame to the surface's.
    pub fn place(&self, point: [f64; 3]) -> [f64; 3] {
        if self.transform == IDENTITY {
            return point;
        }
        self.transform.map(|[x, y, z, w]| x * point[0] + y * point[1] + z * point[2] + w)
    }
}
