//! An arrangement of segments: they are cut until they meet only in their ends.
//!
//! Touches are found exactly and keep their coordinates. A crossing is rounded to f64. That can move the two halves of a segment across
//! a neighbour by an ulp, so cutting is repeated until no two segments meet elsewhere.

use std::collections::HashMap;

use glam::DVec2;

use crate::navigate::room::build::candidates::candidate_pairs;
use crate::navigate::shared::predicate::{MIN_COORDINATE, orient};

/// The layers from here on are doors. Doors are segments without an inside.
pub(crate) const FIRST_DOOR_LAYER: u32 = 1 << 31;

/// How many rounds of cutting there may be.
const MAX_ROUNDS: u32 = 64;

/// From this round on crossings are rounded to a grid, at first of 2⁻⁵⁰ of the largest coordinate, then of twice as much every five rounds, and an
/// edge is cut at each point that is nearer to it than the grid's spacing (Hobby 1999, "Practical segment intersection with finite precision
/// output"). So crossings that lie within a few ulps of one another become one point, edges that nearly coincide get the same points, and the
/// cutting ends.
const FIRST_GRID_ROUND: u32 = 8;
const ROUNDS_PER_GRID: u32 = 5;

/// The most pieces: so many for each edge, and `MIN_MEETINGS`. Cutting that makes more does not end.
const PIECES_PER_EDGE: usize = 64;

/// So many pairs of overlapping boxes are looked at for each segment before pairs are sought otherwise.
const BOXES_PER_EDGE: usize = 32;

/// No more pairs of segments that meet are looked at than so many for each segment, and `MIN_PAIRS`.
const PAIRS_PER_EDGE: usize = 32;
const MIN_PAIRS: usize = 1 << 22;

/// Edges may meet in so many places for each edge, and `MIN_MEETINGS`: more would take memory and time beyond those of the input.
const MEETINGS_PER_EDGE: usize = 16;
const MIN_MEETINGS: usize = 20_000;

/// Why segments were not cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CuttingError {
    /// The cutting does not end at this place.
    Dense(DVec2),
    /// Segments meet in more places than this.
    Crowded(usize),
}

/// Distinct points, and segments between them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrangement {
    pub(crate) points: Vec<DVec2>,
    index: HashMap<[u64; 2], u32>,
    /// Sorted by their ends after [`Arrangement::arrange`].
    pub(crate) segments: Vec<Segment>,
}

/// A segment from `a` to `b`, `a < b`. On its left the winding number of its layer is greater by `winding` than on its right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) layer: u32,
    pub(crate) winding: i32,
}

/// A point in which two segments meet other than in a common end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Intersection {
    pub(crate) layers: [u32; 2],
    pub(crate) place: DVec2,
    pub(crate) kind: IntersectionKind,
}

/// Cuts of edges, as (edge, point).
type Cuts = Vec<(u32, u32)>;

/// How two segments meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntersectionKind {
    /// Each passes to the other side of the other.
    Crossing,
    /// An end of one lies on the other.
    Touch,
}

impl Arrangement {
    /// The index of a point, which is added if it is new. −0 equals 0, and so do computed coordinates of less than the triangulation takes.
    pub(crate) fn point(&mut self, point: DVec2) -> u32 {
        let point = DVec2::select(point.abs().cmplt(DVec2::splat(MIN_COORDINATE)), DVec2::ZERO, point);
        let next = self.points.len() as u32;
        let index = *self.index.entry([point.x.to_bits(), point.y.to_bits()]).or_insert(next);
        if index == next {
            self.points.push(point);
        }
        index
    }

    /// Adds a segment with the inside of its layer on the left.
    pub(crate) fn add(&mut self, from: u32, to: u32, layer: u32) {
        if from < to {
            self.segments.push(Segment { a: from, b: to, layer, winding: 1 });
        } else if to < from {
            let winding = if layer >= FIRST_DOOR_LAYER { 1 } else { -1 };
            self.segments.push(Segment { a: to, b: from, layer, winding });
        }
    }

