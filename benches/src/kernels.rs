//! What the GPU's kernels do a second on given pairs, and what crowds of up to a million bodies take on every engine.
//!
//! Kernel times are the device's own where it has timestamps, else from submission to completion. A rasteriser on the
//! CPU is called `software gpu` in every row and gets the smaller sizes only: it would take minutes to say little.

use hullfield::collide::{Arena, Body, ContactOptions, DistanceOptions, Motion, Pairs, Stats, SweepOptions};
use hullfield_oracle::random::Random;
use hullfield_oracle::{scenes, whole_truths};

use crate::engines::Named;
use crate::error::text;
use crate::judge::judge;
use crate::machine::SEED;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::rows::{contact_rows, distance_rows};
use crate::scene::{Scene, spheres};
use crate::sweeps::{self, DURATION};
use crate::timing::{Samples, time};

/// Pairs that the oracle judges in each row.
const JUDGED: usize = 300;

/// What is asked of each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Query {
    Intersections,
    Distances,
    Contacts,
    Sweeps,
}

impl Query {
    fn name(self) -> &'static str {
        match self {
            Self::Intersections => "yes or no",
            Self::Distances => "distance",
            Self::Contacts => "contact",
            Self::Sweeps => "sweep",
        }
    }

    fn ask(
        self,
        arena: &Arena,
        bodies: &[Body],
        motions: &[Motion],
        pairs: Pairs<'_>,
    ) -> Result<Stats, String> {
        Ok(match self {
            Self::Intersections => {
                arena.intersections(bodies, pairs).map_err(text)?.wait().map_err(text)?.stats
            }
            Self::Distances => {
                arena
                    .distances(bodies, pairs, &DistanceOptions { margin: 0.0 })
                    .map_err(text)?
                    .wait()
                    .map_err(text)?
                    .stats
            }
            Self::Contacts => {
                arena
                    .contacts(bodies, pairs, &ContactOptions { margin: 0.0 })
                    .map_err(text)?
                    .wait()
                    .map_err(text)?
                    .stats
            }
            Self::Sweeps => {
                arena
                    .sweeps(
                        bodies,
                        motions,
                        pairs,
                        &SweepOptions { duration: DURATION, ..Default::default() },
                    )
                    .map_err(text)?
                    .wait()
                    .map_err(text)?
                    .stats
            }
        })
    }

    /// Some answers against the oracle.
    fn judge(
        self,
        arena: &Arena,
        scene: &Scene,
        bodies: &[Body],
        motions: &[Motion],
        judged: usize,
    ) -> Result<(), String> {
        let step = (scene.pairs.len() / judged).max(1);
        let some: Vec<[u32; 2]> = scene.pairs.iter().copied().step_by(step).collect();
        let given = Pairs::Given(&some);
        let by = hullfield_oracle::measure::Judge {
            shapes: &scene.shapes,
            bodies: &scene.bodies,
            precision: hullfield_oracle::measure::Precision::Fast,
        };
        let truths = || whole_truths(&scene.shapes, &scene.bodies, &some);
        match self {
            Self::Intersections => {
                let found = arena.intersections(bodies, Pairs::Given(&scene.pairs)).map_err(text)?;
                let judged = judge(scene, &found.wait().map_err(text)?.rows, &[]);
                if judged.wrong_count + judged.bad_axis_count > 0 {
                    return Err(format!(
                        "{} wrong, {} axes separate nothing",
                        judged.wrong_count, judged.bad_axis_count
                    ));
                }
                Ok(())
            }
            Self::Distances => {
                let found = arena
                    .distances(bodies, given, &DistanceOptions { margin: 0.0 })
                    .map_err(text)?
                    .wait()
                    .map_err(text)?;
                by.distances(&some, &distance_rows(&found), &truths()).passed()
            }
            Self::Contacts => {
                let found = arena
                    .contacts(bodies, given, &ContactOptions { margin: 0.0 })
                    .map_err(text)?
                    .wait()
                    .map_err(text)?;
                by.contacts(&some, &contact_rows(&found), &truths()).passed()
            }
            Self::Sweeps => {
                let found = arena
                    .sweeps(
                        bodies,
                        motions,
                        given,
                        &SweepOptions { duration: DURATION, ..Default::default() },
                    )
                    .map_err(text)?;
                sweeps::judge(scene, motions, &found.wait().map_err(text)?.rows, judged).map(drop)
            }
        }
    }
}

/// Kernel rates on given pairs.
///
/// # Errors
/// What stopped a query; a wrong answer goes into the report.
pub(crate) fn given(options: &Options, report: &mut Report, engines: &[Named]) -> Result<(), String> {
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
    for Named { name, engine } in engines.iter().skip(1) {
        for (vertex_count, pair_count) in [(50, 1_000), (32, 100_000), (32, 1_000_000), (512, 50_000)] {
            let is_slow = options.quick || *name != "gpu";
            if is_slow && pair_count > if options.quick { 1_000 } else { 100_000 } {
                continue;
            }
            let repetitions = if is_slow { 3 } else { 15 };
            let mut random = Random::new(SEED);
            let mut scene = Scene::of_hulls(&spheres(&mut random, 32, vertex_count))?;
            let reach = scene.reach_of_share(&mut random, 0.3)?;
            scene.crowd(&mut random, (pair_count / 10).clamp(50, 20_000), pair_count, reach);
            let arena =
                Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(text)?;
            let bodies = scene.library_bodies();
            let motions = sweeps::motions_of(&scene);
            for query in [Query::Intersections, Query::Distances, Query::Contacts, Query::Sweeps] {
                eprintln!(
                    "kernels: {}, {pair_count} pairs of {vertex_count} vertices on {name}",
                    query.name()
                );
                let judged = if vertex_count > 100 { JUDGED / 5 } else { JUDGED };
                if let Err(failure) = query.judge(&arena, &scene, &bodies, &motions, judged) {
                    report.fail(format!("kernels, {} of {vertex_count} vertices: {failure}", query.name()));
                }
                let (mut kernels, mut total) = (Samples::default(), Samples::default());
                let mut stats = Stats::default();
                for _ in 0..repetitions {
                    let (ms, answer) =
                        time(|| query.ask(&arena, &bodies, &motions, Pairs::Given(&scene.pairs)));
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

/// Crowds from poses in to hits out, from ten thousand bodies to a million: two candidates a body.
///
/// # Errors
/// What stopped a query; engines that do not agree go into the report.
pub(crate) fn crowds(options: &Options, report: &mut Report, engines: &[Named]) -> Result<(), String> {
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
        for Named { name, engine } in engines {
            if *name == "software gpu" && body_count > 100_000 {
                continue;
            }
            eprintln!("crowds: {body_count} bodies on {name}");
            let arena =
                Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(text)?;
            let repetitions = if *name == "gpu" { 15 } else { 5 };
            let (mut broad, mut all, mut kernels) =
                (Samples::default(), Samples::default(), Samples::default());
            let mut counts = (0, 0);
            for turn in 0..=repetitions {
                let (broad_ms, found) =
                    time(|| arena.candidates(&bodies).map_err(text)?.wait().map_err(text));
                let candidate_count = found?.len();
                let (ms, found) = time(|| {
                    arena.intersections(&bodies, Pairs::BroadPhase).map_err(text)?.wait().map_err(text)
                });
                let stats = found?.stats;
                counts = (candidate_count, stats.hit_count);
                // The first makes room.
                if turn > 0 {
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
            let estimate = arena.estimate(body_count, &Pairs::BroadPhase);
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
