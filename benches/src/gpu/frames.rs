//! Frames of growing crowds, and given pairs in growing numbers: where the time goes.

use hullfield::Engine;
use hullfield::collide::{Arena, Pairs, Stats, Times};

use crate::collide::Crowd;
use crate::error::Trouble;
use crate::gpu::kit::Kit;
use crate::kernels::{Query, given_pairs};
use crate::report::{Cell, Table};
use crate::scene::Scene;
use crate::sweeps::motions_of;
use crate::timing::{Samples, time};
use crate::verdicts::{compare_hits, intersections};

/// The milliseconds of upload, kernels, readback and settling.
fn stages(times: &Times) -> [f64; 4] {
    [times.upload_ms, times.kernels_ms, times.readback_ms, times.settle_ms]
}

/// The medians of repeated queries.
struct Timed {
    stats: Stats,
    /// Upload, kernels, readback, settling.
    stages: [Samples; 4],
    whole: Samples,
}

impl Timed {
    /// Repeats a query, after two times that are not counted: they build pipelines and make buffers.
    fn of(
        repetitions: usize,
        mut run: impl FnMut(usize) -> Result<(f64, Stats), Trouble>,
    ) -> Result<Self, Trouble> {
        const UNCOUNTED: usize = 2;
        let mut timed =
            Self { stats: Stats::default(), stages: [const { Samples::new() }; 4], whole: Samples::new() };
        for repetition in 0..UNCOUNTED + repetitions {
            let (ms, stats) = run(repetition)?;
            timed.stats = stats;
            if repetition < UNCOUNTED {
                continue;
            }
            timed.whole.push(ms);
            for (samples, ms) in timed.stages.iter_mut().zip(stages(&stats.times)) {
                samples.push(ms);
            }
        }
        Ok(timed)
    }

    fn cells(&self) -> impl Iterator<Item = Cell> {
        let [upload, kernels, readback, settle] =
            self.stages.each_ref().map(|samples| Cell::Number(samples.median(), 3));
        let whole = [Cell::Number(self.whole.median(), 3), Cell::Share(self.whole.spread(), 0)];
        [upload, kernels, readback, settle].into_iter().chain(whole)
    }
}

/// Frames of crowds with about ten candidates a body.
///
/// # Errors
/// None: errors go into the report.
pub(crate) fn frames(kit: &mut Kit) -> Result<(), Trouble> {
    let (sizes, repetitions): (&[usize], usize) =
        if kit.is_reduced { (&[300, 1_000, 3_000], 3) } else { (&[1_000, 10_000, 100_000, 1_000_000], 9) };
    let mut table = Table::new(
        "frames",
        format!(
            "Frames, broad phase inside, bodies in to rows out, each frame with other poses; medians of {repetitions}"
        ),
        &[
            "bodies",
            "query",
            "candidates",
            "rows",
            "settled",
            "upload ms",
            "kernels ms",
            "readback ms",
            "settle ms",
            "end to end ms",
            "±",
            "M candidates a second",
            "device bytes a body",
            "cpu engine ms",
            "differ from cpu",
        ],
    );
    for &body_count in sizes {
        let what = format!("a crowd of {body_count} bodies");
        let Some(mut crowd) = kit.job("crowd", &what, body_count as f64, |_| Ok(Crowd::new(body_count)?))
        else {
            for query in [Query::Intersections, Query::Distances, Query::Contacts] {
                kit.skip(&format!("{}, {body_count} bodies", query.name()), "its crowd was not made");
            }
            continue;
        };
        for query in [Query::Intersections, Query::Distances, Query::Contacts] {
            let what = format!("{}, {body_count} bodies", query.name());
            let found = kit.job(query.name(), &what, body_count as f64, |engine| {
                frame(engine, &mut crowd, query, repetitions)
            });
            let Some(FrameRow { timed, body_bytes, cpu_ms, differing_count, wrong }) = found else {
                continue;
            };
            let candidates = timed.stats.candidate_count;
            let mut cells: Vec<Cell> = vec![
                body_count.into(),
                query.name().into(),
                candidates.into(),
                timed.stats.hit_count.into(),
                timed.stats.settled_count.into(),
            ];
            cells.extend(timed.cells());
            cells.extend([
                Cell::Number(candidates as f64 / timed.whole.median() / 1e3, 2),
                Cell::Number(body_bytes, 0),
                Cell::Number(cpu_ms, 3),
                differing_count.map_or(Cell::Empty, Cell::from),
            ]);
            table.row(cells);
            if let Some(wrong) = wrong {
                kit.fail(format!("{what}: {wrong}"));
            }
        }
    }
    table.note("upload: checking, laying out, handing over; kernels: by the device's clock, or from submission to completion without timestamps; settle: f64 on the CPU; cpu engine: end to end on all threads, the shorter of two runs.");
    table.note("differ from cpu: hits of the last frame that the CPU engine does not have or has with another status, all within τ.");
    kit.table(table);
    Ok(())
}

