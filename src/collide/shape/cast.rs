//! Shape casts against a scene: the sweep of a pair, and a walk of the trees from near to far.
//!
//! Whether a shape meets a body, and where, is what [`ExactPair`] says in f64. The cast in f32 only skips bodies: those that it certainly
//! misses, and those that it certainly meets later than another. Boxes are skipped only where their lower bound is clear of the best distance so
//! far, and among equal distances the least body id wins. So neither the order of the walk nor the number of threads matters.

use std::ops::Range;

use glam::DVec3;

use crate::collide::bvh::near_first::{BodyVisit, SlabBox};
use crate::collide::gjk::pose::Placement;
use crate::collide::narrow_phase::exact::measure_placed;
use crate::collide::narrow_phase::measure::measure_pair;
use crate::collide::narrow_phase::measured::Outcome;
use crate::collide::scene::body::Body;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::shape_cast::PlacedCast;
use crate::collide::scene::world_ranges::WorldRanges;
use crate::collide::shape::crowd::{Crowd, at_least};
use crate::collide::shape::rows::{ShapeCastAny, ShapeCastFirst, ShapeCastHit};
use crate::collide::sweep::exact::ExactPair;
use crate::collide::sweep::outcome::Swept;
use crate::collide::sweep::pair::{self, FastOutcome};
use crate::collide::sweep::rows::SweepOutcome;

/// What the casts of a query have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CastGoal {
    /// Whether f64 answers to within 1e-9 S.
    pub(crate) exact: bool,
    /// Whether bodies that a shape touches at the start are hit.
    pub(crate) at_start: bool,
    /// Whether the points that meet are measured.
    pub(crate) witness: bool,
}

/// A multiple of τ, and of the error of f32, against the sum of the bounding radii: τ is at most 5e-6 of it.
const EARLIER: f64 = 2e-5;

/// Where a shape that moves meets a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Met {
    /// In world units.
    pub(crate) distance: f64,
    swept: Swept,
}

impl Met {
    /// Where the shape of a cast meets a body of given placements, in f64. `start` are the placements of the shape and of the body.
    pub(crate) fn find(
        cast: &PlacedCast,
        goal: CastGoal,
        start: &[Placement<'_>; 2],
        body: &Body,
    ) -> Option<Self> {
        let offset = start[0].position - start[1].position;
        let sides = [start[0].hull, start[1].hull];
        let still = Motion::default();
        let pair = ExactPair::new(sides, [&cast.shape.body, body], offset, [&cast.motion, &still]);
        let swept = pair.swept(start, cast.end, goal.exact);
        let distance = match swept.outcome {
            SweepOutcome::Miss => return None,
            SweepOutcome::Touching if !goal.at_start => return None,
            SweepOutcome::Touching => 0.0,
            SweepOutcome::Hit => (swept.time * cast.length).min(cast.max_distance),
        };
        Some(Self { distance, swept })
    }

    /// The row of cast and body `ids`. `place` gives their placements at the start, and the point that these are about.
    pub(crate) fn row<'a>(
        &self,
        cast: &PlacedCast,
        goal: CastGoal,
        ids: [u32; 2],
        place: impl FnOnce() -> ([Placement<'a>; 2], DVec3),
    ) -> ShapeCastHit {
        let mut row = ShapeCastHit {
            cast: ids[0],
            body: ids[1],
            part: 0,
            distance: self.distance,
            normal: (-self.swept.normal).to_array(),
            initial_overlap: self.swept.outcome == SweepOutcome::Touching,
            points: None,
            separation: None,
        };
        if goal.witness {
            let ([start, other], base) = place();
            let measured = measure_placed(&[start.moved(&cast.motion, self.swept.time), other]);
            row.points = Some([measured.on_a, measured.on_b()].map(|point| (point + base).to_array()));
            row.separation = Some(measured.gap);
        }
        row
    }
}

/// A hit of one body.
#[derive(Debug, Clone, Copy)]
struct Found {
    body: u32,
    met: Met,
}

/// What the cast in f32 shows.
enum Shown {
    Miss,
    /// The shape meets the body, no earlier than after this distance, and does not touch it at the start.
    Hit(f64),
    /// The shape touches or overlaps the body at the start.
    Start,
    /// Only f64 can say.
    Nothing,
}

/// One cast against the bodies of a scene.
struct Caster<'a> {
    crowd: &'a Crowd<'a>,
    goal: CastGoal,
    cast: &'a PlacedCast,
    velocity: DVec3,
    settled_count: u64,
}

impl<'a> Caster<'a> {
    fn new(crowd: &'a Crowd<'a>, goal: CastGoal, cast: &'a PlacedCast) -> Self {
        let velocity = DVec3::from(cast.motion.velocity.map(f64::from));
        Self { crowd, goal, cast, velocity, settled_count: 0 }
    }

