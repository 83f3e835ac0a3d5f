//! Warm start: what one frame learns and the next ones need not find out again.
//!
//! Two things are kept from frame to frame.
//!
//! * **A list of neighbours** (Verlet 1967): the pairs whose boxes overlap when each is made wider by a margin of its
//!   body. While no body has moved further than its margin, every other pair is apart, and there is no broad phase.
//! * **A lower bound of the gap of each pair.** A gap shrinks at most by what both bodies move: each body has an
//!   odometer, an upper bound of how far any of its points has gone, and a pair stores the sum of its two odometers at
//!   which its bound is used up. Until then one comparison is all that the pair costs.
//!
//! A bound is what is left of the gap after the pair's tolerance τ (see [`bound`]), so what it decides is beyond the
//! tolerance, where no engine may come to another verdict. What no bound decides goes through the same narrow phase as
//! without a warm start, from the same numbers, so its rows are the same to the bit.

mod bound;
mod given;
mod list;
mod motion;
mod near;
mod work;

use std::sync::Mutex;

use web_time::Instant;

use self::bound::{Bound, Wanted, bound, depth};
use self::list::{Given, Near, is_row};
use self::motion::{Advance, Moves, Spot};
use self::near::{Asked, drop_rows};
use self::work::{TASK, each, flat, map};
use super::Body;
use super::bounds::Aabb;
use super::broad::Broad;
use super::cpu::{self, Ask, Rows};
use super::measure::Row;
use super::pose::Placed;
use super::query::{Intersection, Intersections, Stats};
use super::scene::{Job, Layout, OwnedPairs, Scene};
use super::support::Supports;
use super::tally::Tally;
use crate::error::Result;
use crate::lock::lock;
use crate::pending::Awaited;

/// Frames that a bound should last.
const BOUND_FRAMES: f64 = 24.0;
/// Frames that are enough where the axis of an earlier frame shows them.
const SOON_FRAMES: f64 = 2.0;
/// Frames after which sums begin anew, so that they stay short.
const REBASE_FRAMES: u64 = 1024;
/// A body that moves by more of its reach in a frame was put somewhere else.
const JUMP: f64 = 0.5;

/// The memory of a warm-started arena: shared by its copies.
#[derive(Debug, Default)]
pub(crate) struct WarmStart {
    /// None while a frame works with it.
    cache: Mutex<Slot>,
}

#[derive(Debug)]
enum Slot {
    Free(Box<Cache>),
    Taken,
}

impl Default for Slot {
    fn default() -> Self {
        Self::Free(Box::default())
    }
}

/// The cache, for as long as one frame works with it. It is not held under a lock: a thread that waits for its part of
/// a frame may begin another frame, and would wait for itself.
struct Lease<'a> {
    of: &'a WarmStart,
    cache: Box<Cache>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // What a panic left half done is forgotten.
        let cache = if std::thread::panicking() { Box::default() } else { std::mem::take(&mut self.cache) };
        *lock(&self.of.cache) = Slot::Free(cache);
    }
}

impl WarmStart {
    /// The cache, unless another frame is at work with it.
    fn lease(&self) -> Option<Lease<'_>> {
        let mut slot = lock(&self.cache);
        match std::mem::replace(&mut *slot, Slot::Taken) {
            Slot::Free(cache) => Some(Lease { of: self, cache }),
            Slot::Taken => None,
        }
    }

    /// What the next frame will most likely want of the bodies besides a check.
    pub(crate) fn layout(&self) -> Layout {
        let slot = lock(&self.cache);
        let everything = !matches!(&*slot, Slot::Free(cache) if cache.is_warm);
        Layout { packed: everything, placed: everything }
    }
}

/// What earlier frames have learnt.
#[derive(Debug, Default)]
struct Cache {
    /// The bodies of the last frame, and the statics.
    bodies: Vec<Body>,
    /// How many of them are no statics.
    mover_count: usize,
    /// How far each body has gone, all frames together, at most; world units.
    odometers: Vec<f64>,
    /// What of it is due to turning.
    turns: Vec<f64>,
    spots: Vec<Spot>,
    /// How far each body goes in a frame, as of late: for guesses only.
    paces: Vec<f64>,
    near: Near,
    given: Given,
    /// Room for [`Job::placed`], of which a warm frame fills in only what it needs.
    placed: Vec<Placed>,
    /// The frame in which each of `placed` was filled in.
    placed_in: Vec<u64>,
    /// Room for the boxes of a frame, for the pairs of a list, and for a search among strays.
    plain: Vec<Aabb>,
    pairs: Vec<[u32; 2]>,
    among: Broad,
    /// Queries so far.
    frame: u64,
    /// The frame in which the list was made.
    built: u64,
    /// Frames of the last pause in which everything is done cold, and the end of it.
    cold_frames: u64,
    cold_until: u64,
    /// The margin for which the list was too long, and until when this is believed.
    far_margin: f64,
    far_until: u64,
    /// Whether the last frame used the list.
    is_warm: bool,
}

