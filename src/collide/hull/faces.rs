//! Face tables of hulls, for manifolds.

use std::sync::OnceLock;

use glam::DVec3;

use crate::collide::hull::Hull;

/// The faces of a hull, as manifolds read them.
#[derive(Debug, Default)]
pub(crate) struct FaceTable {
    /// Unit outward normal and area of each face, at scale 1.
    pub(crate) faces: Vec<(DVec3, f64)>,
    /// The faces at each vertex; vertex `v`'s are `at[starts[v]..starts[v + 1]]`.
    pub(crate) starts: Vec<u32>,
    pub(crate) at: Vec<u32>,
}

impl FaceTable {
    pub(crate) fn new(hull: &Hull) -> Self {
        let corner = |v: u32| DVec3::from(hull.vertices()[v as usize].map(f64::from));
        let area = |face: &[u32]| {
            let first = corner(face[0]);
            let fan = face.windows(2).map(|edge| (corner(edge[0]) - first).cross(corner(edge[1]) - first));
            0.5 * fan.sum::<DVec3>().length()
        };
        let faces = hull
            .faces()
            .zip(hull.planes())
            .map(|(face, plane)| (DVec3::from(plane.normal), area(face)))
            .collect();
        let mut starts = vec![0_u32; hull.vertices().len() + 1];
        for &v in hull.faces().flatten() {
            starts[v as usize + 1] += 1;
        }
        for v in 1..starts.len() {
            starts[v] += starts[v - 1];
        }
        let mut next = starts.clone();
        let mut at = vec![0; starts[starts.len() - 1] as usize];
        for (index, face) in (0_u32..).zip(hull.faces()) {
            for &v in face {
                at[next[v as usize] as usize] = index;
                next[v as usize] += 1;
            }
        }
        Self { faces, starts, at }
    }
}

/// The face tables of an arena's hulls, each made when it is first used.
#[derive(Debug)]
pub(crate) struct FaceTables(Vec<OnceLock<FaceTable>>);

impl FaceTables {
    /// Empty tables for so many hulls.
    pub(crate) fn new(hull_count: usize) -> Self {
        Self((0..hull_count).map(|_| OnceLock::new()).collect())
    }

    /// Keeps the tables of the first hulls, and makes room for others.
    pub(crate) fn replace_after(&mut self, kept: usize, hull_count: usize) {
        self.0.truncate(kept);
        self.0.resize_with(hull_count, OnceLock::new);
    }

    pub(crate) fn of(&self, hulls: &[Hull], hull: u32) -> &FaceTable {
        self.0[hull as usize].get_or_init(|| FaceTable::new(&hulls[hull as usize]))
    }
}