    /// Cuts the segments until they meet only in their ends, and merges those that coincide.
    ///
    /// Returns the intersections of the first round, in no particular order.
    pub(crate) fn arrange(&mut self) -> Result<Vec<Intersection>, CuttingError> {
        let mut first = None;
        // The pieces of the last round. All others have been tested against one another before.
        let mut new_edges: Option<Vec<(u32, u32)>> = None;
        let mut most_pieces = None;
        for round in 0.. {
            self.merge_coincident();
            let ranges = self.edges();
            let most_pieces = *most_pieces.get_or_insert(PIECES_PER_EDGE * ranges.len() + MIN_MEETINGS);
            let (grid, is_new_grid) = self.grid(round);
            let tested = new_edges.as_deref().filter(|_| !is_new_grid);
            let (cuts, intersections) = self.find_intersections(&ranges, tested, grid)?;
            let place = intersections.first().map(|intersection| intersection.place);
            first.get_or_insert(intersections);
            if cuts.is_empty() {
                break;
            }
            if round == MAX_ROUNDS || ranges.len() > most_pieces {
                return Err(CuttingError::Dense(place.unwrap_or_default()));
            }
            new_edges = Some(self.split(&ranges, cuts));
        }
        Ok(first.unwrap_or_default())
    }

    /// The grid to which a round rounds crossings, if any, and whether it is the first round to do so.
    fn grid(&self, round: u32) -> (Option<f64>, bool) {
        let Some(since) = round.checked_sub(FIRST_GRID_ROUND) else { return (None, false) };
        let largest = self.points.iter().fold(0.0, |most: f64, point| most.max(point.abs().max_element()));
        let grid = largest * f64::EPSILON * f64::from(4 << (since / ROUNDS_PER_GRID));
        (Some(grid), since.is_multiple_of(ROUNDS_PER_GRID))
    }

    /// Sorts the segments and adds up the windings of those with the same ends and layer.
    fn merge_coincident(&mut self) {
        self.segments.sort_unstable();
        let mut sums: Vec<Segment> = Vec::with_capacity(self.segments.len());
        for &segment in &self.segments {
            match sums.last_mut() {
                Some(last) if (last.a, last.b, last.layer) == (segment.a, segment.b, segment.layer) => {
                    last.winding += segment.winding;
                }
                _ => sums.push(segment),
            }
        }
        sums.retain(|segment| segment.winding != 0);
        self.segments = sums;
    }

    /// The edges: ranges of segments with the same ends.
    fn edges(&self) -> Vec<std::ops::Range<usize>> {
        let mut groups = Vec::with_capacity(self.segments.len());
        let mut begin = 0;
        for i in 1..=self.segments.len() {
            let same = |j: usize| (self.segments[j].a, self.segments[j].b);
            if i == self.segments.len() || same(i) != same(begin) {
                groups.push(begin..i);
                begin = i;
            }
        }
        groups
    }

