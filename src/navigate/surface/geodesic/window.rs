//! Geodesics by windows: what a search keeps, and how a path is traced back through it. The search itself is in `propagate.rs`.
//!
//! All shortest paths that go through the same edges from the same point make up a window: an interval of an edge, and the
//! point, laid out in the plane of the triangle that the window leads into (Mitchell, Mount, Papadimitriou 1987).

use std::collections::VecDeque;

use glam::DVec3;

use crate::navigate::surface::geodesic::calendar_queue::Calendar;
use crate::navigate::surface::geodesic::guide::Guide;
use crate::navigate::surface::geodesic::nodes::{Nodes, Walk};
use crate::navigate::surface::geodesic::unfold::cross;
use crate::navigate::surface::geodesic::wall_boxes::Rim;
use crate::navigate::surface::mesh::topology::{Mesh, NONE, next, previous};

/// Of a distance: what is longer by less is longer by rounding alone, as where paths come around a vertex again.
const TIED: f64 = 1e-13;

/// Of a side: what rounding makes of places along it.
const ROUNDED: f64 = 4.0 * f64::EPSILON;

/// Whether a path to a place of a side, which is `width` long, is no longer than another, but for rounding.
#[inline]
pub(crate) fn is_no_longer(path: f64, other: f64, width: f64) -> bool {
    path <= other * (1.0 + TIED) + ROUNDED * width
}

#[inline]
pub(crate) fn length(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Marks what is a corner, not a window.
pub(crate) const CORNER: u32 = 1 << 31;

/// How many windows of a side a coarse search keeps.
pub(crate) const SLOT: usize = 4;

/// An interval of an edge that a bundle of straight paths crosses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The side that the paths enter by, of the triangle that they lead into.
    pub(crate) entry: u32,
    /// The side that they left the triangle before by; the same edge.
    pub(crate) exit: u32,
    /// The window before; where the paths begin in the triangle before, the corner that they begin at, marked by [`CORNER`], or
    /// [`NONE`] for the start itself.
    pub(crate) before: u32,
    /// The last window before this one that entered by the same side, or [`NONE`].
    pub(crate) older: u32,
    /// The interval along the entry side.
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Where the paths begin: along the entry side, and how far below it.
    pub(crate) along: f64,
    pub(crate) below: f64,
    /// The distance that they have come when they begin.
    pub(crate) behind: f64,
}

impl Window {
    /// How long its path to a place of the side is.
    #[inline]
    pub(crate) fn distance(&self, place: f64) -> f64 {
        self.behind + length(place - self.along, self.below)
    }

    /// How long its shortest path to the interval is.
    #[inline]
    pub(crate) fn nearest(&self) -> f64 {
        self.distance(self.along.clamp(self.from, self.to))
    }

    /// Whether its paths to all places of an interval of the side, which is `width` long, are no longer than another window's, but for
    /// rounding.
    ///
    /// What one is longer by rises and falls along the side with one turn, where both see the same direction: on the line
    /// through the places that they begin at. There the nearer of these is ahead by most.
    #[inline]
    pub(crate) fn is_nearer(&self, other: &Self, [from, to]: [f64; 2], width: f64) -> bool {
        let is_nearer = |place: f64| is_no_longer(self.distance(place), other.distance(place), width);
        // Both are worked out at once: which of them says no cannot be foreseen.
        if !(is_nearer(from) & is_nearer(to)) {
            return false;
        }
        if self.below <= other.below {
            return true;
        }
        let turn = (other.along * self.below - self.along * other.below) / (self.below - other.below);
        !(turn > from && turn < to) || is_nearer(turn)
    }

    /// How long its path to a point of the triangle ahead is, which is `at` along the side and `height` above it: the straight
    /// one, or where that does not cross the interval the one over its nearest end. A path in either case.
    pub(crate) fn through(&self, at: f64, height: f64) -> f64 {
        let crossing = self.along + (at - self.along) * (self.below / (self.below + height));
        let crossing = if crossing.is_nan() { self.from } else { crossing.clamp(self.from, self.to) };
        self.distance(crossing) + length(at - crossing, height)
    }
}

