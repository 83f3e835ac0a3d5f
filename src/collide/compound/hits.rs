//! Which compound bodies hit another one, and how many.

use crate::collide::compound::columns::CompoundColumns;
use crate::collide::compound::compounds::Compounds;
use crate::collide::compound::crowd::{Crowd, Found};
use crate::collide::narrow_phase::rows::{Batch, Intersection, Stats};
use crate::collide::narrow_phase::timed_call::timed_call;
use crate::collide::query::arena::Arena;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::pairs::Pairs;
use crate::error::Result;
use crate::observe::span;
use crate::pending::{Pending, Round};

impl Compounds {
    /// Finds whether each body touches or overlaps any other: one row a body, in their order: [`Arena::hits`].
    ///
    /// Statics count as others, and have no rows. Once a body is known to hit another, only those of its pairs are tested that may
    /// say something of the other body.
    ///
    /// # Method
    /// Pairs of bodies are tested some at a time. Of each pair, two parts near one another are tested first. The other parts are tested only where
    /// those two do not meet.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Compound, CompoundBody, Compounds, Hull, Options, Part};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5)?], Options::default())?;
    /// let dumbbell = Compound::new([Part::new(0).at([-1.0, 0.0, 0.0]), Part::new(0).at([1.0, 0.0, 0.0])]);
    /// let compounds = Compounds::new(&arena, &[dumbbell])?;
    /// // The third is between the balls of the first.
    /// let bodies = [[0.0; 3], [2.9, 0.0, 0.0], [0.0, 0.0, 1.2]].map(|at| CompoundBody::new(0).at(at));
    /// let bodies = [bodies[0], bodies[1], bodies[2].rotated([0.0, 0.70710678, 0.0, 0.70710678])];
    /// assert_eq!(compounds.hits(&bodies)?.wait()?.rows, [true, true, false]);
    /// assert_eq!(compounds.hit_counts(&bodies)?.wait()?.rows, [1, 1, 0]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn hits<'a>(&self, bodies: impl Into<CompoundColumns<'a>>) -> Result<Pending<Batch<bool>>> {
        self.hits_inner(bodies.into())
    }

    fn hits_inner(&self, columns: CompoundColumns<'_>) -> Result<Pending<Batch<bool>>> {
        span!("hullfield.collide.compounds.hits", bodies = columns.bodies.len());
        timed_call(|| {
            let crowd = self.crowd(columns, 0.0)?;
            let body_pairs = crowd.body_pairs(Pairs::BroadPhase)?;
            let rows = vec![false; columns.bodies.len()];
            let job = HitJob { crowd, body_pairs, next: 0, rows, stats: Stats::default() };
            Pending::rounds(job, |job| {
                if job.next == job.body_pairs.len() {
                    let hit_count = job.rows.iter().filter(|&&is_hit| is_hit).count() as u64;
                    let stats = Stats { hit_count, ..job.stats };
                    return Ok(Round::Done(Batch::new(job.rows, stats)));
                }
                job.go_on().map(Round::Next)
            })
        })
    }

    /// Counts the other bodies that each body touches or overlaps: one row a body, in their order: [`Arena::hit_counts`].
    ///
    /// Statics count as others, and have no rows. A body counts once, however many of its parts are hit.
    ///
    /// # Cost
    /// That of [`body_intersections`](Self::body_intersections), whose rows are held until they are counted.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn hit_counts<'a>(&self, bodies: impl Into<CompoundColumns<'a>>) -> Result<Pending<Batch<u32>>> {
        self.hit_counts_inner(bodies.into())
    }

    fn hit_counts_inner(&self, columns: CompoundColumns<'_>) -> Result<Pending<Batch<u32>>> {
        span!("hullfield.collide.compounds.hit_counts", bodies = columns.bodies.len());
        timed_call(|| {
            let mut counts = vec![0; columns.bodies.len()];
            Ok(self.body_intersections(columns, Pairs::BroadPhase)?.chain(move |found| {
                for body in found.rows.iter().flat_map(|row| [row.row.a, row.row.b]) {
                    if let Some(count) = counts.get_mut(body as usize) {
                        *count += 1;
                    }
                }
                let hit_count = counts.iter().filter(|&&count| count > 0).count() as u64;
                Ok(Pending::ready(Batch::new(counts, Stats { hit_count, ..found.stats })))
            }))
        })
    }
}

/// A search for the bodies that hit another.
#[derive(Debug)]
struct HitJob {
    crowd: Crowd,
    body_pairs: Vec<[u32; 2]>,
    /// First pair of bodies that was not tested yet.
    next: usize,
    rows: Vec<bool>,
    stats: Stats,
}

impl HitJob {
    /// Whether a pair of bodies would say something new.
    fn is_open(&self, pair: [u32; 2]) -> bool {
        pair.into_iter().any(|body| self.rows.get(body as usize) == Some(&false))
    }

    fn set(&mut self, pair: [u32; 2]) {
        for body in pair {
            if let Some(row) = self.rows.get_mut(body as usize) {
                *row = true;
            }
        }
    }

    /// Tests the next pairs of bodies.
    fn go_on(mut self) -> Result<Pending<Self>> {
        let mut pairs = Vec::new();
        while self.next < self.body_pairs.len() && pairs.len() < self.crowd.round() {
            let pair = self.body_pairs[self.next];
            if self.is_open(pair) {
                pairs.push((self.next, pair));
            }
            self.next += 1;
        }
        let near = self.crowd.near(&pairs);
        self.test(near, move |job| {
            pairs.retain(|&(_, pair)| job.is_open(pair));
            let found = job.crowd.find_all(&pairs, &[]);
            job.test(found, |job| Ok(Pending::ready(job)))
        })
    }

    /// Tests pairs of parts, then goes on.
    fn test(
        mut self,
        found: Vec<Found>,
        then: impl FnOnce(Self) -> Result<Pending<Self>> + Send + 'static,
    ) -> Result<Pending<Self>> {
        if found.is_empty() {
            return then(self);
        }
        let mut instances = self.crowd.place(&found)?;
        let ask =
            |arena: &Arena, columns: BodyColumns<'_>, pairs: Pairs<'_>| arena.intersections(columns, pairs);
        let pending = instances.ask::<Intersection>(&self.crowd.listing, &ask)?;
        Ok(pending.chain(move |batch| {
            self.stats.add(&batch.stats);
            let mut hits =
                batch.rows.iter().filter(|row| row.status.is_hit()).map(|row| [row.a, row.b]).peekable();
            // Rows come in the order of the pairs; some have none.
            for (pair, Found { bodies, .. }) in instances.pairs.iter().zip(&found) {
                if hits.next_if_eq(pair).is_some() {
                    self.set(*bodies);
                }
            }
            then(self)
        }))
    }
}
