//! Nodes: vertices split by which triangles edges connect around them.
//!
//! Paths cross edges, never vertices alone. Two triangles may share a vertex although no chain of edges around it connects them, for
//! example where two cones touch at their tips, or where the triangles in between are not walkable. Each such fan of triangles has a copy
//! of the vertex of its own: a node.

use std::collections::HashSet;

use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD, NONE, next, previous};
use crate::navigate::surface::mesh::walkable::Walkable;

/// How many nodes may be added, besides a quarter of all, before all nodes are found again.
const SPARE_NODES: usize = 1000;

/// The shape of a one-ring: how edges connect the triangles around a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OneRingShape {
    /// A closed fan: an interior vertex.
    Closed,
    /// An open fan: a vertex on the boundary of the walkable triangles.
    Open,
    /// Three triangles or more meet at an edge.
    NonManifold,
}

/// The one-ring of a corner: the corners at the same vertex that edges connect with it. Its memory is reused.
#[derive(Debug, Clone, Default)]
pub(crate) struct OneRing {
    /// The corners that [`collect`](Self::collect) found last.
    pub(crate) corners: Vec<u32>,
    listed: HashSet<u32>,
}

impl OneRing {
    /// Collects the corners at a corner's vertex that edges between walkable triangles connect with it.
    pub(crate) fn collect(&mut self, mesh: &Mesh, walkable: Walkable<'_>, corner: u32) -> OneRingShape {
        self.corners.clear();
        self.corners.push(corner);
        // Across the side that begins at the corner, then, if that ends at a boundary, across the side that ends there.
        for (mut exit, mut begins) in [(corner, true), (previous(corner), false)] {
            loop {
                let (face, k) = (&mesh.faces[exit as usize / 3], exit as usize % 3);
                let (entry, is_opposed) = (face.twins[k], face.opposed >> k & 1 == 1);
                if entry == NON_MANIFOLD {
                    self.collect_non_manifold(mesh, walkable, corner);
                    return OneRingShape::NonManifold;
                }
                if entry == NONE || !walkable.holds(entry / 3) {
                    break;
                }
                // The twin begins at the vertex too, or it ends there.
                let next_corner = if begins == is_opposed { next(entry) } else { entry };
                if next_corner == corner {
                    return OneRingShape::Closed;
                }
                self.corners.push(next_corner);
                begins = next_corner != entry;
                exit = if begins { next_corner } else { previous(next_corner) };
            }
        }
        OneRingShape::Open
    }

    /// [`collect`](Self::collect) where an edge has three triangles or more.
    fn collect_non_manifold(&mut self, mesh: &Mesh, walkable: Walkable<'_>, corner: u32) {
        self.corners.clear();
        self.corners.push(corner);
        self.listed.clear();
        self.listed.insert(corner);
        let vertex = mesh.triangles[corner as usize / 3][corner as usize % 3];
        let mut at = 0;
        while let Some(&corner) = self.corners.get(at) {
            at += 1;
            for other in [corner, previous(corner)].into_iter().flat_map(|side| mesh.twins(side)) {
                if !walkable.holds(other / 3) {
                    continue;
                }
                let begins_here = mesh.triangles[other as usize / 3][other as usize % 3] == vertex;
                let next_corner = if begins_here { other } else { next(other) };
                if self.listed.insert(next_corner) {
                    self.corners.push(next_corner);
                }
            }
        }
    }
}

/// The node of each corner.
#[derive(Debug, Clone)]
pub(crate) struct Nodes {
    /// `None` where each vertex is one node of the same index.
    corners: Option<Vec<[u32; 3]>>,
    pub(crate) count: usize,
    /// The number of nodes when all were found.
    initial_count: usize,
}

