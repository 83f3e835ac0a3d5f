//! A query for sweeps on the CPU: checks, candidates, and rows.

use crate::collide::bvh::static_tree::StaticBoxes;
use glam::DVec3;
use std::sync::Arc;
use web_time::Instant;

use crate::collide::broad_phase::cpu;
use crate::collide::broad_phase::estimate::{check_row_count, check_row_count_exhaustive};
use crate::collide::bvh::aabb::Aabb;
use crate::collide::gjk::pose::Placement;
use crate::collide::hull::support::Supports;
use crate::collide::narrow_phase::exact;
use crate::collide::narrow_phase::measure;
use crate::collide::narrow_phase::measure::shift;
use crate::collide::narrow_phase::measured::Outcome;
use crate::collide::narrow_phase::rows::{Batch, Precision, Stats};
use crate::collide::narrow_phase::settle::log_settled;
use crate::collide::scene::bounds;
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::sweep::exact::{ExactPair, Impact, meeting};
use crate::collide::sweep::outcome::Swept;
use crate::collide::sweep::pair;
use crate::collide::sweep::pair::FastOutcome;
use crate::collide::sweep::rows::{Sweep, SweepOutcome};
use crate::error::{Error, Location, Result};
use crate::parallel::{map, map_chunks, map_range};

/// Pairs in one task.
const TASK: usize = 256;

/// How far a body may move, in world units.
const TRAVEL_LIMIT: f64 = 1e18;
/// How many full turns a body may make during a sweep.
const TURN_LIMIT: f64 = 1000.0;
/// More than what f64 rounds off a sum with the lever of a body, as a share of the lever: a few times 1.1e-16.
const LEVER_ERROR: f64 = 1e-14;

/// Checks the motions and the duration of a sweep.
pub(crate) fn check(body_count: usize, motions: &[Motion], duration: f32) -> Result<()> {
    check_duration(duration)?;
    check_motions(body_count, motions.len(), motions, duration)
}

/// Checks the duration of a sweep.
pub(crate) fn check_duration(duration: f32) -> Result<()> {
    if !(duration >= 0.0 && duration.is_finite()) {
        let allowed = "it must be finite and zero or more";
        return Err(Error::value(Location::Argument, "duration", format!("{duration:?}"), allowed));
    }
    Ok(())
}

/// Checks the number of the motions of a sweep, and those motions that the host knows.
pub(crate) fn check_motions(
    body_count: usize,
    given: usize,
    motions: &[Motion],
    duration: f32,
) -> Result<()> {
    if given != body_count {
        return Err(Error::Count {
            at: Location::Argument,
            what: "motions",
            given: given as u64,
            allowed: format!("there must be one for each of the {body_count} bodies"),
        });
    }
    let length = |v: [f32; 3]| DVec3::from(v.map(f64::from)).abs().max_element() * f64::from(duration);
    for (body, motion) in motions.iter().enumerate() {
        let error = |field, value: [f32; 3], allowed| {
            Err(Error::value(Location::Motion(body), field, format!("{value:?}"), allowed))
        };
        let Motion { velocity, angular_velocity } = *motion;
        if !velocity.iter().all(|x| x.is_finite()) || length(velocity) > TRAVEL_LIMIT {
            return error("velocity", velocity, "each must be finite and lead no further than 1e18");
        }
        let turns = std::f64::consts::TAU * TURN_LIMIT;
        if !angular_velocity.iter().all(|x| x.is_finite()) || length(angular_velocity) > turns {
            return error(
                "angular_velocity",
                angular_velocity,
                "each must be finite and turn 1,000 times at most",
            );
        }
    }
    Ok(())
}

/// How the movers of a query move.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moves<'a> {
    pub(crate) motions: &'a [Motion],
    /// From the point that each mover turns about to its hull's origin at the start, in world units and axes; empty where all turn about
    /// these origins. It is 0 for a mover that does not turn, and for a half-space. Velocities are those of these points.
    ///
    /// With positions in f64 a lever is the difference of the hull's origin and the point. It is exact, or no shorter than the nearer of the two
    /// to the world's origin. So the position less the lever is the point to within [`LEVER_ERROR`] of the lever.
    pub(crate) levers: &'a [DVec3],
    /// Whether pairs in which neither has a lever are left out, unless they are given.
    pub(crate) levers_only: bool,
}

impl<'a> Moves<'a> {
    /// Movers that turn about their hulls' origins.
    pub(crate) fn new(motions: &'a [Motion]) -> Self {
        Self { motions, ..Self::default() }
    }

