//! A query over compounds, a window of pairs of parts at a time.

use std::sync::Arc;

use crate::collide::compound::crowd::{Ask, Crowd, Found};
use crate::collide::compound::rows::{NamedRow, PartPair};
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::narrow_phase::status::Status;
use crate::collide::scene::budget::RowBudget;
use crate::error::{Error, Result};
use crate::pending::{Pending, Round};

/// Pairs of bodies that are searched before their pairs of parts are counted.
const ROUND: usize = 1 << 10;

/// Which rows a query keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// One for each pair of parts.
    Parts,
    /// One for each pair of bodies.
    Bodies,
}

/// A query, a window of pairs of parts at a time.
#[derive(Debug)]
pub(crate) struct Job<R> {
    pub(crate) crowd: Crowd,
    pub(crate) body_pairs: Vec<[u32; 2]>,
    /// First pair of bodies that was not searched yet.
    pub(crate) next: usize,
    pub(crate) kept: Rows,
    /// Number of the pair of bodies of the last row.
    pub(crate) last: Option<usize>,
    /// Rows of the window that were found without a search.
    pub(crate) sure: Vec<(usize, PartPair<R>)>,
    pub(crate) rows: Vec<PartPair<R>>,
    pub(crate) stats: Stats,
    pub(crate) limit_bytes: u64,
}

impl<R: NamedRow> Job<R> {
    /// Searches and measures one window after another.
    pub(crate) fn run(self, ask: impl Ask<R>) -> Result<Pending<Batch<PartPair<R>>>> {
        let ask = Arc::new(ask);
        Pending::rounds(self, move |job| {
            if job.next == job.body_pairs.len() {
                let hit_count = job.rows.iter().filter(|row| row.row.status().is_hit()).count() as u64;
                let stats = Stats { hit_count, ..job.stats };
                return Ok(Round::Done(Batch::new(job.rows, stats)));
            }
            job.go_on(&ask).map(Round::Next)
        })
    }

    /// Searches and measures the next window.
    fn go_on<A: Ask<R>>(mut self, ask: &Arc<A>) -> Result<Pending<Self>> {
        if self.kept == Rows::Bodies {
            if self.crowd.margin > 0.0 {
                return self.go_on_within(ask);
            }
            if R::IS_VERDICT {
                return self.go_on_guessing(ask);
            }
        }
        let mut found = Vec::new();
        let window = self.crowd.window();
        while self.next < self.body_pairs.len() && found.len() < window {
            let pairs = self.take(ROUND);
            found.extend(self.crowd.find_all(&pairs, &[]));
        }
        self.measure(found, ask)
    }

    /// The next pairs of bodies, at most so many, with their numbers.
    fn take(&mut self, count: usize) -> Vec<(usize, [u32; 2])> {
        let end = self.body_pairs.len().min(self.next + count);
        let taken = (self.next..end).map(|row| (row, self.body_pairs[row])).collect();
        self.next = end;
        taken
    }

    /// The same for the nearest parts of a pair of bodies: first measures two parts of each, which limit the search for others.
    fn go_on_within<A: Ask<R>>(mut self, ask: &Arc<A>) -> Result<Pending<Self>> {
        let pairs = self.take(self.crowd.round());
        let near = self.crowd.near(&pairs);
        let pending = self.crowd.place(&near)?.ask(&self.crowd.arena, &**ask)?;
        let ask = Arc::clone(ask);
        Ok(pending.chain(move |batch| {
            // A distance is within τ of the truth.
            let limit = |row: &R| {
                let gap = row.gap().unwrap_or_default().max(0.0);
                gap * (1.0 + 1e-5)
            };
            let within: Vec<f64> = batch.rows.iter().map(limit).collect();
            add(&mut self.stats, &batch.stats);
            let found = self.crowd.find_all(&pairs, &within);
            self.measure(found, &ask)
        }))
    }

    /// The same where bodies only meet or do not: first tests two parts of each, and searches where these do not overlap.
    fn go_on_guessing<A: Ask<R>>(mut self, ask: &Arc<A>) -> Result<Pending<Self>> {
        let pairs = self.take(self.crowd.round());
        let near = self.crowd.near(&pairs);
        let pending = self.crowd.place(&near)?.ask(&self.crowd.arena, &**ask)?;
        let ask = Arc::clone(ask);
        Ok(pending.chain(move |batch| {
            add(&mut self.stats, &batch.stats);
            let mut open = Vec::new();
            for ((pair, row), found) in pairs.into_iter().zip(batch.rows).zip(near) {
                if row.status() == Status::Penetrating {
                    let [part_a, part_b] = found.parts;
                    self.sure.push((pair.0, PartPair { part_a, part_b, row: row.named(pair.1) }));
                } else {
                    open.push(pair);
                }
            }
            let found = self.crowd.find_all(&open, &[]);
            self.measure(found, &ask)
        }))
    }

    /// Measures pairs of parts.
    fn measure<A: Ask<R>>(mut self, found: Vec<Found>, ask: &Arc<A>) -> Result<Pending<Self>> {
        if found.is_empty() {
            self.keep_all(Vec::new());
            return Ok(Pending::ready(self));
        }
        let mut instances = self.crowd.place(&found)?;
        let pending = instances.ask(&self.crowd.listing, &**ask)?;
        let pairs = instances.pairs;
        Ok(pending.chain(move |batch| {
            add(&mut self.stats, &batch.stats);
            let budget = RowBudget::new::<PartPair<R>>(self.limit_bytes);
            // Rows come in the order of the pairs; some have none.
            let mut found = pairs.into_iter().zip(found);
            let mut rows = Vec::with_capacity(batch.rows.len());
            for row in batch.rows {
                let pair = row.pair();
                let Some((_, Found { row: number, bodies, parts: [part_a, part_b] })) =
                    found.find(|(other, _)| *other == pair)
                else {
                    return Err(Error::internal("collide::compound::Job::measure", "a row of no pair"));
                };
                if row.is_listed(self.crowd.margin) {
                    rows.push((number, PartPair { part_a, part_b, row: row.named(bodies) }));
                }
            }
            self.keep_all(rows);
            budget.add(self.rows.len());
            budget.check()?;
            Ok(Pending::ready(self))
        }))
    }

    /// Keeps the rows of a window, and those that were sure before, in the order of the pairs of bodies.
    fn keep_all(&mut self, rows: Vec<(usize, PartPair<R>)>) {
        let mut sure = std::mem::take(&mut self.sure).into_iter().peekable();
        for (number, row) in rows {
            while let Some((before, row)) = sure.next_if(|&(before, _)| before < number) {
                self.keep(before, row);
            }
            self.keep(number, row);
        }
        sure.for_each(|(number, row)| self.keep(number, row));
    }

    /// Keeps a row of a pair of bodies, or the better of it and the last one where both are of the same pair.
    fn keep(&mut self, number: usize, row: PartPair<R>) {
        if self.kept == Rows::Bodies
            && self.last.replace(number) == Some(number)
            && let Some(last) = self.rows.last_mut()
        {
            if row.row.is_before(&last.row) {
                *last = row;
            }
            return;
        }
        self.rows.push(row);
    }
}

/// Adds the counts and times of a window.
pub(crate) fn add(sum: &mut Stats, window: &Stats) {
    sum.add(window);
}
