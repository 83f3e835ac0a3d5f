//! Verdicts of the CPU engine in f32: GJK, then EPA near the surface. Pairs that both leave open go to the exact path.

use glam::Vec3;

use crate::collide::epa::verdict::{Decision, epa_verdict};
use crate::collide::gjk::distance::{Goal, StopReason, distance};
use crate::collide::gjk::pair_lanes::LANES;
use crate::collide::gjk::pose::{Outlined, Relative, Scales, Spheres, larger_first, world_axis};
use crate::collide::gjk::verdict::{Simplex, enclosure, simplex_distance};
use crate::collide::gjk::verdict_lanes::{Enclosed, End, Tetrahedra, VerdictLanes};
use crate::collide::hull::support::Supports;
use crate::collide::narrow_phase::measure::{BATCH, ITERATION_LIMIT, by_size, measure_pair};
use crate::collide::narrow_phase::measured::Outcome;
use crate::collide::narrow_phase::rows::Intersection;
use crate::collide::narrow_phase::status::Status;
use crate::collide::scene::placed::Placed;

/// Most corners of the f32 polytope, the same on the GPU.
pub(crate) const POLYTOPE_POINTS: usize = 20;
/// See [`POLYTOPE_POINTS`]: a closed surface of `n` corners has `2 n − 4` triangles, and a few more while it grows.
pub(crate) const POLYTOPE_FACES: usize = 40;

/// The f32 verdict for a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict {
    /// The status; `None` where only the exact path can decide.
    pub(crate) status: Option<Status>,
    /// Whether GJK left it to EPA.
    pub(crate) refined: bool,
    /// For a separated pair a separating axis: a unit vector from `a` to `b`, world frame.
    pub(crate) axis: [f32; 3],
}

impl Verdict {
    /// The row of a pair with this verdict; one that is still open counts as touching until it is settled.
    #[inline(always)]
    pub(crate) fn row(&self, a: u32, b: u32) -> Intersection {
        let status = self.status.unwrap_or(Status::Touching);
        Intersection {
            a,
            b,
            part_a: 0,
            part_b: 0,
            status,
            axis: (status == Status::Separated).then_some(self.axis),
        }
    }
}

/// The open rows of some pairs, and how many went to EPA.
#[derive(Debug, Default)]
pub(crate) struct Unsettled {
    /// Indices of the rows that need the exact path, ascending.
    pub(crate) open: Vec<usize>,
    /// Pairs that GJK left to EPA.
    pub(crate) refined_count: u64,
}

/// Groups of lanes that are stepped in turn, so that the arithmetic of one fills the latency of another.
const GROUPS: usize = 2;

/// Writes the row of each pair, in order; axes of separated pairs only with `with_axes`.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(crate) fn find_verdicts(
    supports: &Supports,
    placed: &[Placed],
    pairs: &[[u32; 2]],
    with_axes: bool,
    rows: &mut [Intersection],
    unsettled: &mut Unsettled,
) {
    let mut groups = [const { VerdictLanes::new() }; GROUPS];
    for (at, (pairs, rows)) in pairs.chunks(BATCH).zip(rows.chunks_mut(BATCH)).enumerate() {
        let begin = unsettled.open.len();
        find_in_batch(supports, placed, pairs, with_axes, &mut groups, rows, unsettled);
        let open = &mut unsettled.open[begin..];
        open.iter_mut().for_each(|index| *index += at * BATCH);
        open.sort_unstable();
    }
}