    /// From the point that a body turns about to its hull's origin at the start.
    pub(crate) fn lever(&self, body: u32) -> DVec3 {
        self.levers.get(body as usize).copied().unwrap_or_default()
    }

    /// Whether one of two bodies has a lever.
    pub(crate) fn has_lever(&self, pair: [u32; 2]) -> bool {
        pair.iter().any(|&body| self.lever(body) != DVec3::ZERO)
    }
}

/// The input of a query for sweeps.
pub(crate) struct SweepQuery<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) input: &'a QueryInput,
    pub(crate) moves: Moves<'a>,
    pub(crate) duration: f64,
    pub(crate) precision: Precision,
}

/// The rows of some pairs, and counts of the pairs.
#[derive(Default)]
struct SweptRows {
    rows: Vec<Sweep>,
    /// Pairs whose start was measured.
    refined_count: u64,
    /// Pairs that went to the exact path.
    settled_count: u64,
}

/// Answers a query on the CPU.
pub(crate) fn sweeps(
    scene: &Scene,
    input: &QueryInput,
    moves: Moves<'_>,
    duration: f32,
    precision: Precision,
    witness: bool,
) -> Result<Batch<Sweep>> {
    let begin = Instant::now();
    let budget = RowBudget::new::<Sweep>(input.answer_limit).awaited_by(&input.awaited);
    let query = SweepQuery { scene, input, moves, duration: f64::from(duration), precision };
    let (parts, candidate_count) = match &input.pairs {
        OwnedPairs::Given(pairs) => (query.examine(pairs, true), pairs.len() as u64),
        OwnedPairs::BroadPhase => query.examine_near(&budget)?,
        OwnedPairs::Exhaustive => (query.examine_exhaustive(&budget)?, input.pair_total()),
    };
    budget.check()?;
    let mut stats = Stats { candidate_count, ..Stats::default() };
    let mut rows = Vec::with_capacity(parts.iter().map(|part| part.rows.len()).sum());
    for part in parts {
        stats.refined_count += part.refined_count;
        stats.settled_count += part.settled_count;
        rows.extend(part.rows);
    }
    if witness {
        query.add_witnesses(&mut rows);
    }
    log_settled(&stats);
    stats.hit_count = rows.iter().filter(|row| row.outcome != SweepOutcome::Miss).count() as u64;
    stats.times.upload_ms = input.upload_ms;
    stats.times.kernels_ms = begin.elapsed().as_secs_f64() * 1e3;
    Ok(Batch::new(rows, stats))
}

