//! Starts searches for geodesics by windows. Their propagation is in `propagate.rs`, their state in `window.rs`.

use crate::error::{Error, Result};
use crate::navigate::surface::geodesic::nodes::Nodes;
use crate::navigate::surface::geodesic::propagate::Propagation;
use crate::navigate::surface::geodesic::window::{
    Arrival, CORNER, NodeState, SearchMode, TriangleWindows, WallHit, WindowQuery, WindowSearch,
};
use crate::navigate::surface::mesh::topology::Mesh;

/// The width of a bucket of the open list, relative to the mean edge length.
const BUCKET_WIDTH: f64 = 0.25;

impl SearchMode<'_> {
    /// [`SearchMode::Vertices`]: a bucket's width of slack is far more than the rounding of distances.
    pub(crate) fn vertices(mesh: &Mesh) -> Self {
        Self::Vertices { slack: BUCKET_WIDTH * mesh.mean_edge }
    }
}

impl WindowSearch {
    /// Finds the strip of the shortest path, as [`Unfolded::lay_out`](crate::navigate::surface::geodesic::unfold::Unfolded::lay_out) takes it, and its first
    /// and last triangle; `None` where no path is shorter than the bound.
    pub(crate) fn find_strip(
        &mut self,
        query: &WindowQuery<'_>,
        sides: &mut Vec<[u32; 2]>,
    ) -> Result<Option<[u32; 2]>> {
        let arrival = self.search(query)?;
        Ok(self.state.trace(query.mesh, query.nodes, query.walkable, arrival, sides))
    }

    /// Searches in any mode except [`SearchMode::Wall`]. Returns where the best path to the goal arrives from.
    pub(crate) fn search(&mut self, query: &WindowQuery<'_>) -> Result<Arrival> {
        self.run::<false>(query)
    }

    /// Searches for the nearest wall; `None` where none is nearer than the bound.
    pub(crate) fn nearest_wall(&mut self, query: &WindowQuery<'_>) -> Result<Option<WallHit>> {
        let arrival = self.run::<true>(query)?;
        Ok(if let Arrival::Wall(hit) = arrival { Some(hit) } else { None })
    }

    fn run<const TO_WALL: bool>(&mut self, query: &WindowQuery<'_>) -> Result<Arrival> {
        // With landmarks, last in, first out reaches the goal soonest, and its bound then prunes more. Without them, windows that merely
        // come early should not take the few slots of a side.
        let is_fifo = !matches!(query.mode, SearchMode::Coarse) || query.heuristic.is_none();
        self.reset(query.mesh, query.nodes, is_fifo);
        if matches!(query.mode, SearchMode::Vertices { .. }) {
            self.at_vertices.resize(query.mesh.points.len(), f64::INFINITY);
        }
        let arrival = Propagation::<TO_WALL>::new(query, self).run();
        if self.is_full {
            let count = u64::from(CORNER);
            return Err(Error::TooMany { what: "windows of shortest paths", count, limit: count - 1 });
        }
        Ok(arrival)
    }

    fn reset(&mut self, mesh: &Mesh, nodes: &Nodes, is_fifo: bool) {
        self.open.reset(BUCKET_WIDTH * mesh.mean_edge, is_fifo);
        self.is_full = false;
        self.free.clear();
        self.entered.clear();
        self.at_vertices.clear();
        (self.retired_count, self.is_released_early) = (0, false);
        let state = &mut self.state;
        state.windows.clear();
        state.predecessors.clear();
        state.generation = state.generation.wrapping_add(1);
        let count = mesh.triangle_count();
        // Clones of a surface share this memory and may have different numbers of nodes.
        if state.triangles.len() != count || state.generation == 0 {
            state.nodes = vec![NodeState::new(0.0, 0); nodes.count];
            state.triangles = vec![TriangleWindows::new(0); count];
            state.generation = 1;
        }
        if state.nodes.len() < nodes.count {
            state.nodes.resize(nodes.count, NodeState::new(0.0, 0));
        }
    }
}
