//! Rates of the GPU's kernels on given pairs, and times of crowds of up to a million bodies on every engine.
//!
//! Kernel times are by the device's timestamps if it has them, else from submission to completion. A software adapter is called
//! `software gpu` and gets the smaller sizes only: larger ones would take minutes.

use hullfield::collide::{Arena, Body, ContactOptions, DistanceOptions, Motion, Pairs, Stats, SweepOptions};
use hullfield_oracle::random::Random;
use hullfield_oracle::{scenes, whole_truths};

use crate::engines::NamedEngine;
use crate::error::{Trouble, message};
use crate::machine::SEED;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::rows::{contact_rows, distance_rows};
use crate::scene::{Scene, spheres};
use crate::sweeps::{self, DURATION};
use crate::timing::{Samples, time};
use crate::verdicts::check_verdicts;

/// Pairs that the oracle checks in each row.
const CHECKED_PAIRS: usize = 300;

/// The query of each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Query {
    Intersections,
    Distances,
    Contacts,
    Sweeps,
}

impl Query {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Intersections => "yes or no",
            Self::Distances => "distance",
            Self::Contacts => "contact",
            Self::Sweeps => "sweep",
        }
    }

    /// The library's name of it.
    pub(crate) fn kind(self) -> hullfield::collide::Query {
        use hullfield::collide::Query as Kind;
        match self {
            Self::Intersections => Kind::Intersections,
            Self::Distances => Kind::Distances,
            Self::Contacts => Kind::Contacts,
            Self::Sweeps => Kind::Sweeps,
        }
    }

    /// The statistics of the query, once its rows are there.
    pub(crate) fn run(
        self,
        arena: &Arena,
        bodies: &[Body],
        motions: &[Motion],
        pairs: Pairs<'_>,
    ) -> Result<Stats, Trouble> {
        Ok(match self {
            Self::Intersections => arena.intersections(bodies, pairs)?.wait()?.stats,
            Self::Distances => {
                arena.distances(bodies, pairs, &DistanceOptions { margin: 0.0 })?.wait()?.stats
            }
            Self::Contacts => arena.contacts(bodies, pairs, &ContactOptions { margin: 0.0 })?.wait()?.stats,
            Self::Sweeps => {
                let options = SweepOptions { duration: DURATION, ..Default::default() };
                arena.sweeps(bodies, motions, pairs, &options)?.wait()?.stats
            }
        })
    }

    /// Checks about `count` answers against the oracle.
    pub(crate) fn check(
        self,
        arena: &Arena,
        scene: &Scene,
        bodies: &[Body],
        motions: &[Motion],
        count: usize,
    ) -> Result<(), String> {
        let step = (scene.pairs.len() / count).max(1);
        let some: Vec<[u32; 2]> = scene.pairs.iter().copied().step_by(step).collect();
        let given = Pairs::Given(&some);
        let judge = hullfield_oracle::measure::Judge {
            shapes: &scene.shapes,
            bodies: &scene.bodies,
            precision: hullfield_oracle::measure::Precision::Fast,
        };
        let truths = || whole_truths(&scene.shapes, &scene.bodies, &some);
        match self {
            Self::Intersections => {
                let found = arena.intersections(bodies, Pairs::Given(&scene.pairs)).map_err(message)?;
                let counts = check_verdicts(scene, &found.wait().map_err(message)?.rows, &[]);
                if counts.wrong_count + counts.bad_axis_count > 0 {
                    return Err(format!(
                        "{} wrong, {} axes separate nothing",
                        counts.wrong_count, counts.bad_axis_count
                    ));
                }
                Ok(())
            }
            Self::Distances => {
                let found = arena
                    .distances(bodies, given, &DistanceOptions { margin: 0.0 })
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                judge.distances(&some, &distance_rows(&found), &truths()).passed()
            }
            Self::Contacts => {
                let found = arena
                    .contacts(bodies, given, &ContactOptions { margin: 0.0 })
                    .map_err(message)?
                    .wait()
                    .map_err(message)?;
                judge.contacts(&some, &contact_rows(&found), &truths()).passed()
            }
            Self::Sweeps => {
                let found = arena
                    .sweeps(
                        bodies,
                        motions,
                        given,
                        &SweepOptions { duration: DURATION, ..Default::default() },
                    )
                    .map_err(message)?;
                sweeps::check_rows(scene, motions, &found.wait().map_err(message)?.rows, count).map(drop)
            }
        }
    }
}

/// Given pairs in a crowd, about 30 % of them overlapping.
pub(crate) fn given_pairs(vertex_count: usize, pair_count: usize) -> Result<Scene, String> {
    let mut random = Random::new(SEED);
    let mut scene = Scene::of_hulls(&spheres(&mut random, 32, vertex_count))?;
    let reach = scene.reach_for_overlap(&mut random, 0.3)?;
    scene.crowd(&mut random, (pair_count / 10).clamp(50, 20_000), pair_count, reach);
    Ok(scene)
}

