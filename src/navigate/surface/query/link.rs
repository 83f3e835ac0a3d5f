//! Ways off the mesh: jumps, ladders, lifts, from one point of a surface to another.
//!
//! An A* search over links finds which links a path takes. Its edges are walks: from the start, and from the end of each link, to the
//! beginning of each link and to the goal. A walk has its straight distance as a lower bound, and is measured only when that bound reaches
//! the front of the queue (lazily, as in Cohen, Phillips, Likhachev 2014, "Planning Single-Arm Manipulations with N-Arm Robots"), so few
//! walks are measured. The heuristic is the shortest way over links with straight walks alone.

use crate::error::{Error, Location, Result, shown};
use crate::navigate::shared::heap::Heap;
use crate::navigate::shared::reach::Reach;
use crate::navigate::surface::mesh::check::check;
use crate::navigate::surface::mesh::walkable::Walkable;
use crate::navigate::surface::query::path::{Path, PathLink};
use crate::navigate::surface::query::paths::Method;
use crate::navigate::surface::query::place::{Place, ResolvedPlace};
use crate::navigate::surface::query::scratch::Scratch;
use crate::navigate::surface::query::surface::{Link, Surface};

/// A link in one direction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DirectedLink {
    link: u32,
    reversed: bool,
    from: ResolvedPlace,
    to: ResolvedPlace,
    cost: f64,
}

/// A walk: from the end of a link, or from the start, to the beginning of a link, or to the goal.
#[derive(Debug, Clone, Copy)]
struct Walk {
    from: usize,
    to: usize,
    /// Its length, once measured.
    length: Option<f64>,
}

impl Surface {
    /// Replaces the links: jumps, ladders, lifts. From then on paths take links where that makes them shorter, or possible at all. Each
    /// clone of a surface has its own links.
    ///
    /// Ends are moved to the nearest point of the surface, walkable or not. A link is not used while one of its ends is not on a walkable
    /// triangle.
    ///
    /// By [`Method::Exact`], [`Path::length`] (walks and costs together) is the least possible, within 1e-9 relative to it. By the other
    /// methods, walks are as long as those methods make them.
    ///
    /// Cost: a query measures a walk for each pair of places that may be on a shorter path, and takes a little time for each pair of links.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Link, Model, Options, PathOptions, Surface};
    ///
    /// // Two floors, and a ladder.
    /// let floor = |z: f64| vec![[0.0, 0.0, z], [4.0, 0.0, z], [4.0, 4.0, z], [0.0, 4.0, z]];
    /// let mut surface = Surface::new(&[0.0, 3.0].map(|z| Model::polygons(floor(z), [[0, 1, 2, 3]])), Options::default())?;
    /// let ladder = Link { from: [4.0, 2.0, 0.0], to: [4.0, 2.0, 3.0], cost: 5.0, two_way: true };
    /// surface.set_links(&[ladder])?;
    /// let path = surface.path([1.0, 2.0, 0.0], [2.0, 2.0, 3.0], &PathOptions::default())?;
    /// assert!((path.length - (3.0 + 5.0 + 2.0)).abs() < 1e-12);
    /// let taken = path.links[0];
    /// assert_eq!((taken.link, taken.reversed), (0, false));
    /// assert_eq!(path.points[taken.piece + 1], ladder.to);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite and for a cost that is not from 0 to 1e150, [`Error::Invalid`] for an end
    /// further from the surface than [`max_snap`](crate::navigate::surface::Options::max_snap), [`Error::TooMany`] for more than 2³⁰ links.
    /// The links are then unchanged.
    pub fn set_links(&mut self, links: &[Link]) -> Result<()> {
        let limit = u64::from(u32::MAX) / 4;
        if links.len() as u64 > limit {
            return Err(Error::TooMany { what: "links", count: links.len() as u64, limit });
        }
        let mut placed = Vec::with_capacity(links.len());
        for (row, link) in links.iter().enumerate() {
            let at = Location::Link(row);
            if !(link.cost >= 0.0 && link.cost <= 1e150) {
                let allowed = "it must be 0 or more and at most 1e150";
                return Err(Error::value(at, "cost", shown(link.cost), allowed));
            }
            let mut own = *link;
            for (name, end) in [("from", &mut own.from), ("to", &mut own.to)] {
                check(at, name, *end)?;
                let Some(on) = self.nearest(*end, &|_| true) else { continue };
                if !(on.distance <= self.max_snap) {
                    return Err(Error::invalid(
                        at,
                        format!(
                            "{name} is {} off the surface, the surface's max_snap is {}",
                            shown(on.distance),
                            shown(self.max_snap)
                        ),
                    ));
                }
                *end = on.position;
            }
            placed.push(own);
        }
        self.links = placed;
        Ok(())
    }