/// A query over the frames of a crowd.
struct FrameRow {
    timed: Timed,
    /// Device memory that grows with the bodies.
    body_bytes: f64,
    cpu_ms: f64,
    /// Of yes or no: the hits of the last frame that differ from the CPU engine's.
    differing_count: Option<usize>,
    /// What the library does not allow.
    wrong: Option<String>,
}

fn frame(engine: &Engine, crowd: &mut Crowd, query: Query, repetitions: usize) -> Result<FrameRow, Trouble> {
    let arena = Arena::new(engine, &crowd.scene.hulls, Default::default())?;
    let timed = Timed::of(repetitions, |repetition| {
        crowd.move_to_frame(repetition);
        let bodies = crowd.scene.library_bodies();
        let (ms, stats) = time(|| query.run(&arena, &bodies, &[], Pairs::BroadPhase));
        Ok((ms, stats?))
    })?;
    let bodies = crowd.scene.library_bodies();
    let estimate = arena.estimate(query.kind(), bodies.len(), &Pairs::BroadPhase);
    let body_bytes = estimate.body_bytes as f64 / bodies.len() as f64;
    let on_cpu = Arena::new(&Engine::cpu(), &crowd.scene.hulls, Default::default())?;
    let cpu_ms = cpu_ms(|| query.run(&on_cpu, &bodies, &[], Pairs::BroadPhase))?;
    if query != Query::Intersections {
        return Ok(FrameRow { timed, body_bytes, cpu_ms, differing_count: None, wrong: None });
    }
    let ours = intersections(&arena, &bodies, Pairs::BroadPhase)?;
    let theirs = intersections(&on_cpu, &bodies, Pairs::BroadPhase)?;
    let compared = compare_hits(&crowd.scene, &theirs.rows, &ours.rows);
    let candidates = [ours.stats.candidate_count, theirs.stats.candidate_count];
    let wrong = if candidates[0] == candidates[1] {
        compared.passed().err()
    } else {
        Some(format!("{} candidates, {} on the CPU engine", candidates[0], candidates[1]))
    };
    let differing_count = Some(compared.failures.len());
    Ok(FrameRow { timed, body_bytes, cpu_ms, differing_count, wrong })
}

/// The shorter of two runs on the CPU engine, all threads.
fn cpu_ms(mut run: impl FnMut() -> Result<Stats, Trouble>) -> Result<f64, Trouble> {
    let mut samples = Samples::new();
    for _ in 0..2 {
        let (ms, done) = time(&mut run);
        done?;
        samples.push(ms);
    }
    Ok(samples.best())
}

