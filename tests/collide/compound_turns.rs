//! Sweeps of compounds that turn: each pair of parts judged by the oracle at its own times, and rows equal to those of single hulls.

use glam::{DQuat, DVec3};
use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, BodyColumns, Compound, CompoundBody, CompoundColumns, Compounds, Exclusions, Hull, Motion,
    Options, Pairs, Part, PartPair, Pose, Precision, Status, Sweep, SweepOptions, SweepOutcome,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::sweep::{self as oracle, Claim};
use hullfield_oracle::{Shape, extent, seed};
use rayon::prelude::*;

use crate::answers::{engines, shapes};
use crate::compounds::{Expanded, compound, crowd, hulls, statics};
use crate::sweep_scenes::claim;

/// Motions of bodies of a size, of up to three turns a second. A fourth of them do not turn.
pub(crate) fn turning(random: &mut Random, count: usize, size: f32) -> Vec<Motion> {
    let motion = |index: usize| {
        let velocity = random.direction() * (3.0 * f64::from(size) * random.unit());
        let spin = random.direction() * random.log_between(0.02, 19.0);
        let spin = if index.is_multiple_of(4) { DVec3::ZERO } else { spin };
        let velocity = velocity.as_vec3().to_array();
        Motion { velocity, angular_velocity: spin.as_vec3().to_array() }
    };
    (0..count).map(motion).collect()
}

/// Compounds in motion, and their parts as the oracle knows them.
pub(crate) struct Judged<'a> {
    pub(crate) shapes: &'a [Shape],
    pub(crate) parts: &'a Expanded,
    pub(crate) bodies: &'a [CompoundBody],
    /// World positions of the statics of the arena.
    pub(crate) statics: &'a [Body],
    pub(crate) motions: &'a [Motion],
    pub(crate) duration: f64,
    pub(crate) exact: bool,
}

impl<'a> Judged<'a> {
    fn single(&self, id: usize) -> (Body, DVec3) {
        match self.parts.bodies.get(id) {
            Some(body) => (*body, DVec3::from(self.parts.positions[id])),
            None => {
                let body = self.statics[id - self.parts.bodies.len()];
                (body, DVec3::from(body.position.map(f64::from)))
            }
        }
    }

    /// Two parts, each of which moves with its body. What is between them is exact where both are near: f64 of the positions as given.
    pub(crate) fn pair(&self, ids: [usize; 2]) -> oracle::Carried<'a> {
        let of = ids.map(|id| self.single(id));
        let motion = |id: usize| {
            let motion = self.motions.get(self.parts.names[id][0] as usize).copied().unwrap_or_default();
            oracle::Motion { velocity: motion.velocity, spin: motion.angular_velocity }
        };
        let pose = |body: &Body| hullfield_oracle::Pose {
            position: [0.0; 3],
            rotation: body.rotation,
            scale: body.scale,
            radius: body.padding,
        };
        let arm = |k: usize| match self.bodies.get(self.parts.names[ids[k]][0] as usize) {
            Some(body) => of[k].1 - DVec3::from(body.position),
            None => DVec3::ZERO,
        };
        oracle::Carried {
            pair: oracle::Pair {
                shapes: [0, 1].map(|k| &self.shapes[of[k].0.hull as usize]),
                poses: [0, 1].map(|k| pose(&of[k].0)),
                motions: ids.map(motion),
            },
            between: of[1].1 - of[0].1,
            arms: [arm(0), arm(1)],
        }
    }

    /// All pairs of parts of different bodies that groups accept, one of them of a body.
    pub(crate) fn all_pairs(&self) -> Vec<[usize; 2]> {
        let names = &self.parts.names;
        let meet = |a: &Body, b: &Body| a.group & b.mask != 0 && b.group & a.mask != 0;
        let of = |a: usize| (a + 1..names.len()).map(move |b| [a, b]);
        (0..self.parts.bodies.len())
            .flat_map(of)
            .filter(|&[a, b]| names[a][0] != names[b][0] && meet(&self.single(a).0, &self.single(b).0))
            .collect()
    }

    /// Judges the rows of all pairs of parts: those without a row miss. Returns the numbers of hits, of misses, of pairs that touch at the start, and
    /// of claims that were not proved to the end.
    pub(crate) fn check(&self, what: &str, rows: &[PartPair<Sweep>], pairs: &[[usize; 2]]) -> [usize; 4] {
        let names = &self.parts.names;
        let key = |row: &PartPair<Sweep>| [[row.row.a, row.part_a], [row.row.b, row.part_b]];
        assert!(rows.windows(2).all(|rows| key(&rows[0]) != key(&rows[1])), "{what}: a row twice");
        let found = |ids: [usize; 2]| rows.iter().find(|row| key(row) == ids.map(|id| names[id]));
        let judged: Vec<(SweepOutcome, Result<bool, String>)> = pairs
            .par_iter()
            .map(|&ids| {
                let row = found(ids).map(|row| row.row);
                let of_row = row.as_ref().map_or(Claim::Miss, claim);
                let pair = self.pair(ids);
                let mut result = pair.check(self.duration, of_row, self.exact);
                if let (Ok(_), Claim::Hit(time, _)) = (&result, of_row) {
                    result = self.sampled(&pair, time).and(result);
                }
                let result = result.map_err(|text| format!("{ids:?} {row:?}: {text}"));
                (row.map_or(SweepOutcome::Miss, |row| row.outcome), result)
            })
            .collect();
        let failures: Vec<_> = judged.iter().filter_map(|(_, result)| result.as_ref().err()).collect();
        assert!(failures.is_empty(), "{what}: {} of {}, {:?}", failures.len(), pairs.len(), failures.first());
        let count = |outcome| judged.iter().filter(|(found, _)| *found == outcome).count();
        let open = judged.iter().filter(|(_, result)| *result == Ok(false)).count();
        let counts = [SweepOutcome::Hit, SweepOutcome::Miss, SweepOutcome::Touching].map(count);
        assert_eq!(counts[0] + counts[2], rows.len(), "{what}: rows of other pairs");
        [counts[0], counts[1], counts[2], open]
    }

    /// The gap is not below −τ at times before a hit.
    fn sampled(&self, pair: &oracle::Carried<'_>, time: f64) -> Result<(), String> {
        let tau = pair.tolerance(0.0, self.duration, self.exact);
        let least =
            (0..extent(50, 400)).map(|k| pair.gap(time * f64::from(k as u32) / extent(50, 400) as f64));
        let least = least.fold(f64::INFINITY, f64::min);
        if least < -tau { Err(format!("a gap of {least:e} before {time}")) } else { Ok(()) }
    }
}

