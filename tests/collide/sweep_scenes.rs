//! Scenes of moving bodies, and their rows judged by the oracle: for the tests of sweeps.

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Batch, Motion, Options, Pairs, Precision, Sweep, SweepOptions, SweepOutcome,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes::{self, Near, Scene};
use hullfield_oracle::sweep::{self as oracle, Claim};
use hullfield_oracle::{Shape, corpus, extent};

use crate::answers::{bodies, scene_hulls as hulls, shapes};

/// A scene that moves.
pub(crate) struct Moving {
    pub(crate) scene: Scene,
    pub(crate) motions: Vec<oracle::Motion>,
    pub(crate) duration: f32,
}

impl Moving {
    pub(crate) fn motions(&self) -> Vec<Motion> {
        let motion = |m: &oracle::Motion| Motion { velocity: m.velocity, angular_velocity: m.spin };
        self.motions.iter().map(motion).collect()
    }

    pub(crate) fn find(&self, engine: &Engine, precision: Precision) -> Batch<Sweep> {
        let arena =
            Arena::new(engine, &hulls(&self.scene), Options { precision, ..Default::default() }).unwrap();
        let pairs = Pairs::Given(&self.scene.pairs);
        arena
            .sweeps(
                &bodies(&self.scene.bodies),
                &self.motions(),
                pairs,
                &SweepOptions { duration: self.duration, ..Default::default() },
            )
            .unwrap()
            .wait()
            .unwrap()
    }

    /// Checks every row. Returns the numbers of hits, misses, touching pairs, and rows not fully proved.
    pub(crate) fn check(&self, name: &str, rows: &[Sweep], exact: bool) -> [usize; 4] {
        use rayon::prelude::*;
        let shapes = shapes(&hulls(&self.scene));
        assert_eq!(rows.len(), self.scene.pairs.len());
        let results: Vec<_> = rows
            .par_iter()
            .zip(&self.scene.pairs)
            .map(|(row, &[a, b])| {
                assert_eq!([row.a, row.b], [a, b]);
                let pair = self.pair(&shapes, a, b);
                pair.check(f64::from(self.duration), claim(row), exact).map_err(|text| Box::new((*row, text)))
            })
            .collect();
        let failures: Vec<_> = results.iter().filter_map(|result| result.as_ref().err()).collect();
        assert!(
            failures.is_empty(),
            "{name}: {} of {} are wrong, first {:?}",
            failures.len(),
            rows.len(),
            &failures[..failures.len().min(3)]
        );
        let count = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
        let open = results.iter().filter(|result| **result == Ok(false)).count();
        [count(SweepOutcome::Hit), count(SweepOutcome::Miss), count(SweepOutcome::Touching), open]
    }

    pub(crate) fn pair<'a>(&self, shapes: &'a [Shape], a: u32, b: u32) -> oracle::Pair<'a> {
        let of = |body: u32| &self.scene.bodies[body as usize];
        oracle::Pair {
            shapes: [a, b].map(|body| &shapes[of(body).hull as usize]),
            poses: [a, b].map(|body| of(body).pose),
            motions: [a, b].map(|body| self.motions[body as usize]),
        }
    }
}

pub(crate) fn claim(row: &Sweep) -> Claim {
    match row.outcome {
        SweepOutcome::Hit => Claim::Hit(row.time, row.normal.unwrap()),
        SweepOutcome::Touching => Claim::Touching(row.normal.unwrap()),
        SweepOutcome::Miss => {
            assert_eq!(row.normal, None);
            Claim::Miss
        }
    }
}

/// Sets a scene of pairs in motion, each pair so that at some time it stands as the scene has it: at a gap near zero. Ways
/// are from a hundredth of the pair's size to `way` times it; half of the pairs only graze.
pub(crate) fn in_motion(mut scene: Scene, duration: f32, way: f64, spin: f64, seed: u64) -> Moving {
    let mut random = Random::new(seed);
    let truths = scene.truths();
    let mut motions = vec![oracle::Motion::default(); scene.bodies.len()];
    let duration64 = f64::from(duration);
    for (&[a, b], truth) in scene.pairs.iter().zip(&truths) {
        let (a, b) = (a as usize, b as usize);
        let size = truth.radius_sum.max(1e-30);
        let speed = size * random.log_between(1e-2, way.max(0.011)) / duration64;
        let axis = DVec3::from(truth.axis);
        let direction = random.direction();
        let relative = match random.below(8) {
            0 => DVec3::ZERO,
            1 => axis * random.sign(),
            2 | 3 => direction,
            4 => direction.reject_from(axis).normalize_or_zero(),
            // Nearly aside, so that the surfaces only just meet or miss.
            _ => {
                direction.reject_from(axis).normalize_or_zero()
                    + axis * random.sign() * random.log_between(1e-6, 0.1)
            }
        } * speed;
        let common = match random.below(3) {
            0 => DVec3::ZERO,
            1 => -relative,
            _ => random.direction() * speed * random.log_between(0.1, 100.0),
        };
        for (body, velocity) in [(a, common), (b, common + relative)] {
            motions[body].velocity = velocity.as_vec3().to_array();
            if random.below(4) > 0 {
                let turn = random.direction() * spin * random.log_between(1e-3, 1.0) / duration64;
                motions[body].spin = turn.as_vec3().to_array();
            }
        }
        // When they are as they stood.
        let when = duration64 * random.between(-0.2, 1.1);
        for body in [a, b] {
            let at = &mut scene.bodies[body].pose.position;
            for i in 0..3 {
                at[i] = (f64::from(at[i]) - f64::from(motions[body].velocity[i]) * when) as f32;
            }
        }
    }
    Moving { scene, motions, duration }
}

/// Scenes whose pairs pass one another at gaps near zero, by name.
pub(crate) fn scenes(count: usize) -> Vec<(&'static str, Scene)> {
    let near = |count, seed| Near { count, seed, placed: 0.8, ..Near::default() };
    vec![
        ("corpus", scenes::near_pairs(&corpus::hulls().unwrap().sets, near(count, 101))),
        ("convex", scenes::near_pairs(&scenes::convex_sets(48, 1.0, 2), near(count, 102))),
        (
            "stretched",
            scenes::near_pairs(
                &scenes::convex_sets(48, 1.0, 3),
                Near { stretch: 30.0, ..near(count / 2, 103) },
            ),
        ),
        (
            "rounded",
            scenes::near_pairs(&scenes::convex_sets(48, 1.0, 4), Near { rounded: 0.5, ..near(count, 104) }),
        ),
        ("round", scenes::round_pairs(near(count, 105))),
        ("slender", scenes::slender(near(count / 2, 106))),
        ("large", scenes::large(128, near(count / 20, 107))),
        ("tiny", scenes::tiny(1e-5, count / 2, 108)),
        ("huge", scenes::tiny(1e5, count / 2, 109)),
        ("far", scenes::far(count / 2, 110)),
        ("debris", scenes::debris(count / 2, true, 111)),
        ("kissing", scenes::kissing_boxes(count / 2, 112)),
        ("ground", scenes::ground(&scenes::convex_sets(24, 1.0, 5), count / 2, true, 113)),
    ]
}

/// Pairs of each scene: as many as `HULLFIELD_SWEEP_PAIRS` says.
pub(crate) fn pair_count() -> usize {
    std::env::var("HULLFIELD_SWEEP_PAIRS").ok().and_then(|text| text.parse().ok()).unwrap_or(extent(40, 120))
}