    /// The links, with their ends where they were moved to.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Answers one query, with links.
    pub(crate) fn answer(
        &self,
        scratch: &mut Scratch,
        method: Method,
        places: [Place; 2],
        max_snap: f64,
        path: &mut Path,
    ) -> Result<()> {
        let Some(ends) = self.resolve_both(places, max_snap, path)? else { return Ok(()) };
        let ambiguous = path.ambiguous;
        let answered = self.connect(scratch, method, &ends, path);
        path.ambiguous = ambiguous;
        answered
    }

    /// Answers one query whose ends are resolved, with links.
    fn connect(
        &self,
        scratch: &mut Scratch,
        method: Method,
        ends: &[ResolvedPlace; 2],
        path: &mut Path,
    ) -> Result<()> {
        self.find(scratch, method, ends, path)?;
        if self.links.is_empty() {
            return Ok(());
        }
        let [start, goal] = ends;
        let links = self.directed_links();
        let direct = path.length;
        let Some(best) = self.best_links(scratch, method, &links, ends, direct)? else {
            if let Reach::Unreachable { .. } = path.reach {
                let reached = self.reachable_triangles(&links, start);
                path.reach = self.unreachable(&goal.point, &|triangle| reached[triangle as usize])?;
            }
            return Ok(());
        };
        path.clear();
        path.length = 0.0;
        let mut from = *start;
        let mut walk = Path::default();
        for link in best.iter().map(|&link| Some(links[link])).chain([None]) {
            let to = link.map_or(*goal, |link| link.from);
            self.find(scratch, method, &[from, to], &mut walk)?;
            path.append(&walk);
            if let Some(link) = link {
                path.append_link(
                    to.point.triangle,
                    link.cost,
                    PathLink { piece: 0, link: link.link, reversed: link.reversed },
                );
                from = link.to;
            }
        }
        path.snaps = [start.point.distance, goal.point.distance];
        Ok(())
    }

    /// The links whose ends are walkable; two-way links in both directions.
    fn directed_links(&self) -> Vec<DirectedLink> {
        let walkable = Walkable(&self.walkable);
        let on = |end: [f64; 3]| {
            // Up to rounding, the end must lie on a walkable triangle; it is not moved to one.
            let found = self.nearest(end, &|triangle| walkable.holds(triangle))?;
            (found.distance <= self.rounding()).then_some(ResolvedPlace::at(found))
        };
        let mut links = Vec::new();
        for (link, index) in self.links.iter().zip(0..) {
            let (Some(from), Some(to)) = (on(link.from), on(link.to)) else { continue };
            links.push(DirectedLink { link: index, reversed: false, from, to, cost: link.cost });
            if link.two_way {
                links.push(DirectedLink { link: index, reversed: true, from: to, to: from, cost: link.cost });
            }
        }
        links
    }

