//! The fast path of a sweep, in f32: one pair whose bodies do not rotate, or only little.
//!
//! The path is cut down in f64 to where the bounding spheres meet. The rest is about as long as the bodies are large, so neither speed
//! nor distance costs f32 any digits.

use glam::{DVec3, Vec3};

use crate::collide::gjk::pose::{Relative, Spheres, gap_error, larger_first};
use crate::collide::gjk::tolerance::TOUCHING_SHARE;
use crate::collide::gjk::verdict::{Difference, Limits, Outcome, gjk, simplex_distance};
use crate::collide::hull::support::Supports;
use crate::collide::scene::placed::Placed;
use crate::collide::sweep::cast::{Cast, CastLimits, cast};
use crate::collide::sweep::exact::meeting;
use crate::collide::sweep::outcome::Swept;

/// The result of the fast path for a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FastOutcome {
    /// The result is certain.
    Decided(Swept),
    /// The bodies may touch at the start: no direction separates them there by enough.
    TouchesAtStart,
    /// Only the exact path can decide.
    Open,
}

/// Error of moving a point of `D` along the path, relative to the reach of both bodies: the path's direction is off by less than 8
/// roundings, and the path is at most twice as long as the reach; moving a point adds less than 8.
pub(crate) const PATH_ERROR: f32 = 24.0 / 16_777_216.0;

/// A hit is certain where the bodies overlap clearly once one has moved this share of the smaller radius further.
const DEEPER: f64 = 0.02;

/// Sweeps a pair without half-spaces; `velocity` is that of `a` minus that of `b`, at the hulls' origins.
///
/// `spin` bounds how far rotation moves points away from where translation would take them. If bodies thickened by it do not meet, the
/// pair is a miss. Pairs that may touch at the start are reported as such. Other pairs that rotate are left open.
///
/// A hit or a miss is decided only where the sweep in f64 must say the same: a hit where the bodies certainly overlap at a later time, a
/// miss where they stay apart by more than the gap that f64 takes for an impact.
///
/// It is not inlined: walks of trees call it from several places, and it is 15 kB of code.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn sweep(
    supports: &Supports,
    a: &Placed,
    b: &Placed,
    velocity: DVec3,
    duration: f64,
    spin: f64,
) -> FastOutcome {
    let ([a, b], is_swapped) = larger_first(a, b);
    let velocity = if is_swapped { -velocity } else { velocity };
    let offset = a.center() - b.center();
    let sum = a.radius() + b.radius();
    // Slightly larger spheres, so that bodies that touch at the start are found.
    let reach = (sum + spin) * 1.000_006;
    let Some([begin, end]) = meeting(offset, velocity, reach, duration) else {
        // The spheres cover a small error of the centres; a large one leaves a near miss to f64.
        let excess = f64::from(a.excess) + f64::from(b.excess);
        let is_sure = excess <= 5e-6 * sum || meeting(offset, velocity, reach + excess, duration).is_none();
        return if is_sure { FastOutcome::Decided(Swept::MISS) } else { FastOutcome::Open };
    };
    let speed = velocity.length();
    let spheres = Spheres::shifted(a, b, velocity * begin);
    let pair = Relative::new(supports, a, b, &spheres);
    let inverse = f64::from(spheres.inverse);
    let rounding = ((a.rounding() + b.rounding() + spin) * inverse) as f32;
    let smaller = (a.radius().min(b.radius()) * inverse) as f32;
    let scaled = (sum * inverse) as f32;
    let reach = ((sum + spin) * inverse) as f32;
    let excess = (a.excess + b.excess) * spheres.inverse;
    let tolerance = (1e-5 * smaller).max(4e-6 * scaled);
    let error = gap_error(smaller, scaled, reach) + PATH_ERROR * reach + excess;
    let near = tolerance - error;
    if !(near > 0.1 * tolerance) {
        return FastOutcome::Open;
    }
    let touching = tolerance * (TOUCHING_SHARE * (1.0 + 1e-5)) as f32;
    let limits = CastLimits {
        rounding,
        near,
        parted: if begin > 0.0 { 0.0 } else { touching + error },
        // More than the sweep in f64 takes for an impact.
        clear: touching + error,
    };
    let direction = if speed > 0.0 { pair.local((velocity / speed).as_vec3()) } else { Vec3::ZERO };
    let way = ((end - begin) * speed * inverse) as f32;
    // A miss that is not clear is tried once more with bodies that are rounder by as much. One call, as the cast is inlined.
    let mut tried = (pair.offset, limits);
    let mut is_wider = false;
    loop {
        let found = cast(&pair, tried.0, direction, way, &tried.1);
        return match found {
            Cast::Miss { is_clear, .. } if is_clear || is_wider => FastOutcome::Decided(Swept::MISS),
            _ if is_wider => FastOutcome::Open,
            Cast::Miss { axis, .. } => {
                tried = (axis, CastLimits { rounding: rounding + limits.clear, parted: 0.0, ..limits });
                is_wider = true;
                continue;
            }
            Cast::Hit { .. } if spin > 0.0 => FastOutcome::Open,
            Cast::Hit { time, axis } => {
                let rate = -f64::from(axis.dot(direction) / axis.length());
                let later = (f64::from(time) + DEEPER * f64::from(smaller) / rate).min(f64::from(way)) as f32;
                let moved = Moved { pair: &pair, by: direction * later };
                if !(rate > 0.0 && overlaps(&moved, pair.offset, rounding, limits.clear)) {
                    return FastOutcome::Open;
                }
                let time = begin + f64::from(time) / (speed * inverse);
                let normal = Vec3::from(pair.world_axis(axis)).as_dvec3();
                let normal = if is_swapped { -normal } else { normal };
                FastOutcome::Decided(Swept::hit(time.min(duration), normal))
            }
            Cast::Start if begin == 0.0 => FastOutcome::TouchesAtStart,
            Cast::Start | Cast::Stalled { .. } => FastOutcome::Open,
        };
    }
}

/// The difference of a pair whose first body has moved.
struct Moved<'a> {
    pair: &'a Relative<'a>,
    by: Vec3,
}

impl Difference for Moved<'_> {
    type Vector = Vec3;

    #[inline(always)]
    fn support(&self, direction: Vec3) -> Vec3 {
        self.pair.support(direction) + self.by
    }
}

/// Whether bodies with these rounding radii certainly overlap by more than `clear`.
fn overlaps(moved: &Moved<'_>, start: Vec3, rounding: f32, clear: f32) -> bool {
    let within = rounding - clear;
    let limits = Limits {
        separated: rounding + clear,
        touching: within.max(0.0),
        near: within.max(0.0),
        penetrating: (-within).max(0.0),
    };
    match gjk(moved, start + moved.by, &limits, |_, _| ()) {
        Outcome::Penetrating => true,
        Outcome::Near { simplex, .. } => simplex_distance(&simplex) < within,
        Outcome::Separated { .. } => false,
    }
}