#[inline(always)]
fn find_in_batch<'a>(
    supports: &'a Supports,
    all: &[Placed],
    pairs: &[[u32; 2]],
    with_axes: bool,
    groups: &mut [VerdictLanes<'a>; GROUPS],
    rows: &mut [Intersection],
    unsettled: &mut Unsettled,
) {
    let order = by_size(supports, all, pairs);
    let mut order = order[..pairs.len()].iter().map(|&index| usize::from(index));
    let mut searches = [[0; LANES]; GROUPS];
    let mut found = FoundRows { pairs, rows, unsettled };
    let mut tetrahedra = Tetrahedra::new();
    let bodies = |index: usize| {
        let [a, b] = pairs[index];
        [&all[a as usize], &all[b as usize]]
    };
    let conclude = |found: &mut FoundRows<'_>, enclosed: &Enclosed| {
        let verdict = if enclosed.is_deep {
            decided(Status::Penetrating, [0.0; 3])
        } else {
            refine(supports, bodies(enclosed.pair), &enclosed.simplex, enclosed.is_shallow)
        };
        found.write(enclosed.pair, verdict);
    };
    loop {
        let mut is_busy = false;
        for (lanes, searches) in groups.iter_mut().zip(&mut searches) {
            let mut ended = if lanes.is_active() { lanes.step() } else { 0 };
            while ended != 0 {
                let at = ended.trailing_zeros() as usize % LANES;
                ended &= ended - 1;
                let index = searches[at];
                match lanes.take(at) {
                    End::Separated { axis } => {
                        let axis = if with_axes {
                            let [a, b] = bodies(index);
                            let ([larger, _], is_swapped) = larger_first(a, b);
                            turned(world_axis(larger, axis), is_swapped)
                        } else {
                            [0.0; 3]
                        };
                        found.write(index, decided(Status::Separated, axis));
                    }
                    End::Inside { points, is_shallow, penetrating } => {
                        tetrahedra.push(index, &points, is_shallow, penetrating);
                        if tetrahedra.is_full() {
                            tetrahedra.drain(|enclosed| conclude(&mut found, &enclosed));
                        }
                    }
                    End::Near { simplex, is_shallow } => {
                        found.write(index, refine(supports, bodies(index), &simplex, is_shallow));
                    }
                }
            }
            while let Some(at) = lanes.free() {
                let Some(index) = order.next() else { break };
                let [a, b] = bodies(index);
                match start_pair(supports, a, b, with_axes) {
                    PairStart::Decided(verdict) => found.write(index, verdict),
                    PairStart::Search(pair) => {
                        lanes.start(supports, at, &pair);
                        searches[at] = index;
                    }
                }
            }
            is_busy |= lanes.is_active();
        }
        if !is_busy {
            break;
        }
    }
    tetrahedra.drain(|enclosed| conclude(&mut found, &enclosed));
}

/// The rows of a batch, as their pairs are decided.
struct FoundRows<'a> {
    pairs: &'a [[u32; 2]],
    rows: &'a mut [Intersection],
    unsettled: &'a mut Unsettled,
}

impl FoundRows<'_> {
    #[inline(always)]
    fn write(&mut self, index: usize, verdict: Verdict) {
        let [a, b] = self.pairs[index];
        self.unsettled.refined_count += u64::from(verdict.refined);
        if verdict.status.is_none() {
            self.unsettled.open.push(index);
        }
        self.rows[index] = verdict.row(a, b);
    }
}

/// A pair before its search.
enum PairStart<'a> {
    /// It needs no search.
    Decided(Verdict),
    Search(Relative<'a>),
}

fn decided(status: Status, axis: [f32; 3]) -> Verdict {
    Verdict { status: Some(status), refined: false, axis }
}

#[inline(always)]
fn start_pair<'a>(supports: &'a Supports, a: &Placed, b: &Placed, with_axes: bool) -> PairStart<'a> {
    if !(a.is_plain() & b.is_plain()) {
        return PairStart::Decided(rounded_verdict(supports, a, b));
    }
    let ([a, b], is_swapped) = larger_first(a, b);
    let spheres = Spheres::new(a, b);
    if spheres.are_apart() {
        let axis = if with_axes { turned(spheres.axis(), is_swapped) } else { [0.0; 3] };
        return PairStart::Decided(decided(Status::Separated, axis));
    }
    if spheres.are_deep() {
        return PairStart::Decided(decided(Status::Penetrating, [0.0; 3]));
    }
    if spheres.are_close_points() {
        return PairStart::Decided(Verdict { status: None, refined: false, axis: [0.0; 3] });
    }
    PairStart::Search(Relative::new(supports, a, b, &spheres))
}