/// What a search knows of a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// The best distance.
    pub(crate) distance: f64,
    /// How far the goal is at least; in coarse searches nearly.
    pub(crate) ahead: f64,
    /// The [`Way`] that the distance comes from.
    pub(crate) way: u32,
    /// The search that wrote it.
    pub(crate) round: u32,
    /// Whether it is a corner of a triangle that the goal lies on.
    pub(crate) is_at_goal: bool,
}

impl Known {
    pub(crate) fn new(ahead: f64, round: u32) -> Self {
        Self { distance: f64::INFINITY, ahead, way: NONE, round, is_at_goal: false }
    }
}

/// Windows that entered a triangle by each side, or [`NONE`]. In a coarse search those that are kept; in an exact one the last,
/// and the nearest to see the corner across.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entered {
    pub(crate) windows: [[u32; SLOT]; 3],
    /// The search that wrote it.
    pub(crate) round: u32,
    /// Whether the goal lies on the triangle.
    pub(crate) is_at_goal: bool,
}

impl Entered {
    pub(crate) fn new(round: u32) -> Self {
        Self { windows: [[NONE; SLOT]; 3], round, is_at_goal: false }
    }
}

/// The window that entered by a side last, in [`Entered::windows`] of an exact search.
pub(crate) const LATEST: usize = 0;

/// The nearest to see the corner across.
pub(crate) const NEAREST: usize = 1;

/// How many entered by a side, less one; [`NONE`] of none.
pub(crate) const COUNT: usize = 2;

/// Where the best distance of a vertex comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way {
    /// The corner that was reached first.
    pub(crate) corner: u32,
    /// The window that it was seen through, or [`NONE`].
    pub(crate) window: u32,
    /// Where no window leads there, the corner of the same triangle from which an edge does; [`NONE`] for the start itself.
    pub(crate) along_edge: u32,
    /// Whether paths went on from there.
    pub(crate) is_passed: bool,
}

/// Where the best path to a place comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Last {
    Nothing,
    /// Straight from the start, within one triangle.
    Straight(u32),
    Window(u32),
    Corner(u32),
    /// A place of a wall, where that is the aim.
    Wall(Wall),
}

/// A place of a wall that is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wall {
    pub(crate) distance: f64,
    pub(crate) point: DVec3,
    pub(crate) side: u32,
}

/// What a search has found, from which paths are traced back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) windows: Vec<Window>,
    /// By node.
    pub(crate) known: Vec<Known>,
    /// By triangle.
    pub(crate) entered: Vec<Entered>,
    pub(crate) ways: Vec<Way>,
    pub(crate) round: u32,
}

/// A search and its memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Windows {
    pub(crate) found: Found,
    pub(crate) open: Calendar,
    pub(crate) walk: Walk,
    /// Windows that are crossed and forgotten, the first the longest ago.
    pub(crate) free: VecDeque<u32>,
    /// More windows were wanted than may be.
    pub(crate) is_full: bool,
}

/// What a search is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Aim<'a> {
    /// The shortest path to the goal: all windows that may hold it.
    Exact,
    /// Few windows of each side, drawn towards the goal: the path found is seldom the shortest, its strip is nearly always
    /// that of the shortest or one beside it.
    Coarse,
    /// Paths to everywhere; there is no goal.
    Paths,
    /// The vertices' distances alone, and nearly: slivers of windows are dropped, and windows are forgotten once they are crossed.
    /// They are those of paths, on scanned and modelled meshes a twentieth of a thousandth too long, at few vertices a percent.
    Distances,
    /// The nearest wall; there is no other goal. What is known of where walls are keeps it from looking everywhere. One of more than
    /// so many windows is given up.
    Wall { rim: Option<&'a Rim>, most: u32 },
}

