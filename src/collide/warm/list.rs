//! The pair lists of a warm start: the neighbour list and the given pairs, with a bound for each pair.

use crate::collide::broad_phase::cpu::BroadPhase;
use crate::collide::bvh::aabb::Aabb;
use crate::collide::narrow_phase::status::Status;
use crate::collide::warm::bound::{Bound, SHRINKING};
use crate::collide::warm::bound_requests::{BoundRequest, PreviousResult};
use crate::collide::warm::motion::{BodyBall, FrameMotion};
use crate::collide::warm::tasks::{TASK, split_rows};
use crate::parallel::each;

/// The limit of a pair without a bound. Limits of hits are below it, limits with a bound are at least 0.
pub(crate) const UNKNOWN: f64 = -1.0;
/// The limits of pairs that were touching or penetrating when they were last examined.
const TOUCHING: f64 = -2.0;
const PENETRATING: f64 = -3.0;
/// A pair that penetrates until the sum of its odometers is `limit` is stored as `DEEP - limit`.
const DEEP: f64 = -8.0;
/// Pairs that one task scans.
const SCANNED: usize = 1 << 13;
/// Pairs that are compared together.
const BLOCK: usize = 16;
/// Relative rounding error of sums and products of a few lengths.
const ROUNDING: f64 = 1e-14;

/// Whether a limit belongs to a pair that was a hit in the last frame.
#[inline(always)]
pub(crate) fn is_row(limit: f64) -> bool {
    limit < UNKNOWN
}

/// What stays valid after a bound is used up: an axis, and how far the bodies were apart along it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairHistory {
    /// Unit vector from the first to the second body, world frame, along which a gap was last seen; 0 if never.
    pub(crate) axis: [f32; 3],
    /// The margin at which the last measuring query listed the pair; infinite if it did not.
    within: f32,
    /// The gap along the axis, minus the positions' distance along it, plus both bodies' `turns` at that time (see `gap`); −∞ if
    /// no gap was seen.
    base: f64,
}

impl PairHistory {
    pub(crate) const NOTHING: Self = Self { axis: [0.0; 3], within: f32::INFINITY, base: f64::NEG_INFINITY };
}

/// One entry for each pair.
#[derive(Debug, Default)]
pub(crate) struct PairEntries {
    /// The second body of each pair.
    pub(crate) seconds: Vec<u32>,
    /// The sum of both bodies' odometers up to which the pair is separated, or one of the codes above.
    pub(crate) limits: Vec<f64>,
    pub(crate) known: Vec<PairHistory>,
}

/// How far the bodies have moved, one entry for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Travel<'a> {
    pub(crate) odometers: &'a [f64],
    /// The part of the odometers that is due to turning.
    pub(crate) turns: &'a [f64],
    pub(crate) balls: &'a [BodyBall],
}

impl Travel<'_> {
    /// The sum of both bodies' odometers.
    fn gone(&self, a: u32, b: u32) -> f64 {
        self.odometers[a as usize] + self.odometers[b as usize]
    }

    /// A lower bound of the gap minus the tolerance τ: by the bounding balls, or by the gap along the stored axis, which changes
    /// only with the positions and by how much the bodies turn.
    ///
    /// τ grows more slowly than the gap, so it suffices to subtract the tolerance at the bound.
    #[inline(always)]
    fn gap(&self, a: u32, b: u32, known: &PairHistory) -> f64 {
        let [by_balls, by_axis] = self.gaps(a, b, known);
        by_balls.max(by_axis)
    }

    /// The same by the balls alone, and by the axis alone.
    #[inline(always)]
    fn gaps(&self, a: u32, b: u32, known: &PairHistory) -> [f64; 2] {
        let (a, b) = (a as usize, b as usize);
        let (ball, other) = (&self.balls[a], &self.balls[b]);
        let d: [f64; 3] = std::array::from_fn(|i| f64::from(other.position[i]) - f64::from(ball.position[i]));
        let distance = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        let reach = f64::from(ball.reach) + f64::from(other.reach);
        // For bodies in touch τ is at most 5e-6 of the sum of the radii.
        let by_balls = distance - reach * (1.0 + 6e-6);
        let n = known.axis.map(f64::from);
        let turn = self.turns[a] + self.turns[b];
        let along = n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
        let by_axis = known.base + along - turn - ROUNDING * (distance + turn + known.base.abs());
        [by_balls * SHRINKING, by_axis * SHRINKING]
    }

    /// [`PairHistory::base`] of a gap along an axis in this frame.
    fn base(&self, a: u32, b: u32, bound: &Bound) -> f64 {
        let (a, b) = (a as usize, b as usize);
        let along = (0..3)
            .map(|i| {
                f64::from(bound.axis[i])
                    * (f64::from(self.balls[b].position[i]) - f64::from(self.balls[a].position[i]))
            })
            .sum::<f64>();
        let turn = self.turns[a] + self.turns[b];
        bound.along - along + turn - ROUNDING * (along.abs() + turn + bound.along.abs())
    }

    /// The sum of odometers up to which a gap holds, less the rounding of the sums here and where they are compared.
    pub(crate) fn limit(&self, a: u32, b: u32, gap: f64) -> f64 {
        (gap + self.gone(a, b)) * (1.0 - 4.0 * f64::EPSILON)
    }
}

