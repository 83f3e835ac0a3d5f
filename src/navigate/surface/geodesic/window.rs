//! Windows: the state of a search for geodesics, and how a path is traced back through it. The search itself is in `propagate.rs`.
//!
//! A window stands for all straight paths from one pseudo-source through the same sequence of edges. It is an interval of an edge, and
//! the pseudo-source (the start, or the last vertex at which the paths bend) unfolded into the plane of the triangle that the window
//! leads into (Mitchell, Mount, Papadimitriou 1987).

use std::collections::VecDeque;

use glam::DVec3;

use crate::navigate::surface::geodesic::bucket_queue::BucketQueue;
use crate::navigate::surface::geodesic::landmark_heuristic::LandmarkHeuristic;
use crate::navigate::surface::geodesic::nodes::{Nodes, OneRing};
use crate::navigate::surface::geodesic::side_frame::SideFrame;
use crate::navigate::surface::geodesic::unfold::push_crossing;
use crate::navigate::surface::geodesic::wall_boxes::WallBoxes;
use crate::navigate::surface::mesh::topology::{Mesh, NONE, next, previous};
use crate::navigate::surface::mesh::walkable::Walkable;

/// Relative: distances that differ by less are tied, for example those of paths that come around a vertex again.
const TIE_TOLERANCE: f64 = 1e-13;

/// Relative to a side's length: the rounding of positions along it.
const POSITION_ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Whether a path to a place on a side, which is `width` long, is no longer than another, up to rounding.
#[inline]
pub(crate) fn is_no_longer(path: f64, other: f64, width: f64) -> bool {
    path <= other * (1.0 + TIE_TOLERANCE) + POSITION_ROUNDING * width
}

#[inline]
pub(crate) fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// The flag of an index that is a corner, not a window.
pub(crate) const CORNER: u32 = 1 << 31;

/// How many windows a coarse search keeps on a side.
pub(crate) const SLOTS_PER_SIDE: usize = 4;

/// An interval of an edge, and the pseudo-source of the straight paths that cross it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The side by which the paths enter the triangle ahead.
    pub(crate) entry: u32,
    /// The side by which they left the previous triangle; it is on the same edge.
    pub(crate) exit: u32,
    /// The previous window. If the paths begin in the previous triangle: the corner at which they begin, flagged by [`CORNER`], or
    /// [`NONE`] for the start itself.
    pub(crate) parent: u32,
    /// The previous window that entered by the same side, or [`NONE`].
    pub(crate) previous_on_side: u32,
    /// The interval along the entry side.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// The position of the pseudo-source: along the entry side, and below it.
    pub(crate) source_x: f64,
    pub(crate) source_depth: f64,
    /// The length of the path from the start to the pseudo-source.
    pub(crate) base_distance: f64,
}

impl Window {
    /// The length of its path to a place on the side.
    #[inline]
    pub(crate) fn distance(&self, place: f64) -> f64 {
        self.base_distance + length(place - self.source_x, self.source_depth)
    }

    /// The length of its shortest path to the interval.
    #[inline]
    pub(crate) fn nearest(&self) -> f64 {
        self.distance(self.source_x.clamp(self.from, self.to))
    }

    /// Whether its paths to all places of an interval of the side, which is `width` long, are no longer than another window's, up to
    /// rounding.
    ///
    /// The difference of the two distances has one extremum along the side: on the line through the two pseudo-sources. There the window
    /// with the nearer pseudo-source is ahead by most. So it suffices to test the ends of the interval and that extremum.
    #[inline]
    pub(crate) fn is_nearer(&self, other: &Self, [from, to]: [f64; 2], width: f64) -> bool {
        let is_nearer = |place: f64| is_no_longer(self.distance(place), other.distance(place), width);
        // No short circuit: a branch between the two would be unpredictable.
        if !(is_nearer(from) & is_nearer(to)) {
            return false;
        }
        if self.source_depth <= other.source_depth {
            return true;
        }
        let extremum = (other.source_x * self.source_depth - self.source_x * other.source_depth)
            / (self.source_depth - other.source_depth);
        !(extremum > from && extremum < to) || is_nearer(extremum)
    }

