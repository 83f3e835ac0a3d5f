//! Runs a search for geodesics by windows: how they spread is in `propagate.rs`, what is kept of them in `window.rs`.

use crate::error::{Error, Result};
use crate::navigate::surface::geodesic::nodes::Nodes;
use crate::navigate::surface::geodesic::propagate::Run;
use crate::navigate::surface::geodesic::window::{Aim, CORNER, Entered, Known, Last, Quest, Wall, Windows};
use crate::navigate::surface::mesh::topology::Mesh;

/// Of the mean edge: windows are taken in the order of their distance up to that.
const DAY: f64 = 0.25;

impl Windows {
    /// Finds the strip of the shortest path, as [`Unfolded::lay_out`](crate::navigate::surface::geodesic::unfold::Unfolded::lay_out) takes it, and its first
    /// and last triangle; none where no path is shorter than the bound.
    pub(crate) fn strip<F: Fn(u32) -> bool>(
        &mut self,
        quest: &Quest<'_, F>,
        sides: &mut Vec<[u32; 2]>,
    ) -> Result<Option<[u32; 2]>> {
        let last = self.search(quest)?;
        Ok(self.found.trace(quest.mesh, quest.nodes, &quest.is_open, last, sides))
    }

    /// Searches for what is not a wall; where the best path to the goal comes from.
    pub(crate) fn search<F: Fn(u32) -> bool>(&mut self, quest: &Quest<'_, F>) -> Result<Last> {
        self.run::<F, false>(quest)
    }

    /// Searches for the nearest wall; none where none is nearer than the bound.
    pub(crate) fn wall<F: Fn(u32) -> bool>(&mut self, quest: &Quest<'_, F>) -> Result<Option<Wall>> {
        let last = self.run::<F, true>(quest)?;
        Ok(if let Last::Wall(wall) = last { Some(wall) } else { None })
    }

    fn run<F: Fn(u32) -> bool, const TO_WALL: bool>(&mut self, quest: &Quest<'_, F>) -> Result<Last> {
        // Where landmarks draw windows to the goal, the last in first out gets there soonest, and what is longer is dropped sooner. Else
        // a side's few places had better not go to what merely comes early.
        let is_fair = !matches!(quest.aim, Aim::Coarse) || quest.guide.is_none();
        self.begin(quest.mesh, quest.nodes, is_fair);
        let last = Run::<F, TO_WALL>::new(quest, self).search();
        if self.is_full {
            let count = u64::from(CORNER);
            return Err(Error::TooMany { what: "windows of shortest paths", count, limit: count - 1 });
        }
        Ok(last)
    }

    fn begin(&mut self, mesh: &Mesh, nodes: &Nodes, is_fair: bool) {
        self.open.begin(DAY * mesh.mean_edge, is_fair);
        self.is_full = false;
        self.free.clear();
        let found = &mut self.found;
        found.windows.clear();
        found.ways.clear();
        found.round = found.round.wrapping_add(1);
        let count = mesh.triangle_count();
        // Clones with other walkable triangles take turns, each with as many nodes as it has.
        if found.entered.len() != count || found.round == 0 {
            found.known = vec![Known::new(0.0, 0); nodes.count];
            found.entered = vec![Entered::new(0); count];
            found.round = 1;
        }
        if found.known.len() < nodes.count {
            found.known.resize(nodes.count, Known::new(0.0, 0));
        }
    }
}
