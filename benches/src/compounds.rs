//! Compounds, bodies of several hulls, pair by pair: against parry3d's `Compound`.

use glam::DVec3;
use hullfield::Engine;
use hullfield::collide::{
    Arena, Compound, CompoundBody, Compounds, ContactOptions, DistanceOptions, Hull, Pairs, Part, Pose,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Pose as OraclePose, Shape, whole_truth};

use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::peer::{CompoundPeer, CompoundQuery as Query};
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, interleave};

/// Parts of a compound.
const PARTS: usize = 32;
/// Compounds of a scene.
const COMPOUNDS: usize = 16;
/// Pairs whose gap the oracle computes, and at most as many that differ from the peer's.
const JUDGED: usize = 40;

/// The bodies of pairs: the bodies `2 k` and `2 k + 1` are pair `k`.
pub(crate) struct Scene {
    shapes: Vec<Shape>,
    compounds: Compounds,
    bodies: Vec<CompoundBody>,
    pairs: Vec<[u32; 2]>,
    peer: CompoundPeer,
}

/// Times the CPU engine on one thread against the peer.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn against_peer(options: &Options, report: &mut Report) -> Result<(), String> {
    let pair_count = if options.quick { 300 } else { 8_000 };
    let repetitions = if options.quick { 3 } else { 9 };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let mut table = Table::new(
        "compounds",
        format!(
            "Pairs of compounds of {PARTS} parts, one row a pair, one thread each, {repetitions} interleaved repetitions"
        ),
        &[
            "query",
            "pairs",
            "overlap",
            "pairs of parts measured",
            "hullfield µs",
            "±",
            "parry3d µs",
            "parry3d ±",
            "ratio",
            "judged",
            "differ",
            "parry3d wrong",
        ],
    );
    let scene = Scene::new(pair_count)?;
    for query in [Query::Intersection, Query::Distance, Query::Contact] {
        eprintln!("compounds: {query:?}");
        let (gaps, measured) = one.install(|| scene.ours(query))?;
        let mut theirs = Vec::new();
        scene.peer.answers(query, &mut theirs)?;
        let (differ_count, wrong_count) = match scene.judge(query, &gaps, &theirs) {
            Ok(counts) => counts,
            Err(error) => {
                report.fail(format!("compounds, {query:?}: {error}"));
                (0, 0)
            }
        };
        let [mine, other] = interleave(
            repetitions,
            || one.install(|| scene.ours(query).map(drop)),
            || scene.peer.answers(query, &mut theirs),
        )?;
        let us = |samples: &Samples| samples.median() * 1e3 / pair_count as f64;
        let hits = gaps.iter().flatten().filter(|&&gap| gap <= 0.0).count();
        table.row([
            format!("{query:?}").to_lowercase().into(),
            pair_count.into(),
            Cell::Share(hits as f64 / pair_count as f64, 0),
            Cell::Number(measured as f64 / pair_count as f64, 1),
            Cell::Number(us(&mine), 2),
            Cell::Share(mine.spread(), 0),
            Cell::Number(us(&other), 2),
            Cell::Share(other.spread(), 0),
            Cell::Number(mine.ratio(&other), 3),
            JUDGED.min(pair_count).into(),
            differ_count.into(),
            wrong_count.into(),
        ]);
    }
    table.note(
        "hullfield's time begins at the poses of bodies, parry3d's at built poses, compounds and trees. hullfield tells which parts meet. \
         judged: gaps computed by the f64 oracle part by part; differ: gaps or verdicts that differ from parry3d's by more than 1e-4; parry3d wrong: of those that were judged, all or the first of them.",
    );
    report.table(table);
    Ok(())
}

impl Scene {
    /// Pairs of compounds, about half of which overlap.
    ///
    /// # Errors
    /// As the library.
    pub(crate) fn new(pair_count: usize) -> Result<Self, String> {
        let mut random = Random::new(SEED);
        let sets = hullfield_oracle::scenes::convex_sets(24, 0.25, SEED);
        let hulls: Vec<Hull> =
            sets.iter().map(|set| Hull::from_points(set)).collect::<Result<_, _>>().map_err(message)?;
        let sets: Vec<Vec<[f32; 3]>> = hulls.iter().map(|hull| hull.vertices().to_vec()).collect();
        let shapes = sets.iter().map(|set| Shape::new(set)).collect();
        let part = |random: &mut Random, hull: usize| {
            let away = random.direction() * random.unit().cbrt();
            let position = (away - DVec3::from(hulls[hull].mean())).as_vec3().to_array();
            Part::new(hull as u32).posed(Pose { position, rotation: random.rotation(), ..Pose::IDENTITY })
        };
        let compounds: Vec<Compound> = (0..COMPOUNDS)
            .map(|_| {
                Compound::new(
                    (0..PARTS)
                        .map(|_| {
                            let hull = random.below(hulls.len());
                            part(&mut random, hull)
                        })
                        .collect::<Vec<_>>(),
                )
            })
            .collect();
        let mut bodies = Vec::with_capacity(2 * pair_count);
        for _ in 0..pair_count {
            let at = DVec3::new(
                random.between(-50.0, 50.0),
                random.between(-50.0, 50.0),
                random.between(-50.0, 50.0),
            );
            let to = at + random.direction() * random.between(1.2, 2.8);
            for position in [at, to] {
                // As f32 holds it, so that parry3d gets the same.
                let position = position.as_vec3().as_dvec3().to_array();
                bodies.push(
                    CompoundBody::new(random.below(COMPOUNDS) as u32).at(position).rotated(random.rotation()),
                );
            }
        }
        let arena =
            Arena::new(&Engine::cpu(), &hulls, hullfield::collide::Options::default()).map_err(message)?;
        let peer = CompoundPeer::new(&sets, &compounds, &bodies)?;
        let compounds = Compounds::new(&arena, &compounds).map_err(message)?;
        let pairs = (0..pair_count as u32).map(|pair| [2 * pair, 2 * pair + 1]).collect();
        Ok(Self { shapes, compounds, bodies, pairs, peer })
    }