/// Given pairs in growing numbers: until the device is full, the time hardly grows.
///
/// # Errors
/// None: errors go into the report.
pub(crate) fn given(kit: &mut Kit) -> Result<(), Trouble> {
    let (sizes, repetitions): (&[usize], usize) = if kit.is_reduced {
        (&[300, 3_000, 10_000], 3)
    } else {
        (&[10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000], 7)
    };
    let mut table = Table::new(
        "given",
        format!("Given pairs of hulls of 32 vertices, about 30 % overlapping; medians of {repetitions}"),
        &[
            "pairs",
            "query",
            "settled",
            "upload ms",
            "kernels ms",
            "readback ms",
            "settle ms",
            "end to end ms",
            "±",
            "kernels M pairs a second",
            "M pairs a second",
            "cpu engine ms",
            "judged",
        ],
    );
    let mut rates = QUERIES.map(|query| (query, Vec::new()));
    for &pair_count in sizes {
        let what = format!("a scene of {pair_count} pairs");
        let Some(scene) = kit.job("scene", &what, pair_count as f64, |_| Ok(given_pairs(32, pair_count)?))
        else {
            for query in QUERIES {
                kit.skip(&format!("{}, {pair_count} pairs", query.name()), "its scene was not made");
            }
            continue;
        };
        for query in QUERIES {
            let what = format!("{}, {pair_count} pairs", query.name());
            let found = kit.job(query.name(), &what, pair_count as f64, |engine| {
                given_row(engine, &scene, query, repetitions)
            });
            let Some((timed, cpu_ms, judged)) = found else { continue };
            let [_, kernels, ..] = &timed.stages;
            if let Some((_, rates)) = rates.iter_mut().find(|(of, _)| *of == query) {
                rates.push((scene.pairs.len(), scene.pairs.len() as f64 / kernels.median()));
            }
            let rate = |samples: &Samples| Cell::Number(scene.pairs.len() as f64 / samples.median() / 1e3, 2);
            let mut cells: Vec<Cell> =
                vec![scene.pairs.len().into(), query.name().into(), timed.stats.settled_count.into()];
            cells.extend(timed.cells());
            cells.extend([rate(kernels), rate(&timed.whole), Cell::Number(cpu_ms, 3)]);
            match judged {
                Ok(judged) => cells.push(judged.into()),
                Err(wrong) => {
                    cells.push("wrong".into());
                    kit.fail(format!("{what}: {wrong}"));
                }
            }
            table.row(cells);
        }
    }
    for (query, rates) in rates {
        if let Some(note) = saturation(&rates) {
            table.note(format!("{}: {note}", query.name()));
        }
    }
    table.note("cpu engine: end to end on all threads, the shorter of two runs; judged: answers that the f64 oracle found right.");
    kit.table(table);
    Ok(())
}

const QUERIES: [Query; 4] = [Query::Intersections, Query::Distances, Query::Contacts, Query::Sweeps];

/// From how many pairs on the kernels run at nearly their best rate. `rates` has sizes and rates.
fn saturation(rates: &[(usize, f64)]) -> Option<String> {
    let best = rates.iter().map(|&(_, rate)| rate).fold(f64::NAN, f64::max);
    let &(largest, _) = rates.last()?;
    let &(full, _) = rates.iter().find(|&&(_, rate)| rate >= 0.95 * best)?;
    Some(if full == largest {
        format!("the device was not seen to be full: the rate still grows at {largest} pairs")
    } else {
        format!("the device is full from {full} pairs on, where the kernels have 95 % of their best rate")
    })
}

/// Pairs of each size that the oracle judges.
const JUDGED: usize = 100;

fn given_row(
    engine: &Engine,
    scene: &Scene,
    query: Query,
    repetitions: usize,
) -> Result<(Timed, f64, Result<usize, String>), Trouble> {
    let arena = Arena::new(engine, &scene.hulls, Default::default())?;
    let (bodies, motions) = (scene.library_bodies(), motions_of(scene));
    // All yes-or-no verdicts would be judged: of many pairs a part is.
    let mut some = scene.clone();
    some.pairs = scene.pairs.iter().copied().step_by((scene.pairs.len() / JUDGED).max(1)).collect();
    let judged = query.check(&arena, &some, &bodies, &motions, JUDGED).map(|()| some.pairs.len());
    drop(some);
    let timed = Timed::of(repetitions, |_| {
        let (ms, stats) = time(|| query.run(&arena, &bodies, &motions, Pairs::Given(&scene.pairs)));
        Ok((ms, stats?))
    })?;
    let on_cpu = Arena::new(&Engine::cpu(), &scene.hulls, Default::default())?;
    let cpu_ms = cpu_ms(|| query.run(&on_cpu, &bodies, &motions, Pairs::Given(&scene.pairs)))?;
    Ok((timed, cpu_ms, judged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_device_is_told_from_one_that_is_not() {
        let full = saturation(&[(10, 1.0), (100, 5.0), (1000, 9.8), (10_000, 10.0)]).unwrap();
        assert!(full.contains("full from 1000 pairs"), "{full}");
        let growing = saturation(&[(10, 1.0), (100, 5.0)]).unwrap();
        assert!(growing.contains("still grows at 100 pairs"), "{growing}");
        assert_eq!(saturation(&[]), None);
    }
}
