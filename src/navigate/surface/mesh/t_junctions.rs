//! Vertices that lie on edges they are not joined to.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use glam::DVec3;

use crate::navigate::surface::mesh::topology::{Mesh, next};
use crate::navigate::surface::mesh::tree::Tree;
use crate::parallel::map_shares;

/// Vertices a task, at least.
const SHARE: usize = 256;
/// The triangles that are looked at, at most: so many for each vertex on average, and some more.
const PER_VERTEX: u64 = 256;
const FEW: u64 = 1 << 20;

/// A vertex that lies on an edge it is not joined to, so that no path goes across there. Modelling programs leave such gaps where one face meets
/// two.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct TJunction {
    /// The vertex.
    pub vertex: u32,
    /// The edge, as an index into [`Surface::edges`](crate::navigate::surface::query::surface::Surface::edges).
    pub edge: u32,
    /// How far the vertex is from the edge, in the surface's units.
    pub distance: f64,
}

/// The search around all vertices.
struct Search<'a> {
    mesh: &'a Mesh,
    tree: &'a Tree,
    tolerance: f64,
    /// The triangles that were looked at.
    looked_at: AtomicU64,
    limit: u64,
}

/// Finds an edge for each vertex that lies on one, by vertex. `None` where more triangles are near the vertices than [`PER_VERTEX`] allows, whatever
/// the number of threads.
pub(crate) fn t_junctions(mesh: &Mesh, tree: &Tree, tolerance: f64) -> Option<Vec<TJunction>> {
    let limit = FEW + PER_VERTEX * mesh.points.len() as u64;
    let search = Search { mesh, tree, tolerance, looked_at: AtomicU64::new(0), limit };
    let mut order: Vec<u32> = (0..mesh.points.len() as u32).collect();
    let place = |vertex: u32| mesh.points[vertex as usize];
    order.sort_unstable_by(|&a, &b| compare(place(a), place(b)).then(a.cmp(&b)));
    // Vertices at one place lie on the same edges.
    let places: Vec<&[u32]> = order.chunk_by(|&a, &b| place(a) == place(b)).collect();
    let found = map_shares(&places, SHARE, |vertices| search.edge_at(place(vertices[0])));
    if search.looked_at.into_inner() > limit {
        return None;
    }
    let mut all: Vec<TJunction> = places
        .iter()
        .zip(found)
        .filter_map(|(vertices, found)| Some((vertices, found?)))
        .flat_map(|(vertices, (edge, distance))| {
            vertices.iter().map(move |&vertex| TJunction { vertex, edge, distance })
        })
        .collect();
    all.sort_unstable_by_key(|found| found.vertex);
    Some(all)
}

/// An order in which equal places are beside one another.
fn compare(a: DVec3, b: DVec3) -> std::cmp::Ordering {
    // -0 is 0.
    let key = |place: DVec3| (place + DVec3::ZERO).to_array();
    let [a, b] = [key(a), key(b)];
    a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(a[2].total_cmp(&b[2]))
}

impl Search<'_> {
    /// An edge on which a point lies, but for its ends and for edges of triangles that have a corner there; and how far it is.
    fn edge_at(&self, point: DVec3) -> Option<(u32, f64)> {
        let mut found = None;
        let mut count = 0;
        if self.looked_at.load(Ordering::Relaxed) > self.limit {
            // There is no answer any more.
            return None;
        }
        self.tree.visit_near(point, self.tolerance, &mut |triangle| {
            count += 1;
            found = (3 * triangle..3 * triangle + 3).find_map(|side| self.on_side(side, point, &mut count));
            if found.is_some() || count > self.limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.looked_at.fetch_add(count, Ordering::Relaxed);
        found
    }

    /// The edge of a side, where the point lies on it; and how far it is. Counts the triangles at the edge.
    fn on_side(&self, side: u32, point: DVec3, count: &mut u64) -> Option<(u32, f64)> {
        let [a, b] = [side, next(side)].map(|corner| corner_of(self.mesh, corner));
        if a.distance(point) <= self.tolerance || b.distance(point) <= self.tolerance {
            return None;
        }
        let along = b - a;
        let part = ((point - a).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        let distance = (a + along * part).distance(point);
        let edge = self.mesh.edge_of[side as usize];
        (distance <= self.tolerance && !self.has_corner(edge, point, count)).then_some((edge, distance))
    }

    /// Whether a triangle at an edge has its third corner at a point: then the edge is joined to what is there.
    fn has_corner(&self, edge: u32, point: DVec3, count: &mut u64) -> bool {
        let third = |side: u32| self.mesh.points[self.mesh.opposite(side) as usize];
        self.mesh
            .sides_of(edge)
            .inspect(|_| *count += 1)
            .any(|side| third(side).distance(point) <= self.tolerance)
    }
}

fn corner_of(mesh: &Mesh, corner: u32) -> DVec3 {
    mesh.points[mesh.triangles[corner as usize / 3][corner as usize % 3] as usize]
}