impl PairEntries {
    pub(crate) fn len(&self) -> usize {
        self.limits.len()
    }

    #[inline(always)]
    pub(crate) fn second(&self, entry: u32) -> u32 {
        self.seconds[entry as usize]
    }

    /// Clears the entry of a pair.
    pub(crate) fn forget(&mut self, entry: u32) {
        self.limits[entry as usize] = UNKNOWN;
        self.known[entry as usize] = PairHistory::NOTHING;
    }

    /// Stores a bound of the pair of `a` and the entry's second body.
    pub(crate) fn set_bound(&mut self, a: u32, entry: u32, bound: &Bound, travel: &Travel<'_>) {
        let at = entry as usize;
        let b = self.seconds[at];
        self.limits[at] = travel.limit(a, b, bound.gap);
        self.known[at].axis = bound.axis;
        self.known[at].base = travel.base(a, b, bound);
    }

    /// Stores an axis to start the next search from, without a bound.
    pub(crate) fn set_axis(&mut self, entry: u32, axis: [f32; 3]) {
        self.limits[entry as usize] = UNKNOWN;
        self.known[entry as usize] = PairHistory { axis, ..PairHistory::NOTHING };
    }

    /// Stores the status of a row.
    pub(crate) fn set_row(&mut self, entry: u32, status: Status) {
        let limit = match status {
            Status::Separated => UNKNOWN,
            Status::Touching => TOUCHING,
            Status::Penetrating => PENETRATING,
        };
        self.limits[entry as usize] = limit;
    }

    /// Stores whether a query with a margin listed a pair.
    pub(crate) fn set_listed(&mut self, entry: u32, margin: Option<f32>) {
        self.known[entry as usize].within = margin.unwrap_or(f32::INFINITY);
    }

    /// Stores that a pair penetrates until the sum of its odometers reaches `limit`.
    pub(crate) fn set_deep(&mut self, entry: u32, limit: f64) {
        // Rounded towards less depth: added to the constant a short length loses digits.
        self.limits[entry as usize] = (DEEP - limit).next_up();
    }

    /// The status of a pair that was a row.
    pub(crate) fn status(&self, entry: u32) -> Status {
        if self.limits[entry as usize] == TOUCHING { Status::Touching } else { Status::Penetrating }
    }

    /// The request for a bound of a pair whose first body is `a`. The query lists pairs within `margin`, or hits only.
    pub(crate) fn bound_request(&self, a: u32, entry: u32, margin: Option<f64>) -> BoundRequest {
        let at = entry as usize;
        let (limit, known) = (self.limits[at], &self.known[at]);
        let previous = match margin {
            // A listed pair will most likely be listed again.
            Some(margin) if is_row(limit) || f64::from(known.within) <= margin => PreviousResult::Listed,
            _ if limit >= UNKNOWN => PreviousResult::SeparatedOrUnknown,
            _ if limit == TOUCHING => PreviousResult::Listed,
            _ => PreviousResult::Penetrating,
        };
        BoundRequest { pair: [a, self.seconds[at]], axis: known.axis, previous }
    }
}