/// Sizes, places and whether there are statics.
const PLACES: [(f32, [f64; 3], bool); 5] = [
    (1.0, [0.0; 3], true),
    (1e-4, [0.1, -0.2, 0.3], false),
    (1e4, [0.0; 3], false),
    (1.0, [1e7, -1e7, 1e7], false),
    (1.0, [0.25, 0.5, -0.25], true),
];

struct Crowd {
    compounds: Compounds,
    bodies: Vec<CompoundBody>,
    parts: Expanded,
    motions: Vec<Motion>,
    shapes: Vec<Shape>,
}

impl Crowd {
    fn new(engine: &Engine, number: u64, size: f32, at: [f64; 3], fixed: bool, precision: Precision) -> Self {
        let mut random = Random::new(number);
        let hulls = hulls(&mut random);
        let statics = if fixed { statics() } else { Vec::new() };
        let options = Options { statics, precision, ..Options::default() };
        let arena = Arena::new(engine, &hulls, options).unwrap();
        let of_compounds: Vec<Compound> = (1..=6).map(|count| compound(&mut random, count)).collect();
        let compounds = Compounds::new(&arena, &of_compounds).unwrap();
        let bodies = crowd(&mut random, 12, 6, size, at, 2.0);
        let motions = turning(&mut random, bodies.len(), size);
        Self { parts: Expanded::new(&compounds, &bodies), shapes: shapes(&hulls), compounds, bodies, motions }
    }

    fn judged(&self, duration: f32, precision: Precision) -> Judged<'_> {
        Judged {
            shapes: &self.shapes,
            parts: &self.parts,
            bodies: &self.bodies,
            statics: self.compounds.arena().statics(),
            motions: &self.motions,
            duration: f64::from(duration),
            exact: precision == Precision::Exact,
        }
    }

    fn ask<'a>(
        &self,
        columns: impl Into<CompoundColumns<'a>>,
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Vec<PartPair<Sweep>> {
        self.compounds.sweeps(columns, &self.motions, pairs, options).unwrap().wait().unwrap().rows
    }
}