/// Answers a query about near or given pairs: see [`Arena::with_warm_start`](super::Arena::with_warm_start).
pub(crate) fn intersections(scene: &Scene, mut job: Job, warm: &WarmStart) -> Result<Intersections> {
    let begin = Instant::now();
    if let Some(mut lease) = warm.lease().filter(|_| !job.is_empty()) {
        let upload_ms = job.upload_ms;
        let found = match &job.pairs {
            OwnedPairs::Near => lease.cache.near_rows(scene, &mut job)?,
            OwnedPairs::Given(_) => Some(lease.cache.given_rows(scene, &mut job)?),
            OwnedPairs::Every => None,
        };
        if let Some(Found { rows, mut stats }) = found {
            let late_ms = job.upload_ms - upload_ms;
            stats.times.kernels_ms = (cpu::milliseconds(begin) - late_ms).max(0.0);
            let answer = cpu::finish(scene, &job, rows, stats, begin);
            if job.pairs == OwnedPairs::Near {
                lease.cache.learn_rows(&answer.rows);
            }
            lease.cache.give_back(&mut job);
            scene.give_back(job);
            return Ok(answer);
        }
    }
    job.complete(scene, Layout { packed: job.pairs == OwnedPairs::Near, placed: true })?;
    cpu::intersections(scene, job)
}

/// Answers a query that measures the near pairs within a margin.
pub(crate) fn measures<R: Row>(
    scene: &Scene,
    mut job: Job,
    ask: Ask,
    warm: &WarmStart,
) -> Result<(Vec<R>, Stats)> {
    let begin = Instant::now();
    if let Some(mut lease) = warm.lease().filter(|_| !job.is_empty() && job.pairs == OwnedPairs::Near) {
        let asked = Asked { margin: ask.margin, with_rows: false };
        if let Some(undecided) = lease.cache.near_pairs(scene, &mut job, asked)? {
            let mut found = cpu::measure_listed::<R>(scene, &job, &undecided.pairs, ask, &Awaited::default());
            let rows = found.rows.iter().map(|row| (row.pair(), row.status(), row.gap()));
            let strange = lease.cache.strangers(scene, &job, ask.margin, &found.open, rows)?;
            drop_rows(&mut found.rows, &mut found.open, &strange);
            let tally = Tally::new::<R>(job.answer_limit);
            tally.add(found.rows.len());
            tally.check()?;
            let mut stats = Stats {
                candidate_count: undecided.candidate_count,
                skipped_count: undecided.skipped_count,
                ..Stats::default()
            };
            stats.times.kernels_ms = cpu::milliseconds(begin);
            let answer = cpu::finish_measures(scene, &job, ask, found, stats, begin);
            lease.cache.learn_listed(answer.0.iter().map(Row::pair), ask.margin);
            lease.cache.give_back(&mut job);
            scene.give_back(job);
            return Ok(answer);
        }
    }
    job.complete(scene, Layout { packed: job.pairs == OwnedPairs::Near, placed: true })?;
    cpu::measures(scene, job, ask)
}

/// Rows before they are settled, and the counts.
struct Found {
    rows: Rows,
    stats: Stats,
}

impl Cache {
    /// Measures how the bodies moved; forgets everything where it cannot be told.
    fn advance(&mut self, scene: &Scene, job: &Job) -> Option<Moves> {
        let bodies = &job.bodies[..];
        self.frame += 1;
        let count = bodies.len();
        if self.bodies.len() != count || self.mover_count != job.mover_count {
            *self = Self { frame: self.frame, mover_count: job.mover_count, ..Self::default() };
            self.bodies = bodies.to_vec();
            self.odometers = vec![0.0; count];
            self.turns = vec![0.0; count];
            self.paces = vec![0.0; count];
            let rows: Vec<usize> = (0..count).collect();
            self.spots = map(&rows, |&row| Spot::new(&bodies[row], row, &scene.supports));
            return None;
        }
        let none = Vec::new();
        let limits = if self.near.limits.len() == count { &self.near.limits } else { &none };
        let parts = self.bodies.chunks_mut(TASK).zip(self.odometers.chunks_mut(TASK));
        let parts = parts.zip(self.turns.chunks_mut(TASK)).zip(self.paces.chunks_mut(TASK));
        let tasks: Vec<_> = parts
            .zip(self.spots.chunks_mut(TASK))
            .zip(bodies.chunks(TASK))
            .enumerate()
            .map(|(at, (((((before, odometers), turns), paces), spots), now))| Advance {
                first: at * TASK,
                before,
                odometers,
                turns,
                paces,
                spots,
                now,
                limits: limits.get(at * TASK..(at * TASK + now.len())).unwrap_or_default(),
            })
            .collect();
        let parts = each(tasks, |task| task.run(scene));
        let moves = parts.into_iter().fold(Moves::default(), Moves::plus);
        if moves.changed > 0 || self.frame.is_multiple_of(REBASE_FRAMES) {
            self.near.rebase(&self.odometers, &self.turns);
            self.given.rebase(&self.odometers, &self.turns);
            self.odometers.fill(0.0);
            self.turns.fill(0.0);
        }
        Some(moves)
    }