    /// The links of the shortest path that takes links, as indices, if it is shorter than `bound`.
    fn best_links(
        &self,
        scratch: &mut Scratch,
        method: Method,
        links: &[DirectedLink],
        [start, goal]: &[ResolvedPlace; 2],
        bound: f64,
    ) -> Result<Option<Vec<usize>>> {
        // Node i is the end of link i, node `count` the start. A walk leads to the beginning of a link, or as `count` to the goal.
        let count = links.len();
        let straight = |a: &ResolvedPlace, b: &ResolvedPlace| a.position().distance(b.position());
        // The heuristic: Dijkstra's search from the goal, with straight walks.
        let mut lower_bound: Vec<f64> = links.iter().map(|link| straight(&link.to, goal)).collect();
        let mut is_final = vec![false; count];
        for _ in 0..count {
            let open = (0..count).filter(|&i| !is_final[i]);
            let Some(next) = open.min_by(|&a, &b| lower_bound[a].total_cmp(&lower_bound[b])) else { break };
            is_final[next] = true;
            let through = links[next].cost + lower_bound[next];
            for node in (0..count).filter(|&i| !is_final[i]) {
                lower_bound[node] =
                    lower_bound[node].min(straight(&links[node].to, &links[next].from) + through);
            }
        }
        let mut heap = Heap::default();
        let mut walks: Vec<Walk> = Vec::new();
        let mut cost_to = vec![f64::INFINITY; count + 1];
        let mut parent = vec![usize::MAX; count + 1];
        let island = |end: &ResolvedPlace| self.islands[end.point.triangle as usize];
        // Indices of walks must fit in 32 bits; each walk is pushed at most twice.
        let limit = (u32::MAX / 2) as usize;
        let mut at = Some((count, 0.0));
        let mut walk_path = Path::default();
        loop {
            if let Some((node, length)) = at.take() {
                cost_to[node] = length;
                let here = if node == count { start } else { &links[node].to };
                for to in 0..=count {
                    // The direct walk from start to goal is known.
                    if (to < count && cost_to[to].is_finite()) || (to == count && node == count) {
                        continue;
                    }
                    let (there, rest) = if to == count {
                        (goal, 0.0)
                    } else {
                        (&links[to].from, links[to].cost + lower_bound[to])
                    };
                    let least = length + straight(here, there) + rest;
                    if least < bound && self.may_connect(island(here), island(there), here, there) {
                        if walks.len() >= limit {
                            let (count, limit) = (walks.len() as u64 + 1, limit as u64);
                            return Err(Error::TooMany { what: "walks between links", count, limit });
                        }
                        heap.push(least, walks.len() as u32);
                        walks.push(Walk { from: node, to, length: None });
                    }
                }
            }
            let Some(entry) = heap.pop() else { return Ok(None) };
            let walk = walks[entry.index as usize];
            if walk.to < count && cost_to[walk.to].is_finite() {
                continue;
            }
            let here = if walk.from == count { start } else { &links[walk.from].to };
            let there = if walk.to == count { goal } else { &links[walk.to].from };
            let Some(length) = walk.length else {
                self.find(scratch, method, &[*here, *there], &mut walk_path)?;
                let rest = if walk.to == count { 0.0 } else { links[walk.to].cost + lower_bound[walk.to] };
                let least = cost_to[walk.from] + walk_path.length + rest;
                if walk_path.is_reached() && least < bound {
                    heap.push(least, walks.len() as u32);
                    walks.push(Walk { length: Some(walk_path.length), ..walk });
                }
                continue;
            };
            if walk.to == count {
                let mut best = Vec::new();
                let mut node = walk.from;
                while node != count {
                    best.push(node);
                    node = parent[node];
                }
                best.reverse();
                return Ok(Some(best));
            }
            parent[walk.to] = walk.from;
            at = Some((walk.to, cost_to[walk.from] + length + links[walk.to].cost));
        }
    }

    /// Whether a walk may lead from one place to another: they are on one island, or on islands that touch at one of them.
    fn may_connect(&self, a: u32, b: u32, here: &ResolvedPlace, there: &ResolvedPlace) -> bool {
        let is_at = |end: &ResolvedPlace, other: u32| {
            let held = self.end_triangles(end);
            held.iter().any(|&triangle| self.islands[triangle as usize] == other)
        };
        a == b || is_at(here, b) || is_at(there, a)
    }

    /// Whether each triangle can be reached from a point, with links.
    pub(crate) fn reachable_triangles(&self, links: &[DirectedLink], start: &ResolvedPlace) -> Vec<bool> {
        let mut reached = vec![false; self.walkable.len()];
        let mut is_taken = vec![false; links.len()];
        let mut stack = self.end_triangles(start);
        loop {
            while let Some(triangle) = stack.pop() {
                if std::mem::replace(&mut reached[triangle as usize], true) {
                    continue;
                }
                let beyond = (3 * triangle..3 * triangle + 3).flat_map(|side| self.mesh.twins(side));
                stack.extend(beyond.map(|side| side / 3).filter(|&next| self.walkable[next as usize]));
            }
            for (link, is_taken) in links.iter().zip(&mut is_taken) {
                if !*is_taken
                    && self.end_triangles(&link.from).iter().any(|&triangle| reached[triangle as usize])
                {
                    *is_taken = true;
                    stack.extend(self.end_triangles(&link.to));
                }
            }
            if stack.is_empty() {
                return reached;
            }
        }
    }
}
