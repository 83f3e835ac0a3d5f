//! Runs a query and writes its rows as they come. A long list of pairs is queried in chunks, to bound memory.

use std::io::IsTerminal;
use std::time::Instant;

use hullfield::Pending;
use hullfield::collide::{Batch, BodyColumns, Hull, Pairs, Stats};
use rayon::prelude::*;

use super::rows::{Row, Text};
use crate::failure::Result;
use crate::output::Sink;
use crate::progress::{Bar, Spinner};
use crate::read::{Bodies, Parts};

/// Listed pairs in one query. With their rows they take at most about 300 MB.
const CHUNK_PAIRS: usize = 1 << 20;
/// Rows that one thread formats at a time.
const ROWS_PER_TEXT: usize = 2048;
/// Formatted texts in memory at a time.
const TEXTS_PER_ROUND: usize = 64;

/// Which pairs are queried, and in how many queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PairSource<'a> {
    /// One query; all its rows are in memory at once.
    OneQuery(Pairs<'static>),
    /// The given pairs, in chunks.
    Given(&'a [[u32; 2]]),
    /// Every pair of bodies whose masks accept each other, in chunks: for a margin so wide that each has a row.
    All,
}

impl PairSource<'_> {
    /// The source for a call without `--pairs`.
    pub(super) fn without_list(
        hulls: &[Hull],
        bodies: BodyColumns<'_>,
        margin: Option<f32>,
        all_pairs: bool,
    ) -> Self {
        if margin.is_some_and(|margin| f64::from(margin) >= scene_diameter(hulls, bodies)) {
            Self::All
        } else if all_pairs {
            Self::OneQuery(Pairs::Exhaustive)
        } else {
            Self::OneQuery(Pairs::BroadPhase)
        }
    }
}

impl PairSource<'_> {
    /// How many pairs are examined one by one, of so many rows of bodies; none where the broad phase chooses.
    pub(super) fn pair_count(&self, row_count: u64) -> Option<u64> {
        match self {
            Self::Given(pairs) => Some(pairs.len() as u64),
            Self::OneQuery(Pairs::BroadPhase) => None,
            Self::OneQuery(_) | Self::All => Some(row_count * row_count.saturating_sub(1) / 2),
        }
    }
}

/// An upper bound on the distance between any two points of the scene.
fn scene_diameter(hulls: &[Hull], columns: BodyColumns<'_>) -> f64 {
    let radii: Vec<f64> = hulls
        .iter()
        .map(|hull| {
            let mean = hull.mean();
            mean.iter().map(|x| x * x).sum::<f64>().sqrt() + hull.radius() + f64::from(hull.rounding())
        })
        .collect();
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (row, body) in columns.bodies.iter().enumerate() {
        let position = columns.positions.get(row).copied().unwrap_or(body.position.map(f64::from));
        let radius = radii.get(body.hull as usize).copied().unwrap_or(f64::INFINITY);
        let scale = body.scale.into_iter().fold(0.0, f32::max);
        let radius = radius * f64::from(scale) + f64::from(body.padding);
        for axis in 0..3 {
            let x = position[axis];
            low[axis] = low[axis].min(x - radius);
            high[axis] = high[axis].max(x + radius);
        }
    }
    // The factor covers the rounding of the sums.
    (0..3).map(|axis| (high[axis] - low[axis]).powi(2)).sum::<f64>().sqrt() * (1.0 + 1e-12)
}

