//! Times of impact of given pairs of bodies that do not rotate: against parry3d's `cast_shapes`, and on every engine.

use hullfield::Engine;
use hullfield::collide::{Arena, Motion, Pairs, Sweep, SweepOptions, SweepOutcome};
use hullfield_oracle::random::Random;
use hullfield_oracle::sweep::{self, Claim, Pair};
use rayon::prelude::*;

use crate::engines::NamedEngine;
use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::peer::Peer;
use crate::report::{Cell, Report, Table};
use crate::scene::{Scene, scene_of};
use crate::timing::{Samples, interleave, time};

/// The duration of a sweep, in seconds.
pub(crate) const DURATION: f32 = 1.0;
/// Pairs that the oracle checks in each scene.
const CHECKED_PAIRS: usize = 1_000;

/// Times the CPU engine on one thread against the peer.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn against_peer(options: &Options, report: &mut Report) -> Result<(), String> {
    let pair_count = if options.quick { options.pairs.min(3_000) } else { options.pairs };
    let repetitions = if options.quick { 3 } else { 7 };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(message)?;
    let engine = Engine::cpu();
    let mut table = Table::new(
        "sweeps",
        format!(
            "Sweeps of given pairs without turning, one thread each, {repetitions} interleaved repetitions"
        ),
        &[
            "hulls",
            "pairs",
            "touching",
            "hit",
            "hullfield ns",
            "±",
            "parry3d ns",
            "parry3d ±",
            "ratio",
            "settled",
            "judged",
            "differ",
            "parry3d wrong",
        ],
    );
    for kind in ["8", "32", "128", "512", "corpus"] {
        eprintln!("sweeps: {kind}");
        let scene = scene_of(kind, pair_count, report)?;
        let motions = motions_of(&scene);
        let velocities: Vec<[f32; 3]> = motions.iter().map(|motion| motion.velocity).collect();
        let peer = Peer::new(&scene.sets, &scene.bodies);
        let bodies = scene.library_bodies();
        let arena =
            Arena::new(&engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
        let query = || {
            let pending = arena.sweeps(
                &bodies,
                &motions,
                Pairs::Given(&scene.pairs),
                &SweepOptions { duration: DURATION, ..Default::default() },
            );
            pending.map_err(message)?.wait().map_err(message)
        };
        let found = one.install(query)?;
        let mut theirs = Vec::with_capacity(scene.pairs.len());
        peer.casts(&scene.pairs, &velocities, DURATION, &mut theirs)?;
        let checked_count = if kind == "512" { CHECKED_PAIRS / 20 } else { CHECKED_PAIRS };
        let checked = match check_rows(&scene, &motions, &found.rows, checked_count) {
            Ok(checked) => checked,
            Err(error) => {
                report.fail(format!("sweeps, {kind}: {error}"));
                0
            }
        };
        let differing: Vec<usize> = (0..found.rows.len())
            .filter(|&k| {
                let row = &found.rows[k];
                let mine = (row.outcome != SweepOutcome::Miss).then_some(row.time);
                match (mine, theirs[k].map(f64::from)) {
                    (None, None) => false,
                    (Some(mine), Some(other)) => (mine - other).abs() > 1e-4,
                    _ => true,
                }
            })
            .take(checked_count / 2)
            .collect();
        let wrong: usize = differing
            .par_iter()
            .map(|&k| {
                let row = &found.rows[k];
                let normal = row.normal.unwrap_or([1.0, 0.0, 0.0]);
                let other = match theirs[k] {
                    None => Claim::Miss,
                    Some(time) if time > 0.0 => Claim::Hit(f64::from(time), normal),
                    Some(_) => Claim::Touching(normal),
                };
                usize::from(check(&scene, &motions, row, other).is_err())
            })
            .sum();
        let [mine, other] = interleave(
            repetitions,
            || one.install(query).map(drop),
            || peer.casts(&scene.pairs, &velocities, DURATION, &mut theirs),
        )?;
        let ns = |samples: &Samples| samples.median() * 1e6 / scene.pairs.len() as f64;
        let share = |outcome: SweepOutcome| {
            let count = found.rows.iter().filter(|row| row.outcome == outcome).count();
            Cell::Share(count as f64 / found.rows.len() as f64, 0)
        };
        table.row([
            kind.into(),
            scene.pairs.len().into(),
            share(SweepOutcome::Touching),
            share(SweepOutcome::Hit),
            Cell::Number(ns(&mine), 0),
            Cell::Share(mine.spread(), 0),
            Cell::Number(ns(&other), 0),
            Cell::Share(other.spread(), 0),
            Cell::Number(mine.ratio(&other), 3),
            found.stats.settled_count.into(),
            checked.into(),
            differing.len().into(),
            wrong.into(),
        ]);
    }
    table.note("judged: answers held to the sweep oracle, without a fault; differ: another outcome than parry3d's, or a time that differs by more than 1e-4 s, half as many as are judged at most; parry3d wrong: of those, by the oracle's tolerance.");
    report.table(table);
    Ok(())
}

