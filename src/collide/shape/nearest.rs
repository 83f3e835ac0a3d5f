//! The nearest bodies of a body or a shape: a walk of the trees by the distance of boxes.
//!
//! f32 bounds the separation of each pair that it decides. What may be among the nearest by these bounds is measured in f64, which alone says
//! the order. So the rows are a function of the bodies: neither the order of the walk nor the number of threads matters.

use std::cmp::Ordering;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
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

impl Near<'_> {
    fn placed<'a>(&'a self, crowd: &'a Crowd<'_>) -> &'a Placed {
        match self {
            &Near::Body(body, _) => &crowd.input.placed[body as usize],
            Near::Shape(shape, _) => &shape.placed,
        }
    }
}

/// Twice τ against the sum of the bounding radii: τ is at most 1e-5 of it, and 5e-6 but for half-spaces.
const OFF: f64 = 2e-5;
/// Twice what τ grows by with the distance.
const OFF_FAR: f64 = 8e-6;

/// A body that may be among the nearest.
struct Candidate {
    body: u32,
    /// Which of those asked about it is near to.
    asker: u32,
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

/// The least upper bounds of separations, as many as are asked for: of bodies, or of owners of bodies.
#[derive(Default)]
struct Uppers {
    count: usize,
    of_bodies: BinaryHeap<Bound>,
    of_owners: BTreeSet<(Bound, u32)>,
    /// The least of each owner that was met.
    least_of: HashMap<u32, f64>,
}

impl Uppers {
    fn add(&mut self, upper: f64, owner: Option<u32>) {
        let Some(owner) = owner else {
            self.of_bodies.push(Bound(upper));
            if self.of_bodies.len() > self.count {
                self.of_bodies.pop();
            }
            return;
        };
        let least = self.least_of.entry(owner).or_insert(f64::INFINITY);
        if upper < *least {
            self.of_owners.remove(&(Bound(*least), owner));
            *least = upper;
            self.of_owners.insert((Bound(upper), owner));
            if self.of_owners.len() > self.count {
                self.of_owners.pop_last();
            }
        }
    }

    /// None of the nearest is farther, where there are as many as are asked for.
    fn most(&self) -> Option<f64> {
        let bodies = self.of_bodies.peek().filter(|_| self.of_bodies.len() == self.count);
        let owners = self.of_owners.last().filter(|_| self.of_owners.len() == self.count);
        bodies.or(owners.map(|(bound, _)| bound)).map(|bound| bound.0)
    }
}

struct Search<'a> {
    crowd: &'a Crowd<'a>,
    near: &'a Near<'a>,
    /// Number of that among those asked about.
    asker: u32,
    placed: &'a Placed,
    goal: NearGoal,
    /// The owner of each row, or nothing where each body counts for itself.
    owner_of: &'a [u32],
    candidates: Vec<Candidate>,
    uppers: Uppers,
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

    /// The owner of a body, where there are owners.
    fn owner(&self, body: u32) -> Option<u32> {
        self.owner_of.get(self.crowd.row_of(body) as usize).copied()
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
        let asker = self.asker;
        let candidate = match measure_pair(supports, self.placed, other, beyond, true, &mut 0) {
            Outcome::Beyond => return,
            Outcome::Measured(Measured { gap, .. }) => {
                let off = OFF * radii + OFF_FAR * gap.max(0.0);
                (Candidate { body, asker, lower: gap - off, measured: None }, gap + off)
            }
            Outcome::Open => {
                let measured = self.settle(body);
                (Candidate { body, asker, lower: measured.gap, measured: Some(measured) }, measured.gap)
            }
        };
        let (candidate, upper) = candidate;
        // A pair that touches is listed though its gap may be above a limit of 0.
        if candidate.lower > self.limit + OFF * radii {
            return;
        }
        self.candidates.push(candidate);
        self.uppers.add(upper, self.owner(body));
        if let Some(most) = self.uppers.most() {
            self.limit = most.clamp(0.0, self.goal.max_distance);
        }
    }
}

/// Finds the candidates of all that ask.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn walk_all<'a>(search: &mut Search<'a>, nears: &'a [Near<'a>]) {
    let crowd = search.crowd;
    for (asker, near) in (0..).zip(nears) {
        (search.near, search.asker, search.placed) = (near, asker, near.placed(crowd));
        let (aabb, world) = match near {
            &Near::Body(body, aabb) => (aabb, crowd.world_of(body)),
            Near::Shape(shape, world) => (&shape.aabb, world.clone()),
        };
        if search.placed.is_half_space() {
            crowd.walk(&NearPlane(*aabb), world.as_ref(), search);
        } else {
            crowd.walk(&NearBox(*aabb), world.as_ref(), search);
        }
    }
}

/// One of the nearest, and which of those asked about it is near to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearPair {
    pub(crate) asker: u32,
    pub(crate) row: NearestBody,
}

/// Adds the bodies nearest to any of some bodies or shapes, sorted by separation, body and asker, as those of row `query`. With `owner_of`, the
/// owner of each row, statics included, it is the nearest owners that are found: one body of each, the nearest of it.
pub(crate) fn nearest(
    crowd: &Crowd<'_>,
    goal: NearGoal,
    nears: &[Near<'_>],
    owner_of: &[u32],
    query: u32,
    pairs: &mut Vec<NearPair>,
) -> Counts {
    let Some(first) = nears.first() else { return Counts::default() };
    let mut search = Search {
        crowd,
        near: first,
        asker: 0,
        placed: first.placed(crowd),
        goal,
        owner_of,
        candidates: Vec::new(),
        uppers: Uppers { count: goal.count, ..Uppers::default() },
        limit: goal.max_distance,
        counts: Counts::default(),
    };
    walk_all(&mut search, nears);
    let most = search.uppers.most().unwrap_or(f64::INFINITY);
    let mut found = Vec::new();
    for candidate in std::mem::take(&mut search.candidates) {
        let Candidate { body, asker, lower, measured } = candidate;
        let owner = search.owner(body);
        // Another body of the owner is nearer.
        let of_owner = owner.and_then(|owner| search.uppers.least_of.get(&owner).copied());
        if lower > most.min(of_owner.unwrap_or(f64::INFINITY)) {
            continue;
        }
        search.near = &nears[asker as usize];
        let measured = measured.unwrap_or_else(|| search.settle(body));
        if measured.is_within(goal.max_distance) {
            let row = search.crowd.row_of(body);
            found.push((owner.unwrap_or(row), asker, row, body, measured));
        }
    }
    found.sort_unstable_by(|(a, p, b, _, one), (c, q, d, _, other)| {
        one.gap.total_cmp(&other.gap).then((a, p, b).cmp(&(c, q, d)))
    });
    if !owner_of.is_empty() {
        let mut seen = HashSet::new();
        found.retain(|&(owner, ..)| seen.insert(owner));
    }
    found.truncate(goal.count);
    pairs.extend(found.iter().map(|&(_, asker, _, body, measured)| {
        search.near = &nears[asker as usize];
        let base = search.base(body);
        let row = NearestBody {
            query,
            query_part: 0,
            body: crowd.row_of(body),
            part: 0,
            status: measured.status,
            separation: measured.gap,
            normal: measured.normal.to_array(),
            points: [measured.on_a, measured.on_b()].map(|point| (point + base).to_array()),
        };
        NearPair { asker, row }
    }));
    search.counts
}