/// Updates an entry for odometers that restart at 0.
fn rebase(limit: &mut f64, known: &mut PairHistory, gone: f64, turn: f64) {
    if *limit >= 0.0 {
        let left = (*limit - gone) * (1.0 - 4.0 * f64::EPSILON);
        // NaN where a body's odometer is infinite.
        *limit = if left > 0.0 { left } else { UNKNOWN };
    } else if *limit <= DEEP {
        let left = (DEEP - *limit - gone) * (1.0 - 4.0 * f64::EPSILON);
        *limit = if left > 0.0 { (DEEP - left).next_up() } else { PENETRATING };
    }
    let base = known.base - turn - ROUNDING * (known.base.abs() + turn);
    known.base = if base.is_nan() { f64::NEG_INFINITY } else { base };
}

/// The list of neighbours: pairs sorted by `(a, b)`, a row for each first body.
#[derive(Debug, Default)]
pub(crate) struct NeighbourList {
    /// Index of the first pair of each row, and the number of pairs.
    starts: Vec<u32>,
    /// The first body of each pair.
    firsts: Vec<u32>,
    pub(crate) pairs: PairEntries,
    /// The previous list, kept for its memory.
    old: (Vec<u32>, PairEntries),
    /// The odometer at which each body may leave its widened box; empty where there is no list.
    pub(crate) limits: Vec<f64>,
    /// The tree over the widened boxes of the bodies that move.
    pub(crate) tree: BroadPhase,
    /// The odometers in the last frame that used the list for intersections.
    pub(crate) last_odometers: Vec<f64>,
    /// `[a, entry]` of the pairs that the last frame examined.
    pub(crate) examined: Vec<[u32; 2]>,
    /// The margin that the list holds all pairs for, in world units.
    pub(crate) margin: f64,
    /// Bodies that have left their boxes, summed over the frames of the list.
    pub(crate) stray_count: usize,
    /// Bodies whose groups are not those that the list was made for; ascending. They are strays as long as the list lasts, and their pairs on
    /// the list count only where the groups accept them.
    pub(crate) regrouped: Vec<u32>,
    /// Whether a body became or ceased to be a half-space since the list was made.
    pub(crate) is_outdated: bool,
}

/// The result of a scan of the list: `[a, entry]` for each pair, in order.
#[derive(Debug, Default)]
pub(crate) struct ScanResult {
    /// Pairs that must be examined.
    pub(crate) active: Vec<[u32; 2]>,
    /// Hits of the last frame whose bodies have not moved, or not enough to part.
    pub(crate) asleep: Vec<[u32; 2]>,
    /// Pairs that are certainly separated.
    pub(crate) skipped: u64,
}

impl NeighbourList {
    /// Notes what changed in a frame, whatever query it is of: a later query may use the list.
    pub(crate) fn note_changes(&mut self, moves: &FrameMotion) {
        if self.limits.is_empty() {
            return;
        }
        self.is_outdated |= moves.converted_count > 0;
        if !moves.regrouped.is_empty() {
            self.regrouped.extend(&moves.regrouped);
            self.regrouped.sort_unstable();
            self.regrouped.dedup();
        }
    }

    /// Sets all odometers to 0.
    pub(crate) fn rebase(&mut self, odometers: &[f64], turns: &[f64]) {
        for row in 0..self.starts.len().saturating_sub(1) {
            for at in self.starts[row] as usize..self.starts[row + 1] as usize {
                let b = self.pairs.seconds[at] as usize;
                let gone = odometers[row] + odometers[b];
                rebase(&mut self.pairs.limits[at], &mut self.pairs.known[at], gone, turns[row] + turns[b]);
            }
        }
        for (limit, odometer) in self.limits.iter_mut().zip(odometers) {
            *limit = if odometer.is_finite() { *limit - odometer } else { f64::NEG_INFINITY };
        }
        for (last_odometers, odometer) in self.last_odometers.iter_mut().zip(odometers) {
            *last_odometers =
                if *last_odometers == *odometer && odometer.is_finite() { 0.0 } else { f64::NEG_INFINITY };
        }
    }

