//! Distances and depths in f32, and the rows made from them.
//!
//! A pair is measured by its cores, the hulls without their rounding: GJK gives the distance where they are apart
//! ([`distance`](crate::collide::gjk::distance)), EPA the depth where they overlap. The rounding radii are then taken off the gap
//! and the points are moved along the normal, so a ball is as exact as a point.

use glam::{DVec3, Vec3};

use crate::collide::epa::depth::{Scratch, epa_depth};
use crate::collide::gjk::distance::{Goal, Nearest, StopReason, distance};
use crate::collide::gjk::lanes::Lanes;
use crate::collide::gjk::pair_lanes::LANES;
use crate::collide::gjk::pose::{LENGTH_ERROR, Relative, Scales, Spheres, larger_first};
use crate::collide::gjk::tolerance::{TOUCHING_SHARE, tolerance};
use crate::collide::gjk::verdict::enclosure;
use crate::collide::gjk::verdict_lanes::Tetrahedra;
use crate::collide::hull::support::Supports;
use crate::collide::narrow_phase::manifold;
use crate::collide::narrow_phase::measured::{Measured, Outcome};
use crate::collide::narrow_phase::rows::{Contact, Distance, Intersection, Manifold};
use crate::collide::narrow_phase::status::{Status, status_of_gap};
use crate::collide::scene::placed::Placed;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::scene::stored::Stored;

/// What to measure of each pair.
#[derive(Debug, Clone, Copy)]
struct MeasureGoal {
    /// Pairs that are farther apart are not measured; world units.
    beyond: f32,
    /// Whether depths are measured.
    with_depth: bool,
}

/// Groups of lanes that are stepped in turn, so that the arithmetic of one fills the latency of another.
const GROUPS: usize = 2;

/// Measures each of `pairs`. Returns how many of them went to EPA.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(crate) fn measure(
    supports: &Supports,
    input: &QueryInput,
    pairs: &[[u32; 2]],
    beyond: f64,
    with_depth: bool,
    outcomes: &mut [Outcome],
) -> u64 {
    let wanted = MeasureGoal { beyond: beyond as f32, with_depth };
    let mut groups = [const { Lanes::new() }; GROUPS];
    let mut refiner = Refiner { scratch: Scratch::new(), count: 0 };
    for (pairs, outcomes) in pairs.chunks(BATCH).zip(outcomes.chunks_mut(BATCH)) {
        measure_batch(supports, &input.placed, pairs, wanted, &mut groups, outcomes, &mut refiner);
    }
    refiner.count
}

/// EPA's memory, reused from pair to pair.
struct Refiner {
    scratch: Scratch,
    /// Pairs that went to EPA.
    count: u64,
}

/// Pairs that are sorted together.
pub(crate) const BATCH: usize = 1024;

/// Sizes of hulls that the sort distinguishes, in vertex blocks.
const SIZES: usize = 8;

/// Classes of pairs, by both sizes.
const CLASSES: usize = SIZES * SIZES;

/// The indices of at most [`BATCH`] pairs, sorted by how many vertices are scanned: the ends of equally long loops are predicted.
#[inline(always)]
pub(crate) fn by_size(supports: &Supports, placed: &[Placed], pairs: &[[u32; 2]]) -> [u16; BATCH] {
    let mut classes = [0_u8; BATCH];
    let mut ends = [0_u16; CLASSES];
    let size = |body: u32| supports.scan_len(placed[body as usize].hull).min(SIZES - 1);
    for (class, &[a, b]) in classes.iter_mut().zip(pairs) {
        *class = (size(a) * SIZES + size(b)) as u8;
        ends[usize::from(*class) % CLASSES] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        total += std::mem::replace(end, total);
    }
    let mut order = [0; BATCH];
    for (index, &class) in (0..).zip(&classes[..pairs.len().min(BATCH)]) {
        let end = &mut ends[usize::from(class) % CLASSES];
        order[usize::from(*end) % BATCH] = index;
        *end += 1;
    }
    order
}

