//! Asks an arena, in pieces where the answer is larger than it should be in memory, and writes the rows as they come.

use std::io::IsTerminal;
use std::time::Instant;

use hullfield::Pending;
use hullfield::collide::{Batch, Body, Hull, Pairs, Stats};
use rayon::prelude::*;

use super::rows::{Row, Text};
use crate::failure::{Failure, Result};
use crate::output::Sink;
use crate::progress::{Bar, Spinner};

/// Pairs that are asked about at a time, where they are listed: with their rows some 300 MB at most.
const PIECE: usize = 1 << 20;
/// Rows that are printed as one piece of text.
const PRINTED: usize = 2048;
/// Pieces of text that are held at a time.
const HELD: usize = 64;

/// Which pairs, and how they are gone through.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Plan<'a> {
    /// One query; its rows are in memory at once.
    Whole(Pairs<'static>),
    /// The pairs listed, a piece at a time.
    Given(&'a [[u32; 2]]),
    /// Every pair of bodies that accept one another, a piece at a time: for an answer that lists them all.
    All,
}

impl Plan<'_> {
    /// How pairs that are not listed are gone through.
    pub(super) fn of(hulls: &[Hull], bodies: &[Body], margin: Option<f32>, every: bool) -> Self {
        if margin.is_some_and(|margin| f64::from(margin) >= reach(hulls, bodies)) {
            Self::All
        } else if every {
            Self::Whole(Pairs::Exhaustive)
        } else {
            Self::Whole(Pairs::BroadPhase)
        }
    }
}

/// No two points of the scene are farther apart than this.
fn reach(hulls: &[Hull], bodies: &[Body]) -> f64 {
    let sizes: Vec<f64> = hulls
        .iter()
        .map(|hull| {
            let mean = hull.mean();
            mean.iter().map(|x| x * x).sum::<f64>().sqrt() + hull.radius() + f64::from(hull.rounding())
        })
        .collect();
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for body in bodies {
        let size = sizes.get(body.hull as usize).copied().unwrap_or(f64::INFINITY);
        let scale = body.scale.into_iter().fold(0.0, f32::max);
        let size = size * f64::from(scale) + f64::from(body.padding);
        for axis in 0..3 {
            let x = f64::from(body.position[axis]);
            low[axis] = low[axis].min(x - size);
            high[axis] = high[axis].max(x + size);
        }
    }
    // A little more, for what the sums were rounded by.
    (0..3).map(|axis| (high[axis] - low[axis]).powi(2)).sum::<f64>().sqrt() * (1.0 + 1e-12)
}