    /// Whether groups and masks accept a body.
    #[inline(always)]
    fn accepts(&self, body: u32) -> bool {
        let (shape, body) = (&self.cast.shape.body, &self.crowd.input.bodies[body as usize]);
        shape.group & body.mask != 0 && body.group & shape.mask != 0
    }

    /// The cast in f32.
    #[inline(always)]
    fn show(&self, body: u32) -> Shown {
        let shape = &self.cast.shape.placed;
        let other = &self.crowd.input.placed[body as usize];
        if other.is_half_space() {
            return Shown::Nothing;
        }
        let supports = &self.crowd.scene.supports;
        match pair::sweep(supports, shape, other, self.velocity, self.cast.end, 0.0) {
            FastOutcome::Decided(Swept { outcome: SweepOutcome::Miss, .. }) => Shown::Miss,
            FastOutcome::Decided(Swept { outcome: SweepOutcome::Hit, time, normal }) => {
                let closing = self.velocity.dot(normal);
                let earlier = EARLIER * (shape.radius() + other.radius());
                if closing > 0.0 {
                    Shown::Hit((time - earlier / closing) * self.cast.length)
                } else {
                    Shown::Nothing
                }
            }
            FastOutcome::TouchesAtStart => match measure_pair(supports, shape, other, 0.0, false, &mut 0) {
                // The status is that of f64.
                Outcome::Measured(measured) if measured.status.is_hit() => Shown::Start,
                _ => Shown::Nothing,
            },
            _ => Shown::Nothing,
        }
    }

    /// The sweep in f64: the hit of one body.
    #[inline(never)]
    fn settle(&mut self, body: u32) -> Option<Found> {
        self.settled_count += 1;
        let (start, _) = self.crowd.placements(&self.cast.shape, body);
        let met = Met::find(self.cast, self.goal, &start, &self.crowd.input.bodies[body as usize])?;
        Some(Found { body, met })
    }

    fn row(&self, cast: u32, found: &Found) -> ShapeCastHit {
        let ids = [cast, self.crowd.row_of(found.body)];
        let place = || self.crowd.placements(&self.cast.shape, found.body);
        found.met.row(self.cast, self.goal, ids, place)
    }

    fn probe(&self) -> SlabBox {
        SlabBox::new(&self.cast.shape.aabb, self.velocity.to_array(), self.cast.length)
    }
}

/// Finds the first hit.
struct First<'a> {
    caster: Caster<'a>,
    limit: f32,
    best: Option<Best>,
    visit_count: u64,
}

/// The first hit so far.
#[derive(Debug, Clone, Copy)]
struct Best {
    body: u32,
    distance: f64,
    /// `None` where the shape touches the body at the start, and f64 has not measured it.
    found: Option<Found>,
}

impl BodyVisit for First<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        self.limit
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        // Nothing is met before the start.
        let crowd = self.caster.crowd;
        if self.best.is_some_and(|best| best.distance == 0.0 && crowd.row_of(best.body) < crowd.row_of(body))
            || !self.caster.accepts(body)
        {
            return;
        }
        self.visit_count += 1;
        let best = match self.caster.show(body) {
            Shown::Miss => return,
            Shown::Hit(least) if self.best.is_some_and(|best| least > best.distance) => return,
            Shown::Start if !self.caster.goal.at_start => return,
            Shown::Start => Best { body, distance: 0.0, found: None },
            Shown::Hit(_) | Shown::Nothing => match self.caster.settle(body) {
                Some(found) => Best { body, distance: found.met.distance, found: Some(found) },
                None => return,
            },
        };
        let is_first = self.best.is_none_or(|other| {
            best.distance < other.distance
                || best.distance == other.distance && crowd.row_of(best.body) < crowd.row_of(other.body)
        });
        if is_first {
            self.limit = at_least(best.distance);
            self.best = Some(best);
        }
    }
}

impl First<'_> {
    /// The first hit of all.
    fn found(&mut self) -> Option<Found> {
        let best = self.best?;
        best.found.or_else(|| self.caster.settle(best.body))
    }
}