    /// The length of its path to a point of the triangle ahead, `at` along the side and `height` above it: the straight path, or, where that
    /// misses the interval, the path over the interval's nearest end.
    pub(crate) fn through(&self, at: f64, height: f64) -> f64 {
        let crossing =
            self.source_x + (at - self.source_x) * (self.source_depth / (self.source_depth + height));
        let crossing = if crossing.is_nan() { self.from } else { crossing.clamp(self.from, self.to) };
        self.distance(crossing) + length(at - crossing, height)
    }
}

/// The state of a node in a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeState {
    /// The shortest distance so far.
    pub(crate) distance: f64,
    /// A lower bound of the distance to the goal; with landmarks, nearly one.
    pub(crate) bound_ahead: f64,
    /// The index of the [`Predecessor`] that the distance comes from.
    pub(crate) predecessor: u32,
    /// The search that wrote this state.
    pub(crate) generation: u32,
    /// Whether it is a corner of a goal triangle.
    pub(crate) is_at_goal: bool,
}

impl NodeState {
    pub(crate) fn new(bound_ahead: f64, generation: u32) -> Self {
        Self { distance: f64::INFINITY, bound_ahead, predecessor: NONE, generation, is_at_goal: false }
    }
}

/// The windows that entered a triangle by each side, or [`NONE`]. A coarse search has the kept windows here. An exact search has the entries
/// [`LATEST`], [`CORNER_NEAREST`] and [`WINDOW_COUNT`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct TriangleWindows {
    pub(crate) windows: [[u32; SLOTS_PER_SIDE]; 3],
    /// The search that wrote this state.
    pub(crate) generation: u32,
    /// Whether it is a goal triangle.
    pub(crate) is_at_goal: bool,
    /// Whether its windows were given back, in [`SearchMode::Vertices`].
    pub(crate) is_released: bool,
}

impl TriangleWindows {
    pub(crate) fn new(generation: u32) -> Self {
        Self { windows: [[NONE; SLOTS_PER_SIDE]; 3], generation, is_at_goal: false, is_released: false }
    }
}

/// The entry of [`TriangleWindows::windows`] for the last window that entered by a side.
pub(crate) const LATEST: usize = 0;

/// The entry for the nearest window that sees the opposite corner.
pub(crate) const CORNER_NEAREST: usize = 1;

/// The entry for the number of windows that entered by a side, less one; [`NONE`] for none.
pub(crate) const WINDOW_COUNT: usize = 2;

/// Where the distance of a node comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Predecessor {
    /// The corner at which the path reached the node.
    pub(crate) corner: u32,
    /// The window through which it was seen, or [`NONE`].
    pub(crate) window: u32,
    /// Without a window: the corner of the same triangle from which the path runs along an edge, or [`NONE`] for the start itself.
    pub(crate) along_edge: u32,
    /// Whether the node has been expanded at this distance.
    pub(crate) is_expanded: bool,
}

/// How the best path arrives at the goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arrival {
    /// There is no path.
    Nothing,
    /// Straight from the start, within this triangle.
    Straight(u32),
    /// Through this window.
    Window(u32),
    /// From this corner of the goal's triangle.
    Corner(u32),
    /// At a wall, in [`SearchMode::Wall`].
    Wall(WallHit),
}

/// The nearest point of a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WallHit {
    pub(crate) distance: f64,
    pub(crate) point: DVec3,
    pub(crate) side: u32,
}

/// The state of a search, through which paths are traced back.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchState {
    pub(crate) windows: Vec<Window>,
    /// By node.
    pub(crate) nodes: Vec<NodeState>,
    /// By triangle.
    pub(crate) triangles: Vec<TriangleWindows>,
    pub(crate) predecessors: Vec<Predecessor>,
    pub(crate) generation: u32,
}