impl Nodes {
    /// Finds all nodes. The first node of a vertex has the vertex's index; further nodes come after all vertices.
    pub(crate) fn new(mesh: &Mesh, walkable: Walkable<'_>) -> Self {
        let mut one_ring = OneRing::default();
        let mut corners = vec![[NONE; 3]; mesh.triangle_count()];
        let mut is_taken = vec![false; mesh.points.len()];
        let mut count = mesh.points.len();
        for triangle in (0..mesh.triangle_count() as u32).filter(|&triangle| walkable.holds(triangle)) {
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
                one_ring.collect(mesh, walkable, corner);
                for &corner in &one_ring.corners {
                    corners[corner as usize / 3][corner as usize % 3] = node;
                }
            }
        }
        Self { corners: Some(corners).filter(|_| count > mesh.points.len()), count, initial_count: count }
    }

    /// Updates the nodes after a triangle became walkable or stopped being so; `walkable` is the new state. Returns false and changes
    /// nothing where so many nodes were added that all should be found again.
    pub(crate) fn update(&mut self, mesh: &Mesh, walkable: Walkable<'_>, triangle: u32) -> bool {
        let mut count = self.count;
        if count > self.initial_count + self.initial_count / 4 + SPARE_NODES {
            return false;
        }
        let corners = self.corners.get_or_insert_with(|| {
            // Corners of triangles that were not walkable before have no node.
            let was_walkable = |other: u32| walkable.holds(other) != (other == triangle);
            let each = mesh.triangles.iter().zip(0..);
            each.map(|(&corners, other)| if was_walkable(other) { corners } else { [NONE; 3] }).collect()
        });
        let mut one_ring = OneRing::default();
        for corner in 3 * triangle..3 * triangle + 3 {
            let next_corner = &mut corners[triangle as usize][corner as usize % 3];
            if walkable.holds(triangle) {
                // The fans that the triangle connects become one node.
                one_ring.collect(mesh, walkable, corner);
                let at = |&corner: &u32| corners[corner as usize / 3][corner as usize % 3];
                let known = one_ring.corners.iter().map(at).find(|&node| node != NONE);
                let node = known.unwrap_or_else(|| {
                    count += 1;
                    count as u32 - 1
                });
                for &corner in &one_ring.corners {
                    corners[corner as usize / 3][corner as usize % 3] = node;
                }
                continue;
            }
            // The fan that it connected falls apart. The first part keeps the node.
            let vertex = mesh.triangles[triangle as usize][corner as usize % 3];
            let mut old = std::mem::replace(next_corner, NONE);
            if old == NONE {
                continue;
            }
            let mut connected: Vec<u32> = Vec::new();
            for side in [corner, previous(corner)].into_iter().flat_map(|side| mesh.twins(side)) {
                let begins_here = mesh.triangles[side as usize / 3][side as usize % 3] == vertex;
                let other = if begins_here { side } else { next(side) };
                if !walkable.holds(other / 3) || connected.contains(&other) {
                    continue;
                }
                one_ring.collect(mesh, walkable, other);
                let node = std::mem::replace(&mut old, NONE);
                let node = if node != NONE {
                    node
                } else {
                    count += 1;
                    count as u32 - 1
                };
                for &corner in &one_ring.corners {
                    corners[corner as usize / 3][corner as usize % 3] = node;
                }
                connected.extend(&one_ring.corners);
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

    /// Whether two numberings of nodes are the same but for the numbers.
    fn same(a: &[[u32; 3]], b: &[[u32; 3]]) -> bool {
        let mut forward = std::collections::BTreeMap::new();
        let mut back = std::collections::BTreeMap::new();
        a.as_flattened().iter().zip(b.as_flattened()).all(|(&a, &b)| {
            (a == NONE) == (b == NONE)
                && *forward.entry(a).or_insert(b) == b
                && *back.entry(b).or_insert(a) == a
        })
    }

    #[test]
    fn nodes_follow_triangles_that_become_walkable_or_blocked() {
        let mut state = 5_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        // Complexes with three triangles or more at an edge and parts that touch only in vertices; and a plate without these.
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
                let mut nodes = Nodes::new(&mesh, Walkable(&open));
                for _ in 0..200 {
                    let triangle = random(open.len());
                    open[triangle] = !open[triangle];
                    let walkable = Walkable(&open);
                    assert!(nodes.update(&mesh, walkable, triangle as u32));
                    assert!(
                        nodes
                            .of(&mesh)
                            .as_flattened()
                            .iter()
                            .all(|&n| n == NONE || (n as usize) < nodes.count)
                    );
                    let expected_nodes = Nodes::new(&mesh, walkable);
                    let expected: Vec<[u32; 3]> = (0..open.len())
                        .map(|i| if open[i] { expected_nodes.of(&mesh)[i] } else { [NONE; 3] })
                        .collect();
                    let kept: Vec<[u32; 3]> = (0..open.len())
                        .map(|i| if open[i] { nodes.of(&mesh)[i] } else { [NONE; 3] })
                        .collect();
                    assert!(same(&kept, &expected), "{:?} {open:?}: {kept:?} {expected:?}", mesh.triangles);
                }
            }
        }
    }
}
