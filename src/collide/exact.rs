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
///
/// Should the search get stuck, which no test has seen, it starts again from other directions, and if none leads to
/// an end the bounds of the gap that were found decide.
pub(crate) fn trace_exact(
    pair: &ExactRelative,
    limits: &Limits<f64>,
    mut visit: impl FnMut(&Simplex<DVec3>, DVec3),
) -> Settled {
    let mut lower = f64::NEG_INFINITY;
    let mut upper = f64::INFINITY;
    for start in std::iter::once(pair.offset).chain(RESTARTS.map(DVec3::from)) {
        match search(pair, start, limits, &mut visit) {
            Ok(settled) => return settled,
            Err(bounds) => {
                lower = lower.max(bounds[0]);
                upper = upper.min(bounds[1]);
            }
        }
    }
    let middle = 0.5 * (lower + upper.max(lower));
    if middle > limits.separated {
        // Without a direction that shows it, the line of the centres is as good as any.
        Settled::separated(pair.offset)
    } else if middle < -limits.penetrating {
        Settled::hit(Status::Penetrating)
    } else {
        Settled::hit(Status::Touching)
    }
}

/// Directions to start from again.
const RESTARTS: [[f64; 3]; 7] = [
    [0.83, 0.41, -0.37],
    [-0.29, 0.91, 0.31],
    [0.13, -0.47, 0.87],
    [-0.71, -0.67, 0.23],
    [-0.43, 0.19, -0.89],
    [0.59, -0.73, -0.53],
    [0.97, 0.11, 0.17],
];

/// One search; `Err` carries a lower and an upper bound of the gap.
fn search(
    pair: &ExactRelative,
    start: DVec3,
    limits: &Limits<f64>,
    visit: impl FnMut(&Simplex<DVec3>, DVec3),
) -> Result<Settled, [f64; 2]> {
    match gjk(pair, start, limits, visit) {
        Outcome::Separated { axis } => Ok(Settled::separated(axis)),
        Outcome::Penetrating => Ok(Settled::hit(Status::Penetrating)),
        Outcome::Near { simplex } => {
            let upper = reach(&simplex);
            match epa::<_, POINTS, FACES>(pair, &simplex, upper <= limits.touching, limits) {
                Decision::Separated { axis } => Ok(Settled::separated(axis)),
                Decision::Touching => Ok(Settled::hit(Status::Touching)),
                Decision::Penetrating => Ok(Settled::hit(Status::Penetrating)),
                Decision::Undecided { lower } => Err([lower, upper]),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hullfield_oracle::{corpus, scenes};

    use super::*;

    /// How often `search` gets stuck, over the scenes that are hardest on it.
    #[test]
    fn the_first_search_ends() {
        let sets = corpus::hulls().unwrap().sets;
        let near =
            scenes::Near { count: 20_000, placed: 1.0, stretch: 1000.0, seed: 77, ..Default::default() };
        let mut scenes = vec![
            scenes::near_pairs(&sets, near),
            scenes::kissing_boxes(5_000, 78),
            scenes::debris(5_000, true, 79),
            scenes::coincident(&sets[..500], 80),
            scenes::stacked_cubes(4),
        ];
        let round =
            scenes::convex_set(&mut hullfield_oracle::random::Random::new(81), scenes::Kind::Ball, 128);
        scenes.push(scenes::near_pairs(
            &[round],
            scenes::Near { count: 200, placed: 1.0, seed: 82, ..Default::default() },
        ));
        for scene in scenes {
            let hulls: Vec<Hull> =
                scene.hulls.iter().map(|points| Hull::from_points(points).unwrap()).collect();
            for &[a, b] in &scene.pairs {
                let [a, b] = [a, b].map(|body| {
                    let placed = &scene.bodies[body as usize];
                    Body {
                        hull: placed.hull,
                        position: placed.pose.position,
                        rotation: placed.pose.rotation,
                        scale: placed.pose.scale,
                        ..Body::new(0)
                    }
                });
                let pair = ExactRelative::new(&hulls, &a, &b);
                let found = search(&pair, pair.offset, &exact_limits(&pair), |_, _| ());
                assert!(found.is_ok(), "stuck at {found:?}: {a:?} {b:?}");
            }
        }
    }
}