    /// All cuts that the edges need, as (edge, point). With `new_edges`, which are sorted ends, only pairs with a new edge are tested.
    fn find_intersections(
        &mut self,
        edges: &[std::ops::Range<usize>],
        new_edges: Option<&[(u32, u32)]>,
        grid: Option<f64>,
    ) -> Result<(Cuts, Vec<Intersection>), CuttingError> {
        let ends: Vec<[u32; 2]> =
            edges.iter().map(|run| [self.segments[run.start].a, self.segments[run.start].b]).collect();
        let boxes: Vec<Box2> = ends
            .iter()
            .map(|&[a, b]| {
                let (a, b) = (self.points[a as usize], self.points[b as usize]);
                Box2 { low: a.min(b), high: a.max(b) }
            })
            .collect();
        let reach = DVec2::splat(grid.unwrap_or(0.0));
        let wide: Vec<Box2> =
            boxes.iter().map(|b| Box2 { low: b.low - reach, high: b.high + reach }).collect();
        let mut cuts = Vec::new();
        let mut intersections = Vec::new();
        let mut crossings = Vec::new();
        let is_new = |i: usize| {
            new_edges.is_none_or(|new_edges| new_edges.binary_search(&(ends[i][0], ends[i][1])).is_ok())
        };
        let is_new: Vec<bool> = (0..ends.len()).map(is_new).collect();
        let limit = MEETINGS_PER_EDGE * ends.len() + MIN_MEETINGS;
        for (i, j) in self.pairs(&ends, &wide, &is_new)? {
            let (i, j) = (i as usize, j as usize);
            if intersections.len() > limit {
                return Err(CuttingError::Crowded(limit));
            }
            let ([a, b], [c, d]) = (ends[i], ends[j]);
            let at = |v: u32| self.points[v as usize];
            let (pa, pb, pc, pd) = (at(a), at(b), at(c), at(d));
            let (c_height, d_height) = (orient(pa, pb, pc), orient(pa, pb, pd));
            let layers = [self.segments[edges[i].start].layer, self.segments[edges[j].start].layer];
            let near = grid.and_then(|grid| {
                let corners = [(i, [a, b], c), (i, [a, b], d), (j, [c, d], a), (j, [c, d], b)];
                corners.into_iter().find(|&(_, ends, point)| is_near(ends.map(at), at(point), grid))
            });
            if let Some((edge, _, point)) = near {
                cuts.push((edge as u32, point));
                intersections.push(Intersection { layers, place: at(point), kind: IntersectionKind::Touch });
                continue;
            }
            if (c_height > 0.0 && d_height > 0.0) || (c_height < 0.0 && d_height < 0.0) {
                continue;
            }
            let (a_height, b_height) = (orient(pc, pd, pa), orient(pc, pd, pb));
            if (a_height > 0.0 && b_height > 0.0) || (a_height < 0.0 && b_height < 0.0) {
                continue;
            }
            let mut is_touch = false;
            for (edge, [from, to], point, height) in [
                (i, [a, b], c, c_height),
                (i, [a, b], d, d_height),
                (j, [c, d], a, a_height),
                (j, [c, d], b, b_height),
            ] {
                // On the line of the edge, a point is between the ends if it is inside the box.
                let bounds = &boxes[edge];
                if height == 0.0 && bounds.holds(at(point)) {
                    is_touch = true;
                    if point != from && point != to {
                        cuts.push((edge as u32, point));
                        intersections.push(Intersection {
                            layers,
                            place: at(point),
                            kind: IntersectionKind::Touch,
                        });
                    }
                }
            }
            if !is_touch && c_height * d_height < 0.0 && a_height * b_height < 0.0 {
                let place = crate::navigate::shared::predicate::crossing(pa, pb, a_height, b_height);
                // Whatever the rounding, the crossing lies within both boxes.
                let place = place.clamp(boxes[i].low, boxes[i].high).clamp(boxes[j].low, boxes[j].high);
                let place = grid.map_or(place, |grid| {
                    let ends = [pa, pb, pc, pd].into_iter();
                    let nearest = ends.min_by(|p, q| p.distance(place).total_cmp(&q.distance(place)));
                    let near = nearest.filter(|end| end.distance(place) <= 2.0 * grid);
                    near.unwrap_or((place / grid).round() * grid)
                });
                crossings.push((i as u32, j as u32, place));
                intersections.push(Intersection { layers, place, kind: IntersectionKind::Crossing });
            }
        }
        for (i, j, place) in crossings {
            let point = self.point(place);
            for edge in [i, j] {
                if !ends[edge as usize].contains(&point) {
                    cuts.push((edge, point));
                }
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        Ok((cuts, intersections))
    }

    /// Pairs of edges that may meet, one of them new.
    fn pairs(
        &self,
        ends: &[[u32; 2]],
        boxes: &[Box2],
        is_new: &[bool],
    ) -> Result<Vec<(u32, u32)>, CuttingError> {
        let mut pairs = Vec::new();
        let box_limit = BOXES_PER_EDGE * ends.len() + 64;
        let is_complete = for_each_overlap(boxes, is_new, |i, j| {
            pairs.push((i as u32, j as u32));
            pairs.len() < box_limit
        });
        if is_complete {
            return Ok(pairs);
        }
        drop(pairs);
        let segments: Vec<[DVec2; 2]> = ends.iter().map(|own| own.map(|v| self.points[v as usize])).collect();
        let limit = PAIRS_PER_EDGE * ends.len() + MIN_PAIRS;
        let mut pairs = candidate_pairs(&segments, limit).ok_or(CuttingError::Crowded(limit))?;
        pairs.retain(|&(i, j)| is_new[i as usize] || is_new[j as usize]);
        Ok(pairs)
    }

    /// Replaces each cut edge by its pieces. Returns the ends of the pieces, sorted.
    fn split(&mut self, edges: &[std::ops::Range<usize>], cuts: Cuts) -> Vec<(u32, u32)> {
        let mut added = Vec::new();
        let mut stops: Vec<(f64, u32)> = Vec::new();
        for group in cuts.chunk_by(|x, y| x.0 == y.0) {
            let run = edges[group[0].0 as usize].clone();
            let (a, b) = (self.segments[run.start].a, self.segments[run.start].b);
            let (pa, pb) = (self.points[a as usize], self.points[b as usize]);
            stops.clear();
            stops.push((f64::NEG_INFINITY, a));
            for &(_, point) in group {
                stops.push(((self.points[point as usize] - pa).dot(pb - pa), point));
            }
            stops.push((f64::INFINITY, b));
            stops.sort_by(|x, y| x.0.total_cmp(&y.0));
            for segment in &mut self.segments[run] {
                for pair in stops.windows(2) {
                    let (from, to) = (pair[0].1, pair[1].1);
                    let flip = if from < to || segment.layer >= FIRST_DOOR_LAYER { 1 } else { -1 };
                    added.push(Segment {
                        a: from.min(to),
                        b: from.max(to),
                        layer: segment.layer,
                        winding: segment.winding * flip,
                    });
                }
                segment.winding = 0;
            }
        }
        let mut new_edges: Vec<(u32, u32)> = added.iter().map(|segment| (segment.a, segment.b)).collect();
        new_edges.sort_unstable();
        new_edges.dedup();
        self.segments.extend(added);
        self.segments.retain(|segment| segment.winding != 0);
        new_edges
    }
}

/// Whether a point is nearer to an edge than a grid's spacing, and not nearly one of its ends.
fn is_near([a, b]: [DVec2; 2], point: DVec2, grid: f64) -> bool {
    let (along, way) = (b - a, point - a);
    let is_between = way.dot(along) > 0.0 && (point - b).dot(along) < 0.0;
    is_between
        && way.perp_dot(along).abs() <= grid * along.length()
        && way.length().min(point.distance(b)) > 2.0 * grid
}

/// An axis-aligned box.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Box2 {
    pub(crate) low: DVec2,
    pub(crate) high: DVec2,
}

impl Box2 {
    pub(crate) const EMPTY: Self = Self { low: DVec2::INFINITY, high: DVec2::NEG_INFINITY };

