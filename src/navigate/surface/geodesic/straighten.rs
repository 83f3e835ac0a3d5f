//! A path made locally shortest: led around the other side of each vertex that it need not bend at.
//!
//! Within its strip a pulled path bends only around vertices at the strip's rim. Where the surface beyond such a vertex, on
//! the side that the strip does not go around, makes an angle of less than half a turn, the way around that side is shorter
//! (Sharp, Crane 2020, "You can find geodesic paths in triangle meshes by just flipping edges", §3): the strip goes there, is
//! laid out and pulled again, until no such bend is left.

use std::f64::consts::PI;

use glam::DVec3;

use crate::navigate::surface::geodesic::unfold::{Bend, Unfolded, cross};
use crate::navigate::surface::mesh::topology::{MANY, Mesh};

/// Most passes over a path; each shortens it.
const PASS_LIMIT: usize = 1000;

/// Memory of what a pass needs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Straightener {
    bends: Vec<Bend>,
    next: Vec<[u32; 2]>,
    around: Vec<[u32; 2]>,
}

impl Straightener {
    /// Shortens the path over `sides`, which `unfolded` holds pulled; its length.
    pub(crate) fn straighten(
        &mut self,
        mesh: &Mesh,
        is_open: impl Fn(u32) -> bool,
        [start, goal]: [DVec3; 2],
        sides: &mut Vec<[u32; 2]>,
        unfolded: &mut Unfolded,
        mut length: f64,
    ) -> f64 {
        for _ in 0..PASS_LIMIT {
            if !self.reroute(mesh, &is_open, sides, unfolded) {
                break;
            }
            unfolded.lay_out(mesh, start, goal, &self.next);
            let shorter = unfolded.pull();
            if !(shorter < length) {
                // Rounding alone is left: the strip before was as good.
                unfolded.lay_out(mesh, start, goal, sides);
                length = unfolded.pull();
                break;
            }
            length = shorter;
            std::mem::swap(sides, &mut self.next);
        }
        length
    }

    /// Leads the strip around the other side of each bend where that is shorter; true where there is one.
    fn reroute(
        &mut self,
        mesh: &Mesh,
        is_open: &impl Fn(u32) -> bool,
        sides: &[[u32; 2]],
        unfolded: &Unfolded,
    ) -> bool {
        unfolded.bends(&mut self.bends);
        self.next.clear();
        let mut done = 0;
        let mut has_changed = false;
        for i in 0..self.bends.len() {
            let bend = self.bends[i];
            // A gate that the last way around took is gone.
            if bend.first_gate < done || !self.other_side(mesh, is_open, sides, &bend) {
                continue;
            }
            let led = sides[done..bend.first_gate].iter().chain(&self.around);
            led.for_each(|&crossing| cross(&mut self.next, crossing));
            done = bend.last_gate + 1;
            has_changed = true;
        }
        sides[done..].iter().for_each(|&crossing| cross(&mut self.next, crossing));
        has_changed
    }

    /// Goes around the other side of a bend's vertex; true where that side is open and its angle less than half a turn.
    fn other_side(
        &mut self,
        mesh: &Mesh,
        is_open: &impl Fn(u32) -> bool,
        sides: &[[u32; 2]],
        bend: &Bend,
    ) -> bool {
        let (vertex, last) = (bend.vertex, sides[bend.last_gate][1] / 3);
        let corner_of = |triangle: u32| {
            let corner = mesh.triangles[triangle as usize].iter().position(|&v| v == vertex).unwrap_or(0);
            3 * triangle + corner as u32
        };
        // The other of a triangle's two sides at the vertex.
        let other = |side: u32| {
            let corner = corner_of(side / 3);
            if side == corner { corner / 3 * 3 + (corner + 2 - corner / 3 * 3) % 3 } else { corner }
        };
        // Of the whole turn around the vertex the strip's side has half a turn and what the path bends by.
        let limit = 2.0 * PI + bend.turn - 1e-9;
        let mut turn: f64 = sides[bend.first_gate..=bend.last_gate]
            .iter()
            .map(|pair| mesh.angle(corner_of(pair[0] / 3)))
            .sum::<f64>()
            + mesh.angle(corner_of(last));
        self.around.clear();
        let mut exit = other(sides[bend.first_gate][0]);
        loop {
            let entry = mesh.across(exit);
            if turn >= limit || entry >= MANY || !is_open(entry / 3) {
                self.around.clear();
                return false;
            }
            self.around.push([exit, entry]);
            if entry / 3 == last {
                return true;
            }
            turn += mesh.angle(corner_of(entry / 3));
            exit = other(entry);
        }
    }
}