/// A query.
pub(crate) struct Quest<'a, F> {
    pub(crate) mesh: &'a Mesh,
    pub(crate) nodes: &'a Nodes,
    pub(crate) is_open: F,
    /// The triangles that the start lies on.
    pub(crate) firsts: &'a [u32],
    pub(crate) start: DVec3,
    /// The triangles that the goal lies on.
    pub(crate) lasts: &'a [u32],
    pub(crate) goal: DVec3,
    /// The length of a path that is known: longer ones are not looked for.
    pub(crate) bound: f64,
    pub(crate) aim: Aim<'a>,
    /// What knows better than the straight line how far the goal is, nearly: for coarse searches.
    pub(crate) guide: Option<&'a Guide<'a>>,
}

impl Found {
    /// The distance of each vertex; the least of its nodes'.
    pub(crate) fn at_vertices(&self, mesh: &Mesh, nodes: &Nodes) -> Vec<f64> {
        let mut distances = vec![f64::INFINITY; mesh.points.len()];
        for (triangle, nodes) in mesh.triangles.iter().zip(nodes.of(mesh)) {
            for (&vertex, &node) in triangle.iter().zip(nodes) {
                // Triangles that are not walkable have none.
                if node != NONE {
                    let distance = &mut distances[vertex as usize];
                    *distance = distance.min(self.distance(node));
                }
            }
        }
        distances
    }

    /// The windows that entered by a side, in an exact search.
    pub(crate) fn entered(&self, side: u32) -> impl Iterator<Item = u32> + '_ {
        let entered = Some(&self.entered[side as usize / 3]).filter(|entered| entered.round == self.round);
        let latest = entered.map_or(NONE, |entered| entered.windows[side as usize % 3][LATEST]);
        let is_one = |window: &u32| *window != NONE;
        let older = move |&window: &u32| Some(self.windows[window as usize].older).filter(is_one);
        std::iter::successors(Some(latest).filter(is_one), older)
    }

    /// How far a node is, as far as is known.
    #[inline]
    pub(crate) fn distance(&self, node: u32) -> f64 {
        let known = &self.known[node as usize];
        if known.round == self.round { known.distance } else { f64::INFINITY }
    }

    /// Follows the windows back from the goal.
    pub(crate) fn trace(
        &self,
        mesh: &Mesh,
        nodes: &Nodes,
        is_open: impl Fn(u32) -> bool,
        last: Last,
        sides: &mut Vec<[u32; 2]>,
    ) -> Option<[u32; 2]> {
        sides.clear();
        // From the goal to the start: the sides are turned round at the end.
        let (mut window, mut corner, end) = match last {
            Last::Nothing | Last::Wall(_) => return None,
            Last::Straight(triangle) => return Some([triangle; 2]),
            Last::Window(window) => (window, NONE, self.windows[window as usize].entry / 3),
            Last::Corner(corner) => (NONE, corner, corner / 3),
        };
        let mut first;
        // Each turn goes back by a window or a corner, whose distance is less.
        loop {
            if window != NONE {
                let here = self.windows[window as usize];
                sides.push([here.exit, here.entry]);
                first = here.exit / 3;
                (window, corner) = match here.before {
                    NONE => break,
                    corner if corner & CORNER != 0 => (NONE, corner & !CORNER),
                    before => (before, NONE),
                };
                continue;
            }
            // Around the vertex, to where it was reached first.
            let node = nodes.of(mesh)[corner as usize / 3][corner as usize % 3];
            let way = self.ways[self.known[node as usize].way as usize];
            self.turn(mesh, &is_open, way.corner, corner, sides);
            first = way.corner / 3;
            (window, corner) = (way.window, way.along_edge);
            if window == NONE && corner == NONE {
                break;
            }
        }
        // A way along an edge may come into a triangle and leave it by the same edge, on its way around the two corners.
        let turned = std::mem::take(sides);
        turned.iter().rev().for_each(|&crossing| cross(sides, crossing));
        Some([first, end])
    }

    /// The sides crossed from corner to corner of one vertex, backwards.
    fn turn(
        &self,
        mesh: &Mesh,
        is_open: impl Fn(u32) -> bool,
        from: u32,
        to: u32,
        sides: &mut Vec<[u32; 2]>,
    ) {
        if from == to {
            return;
        }
        // Breadth first, so that the way around is one of the shortest.
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
                for other in mesh.beyond(side).filter(|other| is_open(other / 3)) {
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
