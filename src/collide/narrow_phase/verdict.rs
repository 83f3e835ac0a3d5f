//! Verdicts of the CPU engine in f32: GJK, then EPA near the surface. Pairs that both leave open go to the exact path.

use crate::collide::epa::verdict::{Decision, epa_verdict};
use crate::collide::gjk::distance::{Goal, StopReason, distance};
use crate::collide::gjk::pose::{Relative, Scales, Spheres, larger_first};
use crate::collide::gjk::verdict::{Outcome as GjkOutcome, enclosure, gjk, simplex_distance};
use crate::collide::hull::support::Supports;
use crate::collide::narrow_phase::measure::{ITERATION_LIMIT, measure_pair};
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
        Intersection { a, b, status, axis: (status == Status::Separated).then_some(self.axis) }
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

/// Writes the row of each pair, in order; axes of separated pairs only with `with_axes`.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn find_verdicts(
    supports: &Supports,
    placed: &[Placed],
    pairs: &[[u32; 2]],
    with_axes: bool,
    rows: &mut [Intersection],
    unsettled: &mut Unsettled,
) {
    for (index, (&[a, b], row)) in pairs.iter().zip(rows).enumerate() {
        let verdict = fast_verdict(supports, &placed[a as usize], &placed[b as usize], with_axes);
        unsettled.refined_count += u64::from(verdict.refined);
        if verdict.status.is_none() {
            unsettled.open.push(index);
        }
        *row = verdict.row(a, b);
    }
}

#[inline(always)]
fn fast_verdict(supports: &Supports, a: &Placed, b: &Placed, with_axes: bool) -> Verdict {
    if !(a.is_plain() & b.is_plain()) {
        return rounded_verdict(supports, a, b);
    }
    let ([a, b], is_swapped) = larger_first(a, b);
    let decided = |status| Verdict { status: Some(status), refined: false, axis: [0.0; 3] };
    let separated = |axis: [f32; 3]| Verdict { axis: turned(axis, is_swapped), ..decided(Status::Separated) };
    let spheres = Spheres::new(a, b);
    if spheres.are_apart() {
        return separated(if with_axes { spheres.axis() } else { [0.0; 3] });
    }
    let pair = Relative::new(supports, a, b, &spheres);
    match gjk(&pair, pair.offset, &pair.limits, |_, _| ()) {
        GjkOutcome::Separated { axis } => separated(if with_axes { pair.world_axis(axis) } else { [0.0; 3] }),
        GjkOutcome::Penetrating => decided(Status::Penetrating),
        GjkOutcome::Near { simplex, is_shallow } => {
            let is_near = simplex_distance(&simplex) <= pair.limits.touching;
            if is_near && is_shallow {
                return decided(Status::Touching);
            }
            let verdict = refine(&pair, &simplex, is_near);
            Verdict { axis: turned(verdict.axis, is_swapped), ..verdict }
        }
    }
}

/// The axis of a pair in the other order.
#[inline(always)]
fn turned(axis: [f32; 3], is_swapped: bool) -> [f32; 3] {
    if is_swapped { axis.map(|x| -x) } else { axis }
}

/// The verdict where a body is rounded or a half-space: by the distance of the cores.
#[inline(never)]
fn rounded_verdict(supports: &Supports, a: &Placed, b: &Placed) -> Verdict {
    let decided = |status, axis| Verdict { status: Some(status), refined: false, axis };
    if !(a.is_half_space() | b.is_half_space()) {
        let ([a, b], is_swapped) = larger_first(a, b);
        let spheres = Spheres::new(a, b);
        if spheres.are_apart() {
            return decided(Status::Separated, turned(spheres.axis(), is_swapped));
        }
        let pair = Relative::new(supports, a, b, &spheres);
        let scales = Scales::new(a, b, &spheres);
        let goal = Goal {
            beyond: scales.rounding + scales.thresholds.clear(),
            within: scales.clear_overlap(),
            slack: 0.1 * scales.thresholds.tolerance,
            relative: 0.0,
            iteration_limit: ITERATION_LIMIT,
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

/// Runs EPA. Kept out of the hot loop, because its arrays are large and few pairs need it.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn refine(
    pair: &Relative<'_>,
    simplex: &crate::collide::gjk::verdict::Simplex<glam::Vec3>,
    is_near: bool,
) -> Verdict {
    let decided = |status| Verdict { status: Some(status), refined: true, axis: [0.0; 3] };
    // A tenth less, for the rounding of the boxes, which may be twice as large as the hulls.
    if is_near && simplex.len > 2 && pair.box_height() <= 0.9 * pair.limits.touching {
        return decided(Status::Touching);
    }
    match epa_verdict::<_, POLYTOPE_POINTS, POLYTOPE_FACES>(pair, simplex, is_near, &pair.limits) {
        Decision::Separated { axis } => {
            Verdict { status: Some(Status::Separated), refined: true, axis: pair.world_axis(axis) }
        }
        Decision::Touching => decided(Status::Touching),
        Decision::Penetrating => decided(Status::Penetrating),
        Decision::Undecided { .. } => Verdict { status: None, refined: true, axis: [0.0; 3] },
    }
}
