//! Paths over areas that cost more than others: approximate.
//!
//! A search over points of edges (Lanthier, Maheshwari, Sack 1997, "Approximating Weighted Shortest Paths on Polyhedral Surfaces")
//! finds the strip of triangles. Within it the cost is a convex function of where the path crosses each edge (Mitchell, Papadimitriou
//! 1991, "The Weighted Region Problem"), with kinks where pieces have no length: so it is made smooth, kept off the edges' ends by
//! a barrier, and both are taken back step by step. Each piece knows two crossings, so a step of Newton's method is linear.

use glam::DVec3;

use crate::error::{Error, Location, Result, shown};
use crate::navigate::shared::heap::Heap;
use crate::navigate::surface::geodesic::unfold::EdgeCrossing;
use crate::navigate::surface::mesh::topology::{Mesh, NONE};
use crate::navigate::surface::query::path::Path;
use crate::navigate::surface::query::place::Place;
use crate::navigate::surface::query::surface::Surface;

/// Where the points of each edge lie, from its lower vertex, 0, to the other, 1. The outermost are near the vertices, not in them: so a
/// way around a vertex costs next to nothing more, and it is settled on which side of it the way leads past.
const PARTS: [f64; 6] = [0.01, 0.17, 0.39, 0.61, 0.83, 0.99];

/// How many they are.
const POINTS: u32 = PARTS.len() as u32;

/// How smooth the cost is made at first and at last, and how strong the barrier, of a piece's mean; and the factor between.
const SMOOTH: [f64; 3] = [0.1, 1e-10, 0.1];

/// Steps of Newton's method for each.
const STEPS: usize = 12;

/// What is nearer to the end of an edge, of its length, is led through it where that costs no more.
const SNAP: f64 = 1e-5;

/// A path over areas of different costs.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CostPath {
    /// The path; its length is that of its pieces, not what they cost.
    pub path: Path,
    /// What it costs: the length of each piece times the cost of its triangle; infinite where there is no path.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub cost: f64,
}

/// How a point of an edge was reached.
#[derive(Debug, Clone, Copy)]
struct Reached {
    cost: f64,
    /// The point before, or [`NONE`] for the start.
    before: u32,
    /// The triangle in between.
    triangle: u32,
    is_settled: bool,
}