#[inline(always)]
fn measure_batch<'a>(
    supports: &'a Supports,
    all: &[Placed],
    pairs: &[[u32; 2]],
    wanted: MeasureGoal,
    groups: &mut [Lanes<'a>; GROUPS],
    outcomes: &mut [Outcome],
    refiner: &mut Refiner,
) {
    let placed = |[a, b]: [u32; 2]| [&all[a as usize], &all[b as usize]];
    let order = by_size(supports, all, pairs);
    let mut order = order[..pairs.len()].iter().map(|&index| usize::from(index));
    let mut searches = [[(0, Scales::default()); LANES]; GROUPS];
    let mut tetrahedra = Tetrahedra::new();
    let mut held = [const { None::<(Scales, Nearest<Vec3>)> }; LANES];
    // Where no depth is measured, a tetrahedron that holds the origin deep enough is all that is asked.
    let enclosed = |tetrahedra: &mut Tetrahedra,
                    held: &[Option<(Scales, Nearest<Vec3>)>; LANES],
                    outcomes: &mut [Outcome],
                    refiner: &mut Refiner| {
        let mut held = held.iter();
        tetrahedra.drain(|found| {
            let Some(Some((scales, nearest))) = held.next() else { return };
            let bodies = placed(pairs[found.pair]);
            outcomes[found.pair] = if found.is_deep {
                PENETRATING
            } else if nearest.lower.is_nan() {
                Outcome::Open
            } else {
                refiner.count += 1;
                refine(supports, bodies, scales, wanted, nearest, &mut refiner.scratch)
            };
        });
    };
    loop {
        let mut is_busy = false;
        for (lanes, searches) in groups.iter_mut().zip(&mut searches) {
            let mut ended = if lanes.is_active() { lanes.step() } else { 0 };
            while ended != 0 {
                let at = ended.trailing_zeros() as usize % LANES;
                ended &= ended - 1;
                let nearest = lanes.take(at);
                let (index, scales) = &searches[at];
                if nearest.stop == StopReason::Inside && !wanted.with_depth {
                    held[tetrahedra.len() % LANES] = Some((*scales, nearest));
                    let deep = (-scales.clear_overlap()).max(0.0);
                    tetrahedra.push(*index, &nearest.simplex.points(), false, deep);
                    if tetrahedra.is_full() {
                        enclosed(&mut tetrahedra, &held, outcomes, refiner);
                    }
                    continue;
                }
                let bodies = placed(pairs[*index]);
                outcomes[*index] = match decide(bodies, scales, wanted, &nearest) {
                    Some(outcome) => outcome,
                    None => {
                        refiner.count += 1;
                        refine(supports, bodies, scales, wanted, &nearest, &mut refiner.scratch)
                    }
                };
            }
            while let Some(at) = lanes.free() {
                let Some(index) = order.next() else { break };
                let [a, b] = placed(pairs[index]);
                match start_pair(supports, a, b, wanted) {
                    PairStart::Decided(outcome) => outcomes[index] = outcome,
                    PairStart::Search { pair, scales, goal } => {
                        lanes.start(supports, at, &pair, &goal);
                        searches[at] = (index, scales);
                    }
                }
            }
            is_busy |= lanes.is_active();
        }
        if !is_busy {
            break;
        }
    }
    enclosed(&mut tetrahedra, &held, outcomes, refiner);
}

/// Most directions of GJK before a pair is left to f64.
pub(crate) const ITERATION_LIMIT: u32 = 64;

/// Measures one pair. It is not inlined: walks of trees call it from several places, and it is 20 kB of code.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(crate) fn measure_pair(
    supports: &Supports,
    a: &Placed,
    b: &Placed,
    beyond: f32,
    with_depth: bool,
    refined_count: &mut u64,
) -> Outcome {
    let wanted = MeasureGoal { beyond, with_depth };
    match start_pair(supports, a, b, wanted) {
        PairStart::Decided(outcome) => outcome,
        PairStart::Search { pair, scales, goal } => {
            let nearest = distance(&pair, pair.offset, &goal);
            decide([a, b], &scales, wanted, &nearest).unwrap_or_else(|| {
                *refined_count += 1;
                refine(supports, [a, b], &scales, wanted, &nearest, &mut Scratch::new())
            })
        }
    }
}

/// A pair before its search for the distance.
enum PairStart<'a> {
    /// It needs no search.
    Decided(Outcome),
    Search {
        pair: Relative<'a>,
        scales: Scales,
        goal: Goal<f32>,
    },
}

