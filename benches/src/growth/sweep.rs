//! A sweep of sizes: contenders do the same work at growing sizes, until a size would take too long or too much memory.
//!
//! At each size the answers come first: those of the first contender are checked by an oracle, those of all others against them. A contender
//! whose answer is wrong gets no time there.

use std::hint::black_box;
use std::time::Instant;

use crate::budget::seconds;
use crate::error::Trouble;
use crate::memory::AllocationCounter;
use crate::timing::{Samples, time};

/// The most timed repetitions of a contender at a size.
const MOST_REPETITIONS: usize = 11;

/// A sample is of at least so many milliseconds, so that the clock's step does not matter.
const LEAST_SAMPLE_MS: f64 = 0.2;

/// The share of the free memory that a size may take.
const MEMORY_SHARE: f64 = 0.6;

/// Answers a case.
type Run<'a, C, A> = Box<dyn Fn(&C) -> Result<A, Trouble> + 'a>;

/// Who gave the answer that is compared. hullfield must answer the same on every engine. A peer may differ in a few rows, as it computes in f32 or
/// approximates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author<'n> {
    Hullfield,
    Peer(&'n str),
}

/// Checks an answer, the last, against one that is verified.
pub(crate) type Compare<'a, C, A> = dyn Fn(Author<'_>, &C, &A, &A) -> Result<(), String> + 'a;

/// Something that answers a case of type `C`: hullfield on an engine, or a peer.
pub(crate) struct Contender<'a, C, A> {
    pub(crate) name: String,
    pub(crate) is_peer: bool,
    pub(crate) run: Run<'a, C, A>,
    /// The milliseconds of the last run, where it has a clock of its own.
    pub(crate) clock: Option<Box<dyn Fn() -> f64 + 'a>>,
}

impl<'a, C, A> Contender<'a, C, A> {
    /// hullfield on an engine, with a number of threads.
    pub(crate) fn ours<E: Into<Trouble>>(
        name: impl Into<String>,
        run: impl Fn(&C) -> Result<A, E> + 'a,
    ) -> Self {
        let run = move |case: &C| run(case).map_err(Into::into);
        Self { name: name.into(), is_peer: false, run: Box::new(run), clock: None }
    }

    /// A peer.
    pub(crate) fn peer(name: impl Into<String>, run: impl Fn(&C) -> Result<A, String> + 'a) -> Self {
        let run = move |case: &C| run(case).map_err(Trouble::Failed);
        Self { name: name.into(), is_peer: true, run: Box::new(run), clock: None }
    }

    fn author(&self) -> Author<'_> {
        if self.is_peer { Author::Peer(&self.name) } else { Author::Hullfield }
    }

    /// A run that is timed, in milliseconds by its own clock if it has one.
    fn timed(&self, case: &C) -> Result<f64, Trouble> {
        let (ms, answer) = time(|| (self.run)(case));
        black_box(answer?);
        Ok(self.clock.as_ref().map_or(ms, |clock| clock()))
    }
}

/// What is swept, and how answers are checked.
pub(crate) struct Plan<'a, C, A> {
    /// The sizes, in growing order.
    pub(crate) sizes: &'a [u64],
    /// Makes the case of a size.
    pub(crate) make: &'a dyn Fn(u64) -> Result<C, Trouble>,
    /// Checks an answer of the first contender by an oracle.
    pub(crate) verify: &'a dyn Fn(&C, &A) -> Result<(), String>,
    /// Checks another answer against one that is verified.
    pub(crate) compare: &'a Compare<'a, C, A>,
}

/// What a contender took at a size.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) size: u64,
    /// Milliseconds of a run.
    pub(crate) samples: Samples,
    pub(crate) repetitions: usize,
    /// The most bytes that a run has allocated at a time, its answer too.
    pub(crate) peak_bytes: u64,
}

/// The points of a contender, and why they end.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) is_peer: bool,
    pub(crate) points: Vec<Point>,
    pub(crate) end: String,
}

/// The series of a sweep, and the sentences of answers of hullfield that were wrong.
pub(crate) type Swept = (Vec<Series>, Vec<String>);