#[test]
fn parts_that_turn_with_their_bodies_meet_when_the_oracle_says() {
    let mut total = [0; 4];
    let mut refused = 0;
    for (name, engine) in engines() {
        for (case, (size, at, fixed)) in (0..).zip(PLACES) {
            for precision in [Precision::Fast, Precision::Exact] {
                let what = format!("{name} size {size} at {at:?} {precision:?}");
                let scene = Crowd::new(&engine, seed(631) + case, size, at, fixed, precision);
                let options = SweepOptions { duration: 0.75, witness: true };
                let rows = scene.ask(&scene.bodies, Pairs::BroadPhase, &options);
                let judged = scene.judged(options.duration, precision);
                let pairs = judged.all_pairs();
                let counts = judged.check(&what, &rows, &pairs);
                (0..4).for_each(|k| total[k] += counts[k]);
                assert_eq!(scene.ask(&scene.bodies, Pairs::Exhaustive, &options), rows, "{what}");
                check_witnesses(&what, &judged, &rows);

                // The comparator tells parts that turn about their own positions from those that turn with their bodies.
                for row in rows.iter().filter(|row| row.row.outcome == SweepOutcome::Hit) {
                    let ids = of_row(&judged, row);
                    let pair = oracle::Carried { arms: [DVec3::ZERO; 2], ..judged.pair(ids) };
                    let is_right = pair.check(judged.duration, claim(&row.row), judged.exact).is_ok();
                    refused += usize::from(!is_right);
                }
            }
        }
    }
    assert!(total[0] > 50 && total[1] > 1000 && total[2] > 50, "{total:?}");
    assert!(total[3] * 20 < total[0] + total[1], "{total:?}");
    assert!(refused * 2 > total[0], "{refused} of {total:?}");
}

/// The parts of a row, by their places.
fn of_row(judged: &Judged<'_>, row: &PartPair<Sweep>) -> [usize; 2] {
    let place = |name: [u32; 2]| judged.parts.names.iter().position(|other| *other == name).unwrap();
    [place([row.row.a, row.part_a]), place([row.row.b, row.part_b])]
}

/// Points and separations are those at the time of the row.
fn check_witnesses(what: &str, judged: &Judged<'_>, rows: &[PartPair<Sweep>]) {
    for row in rows {
        let pair = judged.pair(of_row(judged, row));
        let truth = pair.gap(row.row.time);
        let separation = row.row.separation.unwrap();
        let tau = pair.tolerance(truth, judged.duration, false);
        assert!((separation - truth).abs() <= 0.1 * tau, "{what}: {row:?} against {truth:e}");
        let [p, q] = row.row.points.unwrap().map(DVec3::from);
        let rounding = 1e-15 * (p.length() + q.length());
        assert!(((q - p).length() - separation.abs()).abs() <= 0.1 * tau + rounding, "{what}: {row:?}");
    }
}

#[test]
fn worlds_exclusions_and_given_pairs_choose_among_the_rows_of_all() {
    let mut count = 0;
    for (name, engine) in engines() {
        for (size, at, fixed) in PLACES {
            let what = format!("{name} size {size} at {at:?}");
            let scene = Crowd::new(&engine, 77, size, at, fixed, Precision::Fast);
            let options = SweepOptions { duration: 0.5, witness: true };
            let all = scene.ask(&scene.bodies, Pairs::BroadPhase, &options);
            let pair = |row: &PartPair<Sweep>| [row.row.a, row.row.b];
            let worlds: Vec<u32> = (0..12).map(|row| u32::from(row % 3 == 1)).collect();
            let world = |id: u32| worlds.get(id as usize).copied();
            let exclusions = Exclusions::new(&[pair(&all[0])]).unwrap();
            let columns = CompoundColumns {
                worlds: &worlds,
                exclusions: Some(&exclusions),
                ..CompoundColumns::new(&scene.bodies)
            };
            let mut expected = all.clone();
            expected.retain(|row| {
                let [a, b] = pair(row);
                !exclusions.contains(a, b) && (b >= 12 || world(a) == world(b))
            });
            expected.sort_by_key(|row| (world(row.row.a), row.row.a, row.row.b, row.part_a, row.part_b));
            assert_eq!(scene.ask(columns, Pairs::BroadPhase, &options), expected, "{what}");
            assert!(expected.len() < all.len());
            count += expected.len();

            let last = pair(all.last().unwrap());
            let given = [last, pair(&all[0]), last];
            let of = |pairs: [u32; 2]| all.iter().copied().filter(move |row| pair(row) == pairs);
            let expected: Vec<_> = given.into_iter().flat_map(of).collect();
            assert_eq!(scene.ask(&scene.bodies, Pairs::Given(&given), &options), expected, "{what}");

            let first =
                scene.compounds.body_sweeps(&scene.bodies, &scene.motions, Pairs::BroadPhase, &options);
            let first = first.unwrap().wait().unwrap().rows;
            let mut expected: Vec<PartPair<Sweep>> = Vec::new();
            for row in &all {
                match expected.last_mut() {
                    Some(last) if pair(last) == pair(row) => {
                        if row.row.time < last.row.time {
                            *last = *row;
                        }
                    }
                    _ => expected.push(*row),
                }
            }
            assert_eq!(first, expected, "{what}");
        }
    }
    assert!(count > 50, "{count}");
}