impl SweepQuery<'_> {
    /// Measures each pair that meets, at the time of impact.
    pub(crate) fn add_witnesses(&self, rows: &mut [Sweep]) {
        let stored = self.input.stored();
        let witness = |row: &Sweep| {
            if row.outcome == SweepOutcome::Miss {
                return None;
            }
            let [a, b] = exact::placements(&self.scene.hulls, stored, [row.a, row.b]);
            let moved = [(a, row.a), (b, row.b)].map(|(placed, id)| self.moved(placed, id, row.time));
            let found = exact::measure_placed(&moved);
            Some((found, stored.base(&self.scene.hulls, [row.a, row.b])))
        };
        let found = map(rows, witness);
        for (row, found) in rows.iter_mut().zip(found) {
            row.set_witness(found.as_ref().map(|(found, _)| found));
            if let Some((_, Some(base))) = found {
                row.points.iter_mut().flatten().for_each(|point| shift(point, base));
            }
        }
    }

    fn motion(&self, body: u32) -> Motion {
        // Statics have no motion.
        self.moves.motions.get(body as usize).copied().unwrap_or_default()
    }

    /// Where the placement of a body at the start is at a time.
    fn moved<'a>(&self, start: Placement<'a>, body: u32, time: f64) -> Placement<'a> {
        start.moved_about(&self.motion(body), self.moves.lever(body), time)
    }

    /// From the point that `b` turns about to that of `a`, at the start.
    fn between(&self, a: u32, b: u32) -> DVec3 {
        let stored = self.input.stored();
        let [a, b] = [a, b].map(|body| stored.position(body) - self.moves.lever(body));
        a - b
    }

    /// The rows of pairs whose swept boxes overlap, and the number of these pairs.
    fn examine_near(&self, budget: &RowBudget) -> Result<(Vec<SweptRows>, u64)> {
        let mut search = cpu::BroadPhase::default();
        *search.boxes() = self.boxes();
        search.rules = Arc::clone(&self.input.rules);
        let none = StaticBoxes::default();
        let static_boxes = self.input.statics.as_ref().map_or(&none, |statics| &statics.boxes);
        search.begin(static_boxes, 0.0);
        let met = |pairs: &[[u32; 2]]| -> Vec<[u32; 2]> {
            pairs.iter().copied().filter(|&pair| self.meets(pair)).collect()
        };
        check_row_count(&search, static_boxes, 0.0, budget, &|pairs| self.row_count(pairs))?;
        let (mut parts, mut count) = (Vec::new(), 0);
        while let Some(found) = search.next(static_boxes, 0.0) {
            let pairs = met(found);
            count += pairs.len() as u64;
            let more = self.examine(&pairs, false);
            budget.add(more.iter().map(|part| part.rows.len()).sum());
            budget.check()?;
            parts.extend(more);
        }
        Ok((parts, count))
    }

    /// The swept boxes of the movers.
    pub(crate) fn boxes(&self) -> Vec<Aabb> {
        let mut boxes = Vec::new();
        bounds::aabbs_into(&mut boxes, &self.input.packed, &self.scene.supports.records, 0.0);
        for (index, (aabb, body)) in boxes.iter_mut().zip(self.input.packed.iter()).enumerate() {
            let motion = self.motion(index as u32);
            if !aabb.is_plane() {
                let lever = self.moves.lever(index as u32);
                let pivot = self.input.position(index as u32) - lever;
                // f32 positions are exact; others are rounded as the excess says.
                let off = if self.input.is_far() { f64::from(body.excess) } else { 0.0 };
                let off = off + LEVER_ERROR * lever.length();
                *aabb = swept_box(aabb, body, (pivot, off), &motion, self.duration);
            } else if motion != Motion::default() {
                // A half-space that moves may reach everything.
                aabb.min = [-bounds::EVERYTHING; 3];
                aabb.max = [bounds::EVERYTHING; 3];
            }
        }
        boxes
    }

    /// How many of some pairs have rows.
    pub(crate) fn row_count(&self, pairs: &[[u32; 2]]) -> usize {
        let met: Vec<[u32; 2]> = pairs.iter().copied().filter(|&pair| self.meets(pair)).collect();
        let mut part = SweptRows::default();
        met.chunks(TASK).for_each(|pairs| examine(self, pairs, false, &mut part));
        part.rows.len()
    }

    /// Whether a pair that was not given is examined: groups and masks accept it, not both are half-spaces, and one has a lever where that is asked
    /// for.
    fn meets(&self, pair: [u32; 2]) -> bool {
        let records = &self.scene.supports.records;
        let [a, b] = pair.map(|body| &self.input.bodies[body as usize]);
        let planes = [a, b].map(|body| records[body.hull as usize].half_space != 0);
        (a.group & b.mask) != 0
            && (b.group & a.mask) != 0
            && planes != [true; 2]
            && (!self.moves.levers_only || self.moves.has_lever(pair))
    }

    fn examine(&self, pairs: &[[u32; 2]], keeps_all: bool) -> Vec<SweptRows> {
        let task = |pairs: &[[u32; 2]]| {
            let mut part = SweptRows::default();
            if self.input.awaited.is_awaited() {
                examine(self, pairs, keeps_all, &mut part);
            }
            part
        };
        map_chunks(pairs, TASK, task)
    }

    /// All pairs, a body's partners at a time.
    fn examine_exhaustive(&self, budget: &RowBudget) -> Result<Vec<SweptRows>> {
        check_row_count_exhaustive(self.scene, self.input, budget, &|pairs| self.row_count(pairs))?;
        let rules = &self.input.rules;
        let task = |a: u32| {
            let mut part = SweptRows::default();
            if !budget.goes_on() {
                return part;
            }
            let mut pairs = Vec::with_capacity(TASK);
            let [movers, statics] = self.input.partners(a);
            let mut left = movers.len() + statics.len();
            for b in movers.chain(statics) {
                left -= 1;
                if self.meets([a, b]) && (!rules.has_filter() || rules.allows(a, b)) {
                    pairs.push([a, b]);
                }
                if pairs.len() == TASK || left == 0 {
                    let before = part.rows.len();
                    examine(self, &pairs, false, &mut part);
                    pairs.clear();
                    if !budget.add(part.rows.len() - before) {
                        break;
                    }
                }
            }
            part
        };
        let parts = map_range(self.input.mover_count as u32, task);
        budget.check()?;
        Ok(parts)
    }

    /// Sweeps a pair: in f32 where possible, otherwise in f64.
    #[inline(always)]
    fn sweep(&self, a: u32, b: u32, part: &mut SweptRows) -> Swept {
        let supports: &Supports = &self.scene.supports;
        let placed = [a, b].map(|body| &self.input.placed[body as usize]);
        let motions = [self.motion(a), self.motion(b)];
        let turns = motions.iter().any(|motion| motion.angular_velocity != [0.0; 3]);
        let flat = placed.iter().any(|body| body.is_half_space());
        let [va, vb] = motions.map(|motion| DVec3::from(motion.velocity.map(f64::from)));
        if turns && !flat && self.never_meets(a, b, va - vb) {
            return Swept::MISS;
        }
        if flat || self.precision == Precision::Exact {
            return self.settle(a, b, part);
        }
        let spin = if turns { self.spin(a) + self.spin(b) } else { 0.0 };
        match pair::sweep(supports, placed[0], placed[1], va - vb, self.duration, spin) {
            FastOutcome::Decided(swept) => swept,
            FastOutcome::TouchesAtStart => Swept::START,
            FastOutcome::Open => self.settle(a, b, part),
        }
    }

    /// Whether the bounding balls about the points that two bodies turn about never meet. These points move on straight lines, and a rotation
    /// about its point leaves each vertex as far from it: so the balls contain the bodies however these rotate.
    fn never_meets(&self, a: u32, b: u32, velocity: DVec3) -> bool {
        let reach = self.reach(a) + self.reach(b);
        meeting(self.between(a, b), velocity, reach * 1.000_006, self.duration).is_none()
    }

    /// Upper bound of how far rotation moves a point of a body away from where translation alone would take it. A point that is ρ from the axis
    /// through the point that the body turns about is moved by the chord of the angle θ, 2 ρ sin(θ / 2), which is at most ρ θ and 2 ρ. No ρ is
    /// above the reach.
    fn spin(&self, body: u32) -> f64 {
        let angle = DVec3::from(self.motion(body).angular_velocity.map(f64::from)).length() * self.duration;
        self.reach(body) * angle.min(2.0) * 1.000_002
    }

    /// Bounding radius of a body about the point that it turns about.
    fn reach(&self, body: u32) -> f64 {
        let placed = &self.input.placed[body as usize];
        let lever = self.moves.lever(body);
        let arm = placed.center() - self.input.position(body) + lever;
        let reach = arm.length() + placed.radius() + LEVER_ERROR * lever.length();
        // f32 positions are exact.
        if self.input.is_far() { reach + f64::from(placed.excess) } else { reach }
    }

    /// Settles a pair in f64.
    #[inline(never)]
    fn settle(&self, a: u32, b: u32, part: &mut SweptRows) -> Swept {
        part.settled_count += 1;
        self.settle_from(a, b, None)
    }

    /// Sweeps a pair in f64, its start included. With `normal`, from `a` to `b`, the bodies are known to be apart along it at the start,
    /// but by too little for f32 to show that they do not touch.
    pub(crate) fn settle_whole(&self, a: u32, b: u32, normal: Option<DVec3>) -> Swept {
        let swept = self.settle_from(a, b, normal.map(|normal| -normal));
        match normal {
            Some(normal) if swept.is_start() => Swept::touching(normal),
            None if swept.is_start() => {
                let measured = exact::measure(&self.scene.hulls, self.input.stored(), [a, b]);
                if measured.status.is_hit() {
                    Swept::touching(measured.normal)
                } else {
                    self.settle_whole(a, b, Some(measured.normal))
                }
            }
            _ => swept,
        }
    }

    /// The lower body id goes first: whether a grazing pair meets may depend on the order.
    fn settle_from(&self, a: u32, b: u32, axis: Option<DVec3>) -> Swept {
        if self.input.stored().is_reversed([a, b]) {
            let swept = self.settle_from(b, a, axis.map(|axis| -axis));
            return Swept { normal: -swept.normal, ..swept };
        }
        let bodies = [a, b].map(|body| &self.input.bodies[body as usize]);
        let motions = [self.motion(a), self.motion(b)];
        let hulls = bodies.map(|body| &self.scene.hulls[body.hull as usize]);
        let levers = [self.moves.lever(a), self.moves.lever(b)];
        let pair = ExactPair::about(hulls, bodies, levers, self.between(a, b), [&motions[0], &motions[1]]);
        match pair.sweep(self.duration, self.precision == Precision::Exact, axis) {
            Impact::Hit { time, normal } => Swept::hit(time, normal),
            Impact::Miss => Swept::MISS,
            Impact::Start => Swept::START,
        }
    }

    /// Measures pairs that may touch at the start.
    fn examine_starts(&self, pairs: &[[u32; 2]], part: &mut SweptRows) -> Vec<Swept> {
        part.refined_count += pairs.len() as u64;
        let mut outcomes = vec![Outcome::Open; pairs.len()];
        if self.precision == Precision::Fast {
            measure::measure(&self.scene.supports, self.input, pairs, f64::INFINITY, true, &mut outcomes);
        }
        let mut begin = |(&[a, b], outcome): (&[u32; 2], &Outcome)| {
            let measured = match outcome {
                Outcome::Measured(measured) => *measured,
                Outcome::Open | Outcome::Beyond => {
                    part.settled_count += 1;
                    exact::measure(&self.scene.hulls, self.input.stored(), [a, b])
                }
            };
            if measured.status.is_hit() {
                return Swept::touching(measured.normal);
            }
            part.settled_count += 1;
            match self.settle_from(a, b, Some(-measured.normal)) {
                // They are apart by less than the tolerance, and no direction shows it.
                swept if swept.is_start() => Swept::touching(measured.normal),
                swept => swept,
            }
        };
        pairs.iter().zip(&outcomes).map(&mut begin).collect()
    }
}