#[inline(always)]
fn start_pair<'a>(supports: &'a Supports, a: &Placed, b: &Placed, wanted: MeasureGoal) -> PairStart<'a> {
    let MeasureGoal { beyond, with_depth } = wanted;
    if a.is_half_space() | b.is_half_space() {
        return PairStart::Decided(above_half_space(supports, a, b, beyond));
    }
    let ([a, b], _) = larger_first(a, b);
    let spheres = Spheres::new(a, b);
    if spheres.are_farther_than(beyond) {
        return PairStart::Decided(Outcome::Beyond);
    }
    if !with_depth && spheres.are_deep() {
        return PairStart::Decided(PENETRATING);
    }
    if spheres.are_close_points() {
        return PairStart::Decided(Outcome::Open);
    }
    let pair = Relative::new(supports, a, b, &spheres);
    let scales = Scales::new(a, b, &spheres);
    let thresholds = &scales.thresholds;
    let deep = scales.clear_overlap();
    let past_margin = (beyond / scales.unit) * (1.0 + 2.0 * LENGTH_ERROR) + thresholds.error;
    let goal = Goal {
        beyond: past_margin.max(thresholds.separated()) + scales.rounding,
        // For two points that coincide all of these are 0, and they touch.
        within: if with_depth || deep <= 0.0 { -1.0 } else { deep },
        slack: 0.1 * thresholds.tolerance,
        relative: 4e-7,
        iteration_limit: ITERATION_LIMIT,
        stall_limit: 0,
    };
    PairStart::Search { pair, scales, goal }
}

/// The outcome of a search; `None` where EPA is to go on.
#[inline(always)]
fn decide(
    bodies: [&Placed; 2],
    scales: &Scales,
    wanted: MeasureGoal,
    nearest: &Nearest<Vec3>,
) -> Option<Outcome> {
    match nearest.stop {
        StopReason::Beyond => Some(Outcome::Beyond),
        StopReason::Within => Some(PENETRATING),
        StopReason::Inside
            if !wanted.with_depth
                && enclosure(&nearest.simplex.points()) > (-scales.clear_overlap()).max(0.0) =>
        {
            Some(PENETRATING)
        }
        // Where rounding stopped GJK near the surface, EPA continues. Farther away EPA could not improve the bounds.
        StopReason::Converged | StopReason::Stalled
            if nearest.upper - nearest.lower <= scales.slack(nearest.upper) =>
        {
            let core = Core {
                bounds: [nearest.lower, nearest.upper],
                gap: nearest.upper,
                normal: -nearest.axis,
                on_a: nearest.simplex.witness().on_a,
            };
            Some(conclude(bodies, scales, wanted, &core))
        }
        StopReason::Converged | StopReason::Stalled if nearest.upper > 16.0 * scales.thresholds.tolerance => {
            Some(Outcome::Open)
        }
        // An overflow: the bodies are small and very far apart.
        _ if nearest.lower.is_nan() => Some(Outcome::Open),
        _ => None,
    }
}

/// The outcome of a pair that certainly overlaps, where the depth is not measured.
const PENETRATING: Outcome = Outcome::Measured(Measured {
    status: Status::Penetrating,
    gap: 0.0,
    normal: DVec3::ZERO,
    on_a: DVec3::ZERO,
});

/// Measures a half-space and a hull, from one support point. Heights are compared in f64, so that the half-space may be anywhere. The
/// support point is f32, with an error far below the tolerance.
#[inline(never)]
pub(crate) fn above_half_space(supports: &Supports, a: &Placed, b: &Placed, beyond: f32) -> Outcome {
    let ground_first = a.is_half_space();
    let (below, above) = if ground_first { (a, b) } else { (b, a) };
    let up = below.up();
    let lowest = above.furthest(supports, -up.as_vec3()).as_dvec3();
    let apart = above.center() - below.center();
    let height = up.dot(apart) + up.dot(lowest);
    let gap = height - above.rounding() - below.rounding();
    let radius = above.radius();
    let tolerance = tolerance(radius, radius, gap);
    let error = PLANE_ERROR * radius
        + UP_ERROR * apart.length()
        + RADIUS_ERROR * below.rounding()
        + f64::from(above.excess)
        + f64::from(below.excess);
    let touching = TOUCHING_SHARE * tolerance;
    let margin = f64::from(beyond);
    if gap > margin.max(touching) + error {
        return Outcome::Beyond;
    }
    // The number must be within the tolerance too.
    let is_close_to = |threshold: f64| (gap - threshold).abs() <= error || error > tolerance;
    if is_close_to(touching) || is_close_to(-touching) || is_close_to(margin) && gap > touching {
        return Outcome::Open;
    }
    let status = status_of_gap(gap, tolerance);
    // This is the body's point. The half-space's is below it.
    let point = above.center() + lowest - up * above.rounding();
    let (normal, on_a) = if ground_first { (up, point - up * gap) } else { (-up, point) };
    Outcome::Measured(Measured { status, gap, normal, on_a })
}

/// Bound of the error of a support point's height, against the bounding radius: 36 roundings (ARCHITECTURE, "Bounds of the f32 paths").
pub(crate) const PLANE_ERROR: f64 = 2.2e-6;

