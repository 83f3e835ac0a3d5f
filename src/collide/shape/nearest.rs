//! The nearest bodies of a body or a shape: a walk of the trees by the distance of boxes.
//!
//! f32 bounds the separation of each pair that it decides. What may be among the nearest by these bounds is measured in f64, which alone says
//! the order. So the rows are a function of the bodies: neither the order of the walk nor the number of threads matters.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::near_first::{BodyVisit, NearBox, NearPlane};
use crate::collide::narrow_phase::exact::{measure, measure_placed};
use crate::collide::narrow_phase::measure::measure_pair;
use crate::collide::narrow_phase::measured::{Measured, Outcome};
use crate::collide::scene::placed::Placed;
use crate::collide::scene::shape_cast::PlacedShape;
use crate::collide::shape::cast::Counts;
use crate::collide::shape::crowd::{Crowd, at_least};
use crate::collide::shape::rows::NearestBody;

/// Which bodies are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearGoal {
    /// How many, at least 1.
    pub(crate) count: usize,
    /// Bodies that are farther away are not listed, in world units.
    pub(crate) max_distance: f64,
}

/// What the bodies are near to.
pub(crate) enum Near<'a> {
    /// A mover of the scene, with its box.
    Body(u32, &'a Aabb),
    /// A shape, with the movers of its world; none where it sees all.
    Shape(&'a PlacedShape, Option<Range<u32>>),
}

/// Twice τ against the sum of the bounding radii: τ is at most 1e-5 of it, and 5e-6 but for half-spaces.
const OFF: f64 = 2e-5;
/// Twice what τ grows by with the distance.
const OFF_FAR: f64 = 8e-6;

/// A body that may be among the nearest.
struct Candidate {
    body: u32,
    /// Of the separation.
    lower: f64,
    /// In f64, where it was measured.
    measured: Option<Measured>,
}

/// A number with a total order.
#[derive(PartialEq)]
struct Bound(f64);

impl Eq for Bound {}

impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct Search<'a> {
    crowd: &'a Crowd<'a>,
    near: &'a Near<'a>,
    placed: &'a Placed,
    goal: NearGoal,
    candidates: Vec<Candidate>,
    /// The least upper bounds, as many as bodies are asked for.
    uppers: BinaryHeap<Bound>,
    /// Bodies that are certainly farther are skipped.
    limit: f64,
    counts: Counts,
}

impl Search<'_> {
    fn accepts(&self, body: u32) -> bool {
        match self.near {
            &Near::Body(query, _) => {
                query != body && self.crowd.input.accepts(self.crowd.scene, query.min(body), query.max(body))
            }
            Near::Shape(shape, _) => {
                let (a, b) = (&shape.body, &self.crowd.input.bodies[body as usize]);
                let is_flat =
                    shape.placed.is_half_space() && self.crowd.input.placed[body as usize].is_half_space();
                a.group & b.mask != 0 && b.group & a.mask != 0 && !is_flat
            }
        }
    }

    /// The measurement in f64. The point is relative to the base of the pair.
    fn settle(&mut self, body: u32) -> Measured {
        self.counts.settled += 1;
        match self.near {
            &Near::Body(query, _) => {
                measure(&self.crowd.scene.hulls, self.crowd.input.stored(), [query, body])
            }
            Near::Shape(shape, _) => measure_placed(&self.crowd.placements(shape, body).0),
        }
    }

    /// The point that a pair is placed about.
    fn base(&self, body: u32) -> DVec3 {
        match self.near {
            &Near::Body(query, _) => {
                let base = self.crowd.input.stored().base(&self.crowd.scene.hulls, [query, body]);
                base.unwrap_or_default()
            }
            Near::Shape(shape, _) => self.crowd.placements(shape, body).1,
        }
    }
}

impl BodyVisit for Search<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        at_least(self.limit)
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        if !self.accepts(body) {
            return;
        }
        self.counts.visited += 1;
        let other = &self.crowd.input.placed[body as usize];
        let radii = self.placed.radius() + other.radius();
        let beyond = at_least(self.limit);
        let supports = &self.crowd.scene.supports;
        let candidate = match measure_pair(supports, self.placed, other, beyond, true, &mut 0) {
            Outcome::Beyond => return,
            Outcome::Measured(Measured { gap, .. }) => {
                let off = OFF * radii + OFF_FAR * gap.max(0.0);
                (Candidate { body, lower: gap - off, measured: None }, gap + off)
            }
            Outcome::Open => {
                let measured = self.settle(body);
                (Candidate { body, lower: measured.gap, measured: Some(measured) }, measured.gap)
            }
        };
        let (candidate, upper) = candidate;
        // A pair that touches is listed though its gap may be above a limit of 0.
        if candidate.lower > self.limit + OFF * radii {
            return;
        }
        self.candidates.push(candidate);
        self.uppers.push(Bound(upper));
        if self.uppers.len() > self.goal.count {
            self.uppers.pop();
        }
        if self.uppers.len() == self.goal.count {
            let most = self.uppers.peek().map_or(f64::INFINITY, |bound| bound.0);
            self.limit = most.clamp(0.0, self.goal.max_distance);
        }
    }
}

/// Adds the nearest bodies, sorted by separation and body, as those of row `query`.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(crate) fn nearest(
    crowd: &Crowd<'_>,
    goal: NearGoal,
    near: &Near<'_>,
    query: u32,
    rows: &mut Vec<NearestBody>,
) -> Counts {
    let (placed, aabb, world) = match near {
        &Near::Body(body, aabb) => (&crowd.input.placed[body as usize], aabb, crowd.world_of(body)),
        Near::Shape(shape, world) => (&shape.placed, &shape.aabb, world.clone()),
    };
    let mut search = Search {
        crowd,
        near,
        placed,
        goal,
        candidates: Vec::new(),
        uppers: BinaryHeap::new(),
        limit: goal.max_distance,
        counts: Counts::default(),
    };
    if placed.is_half_space() {
        crowd.walk(&NearPlane(*aabb), world.as_ref(), &mut search);
    } else {
        crowd.walk(&NearBox(*aabb), world.as_ref(), &mut search);
    }
    let most = match search.uppers.peek() {
        Some(bound) if search.uppers.len() == goal.count => bound.0,
        _ => f64::INFINITY,
    };
    let mut found = Vec::new();
    for candidate in std::mem::take(&mut search.candidates) {
        if candidate.lower > most {
            continue;
        }
        let measured = candidate.measured.unwrap_or_else(|| search.settle(candidate.body));
        if measured.is_within(goal.max_distance) {
            found.push((candidate.body, measured));
        }
    }
    found.sort_unstable_by(|(a, one), (b, other)| one.gap.total_cmp(&other.gap).then(a.cmp(b)));
    found.truncate(goal.count);
    rows.extend(found.iter().map(|&(body, measured)| {
        let base = search.base(body);
        NearestBody {
            query,
            body: crowd.row_of(body),
            status: measured.status,
            separation: measured.gap,
            normal: measured.normal.to_array(),
            points: [measured.on_a, measured.on_b()].map(|point| (point + base).to_array()),
        }
    }));
    search.counts
}
