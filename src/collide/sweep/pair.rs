//! The fast path of a sweep, in f32: one pair whose bodies do not rotate, or only little.
//!
//! The path is cut down in f64 to where the bounding spheres meet. The rest is about as long as the bodies are large, so neither speed
//! nor distance costs f32 any digits.

use glam::{DVec3, Vec3};

use crate::collide::gjk::pose::{Relative, SUPPORT_ERROR, Spheres};
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

/// Error of moved f32 support points, relative to the sum of the bounding radii: that of the points, which are within twice that sum of
/// the origin, and some roundings of the path, which is at most as long.
pub(crate) const CAST_ERROR: f64 = 2.0 * SUPPORT_ERROR + 6e-7;

/// Sweeps a pair without half-spaces; `velocity` is that of `a` minus that of `b`, at the hulls' origins.
///
/// `spin` bounds how far rotation moves points away from where translation would take them. If bodies thickened by it do not meet, the
/// pair is a miss. Pairs that may touch at the start are reported as such. Other pairs that rotate are left open.
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
    // Slightly larger spheres, so that bodies that touch at the start to within a tenth of the tolerance are found.
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