/// Bound of the error of a half-space's normal, which is the sum of two f32, and of the f64 arithmetic.
pub(crate) const UP_ERROR: f64 = 2e-14;

/// Relative error of a radius kept in f32.
pub(crate) const RADIUS_ERROR: f64 = 6e-8;

/// Runs EPA. Kept out of the hot loop, because it is large.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn refine(
    supports: &Supports,
    bodies: [&Placed; 2],
    scales: &Scales,
    wanted: MeasureGoal,
    nearest: &Nearest<Vec3>,
    scratch: &mut Scratch,
) -> Outcome {
    let ([a, b], _) = larger_first(bodies[0], bodies[1]);
    let pair = Relative::new(supports, a, b, &Spheres::new(a, b));
    let tolerance = scales.thresholds.tolerance;
    let found = epa_depth(&pair, nearest, 0.3 * tolerance, scratch);
    let gap = found.upper - found.lower;
    // A witness that is not at the depth along the normal belongs to another facet, or is spoiled by rounding.
    let off = found.witness.point + found.normal * found.lower;
    let is_off = off.dot(off) > 0.25 * tolerance * tolerance;
    if gap.is_nan() || gap > scales.slack(found.lower) || is_off {
        return Outcome::Open;
    }
    let core = Core {
        bounds: [found.lower, found.upper],
        gap: found.lower,
        normal: found.normal,
        on_a: found.witness.on_a,
    };
    conclude(bodies, scales, wanted, &core)
}

impl Scales {
    /// Cores at most this far apart certainly overlap by their rounding radii.
    #[inline(always)]
    pub(crate) fn clear_overlap(&self) -> f32 {
        self.rounding - self.thresholds.penetrating()
    }

    /// How much the bounds of a distance may differ.
    #[inline(always)]
    fn slack(&self, core: f32) -> f32 {
        self.thresholds.tolerance + 4e-6 * (core - self.rounding).max(0.0) - self.thresholds.error
    }
}

/// The measurement of a pair's cores, in the pair's unit and the frame of the first body.
struct Core {
    /// A lower and an upper bound of the signed gap.
    bounds: [f32; 2],
    gap: f32,
    /// Unit, from the first body to the second.
    normal: Vec3,
    /// Witness point of the first body.
    on_a: Vec3,
}

/// The outcome in world units, where the bounds of the gap are clear of the thresholds of the status and of the margin.
#[inline(always)]
fn conclude([a, b]: [&Placed; 2], scales: &Scales, wanted: MeasureGoal, core: &Core) -> Outcome {
    let thresholds = &scales.thresholds;
    let [lower, upper] = core.bounds.map(|bound| bound - scales.rounding);
    let status = if lower > thresholds.separated() {
        // The margin is asked for separated pairs only.
        let error = thresholds.error + LENGTH_ERROR * upper;
        let margin = wanted.beyond / scales.unit;
        if lower - error <= margin && upper + error >= margin && margin < f32::INFINITY {
            return Outcome::Open;
        }
        Status::Separated
    } else if upper < -thresholds.penetrating() {
        Status::Penetrating
    } else if lower >= -thresholds.touching() && upper <= thresholds.near() {
        Status::Touching
    } else {
        return Outcome::Open;
    };
    let ([a, _], is_swapped) = larger_first(a, b);
    let unit = f64::from(scales.unit);
    let on_a = scales.center + a.world_vector(core.on_a + core.normal * scales.rounding_a) * unit;
    let normal = a.world_vector(core.normal).normalize();
    let measured = Measured { status, gap: f64::from(core.gap - scales.rounding) * unit, normal, on_a };
    Outcome::Measured(if is_swapped { measured.swapped() } else { measured })
}

/// A row of a measuring query.
pub(crate) trait Row: Copy + Send + Sync {
    /// Whether the row has a depth.
    const WITH_DEPTH: bool = true;
    /// The row of a pair that is not measured yet.
    fn open(a: u32, b: u32) -> Self;
    /// The pair.
    fn pair(&self) -> [u32; 2];
    /// The verdict.
    fn status(&self) -> Status;
    /// The signed gap, if the row has it.
    fn gap(&self) -> Option<f64>;
    /// The row of a measured pair. Points are relative to the pair's [`base`](Stored::base).
    fn of(scene: &Scene, stored: Stored<'_>, pair: [u32; 2], measured: &Measured, margin: f64) -> Self;
    /// Moves the points of the row.
    fn shift(&mut self, by: DVec3);

    /// The row of a measured pair, whose point is relative to the pair's base, with points in the world.
    #[inline(always)]
    fn of_stored(
        scene: &Scene,
        stored: Stored<'_>,
        pair: [u32; 2],
        measured: &Measured,
        margin: f64,
    ) -> Self {
        let mut row = Self::of(scene, stored, pair, measured, margin);
        if let Some(base) = stored.base(&scene.hulls, pair) {
            row.shift(base);
        }
        row
    }
}

/// Moves a point.
pub(crate) fn shift(point: &mut [f64; 3], by: DVec3) {
    *point = (DVec3::from(*point) + by).to_array();
}

impl Row for Intersection {
    const WITH_DEPTH: bool = false;