/// The clock and the memory that a sweep goes by. Tests have their own.
pub(crate) struct Bounds<'a> {
    /// Seconds since the start of the run.
    pub(crate) now_s: &'a dyn Fn() -> f64,
    /// When the sweep must end.
    pub(crate) end_s: f64,
    /// Bytes of memory that are free now; none where the system does not say.
    pub(crate) free_bytes: &'a dyn Fn() -> Option<u64>,
}

/// Runs a sweep. A case that cannot be made ends it, and the points of smaller sizes stay.
pub(crate) fn sweep<C, A>(
    plan: &Plan<'_, C, A>,
    contenders: &[Contender<'_, C, A>],
    bounds: &Bounds<'_>,
) -> Swept {
    let mut all: Vec<Series> = contenders
        .iter()
        .map(|contender| Series {
            name: contender.name.clone(),
            is_peer: contender.is_peer,
            points: Vec::new(),
            end: String::new(),
        })
        .collect();
    let mut failures = Vec::new();
    // Bytes of the last case, and of the most that a contender took for it.
    let mut last_bytes = None;
    for &size in plan.sizes {
        admit(&mut all, size, bounds);
        if let (Some((before, bytes)), Some(free)) = (last_bytes, (bounds.free_bytes)()) {
            let needed = bytes as f64 * size as f64 / before as f64;
            if needed > MEMORY_SHARE * free as f64 {
                let why = format!(
                    "{size} would take about {}, {} are free",
                    bytes_text(needed as u64),
                    bytes_text(free)
                );
                end_all(&mut all, &why);
            }
        }
        if all.iter().all(|series| series.is_peer || !series.end.is_empty()) {
            end_all(&mut all, "hullfield ends here");
            break;
        }
        let (case, case_bytes) = {
            let counter = AllocationCounter::start();
            let case = (plan.make)(size);
            (case, counter.peak_bytes())
        };
        let case = match case {
            Ok(case) => case,
            Err(trouble) => {
                if !matches!(trouble, Trouble::TooLarge(_)) {
                    failures.push(format!("the case of {size}: {trouble}"));
                }
                end_all(&mut all, &format!("{size} cannot be made: {trouble}"));
                break;
            }
        };
        let most = answer_all(plan, contenders, &mut all, &case, size, bounds, &mut failures);
        last_bytes = Some((size, case_bytes + most));
    }
    end_all(&mut all, "the largest size");
    (all, failures)
}

/// Ends the series that go on.
fn end_all(all: &mut [Series], why: &str) {
    for series in all.iter_mut().filter(|series| series.end.is_empty()) {
        why.clone_into(&mut series.end);
    }
}

/// Ends the series whose next size would take too long.
fn admit(all: &mut [Series], size: u64, bounds: &Bounds<'_>) {
    let left_s = (bounds.end_s - (bounds.now_s)()).max(0.0);
    let active = all.iter().filter(|series| series.end.is_empty()).count().max(1);
    for series in all.iter_mut().filter(|series| series.end.is_empty()) {
        let Some(ms) = predict(&series.points, size) else {
            // Of the first size nothing is known.
            if left_s <= 0.0 {
                series.end = "no time was left".into();
            }
            continue;
        };
        // A run that is checked, and one that is timed.
        let needed_s = 2e-3 * ms;
        // What others do not take is left for this one.
        let allowed_s = left_s * if active == 1 { 1.0 } else { 1.5 / active as f64 };
        if left_s <= 0.0 {
            series.end = "no time was left".into();
        } else if needed_s > allowed_s {
            series.end = format!(
                "two runs of {size} would take about {}, {} were left",
                seconds(needed_s),
                seconds(allowed_s)
            );
        }
    }
}

/// The milliseconds of a run at a size: in proportion to a power of the size, by the last two points.
fn predict(points: &[Point], size: u64) -> Option<f64> {
    let last = points.last()?;
    let ms = last.samples.median();
    let exponent = match points {
        [.., before, last] => {
            let growth = (ms / before.samples.median()).ln() / (last.size as f64 / before.size as f64).ln();
            if growth.is_finite() { growth.clamp(0.5, 3.0) } else { 1.0 }
        }
        _ => 1.0,
    };
    Some(ms * (size as f64 / last.size as f64).powf(exponent))
}

/// Checks and times all contenders whose series go on. Returns the most bytes that one of them took.
fn answer_all<C, A>(
    plan: &Plan<'_, C, A>,
    contenders: &[Contender<'_, C, A>],
    all: &mut [Series],
    case: &C,
    size: u64,
    bounds: &Bounds<'_>,
    failures: &mut Vec<String>,
) -> u64 {
    // A wrong answer of a peer ends the peer's series, one of hullfield fails the run. A size that is too large only ends a series.
    let mut end = |series: &mut Series, trouble: Trouble| {
        if !series.is_peer && !matches!(trouble, Trouble::TooLarge(_)) {
            failures.push(format!("{} at {size}: {trouble}", series.name));
        }
        series.end = format!("at {size}: {trouble}");
    };
    let mut reference: Option<A> = None;
    // The index, the milliseconds of the first run, and its peak.
    let mut right: Vec<(usize, f64, u64)> = Vec::new();
    for (index, contender) in contenders.iter().enumerate() {
        if !all[index].end.is_empty() {
            continue;
        }
        let counter = AllocationCounter::start();
        let (ms, answer) = time(|| (contender.run)(case));
        let peak = counter.peak_bytes();
        drop(counter);
        let ms = contender.clock.as_ref().map_or(ms, |clock| clock());
        let checked = answer.and_then(|answer| {
            match &reference {
                Some(reference) => (plan.compare)(contender.author(), case, reference, &answer)?,
                None => (plan.verify)(case, &answer)?,
            }
            if reference.is_none() {
                reference = Some(answer);
            }
            // The first run of all builds what later ones have: pipelines, pages of memory.
            if all[index].points.is_empty() { Ok(contender.timed(case)?.min(ms)) } else { Ok(ms) }
        });
        match checked {
            Ok(ms) => right.push((index, ms, peak)),
            Err(trouble) => end(&mut all[index], trouble),
        }
    }
    drop(reference);
    let left_s = (bounds.end_s - (bounds.now_s)()).max(0.0);
    // The larger sizes need most of the time.
    let each_ms = 0.25e3 * left_s / right.len().max(1) as f64;
    let counts: Vec<(usize, usize)> = right
        .iter()
        .map(|&(_, ms, _)| {
            let inner = (LEAST_SAMPLE_MS / ms.max(1e-6)).ceil().clamp(1.0, 1000.0);
            let outer = (each_ms / (ms * inner)).floor().clamp(1.0, MOST_REPETITIONS as f64);
            (outer as usize, inner as usize)
        })
        .collect();
    let mut samples = vec![Samples::new(); right.len()];
    for repetition in 0..counts.iter().map(|&(outer, _)| outer).max().unwrap_or(0) {
        for ((&(index, ..), &(outer, inner)), samples) in right.iter().zip(&counts).zip(&mut samples) {
            if repetition < outer && all[index].end.is_empty() {
                match sample(&contenders[index], case, inner) {
                    Ok(ms) => samples.push(ms),
                    Err(trouble) => end(&mut all[index], trouble),
                }
            }
        }
    }
    for ((&(index, _, peak_bytes), &(repetitions, _)), samples) in right.iter().zip(&counts).zip(samples) {
        // One that failed in a later run has no time.
        if all[index].end.is_empty() {
            all[index].points.push(Point { size, samples, repetitions, peak_bytes });
        }
    }
    right.iter().map(|&(.., peak)| peak).max().unwrap_or(0)
}

/// Checks the number of an answer's rows.
///
/// # Errors
/// Both numbers.
pub(crate) fn same_length(wanted: usize, found: usize) -> Result<(), String> {
    if wanted == found { Ok(()) } else { Err(format!("{found} rows, not {wanted}")) }
}

/// Checks that an answer has the rows of the one that was checked.
///
/// # Errors
/// How many rows differ.
pub(crate) fn same_rows<T: PartialEq>(wanted: &[T], found: &[T]) -> Result<(), String> {
    same_length(wanted.len(), found.len())?;
    match wanted.iter().zip(found).filter(|(wanted, found)| wanted != found).count() {
        0 => Ok(()),
        count => Err(format!("{count} of {} rows differ", wanted.len())),
    }
}

/// The mean milliseconds of a run, over so many runs.
fn sample<C, A>(contender: &Contender<'_, C, A>, case: &C, run_count: usize) -> Result<f64, Trouble> {
    let (start, mut clocked) = (Instant::now(), 0.0);
    for _ in 0..run_count {
        black_box((contender.run)(case)?);
        clocked += contender.clock.as_ref().map_or(0.0, |clock| clock());
    }
    let ms = if contender.clock.is_some() { clocked } else { start.elapsed().as_secs_f64() * 1e3 };
    Ok(ms / run_count as f64)
}

/// A number of bytes for people.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{value:.0} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} GB")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const SIZES: [u64; 4] = [10, 100, 1000, 10_000];

    /// A sweep on a clock that each run moves by `run_s(contender, size)`.
    fn swept(
        end_s: f64,
        free: Option<u64>,
        run_s: impl Fn(usize, u64) -> f64,
        answer: impl Fn(usize, u64) -> u64,
    ) -> (Vec<Series>, Vec<String>) {
        let now = Cell::new(0.0);
        let run = |who: usize| {
            let (now, run_s, answer) = (&now, &run_s, &answer);
            move |size: &u64| {
                now.set(now.get() + run_s(who, *size));
                Ok::<_, String>(answer(who, *size))
            }
        };
        let plan = Plan {
            sizes: &SIZES,
            make: &|size| Ok(size),
            verify: &|case, answer| if case == answer { Ok(()) } else { Err("not the size".into()) },
            compare: &|_, _, one, other| if one == other { Ok(()) } else { Err("another answer".into()) },
        };
        let contenders = [
            Contender::ours("cpu", run(0)),
            Contender::ours("two threads", run(1)),
            Contender::peer("peer", run(2)),
        ];
        let bounds = Bounds { now_s: &|| now.get(), end_s, free_bytes: &|| free };
        sweep(&plan, &contenders, &bounds)
    }

    /// A sweep of two contenders of hullfield, the second of which fails at its run of that number.
    fn failing_at(run_number: u32, trouble: &Trouble) -> Swept {
        let runs = Cell::new(0);
        let contenders = [
            Contender::ours("cpu", |&size: &u64| Ok::<_, Trouble>(size)),
            Contender::ours("gpu", |&size: &u64| {
                runs.set(runs.get() + 1);
                if runs.get() == run_number { Err(trouble.clone()) } else { Ok(size) }
            }),
        ];
        let plan = Plan {
            sizes: &SIZES[..2],
            make: &|size| Ok(size),
            verify: &|_, _| Ok(()),
            compare: &|author, _, _, _| {
                if author == Author::Hullfield { Ok(()) } else { Err("not a peer".into()) }
            },
        };
        sweep(&plan, &contenders, &Bounds { now_s: &|| 0.0, end_s: 1e9, free_bytes: &|| None })
    }

    #[test]
    fn a_timed_run_that_fails_is_no_sample() {
        // The first run is checked, the second builds, all others are timed.
        for run_number in 1..5 {
            let (all, failures) = failing_at(run_number, &Trouble::Lost("the device was lost".into()));
            assert_eq!(all[1].points.len(), 0, "{run_number}");
            assert_eq!(all[1].end, "at 10: the device was lost");
            assert_eq!(failures, ["gpu at 10: the device was lost"]);
            assert_eq!(all[0].points.len(), 2);
        }
    }

    #[test]
    fn rows_that_differ_are_counted() {
        assert_eq!(same_rows(&[1.0, 2.0], &[1.0, 2.0]), Ok(()));
        assert_eq!(same_rows(&[1.0, f64::NAN], &[1.0, f64::NAN]), Err("1 of 2 rows differ".into()));
        assert_eq!(same_rows(&[1, 2], &[1]), Err("1 rows, not 2".into()));
        assert_eq!(same_rows::<u32>(&[], &[]), Ok(()));
    }

    #[test]
    fn a_size_that_is_too_large_is_no_failure() {
        let (all, failures) = failing_at(1, &Trouble::TooLarge("it needs 3 GB".into()));
        assert_eq!((all[1].end.as_str(), failures.len()), ("at 10: it needs 3 GB", 0));
    }

    #[test]
    fn a_case_that_cannot_be_made_keeps_the_smaller_ones() {
        let made = |trouble: Trouble| {
            let contenders = [Contender::ours("cpu", |&size: &u64| Ok::<_, Trouble>(size))];
            let plan = Plan {
                sizes: &SIZES,
                make: &|size| if size < 1000 { Ok(size) } else { Err(trouble.clone()) },
                verify: &|_, _| Ok(()),
                compare: &|_, _, _, _| Ok(()),
            };
            sweep(&plan, &contenders, &Bounds { now_s: &|| 0.0, end_s: 1e9, free_bytes: &|| None })
        };
        let (all, failures) = made(Trouble::Failed("no".into()));
        assert_eq!((all[0].points.len(), all[0].end.as_str()), (2, "1000 cannot be made: no"));
        assert_eq!(failures, ["the case of 1000: no"]);
        assert!(made(Trouble::TooLarge("no".into())).1.is_empty());
    }

    // Not tested here: sums of real seconds. The counting allocator is of the whole process, so this is one test.
    #[test]
    fn sweeps_end_where_they_must_and_leave_out_what_is_wrong() {
        let (all, failures) = swept(1e9, None, |_, _| 0.0, |_, size| size);
        assert!(failures.is_empty());
        for series in &all {
            assert_eq!(series.points.iter().map(|point| point.size).collect::<Vec<_>>(), SIZES);
            assert_eq!(series.end, "the largest size");
        }

        // A wrong answer of a peer ends the peer only; one of ours that is first ends ours, and the next one is verified.
        let (all, failures) =
            swept(1e9, None, |_, _| 0.0, |who, size| if who == 2 && size > 50 { 7 } else { size });
        assert!(failures.is_empty());
        assert_eq!((all[0].points.len(), all[2].points.len()), (4, 1));
        assert_eq!(all[2].end, "at 100: another answer");
        let (all, failures) =
            swept(1e9, None, |_, _| 0.0, |who, size| if who == 0 && size > 50 { 7 } else { size });
        assert_eq!(failures, ["cpu at 100: not the size"]);
        assert_eq!((all[0].points.len(), all[1].points.len(), all[2].points.len()), (1, 4, 4));

        // Without time nothing runs, and the series say so.
        let (all, _) = swept(0.0, None, |_, _| 1.0, |_, size| size);
        assert!(all.iter().all(|series| series.points.is_empty() && series.end == "no time was left"));

        // Memory: nothing is known of the first size, and then a case of some bytes is too large.
        let (all, _) = swept(1e9, Some(0), |_, _| 0.0, |_, size| size);
        assert!(all[0].points.len() <= 1 || all[0].end == "the largest size", "{all:?}");
    }

    #[test]
    fn the_next_time_follows_the_last_two() {
        let point = |size, ms| {
            let mut samples = Samples::new();
            samples.push(ms);
            Point { size, samples, repetitions: 1, peak_bytes: 0 }
        };
        assert_eq!(predict(&[], 10), None);
        assert_eq!(predict(&[point(10, 2.0)], 100), Some(20.0));
        let squared = predict(&[point(10, 1.0), point(100, 100.0)], 1000).unwrap();
        assert!((squared - 10_000.0).abs() < 1e-6);
        // A time that does not grow yet will.
        let flat = predict(&[point(10, 1.0), point(100, 1.0)], 10_000).unwrap();
        assert!((flat - 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_series_that_would_take_too_long_ends_with_a_sentence() {
        let mut samples = Samples::new();
        samples.push(1000.0);
        let point = Point { size: 100, samples, repetitions: 1, peak_bytes: 0 };
        let series = Series { name: "cpu".into(), is_peer: false, points: vec![point], end: String::new() };
        let mut all = [series];
        let bounds = |end_s| Bounds { now_s: &|| 0.0, end_s, free_bytes: &|| None };
        admit(&mut all, 1000, &bounds(30.0));
        assert_eq!(all[0].end, "");
        admit(&mut all, 1000, &bounds(10.0));
        assert_eq!(all[0].end, "two runs of 1000 would take about 20 s, 10 s were left");
    }

    #[test]
    fn bytes_are_for_people() {
        let texts = [0, 999, 1000, 1_234_567, 2_500_000_000].map(bytes_text);
        assert_eq!(texts, ["0 B", "999 B", "1.0 kB", "1.2 MB", "2.5 GB"]);
    }
}