    /// Replaces the list. Pairs that were on the old one keep their entries. A new pair gets the gap between its boxes, where they
    /// do not overlap.
    pub(crate) fn renew(
        &mut self,
        pairs: &[[u32; 2]],
        body_count: usize,
        boxes: &[Aabb],
        travel: &Travel<'_>,
    ) {
        let Self { starts, firsts, pairs: new, old: (old_starts, old), .. } = self;
        std::mem::swap(old_starts, starts);
        std::mem::swap(old, new);
        starts.clear();
        starts.resize(body_count + 1, 0);
        for pair in pairs {
            starts[pair[0] as usize + 1] += 1;
        }
        for row in 0..body_count {
            starts[row + 1] += starts[row];
        }
        firsts.clear();
        firsts.extend(pairs.iter().map(|pair| pair[0]));
        let PairEntries { seconds, limits, known } = new;
        seconds.clear();
        seconds.extend(pairs.iter().map(|pair| pair[1]));
        limits.resize(pairs.len(), UNKNOWN);
        known.resize(pairs.len(), PairHistory::NOTHING);
        let (starts, seconds, old_starts, old) = (&*starts, &*seconds, &*old_starts, &*old);
        // Empty where there was no list.
        let old_row = |row: usize| match old_starts.get(row..row + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..0,
        };
        let tasks =
            split_rows(starts, limits).into_iter().zip(split_rows(starts, known)).enumerate().collect();
        each(tasks, |(task, (limits, known)): (usize, (&mut [f64], &mut [PairHistory]))| {
            let begin = starts[task * TASK] as usize;
            for row in task * TASK..(task * TASK + TASK).min(body_count) {
                let mut old_entries = old_row(row).peekable();
                for at in starts[row] as usize..starts[row + 1] as usize {
                    let b = seconds[at];
                    let (limit, known) = (&mut limits[at - begin], &mut known[at - begin]);
                    while old_entries.next_if(|&entry| old.seconds[entry] < b).is_some() {}
                    (*limit, *known) = match old_entries.next_if(|&entry| old.seconds[entry] == b) {
                        Some(entry) => (old.limits[entry], old.known[entry]),
                        None => (UNKNOWN, PairHistory::NOTHING),
                    };
                    if *limit != UNKNOWN || known.axis != [0.0; 3] {
                        continue;
                    }
                    if let Some(bound) = box_gap(&boxes[row], &boxes[b as usize], row, b, travel) {
                        *limit = travel.limit(row as u32, b, bound.gap);
                        known.axis = bound.axis;
                        known.base = travel.base(row as u32, b, &bound);
                    }
                }
            }
        });
        self.examined.clear();
        self.stray_count = 0;
        self.regrouped.clear();
        self.is_outdated = false;
    }

    /// Whether a pair is on the list.
    pub(crate) fn holds(&self, [a, b]: [u32; 2]) -> bool {
        let row = self.starts[a as usize] as usize..self.starts[a as usize + 1] as usize;
        self.pairs.seconds[row].binary_search(&b).is_ok()
    }

    /// Finds the pairs that may be within `margin`. With `hits_only` only hits count.
    pub(crate) fn scan(&mut self, travel: &Travel<'_>, margin: f64, hits_only: bool) -> ScanResult {
        let Self { firsts, pairs: PairEntries { seconds, limits, known }, last_odometers, .. } = self;
        let (seconds, last_odometers) = (&*seconds, &*last_odometers);
        let tasks = firsts
            .chunks(SCANNED)
            .zip(seconds.chunks(SCANNED))
            .zip(limits.chunks_mut(SCANNED))
            .zip(known.chunks(SCANNED))
            .enumerate()
            .map(|(at, (((firsts, seconds), limits), known))| ScanTask {
                begin: at * SCANNED,
                firsts,
                seconds,
                limits,
                known,
                last_odometers,
            })
            .collect();
        let parts = each(tasks, |task| task.run(travel, margin, hits_only));
        let mut all = ScanResult::default();
        for part in parts {
            all.active.extend(part.active);
            all.asleep.extend(part.asleep);
            all.skipped += part.skipped;
        }
        all
    }
}

/// A task of [`NeighbourList::scan`]: some of the pairs.
struct ScanTask<'a> {
    /// The entry of the first pair.
    begin: usize,
    firsts: &'a [u32],
    seconds: &'a [u32],
    limits: &'a mut [f64],
    known: &'a [PairHistory],
    last_odometers: &'a [f64],
}

