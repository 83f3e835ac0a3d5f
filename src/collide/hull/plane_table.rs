//! Plane tables of hulls, for rays and points: a hull as the points below all of its planes, in f64.

use std::sync::OnceLock;

use glam::DVec3;

use crate::collide::hull::{Dimension, Hull};

/// Planes in a block.
pub(crate) const LANES: usize = 4;

/// Four planes, coordinate by coordinate, so that a test of all four is a few vector instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlaneBlock {
    /// Unit outward normals, in the hull's frame.
    pub(crate) normal: [[f64; LANES]; 3],
    /// Height of the planes above the mean of the vertices, in the hull's units.
    pub(crate) offset: [f64; LANES],
}

impl PlaneBlock {
    /// Planes that are above every point.
    const EMPTY: Self = Self { normal: [[0.0; LANES]; 3], offset: [f64::INFINITY; LANES] };
}

/// The planes and the vertices of a hull, about the mean of the vertices and in the hull's units.
///
/// The planes of a solid are those of its faces, in their order. Those of a polygon are its two faces, then one for each edge, perpendicular
/// to it. Other hulls have none.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlaneTable {
    pub(crate) blocks: Vec<PlaneBlock>,
    /// Planes from this number on are no faces.
    pub(crate) face_count: u32,
    pub(crate) vertices: Vec<DVec3>,
}

impl PlaneTable {
    pub(crate) fn new(hull: &Hull) -> Self {
        let mean = DVec3::from(hull.mean());
        let vertices: Vec<DVec3> =
            hull.vertices().iter().map(|v| DVec3::from(v.map(f64::from)) - mean).collect();
        let mut normals: Vec<DVec3> = hull.planes().map(|plane| DVec3::from(plane.normal)).collect();
        let face_count = normals.len() as u32;
        if hull.dimension() == Dimension::Polygon
            && let (Some(&up), Some(outline)) = (normals.first(), hull.faces().next())
        {
            let corner = |at: usize| vertices[outline[at % outline.len()] as usize];
            let side = |at: usize| (corner(at + 1) - corner(at)).cross(up).normalize();
            let sides: Vec<DVec3> = (0..outline.len()).map(side).collect();
            // Exactly opposite, so that no line through the polygon leaves by one face before it enters by the other.
            normals.truncate(1);
            normals.push(-up);
            normals.extend(sides);
        }
        // Over all vertices, so that none is above a plane by more than a rounding. One face has few of them.
        let faces: Vec<&[u32]> = hull.faces().collect();
        let height = |at: usize, normal: DVec3| match faces.get(at) {
            Some(face) => {
                let heights = face.iter().map(|&v| normal.dot(vertices[v as usize]));
                heights.fold(f64::NEG_INFINITY, f64::max)
            }
            None => vertices.iter().map(|&v| normal.dot(v)).fold(f64::NEG_INFINITY, f64::max),
        };
        let mut blocks = vec![PlaneBlock::EMPTY; normals.len().div_ceil(LANES)];
        for (at, &normal) in normals.iter().enumerate() {
            let (block, lane) = (&mut blocks[at / LANES], at % LANES);
            for k in 0..3 {
                block.normal[k][lane] = normal[k];
            }
            block.offset[lane] = height(at, normal);
        }
        Self { blocks, face_count, vertices }
    }

    /// The normal of a plane.
    pub(crate) fn normal(&self, plane: usize) -> DVec3 {
        let (block, lane) = (&self.blocks[plane / LANES], plane % LANES);
        DVec3::new(block.normal[0][lane], block.normal[1][lane], block.normal[2][lane])
    }
}

/// The plane tables of an arena's hulls, each made when it is first used.
#[derive(Debug)]
pub(crate) struct PlaneTables(Vec<OnceLock<PlaneTable>>);

impl PlaneTables {
    /// Empty tables for so many hulls.
    pub(crate) fn new(hull_count: usize) -> Self {
        Self((0..hull_count).map(|_| OnceLock::new()).collect())
    }

    /// Keeps the tables of the first hulls, and makes room for others.
    pub(crate) fn replace_after(&mut self, kept: usize, hull_count: usize) {
        self.0.truncate(kept);
        self.0.resize_with(hull_count, OnceLock::new);
    }

    pub(crate) fn of(&self, hulls: &[Hull], hull: u32) -> &PlaneTable {
        self.0[hull as usize].get_or_init(|| PlaneTable::new(&hulls[hull as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polygon_is_the_points_below_its_faces_and_sides() {
        let triangle = Hull::triangle([[0.0; 3], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]).unwrap();
        let table = PlaneTable::new(&triangle);
        assert_eq!((table.face_count, table.blocks.len(), table.vertices.len()), (2, 2, 3));
        let is_inside = |point: DVec3| {
            (0..5).all(|at| {
                let (block, lane) = (&table.blocks[at / LANES], at % LANES);
                table.normal(at).dot(point - DVec3::new(1.0, 1.0, 0.0)) <= block.offset[lane] + 1e-15
            })
        };
        assert!(is_inside(DVec3::ZERO) && is_inside(DVec3::X) && is_inside(DVec3::new(1.5, 1.5, 0.0)));
        assert!(!is_inside(DVec3::new(1.0, 1.0, 1e-9)) && !is_inside(DVec3::new(1.6, 1.5, 0.0)));
        assert!(!is_inside(DVec3::new(-1e-9, 1.0, 0.0)) && !is_inside(DVec3::new(1.0, -1e-9, 0.0)));
    }

    #[test]
    fn hulls_without_faces_have_no_planes() {
        for hull in [Hull::ball(1.0).unwrap(), Hull::half_space()] {
            let table = PlaneTable::new(&hull);
            assert_eq!((table.blocks.len(), table.face_count), (0, 0));
        }
    }
}