    /// Rows of the near pairs; `None` where the whole frame is to be done cold.
    fn near_rows(&mut self, scene: &Scene, job: &mut Job) -> Result<Option<Found>> {
        let Some(undecided) = self.near_pairs(scene, job, Asked { margin: 0.0, with_rows: true })? else {
            return Ok(None);
        };
        let mut rows = cpu::examine_for_hits(scene, &job.placed, &undecided.pairs, &Awaited::default());
        let told = rows.rows.iter().map(|row| ([row.a, row.b], row.status, None));
        let strange = self.strangers(scene, job, 0.0, &rows.open, told)?;
        drop_rows(&mut rows.rows, &mut rows.open, &strange);
        let tally = Tally::new::<Intersection>(job.answer_limit);
        tally.add(rows.rows.len() + undecided.asleep.len());
        tally.check()?;
        let pairs = &self.near.pairs;
        let asleep: Vec<Intersection> = undecided
            .asleep
            .iter()
            .map(|&[a, entry]| Intersection {
                a,
                b: pairs.second(entry),
                status: pairs.status(entry),
                axis: None,
            })
            .collect();
        let stats = Stats {
            candidate_count: undecided.candidate_count,
            skipped_count: undecided.skipped_count,
            ..Stats::default()
        };
        Ok(Some(Found { rows: merged(rows, &asleep), stats }))
    }

    /// Takes in which pairs became rows. A frame that fails before does not, and what was known of rows is still that of
    /// the frame that was `seen`.
    fn learn_rows(&mut self, rows: &[Intersection]) {
        self.near.seen.clone_from(&self.odometers);
        let mut rows = rows.iter().peekable();
        for &[a, entry] in &self.near.examined {
            let pair = (a, self.near.pairs.second(entry));
            while rows.next_if(|row| (row.a, row.b) < pair).is_some() {}
            match rows.next_if(|row| (row.a, row.b) == pair) {
                Some(row) => self.near.pairs.set_row(entry, row.status),
                None if is_row(self.near.pairs.limits[entry as usize]) => self.near.pairs.forget(entry),
                None => (),
            }
        }
    }

    /// Takes in which pairs were listed by a query with a margin.
    fn learn_listed(&mut self, rows: impl Iterator<Item = [u32; 2]>, margin: f64) {
        let mut rows = rows.peekable();
        for &[a, entry] in &self.near.examined {
            let pair = [a, self.near.pairs.second(entry)];
            while rows.next_if(|row| *row < pair).is_some() {}
            let is_listed = rows.next_if_eq(&pair).is_some();
            self.near.pairs.set_listed(entry, is_listed.then_some(margin as f32));
        }
    }

    /// Fills in [`Job::placed`] of some bodies.
    fn place(&mut self, scene: &Scene, job: &mut Job, bodies: impl Iterator<Item = u32>) -> Result<()> {
        let count = job.bodies.len();
        if job.placed.len() == count {
            return Ok(());
        }
        self.placed.resize(count, Placed::default());
        self.placed_in.resize(count, 0);
        let mut needed = Vec::new();
        for body in bodies {
            let seen = &mut self.placed_in[body as usize];
            if *seen != self.frame {
                *seen = self.frame;
                needed.push(body);
            }
        }
        // Equal to the job's, and nearer: this thread has just been over them.
        let placed = flat(&needed, |needed| place(&self.bodies, needed, &scene.supports));
        for (&body, placed) in needed.iter().zip(placed) {
            self.placed[body as usize] = placed?;
        }
        std::mem::swap(&mut job.placed, &mut self.placed);
        Ok(())
    }

    /// Takes the room of [`Job::placed`] back where it is ours.
    fn give_back(&mut self, job: &mut Job) {
        if self.placed.len() != job.bodies.len() && self.placed_in.len() == job.bodies.len() {
            std::mem::swap(&mut job.placed, &mut self.placed);
        }
    }