/// A GPU engine leaves pairs with a part that turns to the CPU's threads: these rows are equal bit for bit, and the others as all sweeps are.
#[test]
fn engines_agree_about_bodies_that_turn() {
    let engines = engines();
    let mut counts = [0; 2];
    for (case, (size, at, fixed)) in (0..).zip(PLACES) {
        let options = SweepOptions { duration: 0.75, witness: true };
        let of = |engine: &Engine| {
            let scene = Crowd::new(engine, seed(71) + case, size, at, fixed, Precision::Fast);
            (scene.ask(&scene.bodies, Pairs::BroadPhase, &options), scene.motions)
        };
        let (expected, motions) = of(&engines[0].1);
        for (name, engine) in &engines[1..] {
            let what = format!("{name} size {size} at {at:?}");
            let (found, _) = of(engine);
            assert_eq!(found.len(), expected.len(), "{what}");
            for (row, other) in found.iter().zip(&expected) {
                let turns =
                    |id: u32| motions.get(id as usize).is_some_and(|m| m.angular_velocity != [0.0; 3]);
                if turns(row.row.a) || turns(row.row.b) {
                    assert_eq!(row, other, "{what}");
                    counts[0] += 1;
                    continue;
                }
                let key =
                    |row: &PartPair<Sweep>| (row.row.a, row.row.b, row.part_a, row.part_b, row.row.outcome);
                assert_eq!(key(row), key(other), "{what}");
                assert!((row.row.time - other.row.time).abs() <= 1e-4, "{what}: {row:?} {other:?}");
                counts[1] += 1;
            }
        }
    }
    assert!(engines.len() == 1 || counts[0] > 50 && counts[1] > 0, "{counts:?}");
}

#[test]
fn a_single_part_at_the_origin_has_the_rows_of_its_hull() {
    for (name, engine) in engines() {
        let mut count = 0;
        for (case, (size, at, fixed)) in (0..).zip(PLACES) {
            for precision in [Precision::Fast, Precision::Exact] {
                let what = format!("{name} size {size} at {at:?} {precision:?}");
                let mut random = Random::new(seed(81) + case);
                let hulls = hulls(&mut random);
                let statics = if fixed { statics() } else { Vec::new() };
                let options = Options { statics, precision, ..Options::default() };
                let arena = Arena::new(&engine, &hulls, options).unwrap();
                let pose = |k: u32| Pose {
                    rotation: if k.is_multiple_of(2) { [0.0, 0.0, 0.0, 1.0] } else { [0.1, 0.7, -0.1, 0.7] },
                    scale: [0.6, 0.5 + 0.1 * k as f32, 0.7],
                    ..Pose::IDENTITY
                };
                let single = |k: u32| Compound::new([Part::new(k).posed(pose(k)).padded(0.01 * k as f32)]);
                let compounds = Compounds::new(&arena, &[0, 1, 2, 3, 4, 5].map(single)).unwrap();
                let bodies = crowd(&mut random, 24, 6, size, at, 3.0);
                let motions = turning(&mut random, bodies.len(), size);
                let parts = Expanded::new(&compounds, &bodies);
                let options = SweepOptions { duration: 0.5, witness: true };
                for pairs in [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&[[3, 5], [9, 2], [0, 1]])] {
                    let found = compounds.sweeps(&bodies, &motions, pairs, &options).unwrap().wait().unwrap();
                    let found: Vec<Sweep> = found.rows.iter().map(|row| row.row).collect();
                    let of_hulls = arena.sweeps(parts.columns(), &motions, pairs, &options).unwrap();
                    let mut expected = of_hulls.wait().unwrap().rows;
                    expected.retain(|row| row.outcome != SweepOutcome::Miss);
                    assert_eq!(found, expected, "{what}");
                    count += found.len();
                }
            }
        }
        assert!(count > 100, "{name}: {count}");
    }
}