/// A search by windows, and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct WindowSearch {
    pub(crate) state: SearchState,
    pub(crate) open: BucketQueue,
    pub(crate) one_ring: OneRing,
    /// Windows that have been propagated and may be recycled, oldest first.
    pub(crate) free: VecDeque<u32>,
    /// The limit of windows was exceeded.
    pub(crate) is_full: bool,
    /// In [`SearchMode::Vertices`]: the triangles that windows have entered and that were not released.
    pub(crate) entered: Vec<u32>,
    /// In [`SearchMode::Vertices`]: the lengths of the shortest paths through windows to each vertex.
    pub(crate) at_vertices: Vec<f64>,
    /// How many windows were propagated since it was last looked which can be given back.
    pub(crate) retired_count: usize,
    /// A triangle's windows were given back too early: the distances may be wrong.
    pub(crate) is_released_early: bool,
}

/// What a search looks for, and how exactly.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SearchMode<'a> {
    /// The shortest path to the goal: all windows that may hold it.
    Exact,
    /// Few windows on each side, in A* order: the path found is seldom the shortest, but its strip is nearly always that of the shortest
    /// path, or one beside it.
    Coarse,
    /// Exact paths to everywhere, without a goal.
    Paths,
    /// As `Paths`, but only the distances of vertices remain: windows are given back once no other window can enter their triangle (see
    /// `release.rs`). That is judged by the distance that the search has reached, less `slack`.
    Vertices { slack: f64 },
    /// Distances of vertices only, nearly exact: slivers of windows are dropped, and windows are recycled once propagated. Each distance is
    /// that of some path. On scanned and modelled meshes they are 0.005 % too long on average, and 1 % at few vertices.
    Distances,
    /// The nearest wall, without a goal. The boxes around walls, if given, prune the search. It gives up beyond `limit` windows.
    Wall { boxes: Option<&'a WallBoxes>, limit: u32 },
}

/// A query of a search by windows.
pub(crate) struct WindowQuery<'a> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) nodes: &'a Nodes,
    pub(crate) walkable: Walkable<'a>,
    /// The triangles on which the start lies.
    pub(crate) start_triangles: &'a [u32],
    pub(crate) start: DVec3,
    /// The triangles on which the goal lies.
    pub(crate) goal_triangles: &'a [u32],
    pub(crate) goal: DVec3,
    /// An upper bound: paths that are longer are not looked for.
    pub(crate) bound: f64,
    pub(crate) mode: SearchMode<'a>,
    /// The landmark heuristic, for coarse searches.
    pub(crate) heuristic: Option<&'a LandmarkHeuristic<'a>>,
}

impl SearchState {
    /// The distance of each vertex: the least of its nodes.
    pub(crate) fn at_vertices(&self, mesh: &Mesh, nodes: &Nodes) -> Vec<f64> {
        let mut distances = vec![f64::INFINITY; mesh.points.len()];
        for (triangle, nodes) in mesh.triangles.iter().zip(nodes.of(mesh)) {
            for (&vertex, &node) in triangle.iter().zip(nodes) {
                // Triangles that are not walkable have no nodes.
                if node != NONE {
                    let distance = &mut distances[vertex as usize];
                    *distance = distance.min(self.distance(node));
                }
            }
        }
        distances
    }