    /// Looks for bounds of some pairs that show more than a margin.
    fn look(&self, scene: &Scene, job: &Job, looks: &[Look], margin: f64) -> Vec<Learnt> {
        flat(looks, |looks| {
            let mut found = vec![Learnt::Nothing; looks.len()];
            look(&scene.supports, &job.placed, &self.paces, looks, margin, &mut found);
            found
        })
    }
}

/// A pair to be looked at.
#[derive(Debug, Clone, Copy)]
struct Look {
    pair: [u32; 2],
    /// Along which a gap was last seen; 0 if never.
    axis: [f32; 3],
    last: Last,
}

/// What a pair did when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Last {
    /// It was apart, or nobody knows.
    Apart,
    /// No bound is to be hoped for.
    Listed,
    Penetrating,
}

/// What a look at a pair gave.
#[derive(Debug, Clone, Copy)]
enum Learnt {
    /// Nothing that will last: the narrow phase must say.
    Nothing,
    /// Apart by more than the margin.
    Apart(Bound),
    /// Penetrating, so deep; world units.
    Deep(f64),
}

/// Some bodies made ready for the narrow phase; they have been checked.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn place(bodies: &[Body], rows: &[u32], supports: &Supports) -> Vec<Result<Placed>> {
    let place = |&row: &u32| {
        let body = &bodies[row as usize];
        Ok(Placed::new(body, body.radius(row as usize, supports)?, supports))
    };
    rows.iter().map(place).collect()
}

/// Looks for bounds.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn look(
    supports: &Supports,
    placed: &[Placed],
    paces: &[f64],
    looks: &[Look],
    margin: f64,
    found: &mut [Learnt],
) {
    for (look, found) in looks.iter().zip(found) {
        let [a, b] = look.pair.map(|body| body as usize);
        match look.last {
            Last::Apart => (),
            // The least motion may end it.
            Last::Listed => continue,
            Last::Penetrating => {
                if let Some(deep) = depth(supports, &placed[a], &placed[b]) {
                    *found = Learnt::Deep(deep);
                }
                continue;
            }
        }
        let pace = paces[a] + paces[b];
        let wanted =
            Wanted { least: margin, soon: margin + SOON_FRAMES * pace, enough: margin + BOUND_FRAMES * pace };
        if let Some(bound) = bound(supports, &placed[a], &placed[b], look.axis, wanted) {
            *found = Learnt::Apart(bound);
        }
    }
}

/// Rows with those of pairs at rest among them, in order.
fn merged(rows: Rows, asleep: &[Intersection]) -> Rows {
    if asleep.is_empty() {
        return rows;
    }
    let mut all = Rows { refined_count: rows.refined_count, ..Rows::default() };
    all.rows.reserve_exact(rows.rows.len() + asleep.len());
    let mut asleep = asleep.iter().peekable();
    let mut open = rows.open.iter().peekable();
    for (at, row) in rows.rows.iter().enumerate() {
        while let Some(other) = asleep.next_if(|other| (other.a, other.b) < (row.a, row.b)) {
            all.rows.push(*other);
        }
        if open.next_if(|&&index| index == at).is_some() {
            all.open.push(all.rows.len());
        }
        all.rows.push(*row);
    }
    all.rows.extend(asleep);
    all
}

#[cfg(test)]
mod tests {
    use super::super::Hull;
    use super::super::cpu;
    use super::super::query::Pairs;
    use super::*;

    fn job(scene: &Scene, bodies: &[Body]) -> Job {
        Job::new(scene, bodies, None, Pairs::Near, Layout { packed: true, placed: true }).unwrap()
    }

    /// A row of cubes that close in on one another.
    fn cubes(gap: f32) -> Vec<Body> {
        (0..50).map(|k| Body::new(0).at([(1.0 + gap) * k as f32, 0.0, 0.0])).collect()
    }

    /// The comparison with a cold frame must see a bound that is not true.
    #[test]
    fn a_poisoned_bound_is_seen() {
        let scene = Scene::new(&[Hull::cuboid([0.5; 3]).unwrap()]).unwrap();
        for is_poisoned in [false, true] {
            let warm = WarmStart::default();
            let mut differs = false;
            for frame in 0..40 {
                let bodies = cubes(0.02 - 0.001 * frame as f32);
                let found = intersections(&scene, job(&scene, &bodies), &warm).unwrap();
                let cold = cpu::intersections(&scene, job(&scene, &bodies)).unwrap();
                differs |= found.rows != cold.rows;
                if is_poisoned && frame == 10 {
                    let mut lease = warm.lease().unwrap();
                    assert!(lease.cache.near.pairs.len() >= 49);
                    lease.cache.near.pairs.limits.fill(1e3);
                }
                assert!(is_poisoned || frame < 4 || found.stats.skipped_count > 0 || frame > 15, "{frame}");
            }
            assert_eq!(differs, is_poisoned);
        }
    }
}