/// Appends the rows of at most [`TASK`] pairs: of all, or of those that meet.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn examine(query: &SweepQuery<'_>, pairs: &[[u32; 2]], keeps_all: bool, part: &mut SweptRows) {
    let mut found = [Swept::MISS; TASK];
    let (mut starts, mut places) = (Vec::new(), Vec::new());
    for (place, &[a, b]) in pairs.iter().enumerate() {
        found[place] = query.sweep(a, b, part);
        if found[place].is_start() {
            starts.push([a, b]);
            places.push(place);
        }
    }
    if !starts.is_empty() {
        for (&place, swept) in places.iter().zip(query.examine_starts(&starts, part)) {
            found[place] = swept;
        }
    }
    for (&[a, b], swept) in pairs.iter().zip(&found) {
        if keeps_all || swept.outcome != SweepOutcome::Miss {
            part.rows.push(swept.row(a, b, query.duration));
        }
    }
}

/// The swept box of a body, from its box at the start. `pivot` is the point that it turns about, and how much this may be off.
fn swept_box(
    aabb: &Aabb,
    body: &PackedBody,
    (pivot, off): (DVec3, f64),
    motion: &Motion,
    duration: f64,
) -> Aabb {
    let mut start = *aabb;
    if motion.angular_velocity != [0.0; 3] {
        // Two boxes contain the body however it rotates: that of the ball about the pivot, which holds each vertex at its distance from there, and
        // its own box widened by the chord, the most that rotation moves a point (`SweepQuery::spin`). So does what both contain.
        let arm: f64 = (0..3)
            .map(|i| f64::from(body.position[i]) + f64::from(body.remainder[i]) - pivot[i])
            .map(|x| x * x)
            .sum();
        let reach = (arm.sqrt() + f64::from(body.radius)) * 1.000_001 + off;
        let angle = DVec3::from(motion.angular_velocity.map(f64::from)).length() * duration;
        let spin = reach * angle.min(2.0) * 1.000_001;
        for i in 0..3 {
            let (low, high) = (pivot[i] - reach, pivot[i] + reach);
            start.min[i] = start.min[i].min(below(low.max(f64::from(start.min[i]) - spin)));
            start.max[i] = start.max[i].max(above(high.min(f64::from(start.max[i]) + spin)));
        }
    }
    let mut whole = start;
    for i in 0..3 {
        let way = f64::from(motion.velocity[i]) * duration;
        whole.min[i] = start.min[i].min(below(f64::from(start.min[i]) + way));
        whole.max[i] = start.max[i].max(above(f64::from(start.max[i]) + way));
    }
    whole
}

