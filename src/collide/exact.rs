//! The exact path: a verdict in f64 from the inputs as stored, for the pairs that f32 could not settle.

use glam::DVec3;

use super::epa::{Decision, epa};
use super::gjk::{Limits, Outcome, Simplex, gjk, reach};
use super::pose::ExactRelative;
use super::status::Status;
use super::{Body, Hull};

/// Relative error of f64 support points against the sum of the bounding radii and the distance of the centres.
const SUPPORT_ERROR: f64 = 4e-15;

/// Corners and faces that the exact path's polytope may have.
const POINTS: usize = 192;
const FACES: usize = 2 * POINTS;

/// A verdict, and for a separated pair the unit axis from `a` to `b` that shows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settled {
    pub(crate) status: Status,
    pub(crate) axis: Option<[f32; 3]>,
}

impl Settled {
    fn hit(status: Status) -> Self {
        Self { status, axis: None }
    }

    fn separated(axis: DVec3) -> Self {
        Self { status: Status::Separated, axis: Some((-axis).normalize_or_zero().as_vec3().to_array()) }
    }
}

/// Settles one pair. Both bodies must have been checked.
pub(crate) fn settle(hulls: &[Hull], a: &Body, b: &Body) -> Settled {
    let pair = ExactRelative::new(hulls, a, b);
    let limits = exact_limits(&pair);
    trace_exact(&pair, &limits, |_, _| ())
}

/// Thresholds well inside of the band from τ / 10 to τ in which either verdict may be given.
pub(crate) fn exact_limits(pair: &ExactRelative) -> Limits<f64> {
    let tolerance = (1e-5 * pair.smaller).max(4e-6 * pair.sum);
    let error = SUPPORT_ERROR * (pair.sum + pair.offset.length());
    Limits {
        separated: 0.3 * tolerance + error,
        touching: 0.6 * tolerance,
        penetrating: 0.3 * tolerance + error,
    }
}

/// [`settle`], showing every simplex on the way.
pub(crate) fn trace_exact(
    pair: &ExactRelative,
    limits: &Limits<f64>,
    visit: impl FnMut(&Simplex<DVec3>, DVec3),
) -> Settled {
    match gjk(pair, pair.offset, limits, visit) {
        Outcome::Separated { axis } => Settled::separated(axis),
        Outcome::Penetrating => Settled::hit(Status::Penetrating),
        Outcome::Near { simplex } => {
            let near = reach(&simplex) <= limits.touching;
            match epa::<_, POINTS, FACES>(pair, &simplex, near, limits) {
                Decision::Separated { axis } => Settled::separated(axis),
                Decision::Touching => Settled::hit(Status::Touching),
                Decision::Penetrating => Settled::hit(Status::Penetrating),
                Decision::Undecided => unreachable_for_now(pair),
            }
        }
    }
}

fn unreachable_for_now(_pair: &ExactRelative) -> Settled {
    eprintln!("UNDECIDED in f64");
    Settled::hit(Status::Touching)
}