/// What turning does to a part far from the pivot, by hand.
#[test]
fn a_ball_on_an_arm_meets_what_lies_on_its_circle() {
    for (name, engine) in engines() {
        for precision in [Precision::Fast, Precision::Exact] {
            for (at, shift) in [(0.0, 1e-5), (1e7, 1e-5), (-3e12, 1e-2)] {
                let what = format!("{name} {precision:?} {at}");
                let hulls = [Hull::ball(0.25).unwrap(), Hull::half_space()];
                let statics = vec![Body::new(1)];
                let static_positions = vec![[at, at - 1.5, at]];
                let options = Options { statics, static_positions, precision, ..Options::default() };
                let arena = Arena::new(&engine, &hulls, options).unwrap();
                let arm = Compound::new([Part::new(0), Part::new(0).at([2.0, 0.0, 0.0])]);
                let compounds = Compounds::new(&arena, &[arm, Compound::of_hulls([0])]).unwrap();
                let bodies = [CompoundBody::new(0).at([at; 3]), CompoundBody::new(1).at([at, at + 2.0, at])];
                let ask = |spin: f32, velocity: [f32; 3], duration: f32| {
                    let motion = Motion { velocity, angular_velocity: [0.0, 0.0, spin] };
                    let motions = [motion, Motion { velocity, ..Motion::default() }];
                    let options = SweepOptions { duration, witness: false };
                    compounds
                        .sweeps(&bodies, &motions, Pairs::BroadPhase, &options)
                        .unwrap()
                        .wait()
                        .unwrap()
                        .rows
                };
                // The middles are 4 sin(φ / 2) apart, where φ is the angle between their arms.
                let angle = 2.0 * 0.125_f64.asin();
                let rows = ask(0.5, [0.0; 3], 4.0);
                let [row] = rows[..] else { panic!("{what}: {rows:?}") };
                assert_eq!((row.row.a, row.row.b, row.part_a, row.part_b), (0, 1, 1, 0), "{what}");
                let time = 2.0 * (std::f64::consts::FRAC_PI_2 - angle);
                assert!((row.row.time - time).abs() < shift, "{what}: {row:?} {time}");
                assert!(ask(0.5, [0.0; 3], 2.0).is_empty(), "{what}");
                // The other way round the ball first meets the ground, which is 1.5 below: 2 sin(t / 2) = 1.25.
                let rows = ask(-0.5, [0.0; 3], 4.0);
                let [row] = rows[..] else { panic!("{what}: {rows:?}") };
                assert_eq!((row.row.a, row.row.b, row.part_a, row.part_b), (0, 2, 1, 0), "{what}");
                let time = 2.0 * 0.625_f64.asin();
                assert!((row.row.time - time).abs() < shift, "{what}: {row:?} {time}");
                // Both bodies fly along: the same, but for the ground, which stays behind.
                let rows = ask(0.5, [0.0, 30.0, 7.0], 4.0);
                let [row] = rows[..] else { panic!("{what}: {rows:?}") };
                let time = 2.0 * (std::f64::consts::FRAC_PI_2 - angle);
                assert!((row.row.time - time).abs() < shift, "{what}: {row:?} {time}");
                assert!(ask(-0.5, [0.0, 30.0, 7.0], 4.0).is_empty(), "{what}");
                // A turn in 0.35 seconds: nothing is jumped over.
                let rows = ask(18.0, [0.0; 3], 4.0);
                let row = rows.iter().find(|row| row.row.b == 1).unwrap();
                let time = (std::f64::consts::FRAC_PI_2 - angle) / 18.0;
                assert!((row.row.time - time).abs() < shift, "{what}: {row:?} {time}");
            }
        }
    }
}