/// The axis of a pair in the other order.
#[inline(always)]
fn turned(axis: [f32; 3], is_swapped: bool) -> [f32; 3] {
    if is_swapped { axis.map(|x| -x) } else { axis }
}

/// The verdict where a body is rounded or a half-space: by the distance of the cores.
#[inline(never)]
fn rounded_verdict(supports: &Supports, a: &Placed, b: &Placed) -> Verdict {
    if !(a.is_half_space() | b.is_half_space()) {
        let ([a, b], is_swapped) = larger_first(a, b);
        let spheres = Spheres::new(a, b);
        if spheres.are_apart() {
            return decided(Status::Separated, turned(spheres.axis(), is_swapped));
        }
        if spheres.are_deep() {
            return decided(Status::Penetrating, [0.0; 3]);
        }
        let pair = Relative::new(supports, a, b, &spheres);
        let scales = Scales::new(a, b, &spheres);
        let goal = Goal {
            beyond: scales.rounding + scales.thresholds.separated(),
            within: scales.clear_overlap(),
            slack: 0.1 * scales.thresholds.tolerance,
            relative: 0.0,
            iteration_limit: ITERATION_LIMIT,
            stall_limit: 0,
        };
        let nearest = distance(&pair, pair.offset, &goal);
        match nearest.stop {
            StopReason::Beyond => {
                return decided(Status::Separated, turned(pair.world_axis(nearest.axis), is_swapped));
            }
            StopReason::Within => return decided(Status::Penetrating, [0.0; 3]),
            StopReason::Inside
                if goal.within > 0.0
                    && enclosure(&nearest.simplex.corners.map(|corner| corner.point)) > 0.0 =>
            {
                return decided(Status::Penetrating, [0.0; 3]);
            }
            _ => (),
        }
    }
    let mut refined_count = 0;
    let outcome = measure_pair(supports, a, b, 0.0, false, &mut refined_count);
    let refined = refined_count > 0;
    match outcome {
        Outcome::Measured(measured) => {
            let separated = measured.status == Status::Separated;
            let axis = if separated { measured.normal.as_vec3().to_array() } else { [0.0; 3] };
            Verdict { status: Some(measured.status), refined, axis }
        }
        // A measurement of the distance gives the axis.
        Outcome::Beyond => match measure_pair(supports, a, b, f32::INFINITY, false, &mut refined_count) {
            Outcome::Measured(measured) if measured.status == Status::Separated => {
                decided(Status::Separated, measured.normal.as_vec3().to_array())
            }
            _ => Verdict { status: None, refined, axis: [0.0; 3] },
        },
        Outcome::Open => Verdict { status: None, refined, axis: [0.0; 3] },
    }
}

/// Decides a pair near the surface, mostly by EPA. Kept out of the hot loop, because its arrays are large and few pairs need it.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn refine(supports: &Supports, [a, b]: [&Placed; 2], simplex: &Simplex<Vec3>, is_shallow: bool) -> Verdict {
    let ([a, b], is_swapped) = larger_first(a, b);
    let pair = &Relative::new(supports, a, b, &Spheres::new(a, b));
    let is_near = simplex_distance(simplex) <= pair.limits.near;
    if is_near && is_shallow {
        return Verdict { status: Some(Status::Touching), refined: false, axis: [0.0; 3] };
    }
    let decided = |status| Verdict { status: Some(status), refined: true, axis: [0.0; 3] };
    // A tenth less, for the rounding of the boxes, which may be twice as large as the hulls.
    if is_near && simplex.len > 2 && pair.box_height() <= 0.9 * pair.limits.touching {
        return decided(Status::Touching);
    }
    match epa_verdict::<_, POLYTOPE_POINTS, POLYTOPE_FACES>(&Outlined(pair), simplex, is_near, &pair.limits) {
        Decision::Separated { axis } => {
            let axis = turned(pair.world_axis(axis), is_swapped);
            Verdict { axis, ..decided(Status::Separated) }
        }
        Decision::Touching => decided(Status::Touching),
        Decision::Penetrating => decided(Status::Penetrating),
        Decision::Undecided => Verdict { status: None, refined: true, axis: [0.0; 3] },
    }
}
