//! Accuracy: corpus pairs at five scales on every engine, against the f64 oracle.

use hullfield::Engine;
use hullfield::collide::{Arena, ContactOptions, DistanceOptions, Pairs, Precision};
use hullfield_oracle::compare::{against_truth, between};
use hullfield_oracle::corpus::{self, Source};
use hullfield_oracle::measure::{self, Accuracy, Judge, largest, percentile_99};
use hullfield_oracle::scenes::{self, Near};
use hullfield_oracle::{Verdict, whole_truths};

use crate::engines::engines;
use crate::error::message;
use crate::machine::SEED;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::rows::{bodies, contact_rows, distance_rows};
use crate::scene::Scene;

/// Adds the table: for each scale a row per engine, and one for exact answers.
///
/// # Errors
/// A query or the corpus that fails. A wrong answer goes into the report instead.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let pair_count = if options.quick { options.pairs.min(2_000) } else { options.pairs };
    let engines = engines(report);
    let corpus = corpus::hulls()?;
    report.fact(
        "corpus",
        match corpus.source {
            Source::File(_) => {
                format!("the one that HULLFIELD_CORPUS names, {} point sets", corpus.sets.len())
            }
            Source::StandIns => format!("{} seeded stand-ins, HULLFIELD_CORPUS is unset", corpus.sets.len()),
        },
    );
    eprintln!("accuracy: placing {pair_count} pairs");
    let hulls = Scene::of_hulls(&corpus.sets)?;
    let near = Near { count: pair_count, seed: SEED, ..Near::default() };
    let placed = scenes::near_pairs(&hulls.sets, near);
    let mut table = Table::new(
        "accuracy",
        format!(
            "{pair_count} corpus pairs at each scale, half of them at log-uniform signed gaps from 1e-6 R to R, against f64 and exhaustive separating axes"
        ),
        &[
            "scale",
            "engine",
            "wrong verdicts",
            "wrong answers",
            "differ",
            "distance / τ",
            "p99",
            "depth / R",
            "p99 of it",
            "of S",
            "settled",
        ],
    );
    for scale in scenes::SCALES {
        eprintln!("accuracy: hulls of size {scale:e}, the oracle");
        let scaled = placed.scaled(scale);
        let mut scene = Scene::of_hulls(&scaled.hulls)?;
        scene.bodies = scaled.bodies;
        scene.pairs = scaled.pairs;
        let truths = whole_truths(&scene.shapes, &scene.bodies, &scene.pairs);
        let bodies = bodies(&scene.bodies);
        let mut first: Option<Vec<Verdict>> = None;
        let exact = [("exact", Engine::cpu(), Precision::Exact)];
        let fast = engines.iter().map(|named| (named.name, named.engine.clone(), Precision::Fast));
        for (name, engine, precision) in fast.chain(exact) {
            eprintln!("accuracy: hulls of size {scale:e}, {name}");
            let arena = Arena::new(
                &engine,
                &scene.hulls,
                hullfield::collide::Options { precision, ..Default::default() },
            )
            .map_err(message)?;
            let given = Pairs::Given(&scene.pairs);
            let distances = arena
                .distances(&bodies, given, &DistanceOptions { margin: 0.0 })
                .map_err(message)?
                .wait()
                .map_err(message)?;
            let contacts = arena
                .contacts(&bodies, given, &ContactOptions { margin: 0.0 })
                .map_err(message)?
                .wait()
                .map_err(message)?;
            let judge = Judge {
                shapes: &scene.shapes,
                bodies: &scene.bodies,
                precision: match precision {
                    Precision::Fast => measure::Precision::Fast,
                    Precision::Exact => measure::Precision::Exact,
                },
            };
            let rows = (distance_rows(&distances), contact_rows(&contacts));
            if (rows.0.len(), rows.1.len()) != (scene.pairs.len(), scene.pairs.len()) {
                return Err(format!(
                    "accuracy: {} and {} rows for {} pairs",
                    rows.0.len(),
                    rows.1.len(),
                    scene.pairs.len()
                ));
            }
            let distance_accuracy = judge.distances(&scene.pairs, &rows.0, &truths);
            let contact_accuracy = judge.contacts(&scene.pairs, &rows.1, &truths);
            let verdicts: Vec<Verdict> = rows.1.iter().map(|row| row.verdict).collect();
            let checked = against_truth(&scene.pairs, &verdicts, &truths);
            let distance_verdicts: Vec<Verdict> = rows.0.iter().map(|row| row.verdict).collect();
            let wrong_count = checked.failures.len()
                + against_truth(&scene.pairs, &distance_verdicts, &truths).failures.len();
            let differ = match &first {
                None => Cell::Empty,
                Some(first) => {
                    let compared = between(&scene.pairs, first, &verdicts, |k| truths[k]);
                    if let Err(text) = compared.passed() {
                        report.fail(format!(
                            "accuracy, scale {scale:e}, {name} against {}: {text}",
                            engines[0].name
                        ));
                    }
                    compared.failures.len().into()
                }
            };
            first.get_or_insert(verdicts);
            for (what, accuracy) in [("distances", &distance_accuracy), ("contacts", &contact_accuracy)] {
                if let Err(text) = accuracy.passed() {
                    report.fail(format!("accuracy, scale {scale:e}, {what} on {name}: {text}"));
                }
            }
            let depth = percentile_99(&contact_accuracy.depth_errors);
            if depth > 1e-5 {
                report.fail(format!(
                    "accuracy, scale {scale:e}, {name}: 99 % of the depths are within {depth:e} R only"
                ));
            }
            let settled = distances.stats.settled_count + contacts.stats.settled_count;
            table.row([
                format!("{scale:.0e}").into(),
                name.into(),
                wrong_count.into(),
                (distance_accuracy.failures.len() + contact_accuracy.failures.len()).into(),
                differ,
                Cell::Number(worst(&distance_accuracy, &contact_accuracy, |a| &a.distance_errors), 3),
                Cell::Number(percentile_99(&distance_accuracy.distance_errors), 3),
                Cell::Small(largest(&contact_accuracy.depth_errors)),
                Cell::Small(depth),
                Cell::Small(distance_accuracy.worst_of_sum.max(contact_accuracy.worst_of_sum)),
                Cell::Share(settled as f64 / (2 * scene.pairs.len()) as f64, 2),
            ]);
        }
    }
    table.note("wrong verdicts: beyond τ, of distances and contacts; wrong answers: anything else that breaks its promise as well: a number, a point off its body, an axis or normal that f64 projection refutes.");
    table.note("differ: verdicts that are not the CPU engine's; there must be none.");
    table.note("distance / τ: largest |error| of a distance in tolerances; depth / R: of a depth, in the smaller radius; of S: of either, in the sum of the radii; p99: 99 of 100 are within.");
    table.note("settled: share of the answers that f32 left to f64; exact: Precision::Exact, all of them, promised within 1e-9 S.");
    report.table(table);
    Ok(())
}

fn worst(a: &Accuracy, b: &Accuracy, of: fn(&Accuracy) -> &Vec<f64>) -> f64 {
    largest(of(a)).max(largest(of(b)))
}