    pub(crate) fn pair_count(&self) -> usize {
        self.pairs.len()
    }

    /// The gap of each pair where it is told, 0 where a yes or no is all, and how many pairs of parts were measured.
    pub(crate) fn ours(&self, query: Query) -> Result<(Vec<Option<f64>>, u64), String> {
        let (compounds, bodies, given) = (&self.compounds, &self.bodies[..], Pairs::Given(&self.pairs));
        let mut gaps = vec![None; self.pairs.len()];
        let stats = match query {
            Query::Intersection => {
                let found =
                    compounds.body_intersections(bodies, given).map_err(message)?.wait().map_err(message)?;
                found.rows.iter().for_each(|row| gaps[row.row.a as usize / 2] = Some(0.0));
                found.stats
            }
            Query::Distance => {
                let options = DistanceOptions::default();
                let found = compounds
                    .body_distances(bodies, given, &options)
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                found.rows.iter().for_each(|row| gaps[row.row.a as usize / 2] = Some(row.row.separation));
                found.stats
            }
            Query::Contact => {
                let options = ContactOptions::default();
                let found = compounds
                    .body_contacts(bodies, given, &options)
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                found
                    .rows
                    .iter()
                    .for_each(|row| gaps[row.row.a as usize / 2] = Some(row.row.separation.min(0.0)));
                found.stats
            }
        };
        Ok((gaps, stats.candidate_count))
    }

    /// The peer's gaps.
    ///
    /// # Errors
    /// A query that parry3d does not answer.
    pub(crate) fn peer_answers(&self, query: Query, answers: &mut Vec<Option<f32>>) -> Result<(), String> {
        self.peer.answers(query, answers)
    }

    /// The least gap of the parts of a pair, by the oracle.
    fn truth(&self, pair: usize) -> Result<f64, String> {
        let mut parts = Vec::new();
        for body in &self.bodies[2 * pair..2 * pair + 2] {
            parts.push(self.compounds.parts(body).map_err(message)?.0);
        }
        let mut least = f64::INFINITY;
        for p in &parts[0] {
            for q in &parts[1] {
                let pose = |body: &hullfield::collide::Body| OraclePose {
                    position: body.position,
                    rotation: body.rotation,
                    ..OraclePose::default()
                };
                let [a, b] = [p, q].map(|body| &self.shapes[body.hull as usize]);
                let middle = |shape: &Shape, body| {
                    OraclePose::position64(&pose(body)) + pose(body).rotation64() * DVec3::from(shape.mean())
                };
                let apart = middle(a, p).distance(middle(b, q)) - a.radius([1.0; 3]) - b.radius([1.0; 3]);
                if apart < least {
                    least = least.min(whole_truth(a, &pose(p), b, &pose(q)).gap);
                }
            }
        }
        Ok(least)
    }

    /// Holds our gaps against the oracle's, and counts the pairs that differ from the peer's and those of them where the peer is wrong.
    pub(crate) fn judge(
        &self,
        query: Query,
        ours: &[Option<f64>],
        theirs: &[Option<f32>],
    ) -> Result<(usize, usize), String> {
        let told = |truth: f64| match query {
            Query::Intersection => (truth <= 0.0).then_some(0.0),
            Query::Distance => Some(truth.max(0.0)),
            Query::Contact => (truth <= 0.0).then_some(truth),
        };
        let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-4,
            (a, b) => a.is_none() && b.is_none(),
        };
        let differ: Vec<usize> =
            (0..ours.len()).filter(|&pair| !same(ours[pair], theirs[pair].map(f64::from))).collect();
        let step = (ours.len() / JUDGED).max(1);
        let mut wrong_count = 0;
        for pair in (0..ours.len()).step_by(step).chain(differ.iter().copied().take(JUDGED)) {
            let truth = self.truth(pair)?;
            // On a threshold either verdict will do.
            if !same(ours[pair], told(truth)) && truth.abs() > 1e-5 {
                return Err(format!(
                    "pair {pair}: {:?}, the oracle says {truth}, parry3d {:?}",
                    ours[pair], theirs[pair]
                ));
            }
            wrong_count += usize::from(!same(theirs[pair].map(f64::from), told(truth)) && truth.abs() > 1e-5);
        }
        Ok((differ.len(), wrong_count))
    }
}
