//! How triangles hang together around a vertex.
//!
//! Paths pass from triangle to triangle over edges. So triangles that share a vertex but that no chain of edges connects around
//! it, as where two cones touch at their tips or where those between are not walkable, each have a vertex of their own there:
//! a node.

use std::collections::HashSet;

use crate::navigate::surface::mesh::topology::{MANY, Mesh, NONE, next, previous};

/// Nodes given up, besides a quarter of all, before they are found anew.
const SPARE: usize = 1000;

/// How the triangles around a vertex hang together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fan {
    /// All around.
    Closed,
    /// From rim to rim.
    Open,
    /// With three or more at an edge.
    Many,
}

/// A walk around a vertex, and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Walk {
    /// The corners that the last walk came to.
    pub(crate) corners: Vec<u32>,
    walked: HashSet<u32>,
}

impl Walk {
    /// Finds the corners of a corner's vertex that edges of open triangles connect.
    pub(crate) fn around(&mut self, mesh: &Mesh, is_open: impl Fn(u32) -> bool, corner: u32) -> Fan {
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
pub(crate) struct Nodes {
    /// None where each vertex is one node, of the same index.
    corners: Option<Vec<[u32; 3]>>,
    pub(crate) count: usize,
    /// How many there were when they were found.
    found_count: usize,
}

impl Nodes {
    /// A vertex's first node has its index; further ones come after all vertices.
    pub(crate) fn new(mesh: &Mesh, is_open: impl Fn(u32) -> bool) -> Self {
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
        Self { corners: Some(corners).filter(|_| count > mesh.points.len()), count, found_count: count }
    }

    /// Takes note of a triangle that was opened or closed, as `is_open` says by now. False, and nothing is changed, where so many nodes
    /// were given up by now that all had better be found anew.
    pub(crate) fn update(&mut self, mesh: &Mesh, is_open: impl Fn(u32) -> bool, triangle: u32) -> bool {
        let mut count = self.count;
        if count > self.found_count + self.found_count / 4 + SPARE {
            return false;
        }
        let corners = self.corners.get_or_insert_with(|| {
            // Those of triangles that were closed until now are no nodes.
            let was_open = |other: u32| is_open(other) != (other == triangle);
            let each = mesh.triangles.iter().zip(0..);
            each.map(|(&corners, other)| if was_open(other) { corners } else { [NONE; 3] }).collect()
        });
        let mut walk = Walk::default();
        for corner in 3 * triangle..3 * triangle + 3 {
            let own = &mut corners[triangle as usize][corner as usize % 3];
            if is_open(triangle) {
                // What it connects becomes one.
                walk.around(mesh, &is_open, corner);
                let at = |&corner: &u32| corners[corner as usize / 3][corner as usize % 3];
                let known = walk.corners.iter().map(at).find(|&node| node != NONE);
                let node = known.unwrap_or_else(|| {
                    count += 1;
                    count as u32 - 1
                });
                for &corner in &walk.corners {
                    corners[corner as usize / 3][corner as usize % 3] = node;
                }
                continue;
            }
            // What it connected is told apart: the first part keeps the node.
            let vertex = mesh.triangles[triangle as usize][corner as usize % 3];
            let mut old = std::mem::replace(own, NONE);
            if old == NONE {
                continue;
            }
            let mut parts: Vec<u32> = Vec::new();
            for side in [corner, previous(corner)].into_iter().flat_map(|side| mesh.beyond(side)) {
                let begins_here = mesh.triangles[side as usize / 3][side as usize % 3] == vertex;
                let other = if begins_here { side } else { next(side) };
                if !is_open(other / 3) || parts.contains(&other) {
                    continue;
                }
                walk.around(mesh, &is_open, other);
                let node = std::mem::replace(&mut old, NONE);
                let node = if node != NONE {
                    node
                } else {
                    count += 1;
                    count as u32 - 1
                };
                for &corner in &walk.corners {
                    corners[corner as usize / 3][corner as usize % 3] = node;
                }
                parts.extend(&walk.corners);
            }
        }
        self.count = count;
        true
    }

    /// The nodes of each triangle.
    pub(crate) fn of<'a>(&'a self, mesh: &'a Mesh) -> &'a [[u32; 3]] {
        self.corners.as_deref().unwrap_or(&mesh.triangles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn mesh(points: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Mesh {
        let sources = vec![[0; 2]; triangles.len()];
        let mut mesh = Mesh { points, triangles, sources, ..Mesh::default() };
        mesh.connect();
        mesh.measure();
        mesh
    }

    /// Whether two ways to number nodes tell the same corners apart.
    fn same(a: &[[u32; 3]], b: &[[u32; 3]]) -> bool {
        let mut names = std::collections::BTreeMap::new();
        let mut back = std::collections::BTreeMap::new();
        a.as_flattened().iter().zip(b.as_flattened()).all(|(&a, &b)| {
            (a == NONE) == (b == NONE)
                && *names.entry(a).or_insert(b) == b
                && *back.entry(b).or_insert(a) == a
        })
    }

    #[test]
    fn nodes_follow_what_is_opened_and_closed() {
        let mut state = 5_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        // Complexes with three and more at an edge and parts that touch at vertices alone; and a plate, which has none of these.
        for (vertex_count, triangle_count) in [(5, 6), (8, 20), (30, 60), (6, 12), (16, 0)] {
            for _ in 0..20 {
                let mut triangles: Vec<[u32; 3]> = Vec::new();
                if triangle_count == 0 {
                    let squares = (0..9).map(|i| i / 3 * 4 + i % 3);
                    triangles.extend(squares.flat_map(|i| [[i, i + 1, i + 4], [i + 1, i + 5, i + 4]]));
                }
                while triangles.len() < triangle_count {
                    let [a, b, c] = [0; 3].map(|_| random(vertex_count) as u32);
                    if a < b && b < c && !triangles.contains(&[a, b, c]) && !triangles.contains(&[c, b, a]) {
                        triangles.push([[a, b, c], [c, b, a]][random(2)]);
                    }
                }
                let place = |i: usize| DVec3::new(i as f64, (i * i % 7) as f64, (i * i % 11) as f64);
                let mesh = mesh((0..vertex_count).map(place).collect(), triangles);
                let mut open = vec![true; mesh.triangle_count()];
                let mut nodes = Nodes::new(&mesh, |triangle| open[triangle as usize]);
                for _ in 0..200 {
                    let triangle = random(open.len());
                    open[triangle] = !open[triangle];
                    let is_open = |triangle: u32| open[triangle as usize];
                    assert!(nodes.update(&mesh, is_open, triangle as u32));
                    assert!(
                        nodes
                            .of(&mesh)
                            .as_flattened()
                            .iter()
                            .all(|&n| n == NONE || (n as usize) < nodes.count)
                    );
                    let anew = Nodes::new(&mesh, is_open);
                    let told: Vec<[u32; 3]> = (0..open.len())
                        .map(|i| if open[i] { anew.of(&mesh)[i] } else { [NONE; 3] })
                        .collect();
                    let kept: Vec<[u32; 3]> = (0..open.len())
                        .map(|i| if open[i] { nodes.of(&mesh)[i] } else { [NONE; 3] })
                        .collect();
                    assert!(same(&kept, &told), "{:?} {open:?}: {kept:?} {told:?}", mesh.triangles);
                }
            }
        }
    }
}