impl Surface {
    /// A cheap path from any point of the surface to any other, where each triangle costs its length times a number of 1 or
    /// more: `costs` has one for each triangle. Ends off the surface are moved to the nearest walkable point; links are left
    /// out.
    ///
    /// It is approximate: the strip of triangles is the best by six points on each edge, and the path the cheapest within the
    /// strip, up to 1e-6. On terrains of random costs it was at most 0.12 % dearer than by 41 points on each edge, and mostly cheaper; where a
    /// way is bent at one border of coarse triangles 0.02 % dearer than the best on average, 0.9 % at worst. Where all costs are
    /// equal [`path`](Self::path) is quicker, and the shorter: on `spot` by 0.07 %, on a cube of twelve triangles by up to 3 %.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// // Three strips of floor; the one in the middle is mud.
    /// let points = (0..8).map(|i| [f64::from(i % 4), 4.0 * f64::from(i / 4), 0.0]).collect();
    /// let surface = Surface::new(&[Model::polygons(points, (0..3).map(|i| [i, i + 1, i + 5, i + 4]))], Options::default())?;
    /// let mud = [1.0, 1.0, 3.0, 3.0, 1.0, 1.0];
    /// let found = surface.path_by_costs([0.0, 2.0, 0.0], [3.0, 2.0, 0.0], &mud)?;
    /// assert!((found.cost - 5.0).abs() < 1e-9 && (found.path.length - 3.0).abs() < 1e-9);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Count`] where there are not as many costs as triangles, [`Error::Value`] where one is less than 1 or more than 1e100; else as
    /// [`path`](Self::path). A point off the mesh and a goal that can't be reached are no errors.
    pub fn path_by_costs(
        &self,
        start: impl Into<Place>,
        goal: impl Into<Place>,
        costs: &[f64],
    ) -> Result<CostPath> {
        if costs.len() != self.mesh.triangle_count() {
            return Err(Error::Count {
                at: Location::Argument,
                what: "costs",
                given: costs.len() as u64,
                allowed: format!(
                    "there must be one for each of the {} triangles",
                    self.mesh.triangle_count()
                ),
            });
        }
        if let Some(bad) = costs.iter().position(|cost| !(1.0..=1e100).contains(cost)) {
            let value = format!("{} for triangle {bad}", shown(costs[bad]));
            return Err(Error::value(Location::Argument, "costs", value, "it must be from 1 to 1e100"));
        }
        let mut found = CostPath { path: Path::default(), cost: f64::INFINITY };
        let places = [start.into(), goal.into()];
        let Some([start, goal]) = self.resolve_both(places, self.max_snap, &mut found.path)? else {
            return Ok(found);
        };
        let [from, to] = [start.position(), goal.position()];
        let on = [&start, &goal].map(|end| self.end_triangles(end));
        let Some((first, sides, places)) = self.cheap_strip(costs, [from, to], &on) else {
            let reached = self.reachable_triangles(&[], &start);
            found.path.reach = self.unreachable(&goal.point, |triangle| reached[triangle as usize])?;
            return Ok(found);
        };
        let mut strip = Strip { mesh: &self.mesh, costs, first, ends: [from, to], sides, places };
        strip.tighten();
        let crossings = strip.crossings();
        found.path.snaps = [start.point.distance, goal.point.distance];
        found.path.fold(&self.mesh, (first, from), to, &strip.sides, &crossings);
        let pieces = found.path.arc_lengths.windows(2).zip(&found.path.triangles);
        found.cost = pieces.map(|(ends, &triangle)| (ends[1] - ends[0]) * costs[triangle as usize]).sum();
        Ok(found)
    }

    /// The strip of the cheapest way over the points of edges: its first triangle, the sides that it crosses, and where: 0 at
    /// the beginning of the first side of each two, 1 at its end.
    fn cheap_strip(
        &self,
        costs: &[f64],
        [from, to]: [DVec3; 2],
        [start_triangles, goal_triangles]: &[Vec<u32>; 2],
    ) -> Option<(u32, Vec<[u32; 2]>, Vec<f64>)> {
        let mesh = &*self.mesh;
        let part = |point: u32| PARTS[(point % POINTS) as usize];
        let place = |point: u32| {
            let [a, b] = mesh.edges[(point / POINTS) as usize].map(|vertex| mesh.points[vertex as usize]);
            a + (b - a) * part(point)
        };
        let unknown = Reached { cost: f64::INFINITY, before: NONE, triangle: NONE, is_settled: false };
        let mut reached = vec![unknown; mesh.edges.len() * POINTS as usize];
        let mut heap = Heap::default();
        // What the goal costs, by which point, and the last triangle.
        let mut best = (f64::INFINITY, NONE, NONE);
        for &triangle in start_triangles.iter().filter(|triangle| goal_triangles.contains(triangle)) {
            let cost = costs[triangle as usize] * from.distance(to);
            if cost < best.0 {
                best = (cost, NONE, triangle);
            }
        }
        let spread = |reached: &mut [Reached], heap: &mut Heap, triangle: u32, before: u32| {
            let (behind, here) = match before {
                NONE => (0.0, from),
                point => (reached[point as usize].cost, place(point)),
            };
            let each = costs[triangle as usize];
            // Along the edge that one comes from, where this side of it is the cheaper: a way may go there and back.
            let creeps = before != NONE && each < costs[reached[before as usize].triangle as usize];
            for side in 3 * triangle..3 * triangle + 3 {
                let edge = mesh.edge_of[side as usize];
                let is_own = before != NONE && edge == before / POINTS;
                if (is_own && !creeps) || mesh.twins(side).next().is_none() {
                    continue;
                }
                for point in edge * POINTS..(edge + 1) * POINTS {
                    let there = place(point);
                    let cost = behind + each * here.distance(there);
                    let known = &mut reached[point as usize];
                    if !known.is_settled && cost < known.cost {
                        *known = Reached { cost, before, triangle, is_settled: false };
                        heap.push(cost + there.distance(to), point);
                    }
                }
            }
        };
        for &triangle in start_triangles {
            spread(&mut reached, &mut heap, triangle, NONE);
        }
        while let Some(entry) = heap.pop() {
            if entry.key >= best.0 {
                break;
            }
            let point = entry.index;
            let here = reached[point as usize];
            if here.is_settled {
                continue;
            }
            reached[point as usize].is_settled = true;
            for triangle in mesh.sides_of(point / POINTS).map(|side| side / 3) {
                if triangle == here.triangle || !self.walkable[triangle as usize] {
                    continue;
                }
                if goal_triangles.contains(&triangle) {
                    let cost = here.cost + costs[triangle as usize] * place(point).distance(to);
                    if cost < best.0 {
                        best = (cost, point, triangle);
                    }
                }
                spread(&mut reached, &mut heap, triangle, point);
            }
        }
        let (cost, mut point, mut triangle) = best;
        if !cost.is_finite() {
            return None;
        }
        let (mut sides, mut places) = (Vec::new(), Vec::new());
        while point != NONE {
            let here = reached[point as usize];
            let side_of = |triangle: u32| {
                let own = |&side: &u32| mesh.edge_of[side as usize] == point / POINTS;
                (3 * triangle..3 * triangle + 3).find(own).unwrap_or(3 * triangle)
            };
            let exit = side_of(here.triangle);
            let is_along = mesh.ends(exit) == mesh.edges[(point / POINTS) as usize];
            sides.push([exit, side_of(triangle)]);
            places.push(if is_along { part(point) } else { 1.0 - part(point) });
            (triangle, point) = (here.triangle, here.before);
        }
        sides.reverse();
        places.reverse();
        Some((triangle, sides, places))
    }
}