    fn open(a: u32, b: u32) -> Self {
        Self { a, b, part_a: 0, part_b: 0, status: Status::Touching, axis: None }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    fn gap(&self) -> Option<f64> {
        None
    }

    fn of(_: &Scene, _: Stored<'_>, pair: [u32; 2], measured: &Measured, _: f64) -> Self {
        Self::new(pair, measured)
    }

    fn shift(&mut self, _: DVec3) {}
}

impl Intersection {
    /// The row of a measured pair.
    pub(crate) fn new([a, b]: [u32; 2], measured: &Measured) -> Self {
        let separated = measured.status == Status::Separated;
        let axis = separated.then(|| measured.normal.as_vec3().to_array());
        Self { a, b, part_a: 0, part_b: 0, status: measured.status, axis }
    }
}

impl Row for Distance {
    const WITH_DEPTH: bool = false;

    fn open(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            part_a: 0,
            part_b: 0,
            status: Status::Touching,
            separation: 0.0,
            points: None,
            axis: None,
        }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    fn gap(&self) -> Option<f64> {
        Some(self.separation)
    }

    #[inline(always)]
    fn of(_: &Scene, _: Stored<'_>, pair: [u32; 2], measured: &Measured, _: f64) -> Self {
        Self::new(pair, measured)
    }

    fn shift(&mut self, by: DVec3) {
        self.points.iter_mut().flatten().for_each(|point| shift(point, by));
    }
}

impl Distance {
    /// The row of a measured pair.
    #[inline(always)]
    pub(crate) fn new([a, b]: [u32; 2], measured: &Measured) -> Self {
        let &Measured { status, gap, normal, on_a } = measured;
        let apart = status != Status::Penetrating;
        let separation = if apart && gap > 0.0 { gap } else { 0.0 };
        // For bodies that overlap by less than the tolerance both points are the same.
        let points = [on_a, on_a + normal * separation].map(|point| point.to_array());
        Self {
            a,
            b,
            part_a: 0,
            part_b: 0,
            status,
            separation,
            points: apart.then_some(points),
            axis: apart.then_some(normal.to_array()),
        }
    }
}

impl Row for Contact {
    const WITH_DEPTH: bool = true;

    fn open(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            part_a: 0,
            part_b: 0,
            status: Status::Touching,
            separation: 0.0,
            normal: [0.0; 3],
            points: [[0.0; 3]; 2],
        }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    fn gap(&self) -> Option<f64> {
        Some(self.separation)
    }

    #[inline(always)]
    fn of(_: &Scene, _: Stored<'_>, pair: [u32; 2], measured: &Measured, _: f64) -> Self {
        Self::new(pair, measured)
    }

    fn shift(&mut self, by: DVec3) {
        self.points.iter_mut().for_each(|point| shift(point, by));
    }
}

impl Contact {
    /// The row of a measured pair.
    #[inline(always)]
    pub(crate) fn new([a, b]: [u32; 2], measured: &Measured) -> Self {
        Self {
            a,
            b,
            part_a: 0,
            part_b: 0,
            status: measured.status,
            separation: measured.gap,
            normal: measured.normal.to_array(),
            points: [measured.on_a.to_array(), measured.on_b().to_array()],
        }
    }
}

impl Row for Manifold {
    const WITH_DEPTH: bool = true;

    fn open(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            part_a: 0,
            part_b: 0,
            status: Status::Touching,
            separation: 0.0,
            normal: [0.0; 3],
            points: Default::default(),
            point_count: 0,
        }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    fn gap(&self) -> Option<f64> {
        Some(self.separation)
    }

    fn of(scene: &Scene, stored: Stored<'_>, pair: [u32; 2], measured: &Measured, margin: f64) -> Self {
        manifold::manifold(scene, stored, pair, measured, margin)
    }

    fn shift(&mut self, by: DVec3) {
        for point in &mut self.points[..self.point_count as usize] {
            shift(&mut point.on_a, by);
            shift(&mut point.on_b, by);
        }
    }
}