/// What was found.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// The names of the verdicts.
    pub(super) verdicts: [&'static str; 3],
    /// Pairs that have rows, by verdict.
    pub(super) counts: [u64; 3],
    /// The sum over all pieces.
    pub(super) stats: Stats,
    /// Milliseconds that printing the rows took.
    pub(super) write_ms: f64,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Fault {
    /// What the library said.
    Library(hullfield::Error),
    /// What the program said.
    Failure(Failure),
}

impl From<hullfield::Error> for Fault {
    fn from(error: hullfield::Error) -> Self {
        Self::Library(error)
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Goes through the plan's pairs; `ask` starts a query over some of them.
pub(super) fn pour<R: Row>(
    plan: Plan<'_>,
    bodies: &[Body],
    what: &str,
    writer: &mut Writer<'_>,
    ask: impl Fn(Pairs<'_>) -> hullfield::Result<Pending<Batch<R>>>,
) -> Result<Tally, Fault> {
    let mut tally = Tally { verdicts: R::VERDICTS, ..Tally::default() };
    let mut go = |pairs: Pairs<'_>, tally: &mut Tally| -> Result<(), Fault> {
        // Where there is a list of pairs a bar goes along it.
        let spinner = (!matches!(pairs, Pairs::Given(_))).then(|| Spinner::new(what));
        let Batch { rows, stats, .. } = ask(pairs)?.wait()?;
        drop(spinner);
        add(&mut tally.stats, &stats);
        let begun = Instant::now();
        rows.iter().for_each(|row| tally.counts[row.verdict()] += 1);
        writer.rows(&rows)?;
        tally.write_ms += crate::command::milliseconds(begun);
        Ok(())
    };
    match plan {
        Plan::Whole(pairs) => go(pairs, &mut tally)?,
        Plan::Given(pairs) => {
            let mut bar = Bar::new("pairs", pairs.len() as u64);
            // An empty list is asked about too: the bodies are still to be checked.
            let none: &[[u32; 2]] = &[];
            for piece in pairs.chunks(PIECE).chain(pairs.is_empty().then_some(none)) {
                go(Pairs::Given(piece), &mut tally)?;
                bar.step(piece.len() as u64);
            }
        }
        Plan::All => {
            let count = bodies.len() as u64;
            let mut bar = Bar::new("pairs", count * count.saturating_sub(1) / 2);
            let mut piece = Vec::new();
            let mut seen = 0;
            for (a, first) in (0u32..).zip(bodies) {
                for (b, second) in (a + 1..).zip(&bodies[a as usize + 1..]) {
                    seen += 1;
                    if first.group & second.mask != 0 && second.group & first.mask != 0 {
                        piece.push([a, b]);
                    }
                    if piece.len() == PIECE {
                        go(Pairs::Given(&piece), &mut tally)?;
                        piece.clear();
                        bar.step(std::mem::take(&mut seen));
                    }
                }
            }
            go(Pairs::Given(&piece), &mut tally)?;
        }
    }
    writer.end(R::COLUMNS)?;
    Ok(tally)
}

fn add(sum: &mut Stats, more: &Stats) {
    sum.candidate_count += more.candidate_count;
    sum.hit_count += more.hit_count;
    sum.refined_count += more.refined_count;
    sum.settled_count += more.settled_count;
    sum.rerun_count += more.rerun_count;
    sum.times.compile_ms += more.times.compile_ms;
    sum.times.upload_ms += more.times.upload_ms;
    sum.times.kernels_ms += more.times.kernels_ms;
    sum.times.readback_ms += more.times.readback_ms;
    sum.times.settle_ms += more.times.settle_ms;
    sum.times.total_ms += more.times.total_ms;
}

/// Prints rows: as CSV, or as the list `rows` at the beginning of a JSON object.
pub(super) struct Writer<'a> {
    sink: &'a mut Sink,
    as_json: bool,
    begun: bool,
    row_count: u64,
    quiet: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(sink: &'a mut Sink, as_json: bool) -> Self {
        // A bar among the rows on a terminal would be no help.
        let quiet = matches!(sink, Sink::Stdout(_)) && std::io::stdout().is_terminal();
        Self { sink, as_json, begun: false, row_count: 0, quiet }
    }

    /// What comes before the first row; not written before there is an answer, so that a fault has no output.
    fn begin(&mut self, columns: &str) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        match self.as_json {
            true => self.sink.put(b"{\n  \"rows\": ["),
            false => self.sink.put(format!("{columns}\n").as_bytes()),
        }
    }

    fn rows<R: Row>(&mut self, rows: &[R]) -> Result<()> {
        self.begin(R::COLUMNS)?;
        let mut bar = (!self.quiet).then(|| Bar::new("rows", rows.len() as u64));
        let (as_json, first) = (self.as_json, self.row_count == 0);
        self.row_count += rows.len() as u64;
        for (round, held) in rows.chunks(PRINTED * HELD).enumerate() {
            let texts: Vec<Text> = held
                .par_chunks(PRINTED)
                .enumerate()
                .map(|(number, rows)| {
                    let mut text = Text::default();
                    for (i, row) in rows.iter().enumerate() {
                        if as_json {
                            let is_first = first && round + number + i == 0;
                            text.raw(if is_first { "\n    " } else { ",\n    " });
                            row.json(&mut text);
                        } else {
                            row.csv(&mut text);
                        }
                    }
                    text
                })
                .collect();
            for text in texts {
                self.sink.put(&text.bytes)?;
            }
            if let Some(bar) = &mut bar {
                bar.step(held.len() as u64);
            }
        }
        Ok(())
    }

    fn end(&mut self, columns: &str) -> Result<()> {
        self.begin(columns)?;
        match (self.as_json, self.row_count) {
            (true, 0) => self.sink.put(b"],\n"),
            (true, _) => self.sink.put(b"\n  ],\n"),
            (false, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_that_spans_the_scene_lists_every_pair() {
        let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(2.0).unwrap()];
        let bodies = [Body::new(0), Body::new(1).at([10.0, 0.0, 0.0]).scaled(1.5).padded(1.0)];
        // The ball reaches from 6 to 14, the box from -0.87 to 0.87.
        let reach = reach(&hulls, &bodies);
        assert!((15.0..19.0).contains(&reach), "{reach}");
        let plan = |margin, every| Plan::of(&hulls, &bodies, margin, every);
        assert_eq!(plan(Some(f32::INFINITY), false), Plan::All);
        assert_eq!(plan(Some(20.0), true), Plan::All);
        assert_eq!(plan(Some(5.0), true), Plan::Whole(Pairs::Exhaustive));
        assert_eq!(plan(Some(5.0), false), Plan::Whole(Pairs::BroadPhase));
        assert_eq!(plan(None, false), Plan::Whole(Pairs::BroadPhase));
    }
}
