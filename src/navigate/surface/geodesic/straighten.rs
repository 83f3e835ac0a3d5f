//! Makes a path locally shortest: it reroutes the strip around the other side of each vertex at which the path need not bend.
//!
//! The shortest path within a strip bends only at vertices on the strip's boundary. Where the surface on the other side of such a vertex
//! makes an angle of less than half a turn, the path around that side is shorter (Sharp, Crane 2020, "You can find geodesic paths in
//! triangle meshes by just flipping edges", §3). The strip is rerouted, unfolded and pulled again until no such bend is left.

use std::f64::consts::PI;

use glam::DVec3;

use crate::navigate::surface::geodesic::unfold::{PathVertex, Unfolded, push_crossing};
use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD};
use crate::navigate::surface::mesh::walkable::Walkable;

/// The largest number of passes. Each pass shortens the path.
const PASS_LIMIT: usize = 1000;

/// The memory of the passes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Straightener {
    path_vertices: Vec<PathVertex>,
    rerouted: Vec<[u32; 2]>,
    detour: Vec<[u32; 2]>,
}

impl Straightener {
    /// Shortens the path over `sides`, which `unfolded` holds. Returns the new length.
    pub(crate) fn straighten(
        &mut self,
        mesh: &Mesh,
        walkable: Walkable<'_>,
        [start, goal]: [DVec3; 2],
        sides: &mut Vec<[u32; 2]>,
        unfolded: &mut Unfolded,
        mut length: f64,
    ) -> f64 {
        for _ in 0..PASS_LIMIT {
            if !self.reroute(mesh, walkable, sides, unfolded) {
                break;
            }
            unfolded.lay_out(mesh, start, goal, &self.rerouted);
            let shorter = unfolded.pull();
            if !(shorter < length) {
                // Only rounding is left to gain. Restore the previous strip.
                unfolded.lay_out(mesh, start, goal, sides);
                length = unfolded.pull();
                break;
            }
            length = shorter;
            std::mem::swap(sides, &mut self.rerouted);
        }
        length
    }

    /// Reroutes the strip around the other side of each bend where that is shorter. Returns whether there is such a bend.
    fn reroute(
        &mut self,
        mesh: &Mesh,
        walkable: Walkable<'_>,
        sides: &[[u32; 2]],
        unfolded: &Unfolded,
    ) -> bool {
        unfolded.bends(&mut self.path_vertices);
        self.rerouted.clear();
        let mut done = 0;
        let mut has_changed = false;
        for i in 0..self.path_vertices.len() {
            let bend = self.path_vertices[i];
            // The last detour may have replaced portals of this bend.
            if bend.first_portal < done || !self.find_detour(mesh, walkable, sides, &bend) {
                continue;
            }
            let kept = sides[done..bend.first_portal].iter().chain(&self.detour);
            kept.for_each(|&crossing| push_crossing(&mut self.rerouted, crossing));
            done = bend.last_portal + 1;
            has_changed = true;
        }
        sides[done..].iter().for_each(|&crossing| push_crossing(&mut self.rerouted, crossing));
        has_changed
    }

    /// Finds the detour around the other side of a bend's vertex. Returns true where that side is walkable and its angle less than half a
    /// turn.
    fn find_detour(
        &mut self,
        mesh: &Mesh,
        walkable: Walkable<'_>,
        sides: &[[u32; 2]],
        bend: &PathVertex,
    ) -> bool {
        let (vertex, last) = (bend.vertex, sides[bend.last_portal][1] / 3);
        let corner_of = |triangle: u32| {
            let corner = mesh.triangles[triangle as usize].iter().position(|&v| v == vertex).unwrap_or(0);
            3 * triangle + corner as u32
        };
        // The other of a triangle's two sides at the vertex.
        let other = |side: u32| {
            let corner = corner_of(side / 3);
            if side == corner { corner / 3 * 3 + (corner + 2 - corner / 3 * 3) % 3 } else { corner }
        };
        // The strip's side of the path has an angle of half a turn plus the path's turn. Less than half a turn must remain on the other.
        let limit = 2.0 * PI + bend.turn - 1e-9;
        let mut turn: f64 = sides[bend.first_portal..=bend.last_portal]
            .iter()
            .map(|pair| mesh.angle(corner_of(pair[0] / 3)))
            .sum::<f64>()
            + mesh.angle(corner_of(last));
        self.detour.clear();
        let mut exit = other(sides[bend.first_portal][0]);
        loop {
            let entry = mesh.twin(exit);
            if turn >= limit || entry >= NON_MANIFOLD || !walkable.holds(entry / 3) {
                self.detour.clear();
                return false;
            }
            self.detour.push([exit, entry]);
            if entry / 3 == last {
                return true;
            }
            turn += mesh.angle(corner_of(entry / 3));
            exit = other(entry);
        }
    }
}