/// Times every engine on the same pairs with all cores: the kernels alone, and from bodies to rows.
///
/// # Errors
/// A query that fails. A wrong answer goes into the report.
pub(crate) fn on_engines(
    options: &Options,
    report: &mut Report,
    engines: &[NamedEngine],
) -> Result<(), String> {
    let pair_count = options.pairs.min(if options.quick { 1_000 } else { 100_000 });
    let repetitions = if options.quick { 3 } else { 7 };
    let mut table = Table::new(
        "sweeps engines",
        format!(
            "Sweeps of given pairs without turning on every engine, all cores, {repetitions} repetitions"
        ),
        &["engine", "hulls", "pairs", "kernels ms", "±", "end to end ms", "±", "settled", "judged"],
    );
    for kind in ["8", "32", "128", "corpus"] {
        let scene = scene_of(kind, pair_count, report)?;
        let motions = motions_of(&scene);
        let bodies = scene.library_bodies();
        for NamedEngine { name, engine } in engines {
            eprintln!("sweeps: {kind} on {name}");
            let arena =
                Arena::new(engine, &scene.hulls, hullfield::collide::Options::default()).map_err(message)?;
            let query = || {
                let pending = arena.sweeps(
                    &bodies,
                    &motions,
                    Pairs::Given(&scene.pairs),
                    &SweepOptions { duration: DURATION, ..Default::default() },
                );
                pending.map_err(message)?.wait().map_err(message)
            };
            // The first query allocates buffers and builds pipelines.
            let found = query()?;
            let checked = match check_rows(&scene, &motions, &found.rows, CHECKED_PAIRS) {
                Ok(checked) => checked,
                Err(error) => {
                    report.fail(format!("sweeps on {name}, {kind}: {error}"));
                    0
                }
            };
            let (mut kernels, mut total) = (Samples::default(), Samples::default());
            for _ in 0..repetitions {
                let (ms, answer) = time(query);
                kernels.push(answer?.stats.times.kernels_ms);
                total.push(ms);
            }
            table.row([
                (*name).into(),
                kind.into(),
                scene.pairs.len().into(),
                Cell::Number(kernels.median(), 2),
                Cell::Share(kernels.spread(), 0),
                Cell::Number(total.median(), 2),
                Cell::Share(total.spread(), 0),
                found.stats.settled_count.into(),
                checked.into(),
            ]);
        }
    }
    table.note("judged: answers held to the sweep oracle, without a fault; settled: pairs that went to f64.");
    report.table(table);
    Ok(())
}

/// Random motions of up to a bounding diameter.
pub(crate) fn motions_of(scene: &Scene) -> Vec<Motion> {
    let mut random = Random::new(SEED);
    let motion = |body: &hullfield_oracle::Placed| {
        let distance = 2.0 * scene.shapes[body.hull as usize].radius([1.0; 3]) * random.unit();
        Motion { velocity: (random.direction() * distance).as_vec3().to_array(), ..Motion::default() }
    };
    scene.bodies.iter().map(motion).collect()
}

/// Checks about `count` of the rows against the oracle. Returns the number checked, or a message about the wrong ones.
pub(crate) fn check_rows(
    scene: &Scene,
    motions: &[Motion],
    rows: &[Sweep],
    count: usize,
) -> Result<usize, String> {
    let checked: Vec<&Sweep> = rows.iter().step_by((rows.len() / count).max(1)).collect();
    let errors: Vec<String> =
        checked.par_iter().filter_map(|row| check(scene, motions, row, claim(row)).err()).collect();
    match errors.first() {
        Some(error) => Err(format!("{} of {} wrong, first {error}", errors.len(), checked.len())),
        None => Ok(checked.len()),
    }
}

fn claim(row: &Sweep) -> Claim {
    match (row.outcome, row.normal) {
        (SweepOutcome::Hit, Some(normal)) => Claim::Hit(row.time, normal),
        (SweepOutcome::Touching, Some(normal)) => Claim::Touching(normal),
        (SweepOutcome::Miss, _) => Claim::Miss,
        _ => Claim::Hit(f64::NAN, [0.0; 3]),
    }
}

fn check(scene: &Scene, motions: &[Motion], row: &Sweep, claim: Claim) -> Result<bool, String> {
    let [a, b] = [row.a, row.b].map(|body| &scene.bodies[body as usize]);
    let motion = |body: u32| sweep::Motion { velocity: motions[body as usize].velocity, spin: [0.0; 3] };
    let pair = Pair {
        shapes: [&scene.shapes[a.hull as usize], &scene.shapes[b.hull as usize]],
        poses: [a.pose, b.pose],
        motions: [motion(row.a), motion(row.b)],
    };
    pair.check(f64::from(DURATION), claim, false).map_err(|error| format!("{row:?}: {error}"))
}