/// Kernel rates on given pairs.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn given(options: &Options, report: &mut Report, engines: &[NamedEngine]) -> Result<(), String> {
    let mut table = Table::new(
        "kernels",
        "Given pairs on the GPU, everything resident but the poses: kernels alone, and end to end",
        &[
            "engine",
            "query",
            "vertices",
            "pairs",
            "kernels ms",
            "±",
            "M pairs a second",
            "end to end ms",
            "settled",
        ],
    );
    for NamedEngine { name, engine } in engines.iter().skip(1) {
        for (vertex_count, pair_count) in [(50, 1_000), (32, 100_000), (32, 1_000_000), (512, 50_000)] {
            let is_slow = options.quick || *name != "gpu";
            if is_slow && pair_count > if options.quick { 1_000 } else { 100_000 } {
                continue;
            }
            let repetitions = if is_slow { 3 } else { 15 };
            let scene = given_pairs(vertex_count, pair_count)?;
            let arena =
                Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
            let bodies = scene.library_bodies();
            let motions = sweeps::motions_of(&scene);
            for query in [Query::Intersections, Query::Distances, Query::Contacts, Query::Sweeps] {
                eprintln!(
                    "kernels: {}, {pair_count} pairs of {vertex_count} vertices on {name}",
                    query.name()
                );
                let count = if vertex_count > 100 { CHECKED_PAIRS / 5 } else { CHECKED_PAIRS };
                if let Err(failure) = query.check(&arena, &scene, &bodies, &motions, count) {
                    report.fail(format!("kernels, {} of {vertex_count} vertices: {failure}", query.name()));
                }
                let (mut kernels, mut total) = (Samples::default(), Samples::default());
                let mut stats = Stats::default();
                for _ in 0..repetitions {
                    let (ms, answer) =
                        time(|| query.run(&arena, &bodies, &motions, Pairs::Given(&scene.pairs)));
                    stats = answer?;
                    kernels.push(stats.times.kernels_ms);
                    total.push(ms);
                }
                table.row([
                    (*name).into(),
                    query.name().into(),
                    vertex_count.into(),
                    scene.pairs.len().into(),
                    Cell::Number(kernels.median(), 3),
                    Cell::Share(kernels.spread(), 0),
                    Cell::Number(scene.pairs.len() as f64 / kernels.median() / 1e3, 2),
                    Cell::Number(total.median(), 3),
                    stats.settled_count.into(),
                ]);
            }
        }
    }
    if engines.len() < 2 {
        table.note("no adapter: nothing to time.");
    }
    table.note("kernels: by the device's timestamps where it has them, else from submission to completion.");
    report.table(table);
    Ok(())
}

/// Times crowds of ten thousand to a million bodies, from poses to hits.
///
/// # Errors
/// A query that fails. Engines that differ are reported.
pub(crate) fn crowds(options: &Options, report: &mut Report, engines: &[NamedEngine]) -> Result<(), String> {
    let mut table = Table::new(
        "crowds",
        "Crowds with about one overlapping box a body: the broad phase alone (candidates read back), and poses in to hits out",
        &[
            "engine",
            "bodies",
            "candidates",
            "hits",
            "candidates ms",
            "±",
            "hits ms",
            "of it kernels",
            "bytes a body",
        ],
    );
    let sizes: &[usize] = if options.quick { &[2_000] } else { &[10_000, 100_000, 1_000_000] };
    for &body_count in sizes {
        let sets = scenes::convex_sets(24, 1.0, SEED);
        let crowd = scenes::tumbling(&sets, body_count, 1.0, SEED).scene;
        let mut scene = Scene::of_hulls(&sets)?;
        scene.bodies = crowd.bodies;
        let bodies = scene.library_bodies();
        let mut first: Option<(usize, u64)> = None;
        for NamedEngine { name, engine } in engines {
            if *name == "software gpu" && body_count > 100_000 {
                continue;
            }
            eprintln!("crowds: {body_count} bodies on {name}");
            let arena =
                Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
            let repetitions = if *name == "gpu" { 15 } else { 5 };
            let (mut broad, mut all, mut kernels) =
                (Samples::default(), Samples::default(), Samples::default());
            let mut counts = (0, 0);
            for repetition in 0..=repetitions {
                let (broad_ms, found) =
                    time(|| arena.candidates(&bodies).map_err(message)?.wait().map_err(message));
                let candidate_count = found?.len();
                let (ms, found) = time(|| {
                    arena.intersections(&bodies, Pairs::BroadPhase).map_err(message)?.wait().map_err(message)
                });
                let stats = found?.stats;
                counts = (candidate_count, stats.hit_count);
                // The first run allocates buffers.
                if repetition > 0 {
                    broad.push(broad_ms);
                    all.push(ms);
                    kernels.push(stats.times.kernels_ms);
                }
            }
            if first.is_some_and(|(candidates, _)| candidates != counts.0) {
                report.fail(format!(
                    "crowds: {} candidates of {body_count} bodies on {name}, {:?}",
                    counts.0, first
                ));
            }
            first.get_or_insert(counts);
            let estimate = arena.estimate(Query::Intersections.kind(), body_count, &Pairs::BroadPhase);
            table.row([
                (*name).into(),
                body_count.into(),
                counts.0.into(),
                counts.1.into(),
                Cell::Number(broad.median(), 2),
                Cell::Share(broad.spread(), 0),
                Cell::Number(all.median(), 2),
                Cell::Number(kernels.median(), 2),
                Cell::Number(estimate.body_bytes as f64 / body_count as f64, 0),
            ]);
        }
    }
    table.note("bytes a body: device memory that grows with the bodies, tree included; 0 on the CPU engine, which has none.");
    report.table(table);
    Ok(())
}
