//! The fast path of a sweep, in f32: one pair whose bodies do not turn, or hardly.
//!
//! The way is cut down to where the bounding spheres meet, in f64: what is left is as long as the bodies are large, so that
//! neither speed nor distance costs f32 any digits.

use glam::{DVec3, Vec3};

use crate::collide::gjk::pose::{Relative, SUPPORT_ERROR, Spheres};
use crate::collide::hull::support::Supports;
use crate::collide::scene::placed::Placed;
use crate::collide::sweep::cast::{Cast, CastLimits, cast};
use crate::collide::sweep::exact::meeting;
use crate::collide::sweep::outcome::Swept;

/// What the fast path says of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FastOutcome {
    /// The answer.
    Decided(Swept),
    /// Nothing parts the bodies at the start by enough: whether they touch is a question of its own.
    TouchesAtStart,
    /// Only the exact path can say.
    Open,
}

/// Relative error of moved f32 support points against the sum of the bounding radii: of the points themselves, no further
/// from the origin than twice that sum, and of the way, which is at most as long, some roundings more.
pub(crate) const CAST_ERROR: f64 = 2.0 * SUPPORT_ERROR + 6e-7;

/// Sweeps a pair of bodies that are no half-spaces; `velocity` is that of `a` less that of `b`, of the hulls' origins.
///
/// `spin` is how far turning may take points from where translation does. Bodies that much thicker that do not meet are a
/// miss, and what touches at the start is looked at; the rest of the pairs that turn are left open.
#[inline(always)]
pub(crate) fn sweep(
    supports: &Supports,
    a: &Placed,
    b: &Placed,
    velocity: DVec3,
    duration: f64,
    spin: f64,
) -> FastOutcome {
    let offset = a.center() - b.center();
    let sum = a.radius() + b.radius();
    // A little more than the spheres are, so that what meets within a tenth of the tolerance at the start is looked at.
    let Some([begin, end]) = meeting(offset, velocity, (sum + spin) * 1.000_002, duration) else {
        return FastOutcome::Decided(Swept::MISS);
    };
    let speed = velocity.length();
    let spheres = Spheres::shifted(a, b, velocity * begin);
    let pair = Relative::new(supports, a, b, &spheres);
    let inverse = f64::from(spheres.inverse);
    let rounding = ((a.rounding() + b.rounding() + spin) * inverse) as f32;
    let smaller = a.radius().min(b.radius()) * inverse;
    let scaled = sum * inverse;
    let tolerance = (1e-5 * smaller).max(4e-6 * scaled);
    let reach = (sum + spin) * inverse;
    let error = CAST_ERROR * reach + f64::from(a.excess + b.excess) * inverse;
    let near = tolerance - error;
    if !(near > 0.1 * tolerance) {
        return FastOutcome::Open;
    }
    let parted = if begin > 0.0 { 0.0 } else { 0.1 * tolerance + CAST_ERROR * reach };
    let limits = CastLimits { rounding, near: near as f32, parted: parted as f32 };
    let direction = if speed > 0.0 { pair.local((velocity / speed).as_vec3()) } else { Vec3::ZERO };
    let way = (end - begin) * speed * inverse;
    match cast(&pair, pair.offset, direction, way as f32, &limits) {
        Cast::Hit { .. } if spin > 0.0 => FastOutcome::Open,
        Cast::Hit { time, axis } => {
            let time = begin + f64::from(time) / (speed * inverse);
            FastOutcome::Decided(Swept::hit(time.min(duration), Vec3::from(pair.world_axis(axis)).as_dvec3()))
        }
        Cast::Miss => FastOutcome::Decided(Swept::MISS),
        Cast::Start if begin == 0.0 => FastOutcome::TouchesAtStart,
        Cast::Start | Cast::Stalled { .. } => FastOutcome::Open,
    }
}
