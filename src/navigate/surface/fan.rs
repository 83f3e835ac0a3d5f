//! How triangles hang together around a vertex.
//!
//! Paths pass from triangle to triangle over edges. So triangles that share a vertex but that no chain of edges connects around
//! it, as where two cones touch at their tips or where those between are not walkable, each have a vertex of their own there:
//! a node.

use std::collections::HashSet;

use super::mesh::{MANY, Mesh, NONE, next, previous};

/// How the triangles around a vertex hang together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fan {
    /// All around.
    Closed,
    /// From rim to rim.
    Open,
    /// With three or more at an edge.
    Many,
}

/// A walk around a vertex, and its memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Walk {
    /// The corners that the last walk came to.
    pub(super) corners: Vec<u32>,
    walked: HashSet<u32>,
}

impl Walk {
    /// Finds the corners of a corner's vertex that edges of open triangles connect.
    pub(super) fn around(&mut self, mesh: &Mesh, is_open: impl Fn(u32) -> bool, corner: u32) -> Fan {
        self.corners.clear();
        self.corners.push(corner);
        // By the side that begins at the corner, and where that way ends by the one that ends there.
        for (mut exit, mut begins) in [(corner, true), (previous(corner), false)] {
            loop {
                let (face, k) = (&mesh.faces[exit as usize / 3], exit as usize % 3);
                let (entry, agrees) = (face.across[k], face.agrees >> k & 1 == 1);
                if entry == MANY {
                    self.around_many(mesh, is_open, corner);
                    return Fan::Many;
                }
                if entry == NONE || !is_open(entry / 3) {
                    break;
                }
                // The side across begins there too, or it ends there.
                let own = if begins == agrees { next(entry) } else { entry };
                if own == corner {
                    return Fan::Closed;
                }
                self.corners.push(own);
                begins = own != entry;
                exit = if begins { own } else { previous(own) };
            }
        }
        Fan::Open
    }

    /// [`around`](Self::around) where an edge has three triangles or more.
    fn around_many(&mut self, mesh: &Mesh, is_open: impl Fn(u32) -> bool, corner: u32) {
        self.corners.clear();
        self.corners.push(corner);
        self.walked.clear();
        self.walked.insert(corner);
        let vertex = mesh.triangles[corner as usize / 3][corner as usize % 3];
        let mut at = 0;
        while let Some(&corner) = self.corners.get(at) {
            at += 1;
            for other in [corner, previous(corner)].into_iter().flat_map(|side| mesh.beyond(side)) {
                if !is_open(other / 3) {
                    continue;
                }
                let begins_here = mesh.triangles[other as usize / 3][other as usize % 3] == vertex;
                let own = if begins_here { other } else { next(other) };
                if self.walked.insert(own) {
                    self.corners.push(own);
                }
            }
        }
    }
}

/// The node of each corner.
#[derive(Debug, Clone)]
pub(super) struct Nodes {
    /// None where each vertex is one node, of the same index.
    corners: Option<Vec<[u32; 3]>>,
    pub(super) count: usize,
}

impl Nodes {
    /// A vertex's first node has its index; further ones come after all vertices.
    pub(super) fn new(mesh: &Mesh, is_open: impl Fn(u32) -> bool) -> Self {
        let mut walk = Walk::default();
        let mut corners = vec![[NONE; 3]; mesh.triangle_count()];
        let mut is_taken = vec![false; mesh.points.len()];
        let mut count = mesh.points.len();
        for triangle in (0..mesh.triangle_count() as u32).filter(|&triangle| is_open(triangle)) {
            for corner in 3 * triangle..3 * triangle + 3 {
                let [triangle, k] = [corner as usize / 3, corner as usize % 3];
                if corners[triangle][k] != NONE {
                    continue;
                }
                let mut node = mesh.triangles[triangle][k];
                if std::mem::replace(&mut is_taken[node as usize], true) {
                    node = count as u32;
                    count += 1;
                }
                walk.around(mesh, &is_open, corner);
                for &corner in &walk.corners {
                    corners[corner as usize / 3][corner as usize % 3] = node;
                }
            }
        }
        Self { corners: Some(corners).filter(|_| count > mesh.points.len()), count }
    }

    /// The nodes of each triangle.
    pub(super) fn of<'a>(&'a self, mesh: &'a Mesh) -> &'a [[u32; 3]] {
        self.corners.as_deref().unwrap_or(&mesh.triangles)
    }
}