/// A strip, and where a path crosses its edges.
struct Strip<'a> {
    mesh: &'a Mesh,
    costs: &'a [f64],
    first: u32,
    ends: [DVec3; 2],
    sides: Vec<[u32; 2]>,
    /// Along the side that is left by, 0 to 1.
    places: Vec<f64>,
}

impl Strip<'_> {
    fn corners(&self, crossing: usize) -> [DVec3; 2] {
        self.mesh.ends(self.sides[crossing][0]).map(|vertex| self.mesh.points[vertex as usize])
    }

    fn crossings(&self) -> Vec<EdgeCrossing> {
        let across = |(&[exit, _], &place): (&[u32; 2], &f64)| EdgeCrossing {
            ends: self.mesh.ends(exit),
            part: place,
        };
        self.sides.iter().zip(&self.places).map(across).collect()
    }

    /// A place of the path: 0 is the start, then the crossings, then the goal.
    fn at(&self, place: usize) -> DVec3 {
        if place == 0 {
            self.ends[0]
        } else if place > self.sides.len() {
            self.ends[1]
        } else {
            let [a, b] = self.corners(place - 1);
            let part = self.places[place - 1];
            if part == 1.0 { b } else { a + (b - a) * part }
        }
    }

    /// What the piece after a place costs, for its length.
    fn each(&self, place: usize) -> f64 {
        let triangle = if place == 0 { self.first } else { self.sides[place - 1][1] / 3 };
        self.costs[triangle as usize]
    }

    fn whole(&self) -> f64 {
        let count = self.sides.len();
        (0..=count).map(|place| self.each(place) * self.at(place).distance(self.at(place + 1))).sum()
    }

    /// Moves the crossings to where the path is cheapest.
    fn tighten(&mut self) {
        let count = self.sides.len();
        let before = self.whole();
        if count == 0 || !(before > 0.0) {
            return;
        }
        let kept = self.places.clone();
        for place in &mut self.places {
            *place = place.clamp(0.1, 0.9);
        }
        let mean = before / (count + 1) as f64;
        let mut smooth = SMOOTH[0];
        while smooth > SMOOTH[1] {
            for _ in 0..STEPS {
                if !self.step(smooth * mean) {
                    break;
                }
            }
            smooth *= SMOOTH[2];
        }
        // To the ends that the barrier kept off, one by one.
        let mut best = self.whole();
        for i in 0..count {
            let place = self.places[i];
            if place.min(1.0 - place) > SNAP {
                continue;
            }
            self.places[i] = place.round();
            let cost = self.whole_near(i);
            self.places[i] = place;
            if cost <= self.whole_near(i) + 1e-9 * best {
                self.places[i] = place.round();
            }
        }
        best = self.whole();
        if !(best <= before) {
            self.places = kept;
        }
    }

    /// The cost of the two pieces at a crossing.
    fn whole_near(&self, crossing: usize) -> f64 {
        [crossing, crossing + 1]
            .map(|place| self.each(place) * self.at(place).distance(self.at(place + 1)))
            .iter()
            .sum()
    }

    /// The smoothed cost with its barrier.
    fn smoothed(&self, smooth: f64) -> f64 {
        let piece = |place: usize| {
            let each = self.each(place);
            let length = self.at(place).distance(self.at(place + 1));
            each * length.hypot(smooth / each)
        };
        let barrier = |&place: &f64| smooth * (place.ln() + (1.0 - place).ln());
        (0..=self.sides.len()).map(piece).sum::<f64>() - self.places.iter().map(barrier).sum::<f64>()
    }

    /// One step of Newton's method; false where it gained nothing any more.
    fn step(&mut self, smooth: f64) -> bool {
        let count = self.sides.len();
        let edge = |i: usize| {
            let [a, b] = self.corners(i);
            b - a
        };
        let (mut slope, mut own, mut next) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
        for place in 0..=count {
            let each = self.each(place);
            let way = self.at(place + 1) - self.at(place);
            let reach = way.length().hypot(smooth / each);
            let bend = |a: DVec3, b: DVec3| {
                each * (a.dot(b) / reach - way.dot(a) / reach * (way.dot(b) / reach) / reach)
            };
            let begin = place.checked_sub(1).map(edge);
            let end = (place < count).then(|| edge(place));
            if let Some(begin) = begin {
                slope[place - 1] -= each * way.dot(begin) / reach;
                own[place - 1] += bend(begin, begin);
            }
            if let Some(end) = end {
                slope[place] += each * way.dot(end) / reach;
                own[place] += bend(end, end);
            }
            if let (Some(begin), Some(end)) = (begin, end) {
                next[place - 1] -= bend(begin, end);
            }
        }
        for i in 0..count {
            let (low, high) = (self.places[i], 1.0 - self.places[i]);
            slope[i] += smooth * (1.0 / high - 1.0 / low);
            own[i] += smooth * (1.0 / (low * low) + 1.0 / (high * high));
        }
        // The system has three diagonals: down, and up again.
        let mut change: Vec<f64> = slope.iter().map(|slope| -slope).collect();
        for i in 1..count {
            let factor = next[i - 1] / own[i - 1];
            own[i] -= factor * next[i - 1];
            change[i] -= factor * change[i - 1];
        }
        for i in (0..count).rev() {
            let after = if i + 1 < count { next[i] * change[i + 1] } else { 0.0 };
            change[i] = (change[i] - after) / own[i];
        }
        let gain: f64 = -change.iter().zip(&slope).map(|(change, slope)| change * slope).sum::<f64>();
        if !(gain > 1e-3 * smooth) {
            return false;
        }
        // As far as the ends allow, and then half as far until it is cheaper.
        let room = change.iter().zip(&self.places).map(|(&change, &place)| {
            let room = if change > 0.0 { 1.0 - place } else { place };
            0.9 * room / change.abs()
        });
        let mut part = room.fold(1.0, f64::min);
        let (cost, kept) = (self.smoothed(smooth), self.places.clone());
        for _ in 0..30 {
            for i in 0..count {
                self.places[i] = kept[i] + part * change[i];
            }
            if self.smoothed(smooth) < cost - 1e-4 * part * gain {
                return true;
            }
            part *= 0.5;
        }
        self.places = kept;
        false
    }
}