fn below(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) > x { rounded.next_down().max(-f32::MAX) } else { rounded.max(-f32::MAX) }
}

fn above(x: f64) -> f32 {
    -below(-x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::gjk::pose::ExactPlaced;
    use crate::collide::hull::Hull;
    use crate::collide::scene::body::Body;
    use crate::collide::scene::bounds::tests::Random;
    use crate::collide::scene::columns::BodyColumns;
    use crate::collide::scene::layout::Layout;
    use crate::collide::scene::pairs::Pairs;
    use crate::collide::scene::placed::rotation;

    /// How many vertices at so many times are outside of their boxes, farther from the points that they turn about than the reach, and farther from
    /// where translation takes them than the chord. `forgotten` leaves the levers out of the bounds.
    fn outside(seed: u64, at: [f64; 3], off: f32, forgotten: bool) -> [usize; 3] {
        let mut random = Random(seed);
        let direction = |random: &mut Random| [0; 3].map(|_| random.signed());
        // Vertices as far from the hull's origin as `off`, which levers may lead back.
        let points: Vec<[f32; 3]> = (0..9).map(|_| direction(&mut random).map(|x| off + x)).collect();
        let lump = Hull::from_points(&points).unwrap();
        let hulls = [lump, Hull::capsule([0.5, 0.0, 0.0], [2.0, 0.0, 1.0], 0.2).unwrap()];
        let scene = Scene::new(&hulls).unwrap();
        let (mut bodies, mut positions, mut motions, mut levers) = (vec![], vec![], vec![], vec![]);
        for k in 0..40_u32 {
            let body = Body::new(k % 2).rotated(random.rotation()).scaled(0.5 + random.unit());
            let mut vector = |low: f32, high: f32| {
                let size = random.log(low, high);
                direction(&mut random).map(|x| x * size)
            };
            let velocity = vector(0.01, 20.0);
            motions.push(Motion { velocity, angular_velocity: vector(0.01, 40.0) });
            let place = DVec3::from(vector(9.0, 9.1).map(f64::from));
            positions.push((place + DVec3::from(at)).to_array());
            let mean = DVec3::from(hulls[k as usize % 2].mean()) * f64::from(body.scale[0]);
            let back = if k % 4 < 2 { rotation(body.rotation) * -mean } else { DVec3::ZERO };
            levers.push(back + DVec3::from(vector(1e-3, 30.0).map(f64::from)));
            bodies.push(body);
        }
        let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&bodies) };
        let layout = Layout { packed: true, placed: true };
        let input = QueryInput::new(&scene, columns, None, Pairs::BroadPhase, layout).unwrap();
        let duration = 0.5;
        let moves = Moves { levers: &levers, ..Moves::new(&motions) };
        let bounded = if forgotten { Moves::new(&motions) } else { moves };
        let of =
            |moves| SweepQuery { scene: &scene, input: &input, moves, duration, precision: Precision::Fast };
        let (truth, query) = (of(moves), of(bounded));
        let boxes = query.boxes();
        let mut found = [0; 3];
        for id in 0..40_u32 {
            let position = input.position(id);
            let hull = &hulls[id as usize % 2];
            let start = Placement::at(hull, &bodies[id as usize], position);
            let begin = ExactPlaced::new(&start);
            for step in 0..=60 {
                let time = duration * f64::from(step) / 60.0;
                let way = DVec3::from(motions[id as usize].velocity.map(f64::from)) * time;
                let moved = ExactPlaced::new(&truth.moved(start, id, time));
                let place =
                    |placed: &ExactPlaced, k: usize| placed.points[k] + placed.center[0] + placed.center[1];
                let aabb = &boxes[id as usize];
                for k in 0..moved.points.len() {
                    let (point, before) = (place(&moved, k), place(&begin, k));
                    let is_inside = (0..3).all(|axis| {
                        f64::from(aabb.min[axis]) <= point[axis] - moved.rounding
                            && f64::from(aabb.max[axis]) >= point[axis] + moved.rounding
                    });
                    let from_pivot =
                        (point - (position - levers[id as usize] + way)).length() + moved.rounding;
                    found[0] += usize::from(!is_inside);
                    found[1] += usize::from(from_pivot > query.reach(id));
                    found[2] += usize::from((point - (before + way)).length() > query.spin(id));
                }
            }
        }
        found
    }

    #[test]
    fn boxes_balls_and_chords_hold_bodies_that_turn_about_other_points() {
        for (seed, (at, off)) in (0..).zip([
            ([0.0; 3], 0.0),
            ([0.0; 3], 1e3),
            ([1e7, -1e7, 3e6], 0.0),
            ([1e7, -1e7, 3e6], 1e4),
            ([-1e12, 1e3, 0.0], 10.0),
        ]) {
            assert_eq!(outside(seed, at, off, false), [0; 3], "{at:?} {off}");
            let forgotten = outside(seed, at, off, true);
            assert!(forgotten.iter().all(|&count| count > 0), "{at:?} {off} {forgotten:?}");
        }
    }
}