/// Counts and times over all chunks.
#[derive(Debug, Clone, Default)]
pub(super) struct Totals {
    /// The names of the verdicts.
    pub(super) verdicts: [&'static str; 3],
    /// Pairs that have rows, by verdict.
    pub(super) counts: [u64; 3],
    /// The sum over all chunks.
    pub(super) stats: Stats,
    /// Milliseconds spent on writing the rows.
    pub(super) write_ms: f64,
}

/// Queries the pairs of `source` and writes their rows. `start` starts a query over some pairs; `label` names it on a terminal.
pub(super) fn stream_rows<R: Row>(
    source: PairSource<'_>,
    bodies: &Bodies<'_>,
    label: &str,
    writer: &mut RowWriter<'_>,
    start: impl Fn(Pairs<'_>) -> hullfield::Result<Pending<Batch<R>>>,
) -> Result<Totals> {
    let mut totals = Totals { verdicts: R::VERDICTS, ..Totals::default() };
    let mut query = |pairs: Pairs<'_>, totals: &mut Totals| -> Result<()> {
        // A list of pairs has a bar instead.
        let spinner = (!matches!(pairs, Pairs::Given(_))).then(|| Spinner::new(label));
        let batch = start(pairs).and_then(Pending::wait);
        let Batch { mut rows, stats, .. } = batch.map_err(|error| bodies.error_at_line(error))?;
        // The library sorts by rows. It keeps the order of given pairs.
        if bodies.parts.is_some() && !matches!(pairs, Pairs::Given(_)) {
            rows.sort_by_key(|row| row.pair().and_then(|[a, b]| bodies.rank_of_pair(a, b)));
        }
        drop(spinner);
        add(&mut totals.stats, &stats);
        let write_start = Instant::now();
        rows.iter().for_each(|row| totals.counts[row.verdict()] += 1);
        writer.rows(&rows)?;
        totals.write_ms += crate::command::milliseconds(write_start);
        Ok(())
    };
    match source {
        PairSource::OneQuery(pairs) => query(pairs, &mut totals)?,
        PairSource::Given(pairs) => {
            let mut bar = Bar::new("pairs", pairs.len() as u64);
            // An empty list is queried too, so that the library checks the bodies.
            let none: &[[u32; 2]] = &[];
            for chunk in pairs.chunks(CHUNK_PAIRS).chain(pairs.is_empty().then_some(none)) {
                query(Pairs::Given(chunk), &mut totals)?;
                bar.step(chunk.len() as u64);
            }
        }
        PairSource::All => {
            let sorted = bodies.by_worlds();
            let count = sorted.len() as u64;
            let mut bar = Bar::new("pairs", count * count.saturating_sub(1) / 2);
            let mut chunk = Vec::new();
            let mut seen = 0;
            for (at, &a) in sorted.iter().enumerate() {
                for &b in &sorted[at + 1..] {
                    seen += 1;
                    for pair in bodies.rows_of_pair([a, b]).filter(|&[p, q]| bodies.accepts(p, q)) {
                        chunk.push(pair);
                        if chunk.len() == CHUNK_PAIRS {
                            query(Pairs::Given(&chunk), &mut totals)?;
                            chunk.clear();
                            bar.step(std::mem::take(&mut seen));
                        }
                    }
                }
            }
            query(Pairs::Given(&chunk), &mut totals)?;
        }
    }
    writer.end::<R>()?;
    Ok(totals)
}

pub(super) fn add(sum: &mut Stats, more: &Stats) {
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

/// Writes rows: as CSV, or as the list `rows` that begins a JSON object.
pub(super) struct RowWriter<'a> {
    sink: &'a mut Sink,
    as_json: bool,
    has_begun: bool,
    row_count: u64,
    has_bar: bool,
    /// Which rows are parts of one body.
    parts: Option<&'a Parts>,
}

impl<'a> RowWriter<'a> {
    pub(super) fn new(sink: &'a mut Sink, as_json: bool, parts: Option<&'a Parts>) -> Self {
        // On a terminal a bar would stand among the rows.
        let has_bar = !(matches!(sink, Sink::Stdout(_)) && std::io::stdout().is_terminal());
        Self { sink, as_json, has_begun: false, row_count: 0, has_bar, parts }
    }

    /// Writes what precedes the first row. It waits for the first answer, so that an error leaves no output.
    fn begin<R: Row>(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        match self.as_json {
            true => self.sink.put(b"{\n  \"rows\": ["),
            false => {
                let more = if R::IS_PAIR && self.parts.is_some() { ",part_a,part_b" } else { "" };
                self.sink.put(format!("{}{more}\n", R::COLUMNS).as_bytes())
            }
        }
    }

    /// Writes some rows.
    pub(super) fn rows<R: Row>(&mut self, rows: &[R]) -> Result<()> {
        self.begin::<R>()?;
        let mut bar = self.has_bar.then(|| Bar::new("rows", rows.len() as u64));
        let (as_json, first, parts) = (self.as_json, self.row_count == 0, self.parts);
        self.row_count += rows.len() as u64;
        for (round, block) in rows.chunks(ROWS_PER_TEXT * TEXTS_PER_ROUND).enumerate() {
            let texts: Vec<Text<'_>> = block
                .par_chunks(ROWS_PER_TEXT)
                .enumerate()
                .map(|(number, rows)| {
                    let mut text = Text::new(parts);
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
                bar.step(block.len() as u64);
            }
        }
        Ok(())
    }

    /// Ends the rows.
    pub(super) fn end<R: Row>(&mut self) -> Result<()> {
        self.begin::<R>()?;
        match (self.as_json, self.row_count) {
            (true, 0) => self.sink.put(b"],\n"),
            (true, _) => self.sink.put(b"\n  ],\n"),
            (false, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use hullfield::collide::Body;

    use super::*;

    #[test]
    fn a_margin_that_spans_the_scene_lists_every_pair() {
        let hulls = [Hull::cuboid([0.5; 3]).unwrap(), Hull::ball(2.0).unwrap()];
        let bodies = [Body::new(0), Body::new(1).at([10.0, 0.0, 0.0]).scaled(1.5).padded(1.0)];
        // The ball spans x from 6 to 14, the box from -0.87 to 0.87.
        let diameter = scene_diameter(&hulls, (&bodies).into());
        let positions = [[0.0; 3], [10.0, 0.0, 0.0]];
        let columns = BodyColumns { positions: &positions, ..BodyColumns::new(&bodies) };
        assert_eq!(scene_diameter(&hulls, columns), diameter);
        assert!((15.0..19.0).contains(&diameter), "{diameter}");
        let source =
            |margin, all_pairs| PairSource::without_list(&hulls, (&bodies).into(), margin, all_pairs);
        assert_eq!(source(Some(f32::INFINITY), false), PairSource::All);
        assert_eq!(source(Some(20.0), true), PairSource::All);
        assert_eq!(source(Some(5.0), true), PairSource::OneQuery(Pairs::Exhaustive));
        assert_eq!(source(Some(5.0), false), PairSource::OneQuery(Pairs::BroadPhase));
        assert_eq!(source(None, false), PairSource::OneQuery(Pairs::BroadPhase));
        let counts = [(None, false), (Some(5.0), true), (Some(20.0), false)]
            .map(|(margin, all_pairs)| source(margin, all_pairs).pair_count(400_000));
        assert_eq!(counts, [None, Some(79_999_800_000), Some(79_999_800_000)]);
    }
}