    /// The windows that entered by a side, last first, in an exact search.
    pub(crate) fn windows_at(&self, side: u32) -> impl Iterator<Item = u32> + '_ {
        let entered = Some(&self.triangles[side as usize / 3]);
        let entered = entered.filter(|entered| entered.generation == self.generation);
        let latest = entered.map_or(NONE, |entered| entered.windows[side as usize % 3][LATEST]);
        let is_one = |window: &u32| *window != NONE;
        let previous =
            move |&window: &u32| Some(self.windows[window as usize].previous_on_side).filter(is_one);
        std::iter::successors(Some(latest).filter(is_one), previous)
    }

    /// Calls `visit` with the length of the shortest path to each goal through each window that entered by a side, and the window. The goals
    /// are points of the side's triangle.
    #[inline]
    pub(crate) fn for_each_through<const N: usize>(
        &self,
        mesh: &Mesh,
        side: u32,
        goals: [DVec3; N],
        mut visit: impl FnMut(usize, f64, u32),
    ) {
        let frame = SideFrame::new(mesh, side);
        let goals = goals.map(|goal| frame.local(goal));
        for index in self.windows_at(side) {
            let window = &self.windows[index as usize];
            for (i, &(at, height)) in goals.iter().enumerate() {
                visit(i, window.through(at, height), index);
            }
        }
    }

    /// The distance of a node; infinite if it was not reached.
    #[inline]
    pub(crate) fn distance(&self, node: u32) -> f64 {
        let state = &self.nodes[node as usize];
        if state.generation == self.generation { state.distance } else { f64::INFINITY }
    }

    /// Traces the path back from the goal: writes the sides of its strip and returns the strip's first and last triangle.
    pub(crate) fn trace(
        &self,
        mesh: &Mesh,
        nodes: &Nodes,
        walkable: Walkable<'_>,
        arrival: Arrival,
        sides: &mut Vec<[u32; 2]>,
    ) -> Option<[u32; 2]> {
        sides.clear();
        // The sides are collected from goal to start, and reversed at the end.
        let (mut window, mut corner, end) = match arrival {
            Arrival::Nothing | Arrival::Wall(_) => return None,
            Arrival::Straight(triangle) => return Some([triangle; 2]),
            Arrival::Window(window) => (window, NONE, self.windows[window as usize].entry / 3),
            Arrival::Corner(corner) => (NONE, corner, corner / 3),
        };
        let mut first;
        // Each step goes back to a window or corner of lesser distance.
        loop {
            if window != NONE {
                let here = self.windows[window as usize];
                sides.push([here.exit, here.entry]);
                first = here.exit / 3;
                (window, corner) = match here.parent {
                    NONE => break,
                    corner if corner & CORNER != 0 => (NONE, corner & !CORNER),
                    parent => (parent, NONE),
                };
                continue;
            }
            // Around the vertex, to the corner at which it was reached.
            let node = nodes.of(mesh)[corner as usize / 3][corner as usize % 3];
            let predecessor = self.predecessors[self.nodes[node as usize].predecessor as usize];
            self.push_turn(mesh, walkable, predecessor.corner, corner, sides);
            first = predecessor.corner / 3;
            (window, corner) = (predecessor.window, predecessor.along_edge);
            if window == NONE && corner == NONE {
                break;
            }
        }
        // A path along an edge may enter a triangle and leave it by the same edge. `push_crossing` drops such triangles.
        let turned = std::mem::take(sides);
        turned.iter().rev().for_each(|&crossing| push_crossing(sides, crossing));
        Some([first, end])
    }

    /// Adds the sides crossed from one corner of a vertex to another, in reverse order.
    fn push_turn(&self, mesh: &Mesh, walkable: Walkable<'_>, from: u32, to: u32, sides: &mut Vec<[u32; 2]>) {
        if from == to {
            return;
        }
        // Breadth first, so that the detour crosses as few sides as possible.
        let vertex = mesh.triangles[from as usize / 3][from as usize % 3];
        let mut found: Vec<(u32, [u32; 2], usize)> = vec![(from, [NONE; 2], 0)];
        let mut at = 0;
        while at < found.len() {
            let corner = found[at].0;
            if corner == to {
                let mut step = at;
                while step > 0 {
                    sides.push(found[step].1);
                    step = found[step].2;
                }
                return;
            }
            for side in [corner, previous(corner)] {
                for other in mesh.twins(side).filter(|other| walkable.holds(other / 3)) {
                    let begins_here = mesh.triangles[other as usize / 3][other as usize % 3] == vertex;
                    let own = if begins_here { other } else { next(other) };
                    if !found.iter().any(|step| step.0 == own) {
                        found.push((own, [side, other], at));
                    }
                }
            }
            at += 1;
        }
    }
}