#[test]
fn without_time_only_what_touches_has_rows() {
    for (name, engine) in engines() {
        let scene = Crowd::new(&engine, 19, 1.0, [0.0; 3], true, Precision::Fast);
        let options = SweepOptions { duration: 0.0, witness: false };
        let rows = scene.ask(&scene.bodies, Pairs::BroadPhase, &options);
        let found = scene.compounds.intersections(&scene.bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
        let touching: Vec<_> = found
            .rows
            .iter()
            .filter(|row| row.row.status != Status::Separated)
            .map(|row| (row.row.a, row.row.b, row.part_a, row.part_b))
            .collect();
        let of_rows: Vec<_> = rows.iter().map(|row| (row.row.a, row.row.b, row.part_a, row.part_b)).collect();
        assert_eq!(of_rows, touching, "{name}");
        assert!(rows.iter().all(|row| (row.row.outcome, row.row.time) == (SweepOutcome::Touching, 0.0)));
        assert!(rows.len() > 10);
    }
}

/// A part far from its body, and small: what f64 rounds off its way is more than its radius would be worth in f32.
#[test]
fn small_parts_on_long_arms_keep_their_digits() {
    for (name, engine) in engines() {
        for precision in [Precision::Fast, Precision::Exact] {
            let mut random = Random::new(7);
            let hulls = [Hull::cuboid([0.5, 0.2, 0.3]).unwrap(), Hull::ball(0.25).unwrap()];
            let arena = Arena::new(&engine, &hulls, Options { precision, ..Options::default() }).unwrap();
            let long =
                Compound::new([Part::new(0).at([4096.0, 0.0, 0.0]), Part::new(1).at([0.0, -4096.0, 0.5])]);
            let compounds = Compounds::new(&arena, &[long, Compound::of_hulls([0, 1])]).unwrap();
            let mut bodies = vec![CompoundBody::new(0)];
            let mut motions = vec![Motion { angular_velocity: [0.0, 0.0, 1.0], ..Motion::default() }];
            for _ in 0..40 {
                let angle = random.between(0.01, 1.5);
                let off = random.direction() * 0.8;
                let at = DQuat::from_rotation_z(angle) * DVec3::new(4096.0, 0.0, 0.0) + off;
                bodies.push(CompoundBody::new(1).at(at.to_array()).rotated(random.rotation()));
                motions.push(Motion {
                    angular_velocity: (random.direction() * 3.0).as_vec3().to_array(),
                    ..Motion::default()
                });
            }
            let parts = Expanded::new(&compounds, &bodies);
            let options = SweepOptions { duration: 1.5, witness: false };
            let pairs: Vec<[u32; 2]> = (1..=40).map(|other| [0, other]).collect();
            let rows = compounds.sweeps(&bodies, &motions, Pairs::Given(&pairs), &options).unwrap();
            let rows = rows.wait().unwrap().rows;
            let shapes = shapes(&hulls);
            let judged = Judged {
                shapes: &shapes,
                parts: &parts,
                bodies: &bodies,
                statics: &[],
                motions: &motions,
                duration: 1.5,
                exact: precision == Precision::Exact,
            };
            let of_first: Vec<[usize; 2]> =
                judged.all_pairs().into_iter().filter(|&[a, _]| parts.names[a][0] == 0).collect();
            let counts = judged.check(&format!("{name} {precision:?}"), &rows, &of_first);
            assert!(counts[0] > 20, "{counts:?}");
        }
    }
}

#[test]
fn columns_of_positions_change_no_row() {
    // Bodies of the arena with the same positions in f64 have the same rows, whether or not others turn with levers.
    let engine = Engine::cpu();
    let mut random = Random::new(3);
    let hulls = hulls(&mut random);
    let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[1, 5].map(|count| compound(&mut random, count))).unwrap();
    let bodies = crowd(&mut random, 10, 2, 1.0, [0.0; 3], 2.0);
    let mut motions = turning(&mut random, 10, 1.0);
    motions.iter_mut().for_each(|motion| motion.angular_velocity = [0.0; 3]);
    let parts = Expanded::new(&compounds, &bodies);
    let of_parts: Vec<Motion> =
        parts.names[..parts.bodies.len()].iter().map(|name| motions[name[0] as usize]).collect();
    let options = SweepOptions::default();
    // The last body turns: the rows of the others are those without.
    let still =
        compounds.sweeps(&bodies, &motions, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows;
    motions[9].angular_velocity = [1.0, 2.0, -1.0];
    let one = compounds.sweeps(&bodies, &motions, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows;
    let others = |rows: &[PartPair<Sweep>]| -> Vec<PartPair<Sweep>> {
        rows.iter().copied().filter(|row| row.row.b != 9).collect()
    };
    assert_eq!(others(&still), others(&one));
    assert_ne!(still, one);
    let owners: Vec<u32> = parts.names.iter().map(|name| name[0]).collect();
    let columns = BodyColumns { owners: &owners, ..parts.columns() };
    let alone = arena.sweeps(columns, &of_parts, Pairs::BroadPhase, &options).unwrap().wait().unwrap().rows;
    assert_eq!(alone.len(), still.len());
}