/// Finds all hits.
struct All<'a> {
    caster: Caster<'a>,
    limit: f32,
    hits: Vec<Found>,
    visit_count: u64,
}

impl BodyVisit for All<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        self.limit
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        if self.caster.accepts(body) {
            self.visit_count += 1;
            match self.caster.show(body) {
                Shown::Miss => (),
                Shown::Start if !self.caster.goal.at_start => (),
                _ => self.hits.extend(self.caster.settle(body)),
            }
        }
    }
}

/// Finds whether there is a hit.
struct Any<'a> {
    caster: Caster<'a>,
    limit: f32,
    is_hit: bool,
    visit_count: u64,
}

impl BodyVisit for Any<'_> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        self.limit
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        if self.is_hit || !self.caster.accepts(body) {
            return;
        }
        self.visit_count += 1;
        self.is_hit = match self.caster.show(body) {
            Shown::Miss => false,
            Shown::Hit(_) => true,
            Shown::Start => self.caster.goal.at_start,
            Shown::Nothing => self.caster.settle(body).is_some(),
        };
        if self.is_hit {
            // Below every box.
            self.limit = -1.0;
        }
    }
}

/// How many bodies casts were tested against, and how many of them in f64.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) visited: u64,
    pub(crate) settled: u64,
}

/// The first hits of casts that are numbered from `first` on.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn first_hits(
    crowd: &Crowd<'_>,
    goal: CastGoal,
    casts: &[PlacedCast],
    worlds: &WorldRanges,
    first: u32,
    rows: &mut [ShapeCastFirst],
) -> Counts {
    let mut counts = Counts::default();
    for ((id, cast), row) in (first..).zip(casts).zip(rows) {
        let caster = Caster::new(crowd, goal, cast);
        let (probe, world) = (caster.probe(), worlds.get(id));
        let limit = at_least(cast.max_distance);
        let mut search = First { caster, limit, best: None, visit_count: 0 };
        crowd.walk(&probe, world.as_ref(), &mut search);
        let found = search.found();
        counts.visited += search.visit_count;
        counts.settled += search.caster.settled_count;
        *row = ShapeCastFirst { cast: id, hit: found.map(|found| search.caster.row(id, &found)) };
    }
    counts
}

/// Whether casts hit anything.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn any_hits(
    crowd: &Crowd<'_>,
    goal: CastGoal,
    casts: &[PlacedCast],
    worlds: &WorldRanges,
    first: u32,
    rows: &mut [ShapeCastAny],
) -> Counts {
    let mut counts = Counts::default();
    for ((id, cast), row) in (first..).zip(casts).zip(rows) {
        let caster = Caster::new(crowd, goal, cast);
        let (probe, world) = (caster.probe(), worlds.get(id));
        let limit = at_least(cast.max_distance);
        let mut search = Any { caster, limit, is_hit: false, visit_count: 0 };
        crowd.walk(&probe, world.as_ref(), &mut search);
        counts.visited += search.visit_count;
        counts.settled += search.caster.settled_count;
        *row = ShapeCastAny { cast: id, is_hit: search.is_hit };
    }
    counts
}

/// Sorts by distance and body. Apart from the walk, which has versions by instruction set.
#[inline(never)]
fn sort_hits(crowd: &Crowd<'_>, hits: &mut [Found]) {
    let row = |found: &Found| crowd.row_of(found.body);
    hits.sort_unstable_by(|a, b| a.met.distance.total_cmp(&b.met.distance).then_with(|| row(a).cmp(&row(b))));
}

/// Adds all hits of a cast, sorted by distance and body.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn all_hits(
    crowd: &Crowd<'_>,
    goal: CastGoal,
    cast: &PlacedCast,
    world: Option<Range<u32>>,
    id: u32,
    rows: &mut Vec<ShapeCastHit>,
) -> Counts {
    let caster = Caster::new(crowd, goal, cast);
    let probe = caster.probe();
    let mut search = All { caster, limit: at_least(cast.max_distance), hits: Vec::new(), visit_count: 0 };
    crowd.walk(&probe, world.as_ref(), &mut search);
    sort_hits(crowd, &mut search.hits);
    rows.extend(search.hits.iter().map(|found| search.caster.row(id, found)));
    Counts { visited: search.visit_count, settled: search.caster.settled_count }
}