impl ScanTask<'_> {
    fn run(self, travel: &Travel<'_>, margin: f64, hits_only: bool) -> ScanResult {
        let mut found = ScanResult::default();
        let Self { begin, firsts, seconds, limits, known, last_odometers } = self;
        let rests = |body: u32| last_odometers.get(body as usize) == Some(&travel.odometers[body as usize]);
        let blocks = firsts.chunks(BLOCK).zip(seconds.chunks(BLOCK));
        for (block, ((firsts, seconds), limits)) in blocks.zip(limits.chunks_mut(BLOCK)).enumerate() {
            // Without a branch, because it could not be predicted.
            let mut used = 0_u32;
            for (k, ((&a, &b), &limit)) in firsts.iter().zip(seconds).zip(&*limits).enumerate() {
                used |= u32::from(!(travel.gone(a, b) + margin < limit)) << k;
            }
            found.skipped += firsts.len() as u64;
            while used != 0 {
                let k = used.trailing_zeros() as usize;
                used &= used - 1;
                let (a, b, limit) = (firsts[k], seconds[k], &mut limits[k]);
                let at = block * BLOCK + k;
                if *limit >= UNKNOWN {
                    // The odometers have used the bound up, but the gap may still be there.
                    let gap = travel.gap(a, b, &known[at]);
                    if gap > margin {
                        *limit = travel.limit(a, b, gap);
                        continue;
                    }
                }
                found.skipped -= 1;
                let entry = [a, (begin + at) as u32];
                let is_asleep = hits_only
                    && is_row(*limit)
                    && (travel.gone(a, b) < DEEP - *limit || (rests(a) && rests(b)));
                if is_asleep { found.asleep.push(entry) } else { found.active.push(entry) }
            }
        }
        found
    }
}

/// The gap between two boxes.
fn box_gap(a: &Aabb, b: &Aabb, row: usize, other: u32, travel: &Travel<'_>) -> Option<Bound> {
    if a.is_plane() || b.is_plane() {
        return None;
    }
    let mut best = Bound { gap: 0.0, axis: [0.0; 3], along: f64::NEG_INFINITY };
    let reach = f64::from(travel.balls[row].reach) + f64::from(travel.balls[other as usize].reach);
    for i in 0..3 {
        let after = f64::from(b.min[i]) - f64::from(a.max[i]);
        let before = f64::from(a.min[i]) - f64::from(b.max[i]);
        let along = after.max(before) - 6e-6 * reach;
        if along * SHRINKING > best.gap {
            let mut axis = [0.0; 3];
            axis[i] = if after > before { 1.0 } else { -1.0 };
            best = Bound { gap: along * SHRINKING, axis, along };
        }
    }
    (best.gap > 0.0).then_some(best)
}

/// Pairs that the caller gave, in their order.
#[derive(Debug, Default)]
pub(crate) struct GivenPairs {
    /// The first body of each pair.
    firsts: Vec<u32>,
    pub(crate) pairs: PairEntries,
}

impl GivenPairs {
    /// Sets all odometers to 0.
    pub(crate) fn rebase(&mut self, odometers: &[f64], turns: &[f64]) {
        let PairEntries { seconds, limits, known } = &mut self.pairs;
        for (((&a, &b), limit), known) in self.firsts.iter().zip(&*seconds).zip(limits).zip(known) {
            let (a, b) = (a as usize, b as usize);
            rebase(limit, known, odometers[a] + odometers[b], turns[a] + turns[b]);
        }
    }

    /// Indices of the pairs that must be examined. An entry belongs to a position in the list: where another pair stands there, the
    /// entry is cleared.
    pub(crate) fn scan(&mut self, pairs: &[[u32; 2]], travel: &Travel<'_>) -> Vec<u32> {
        let Self { firsts, pairs: entries } = self;
        firsts.resize(pairs.len(), 0);
        entries.seconds.resize(pairs.len(), 0);
        entries.limits.resize(pairs.len(), UNKNOWN);
        entries.known.resize(pairs.len(), PairHistory::NOTHING);
        let mut active = Vec::new();
        for (at, &[a, b]) in pairs.iter().enumerate() {
            if [firsts[at], entries.seconds[at]] != [a, b] {
                (firsts[at], entries.seconds[at]) = (a, b);
                entries.forget(at as u32);
            }
            let gone = travel.gone(a, b);
            if gone < entries.limits[at] || gone < DEEP - entries.limits[at] {
                continue;
            }
            // The row returns the axis, so the axis itself must show the gap.
            let [_, gap] = travel.gaps(a, b, &entries.known[at]);
            if entries.limits[at] >= UNKNOWN && gap > 0.0 {
                entries.limits[at] = travel.limit(a, b, gap);
                continue;
            }
            active.push(at as u32);
        }
        active
    }
}