    fn holds(&self, point: DVec2) -> bool {
        (point.cmpge(self.low) & point.cmple(self.high)).all()
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        (self.low.cmple(other.high) & other.low.cmple(self.high)).all()
    }

    pub(crate) fn join(&self, other: &Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }
}

/// The boxes in Morton order, each with its code.
pub(crate) fn morton_order(boxes: &[Box2]) -> Vec<(u64, u32)> {
    let extent = boxes.iter().fold(Box2::EMPTY, |extent, b| extent.join(b));
    let scale = 65_535.0 / (extent.high - extent.low).max_element().max(f64::MIN_POSITIVE);
    let interleave_bits = |x: u32| {
        let mut x = u64::from(x);
        x = (x | x << 16) & 0x0000_ffff_0000_ffff;
        x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
        x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        x = (x | x << 2) & 0x3333_3333_3333_3333;
        (x | x << 1) & 0x5555_5555_5555_5555
    };
    let mut order: Vec<(u64, u32)> = boxes
        .iter()
        .enumerate()
        .map(|(i, b)| {
            let p = ((b.low + b.high) * 0.5 - extent.low) * scale;
            (interleave_bits(p.x as u32) | interleave_bits(p.y as u32) << 1, i as u32)
        })
        .collect();
    order.sort_unstable();
    order
}

/// Calls `visit(i, j)`, i < j, for every two boxes that overlap and of which one is new, until it returns false. Returns whether all were
/// visited. An implicit 8-ary tree over the boxes in Morton order.
pub(crate) fn for_each_overlap(
    boxes: &[Box2],
    is_new: &[bool],
    mut visit: impl FnMut(usize, usize) -> bool,
) -> bool {
    let order = morton_order(boxes);
    // Levels from the leaves up, each a box over eight of the level below.
    let mut levels: Vec<Vec<Box2>> = vec![order.iter().map(|&(_, i)| boxes[i as usize]).collect()];
    while levels[levels.len() - 1].len() > 8 {
        let above = levels[levels.len() - 1]
            .chunks(8)
            .map(|group| group.iter().fold(Box2::EMPTY, |sum, b| sum.join(b)))
            .collect();
        levels.push(above);
    }
    let mut stack: Vec<(usize, usize)> = Vec::new();
    let are_all_new = is_new.iter().all(|&is_new| is_new);
    for (rank, &(_, i)) in order.iter().enumerate() {
        if !is_new[i as usize] {
            continue;
        }
        let own = &boxes[i as usize];
        let top = levels.len() - 1;
        stack.extend((0..levels[top].len()).map(|k| (top, k)));
        while let Some((level, k)) = stack.pop() {
            // A pair of new boxes is visited from the earlier one only.
            let span = 8_usize.pow(level as u32);
            let is_before = (k + 1) * span <= rank + 1;
            if (is_before && are_all_new) || !levels[level][k].overlaps(own) {
                continue;
            }
            if level == 0 {
                let j = order[k].1;
                if k == rank || (is_before && is_new[j as usize]) {
                    continue;
                }
                if !visit(i.min(j) as usize, i.max(j) as usize) {
                    return false;
                }
            } else {
                let end = (8 * (k + 1)).min(levels[level - 1].len());
                stack.extend((8 * k..end).map(|child| (level - 1, child)));
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(arrangement: &mut Arrangement, layer: u32, points: &[[f64; 2]]) {
        for i in 0..points.len() {
            let from = arrangement.point(points[i].into());
            let to = arrangement.point(points[(i + 1) % points.len()].into());
            arrangement.add(from, to, layer);
        }
    }

    #[test]
    fn a_bow_tie_is_cut_where_it_crosses() {
        let mut arrangement = Arrangement::default();
        ring(&mut arrangement, 0, &[[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [0.0, 2.0]]);
        let intersections = arrangement.arrange().unwrap();
        assert_eq!(intersections.len(), 1);
        assert_eq!(intersections[0].place, DVec2::new(1.0, 1.0));
        assert_eq!((arrangement.points.len(), arrangement.segments.len()), (5, 6));
    }

    #[test]
    fn a_spike_cancels_out() {
        let mut arrangement = Arrangement::default();
        ring(&mut arrangement, 0, &[[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [4.0, 9.0], [4.0, 4.0], [0.0, 4.0]]);
        assert!(arrangement.arrange().unwrap().is_empty());
        assert_eq!(arrangement.segments.len(), 4);
    }

    #[test]
    fn random_segments_meet_only_in_their_ends() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / (1 << 24) as f64
        };
        let mut arrangement = Arrangement::default();
        for _ in 0..200 {
            let from = arrangement.point(DVec2::new(random(), random()));
            let to = arrangement.point(DVec2::new(random(), random()));
            arrangement.add(from, to, 0);
        }
        arrangement.arrange().unwrap();
        let edges = arrangement.edges();
        let (cuts, intersections) = arrangement.find_intersections(&edges, None, None).unwrap();
        assert!(cuts.is_empty() && intersections.is_empty());
    }
}
