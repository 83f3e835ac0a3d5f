//! Pairs and what is known of them.

use super::super::bounds::Aabb;
use super::super::status::Status;
use super::{Last, Look, TASK, each};

/// The limit of a pair of which nothing is known; those of rows lie below it, those of bounds above 0.
pub(super) const UNKNOWN: f64 = -1.0;
/// The limits of pairs that were touching or penetrating when they were last looked at.
const TOUCHING: f64 = -2.0;
const PENETRATING: f64 = -3.0;
/// The limit of a pair that is penetrating until its odometers' sum is `limit` is this less it.
const DEEP: f64 = -8.0;

/// Whether a limit is that of a pair that was a row in the last frame.
#[inline(always)]
pub(super) fn is_row(limit: f64) -> bool {
    limit < UNKNOWN
}

/// What is known of pairs, one entry each.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The second body of each pair.
    pub(super) seconds: Vec<u32>,
    /// Sum of both bodies' odometers up to which the pair is apart, or what was found instead.
    pub(super) limits: Vec<f64>,
    /// Unit vector from the first to the second body, world frame, along which a gap was last seen; 0 if never.
    pub(super) axes: Vec<[f32; 3]>,
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.limits.len()
    }

    #[inline(always)]
    pub(super) fn second(&self, entry: u32) -> u32 {
        self.seconds[entry as usize]
    }

    pub(super) fn set(&mut self, entry: u32, limit: f64, axis: [f32; 3]) {
        self.limits[entry as usize] = limit;
        self.axes[entry as usize] = axis;
    }

    pub(super) fn set_row(&mut self, entry: u32, status: Status) {
        let limit = match status {
            Status::Separated => UNKNOWN,
            Status::Touching => TOUCHING,
            Status::Penetrating => PENETRATING,
        };
        self.limits[entry as usize] = limit;
    }

    /// Notes that a pair penetrates until the sum of its odometers comes to `limit`.
    pub(super) fn set_deep(&mut self, entry: u32, limit: f64) {
        // Towards zero depth: beside the constant a short length loses digits.
        self.limits[entry as usize] = (DEEP - limit).next_up();
    }

    /// The status of a pair that was a row.
    pub(super) fn status(&self, entry: u32) -> Status {
        if self.limits[entry as usize] == TOUCHING { Status::Touching } else { Status::Penetrating }
    }
}

/// A limit after both odometers were set to 0.
fn rebased(limit: f64, gone: f64) -> f64 {
    if limit >= 0.0 {
        let left = (limit - gone) * (1.0 - 4.0 * f64::EPSILON);
        // Not a number where a body has gone infinitely far.
        if left > 0.0 { left } else { UNKNOWN }
    } else if limit <= DEEP {
        let left = (DEEP - limit - gone) * (1.0 - 4.0 * f64::EPSILON);
        if left > 0.0 { (DEEP - left).next_up() } else { PENETRATING }
    } else {
        limit
    }
}

/// The list of neighbours: pairs sorted by `(a, b)`, a row for each first body.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// Where each row begins, and the end.
    starts: Vec<u32>,
    pub(super) pairs: NearEntries,
    /// The odometer of each body at which it leaves its widened box.
    pub(super) limits: Vec<f64>,
    /// The widened boxes.
    pub(super) boxes: Vec<Aabb>,
    /// The odometers in the last frame that used the list.
    pub(super) seen: Vec<f64>,
    /// `[a, entry]` of the pairs that the last frame looked at.
    pub(super) examined: Vec<[u32; 2]>,
}

/// The entries, with the first body of each.
#[derive(Debug, Default)]
pub(super) struct NearEntries {
    firsts: Vec<u32>,
    entries: Entries,
}

impl std::ops::Deref for NearEntries {
    type Target = Entries;
    fn deref(&self) -> &Entries {
        &self.entries
    }
}

impl std::ops::DerefMut for NearEntries {
    fn deref_mut(&mut self) -> &mut Entries {
        &mut self.entries
    }
}

impl NearEntries {
    /// The entry of a body's row as something to look at.
    pub(super) fn look(&self, a: u32, entry: u32) -> Look {
        let at = entry as usize;
        let last = match self.limits[at] {
            limit if limit >= UNKNOWN => Last::Apart,
            TOUCHING => Last::Touching,
            _ => Last::Penetrating,
        };
        Look { pair: [a, self.seconds[at]], axis: self.axes[at], last }
    }

    pub(super) fn rebase(&mut self, odometers: &[f64]) {
        let Self { firsts, entries } = self;
        for ((&a, &b), limit) in firsts.iter().zip(&entries.seconds).zip(&mut entries.limits) {
            *limit = rebased(*limit, odometers[a as usize] + odometers[b as usize]);
        }
    }
}

/// What a walk over the list found, `[a, entry]` each, in order.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// Pairs that must be looked at.
    pub(super) active: Vec<[u32; 2]>,
    /// Rows of the last frame of which neither body has moved.
    pub(super) asleep: Vec<[u32; 2]>,
    /// Pairs that are apart for sure.
    pub(super) skipped: u64,
}

impl Near {
    /// Takes another list, and from the old one what is known of the pairs in both.
    pub(super) fn renew(&mut self, pairs: &[[u32; 2]], margins: Vec<f64>, boxes: Vec<Aabb>) {
        let body_count = margins.len();
        let mut new = NearEntries {
            firsts: pairs.iter().map(|pair| pair[0]).collect(),
            entries: Entries {
                seconds: pairs.iter().map(|pair| pair[1]).collect(),
                limits: vec![UNKNOWN; pairs.len()],
                axes: vec![[0.0; 3]; pairs.len()],
            },
        };
        let old = &self.pairs;
        let mut at = 0;
        for (entry, pair) in pairs.iter().enumerate() {
            while at < old.len() && [old.firsts[at], old.seconds[at]] < *pair {
                at += 1;
            }
            if at < old.len() && [old.firsts[at], old.seconds[at]] == *pair {
                new.entries.limits[entry] = old.limits[at];
                new.entries.axes[entry] = old.axes[at];
            }
        }
        let mut starts = vec![0; body_count + 1];
        for pair in pairs {
            starts[pair[0] as usize + 1] += 1;
        }
        for row in 0..body_count {
            starts[row + 1] += starts[row];
        }
        let seen = std::mem::take(&mut self.seen);
        *self = Self { starts, pairs: new, limits: margins, boxes, seen, examined: Vec::new() };
    }

    /// Whether a pair is on the list.
    pub(super) fn holds(&self, [a, b]: [u32; 2]) -> bool {
        let row = self.starts[a as usize] as usize..self.starts[a as usize + 1] as usize;
        self.pairs.seconds[row].binary_search(&b).is_ok()
    }

    /// Walks over all pairs.
    pub(super) fn scan(&self, odometers: &[f64]) -> Scanned {
        let row_count = self.starts.len().saturating_sub(1);
        let rows = (0..row_count).step_by(TASK).collect();
        let parts =
            each(rows, |first: usize| self.scan_rows(first..(first + TASK).min(row_count), odometers));
        let mut all = Scanned::default();
        for part in parts {
            all.active.extend(part.active);
            all.asleep.extend(part.asleep);
            all.skipped += part.skipped;
        }
        all
    }

    fn scan_rows(&self, rows: std::ops::Range<usize>, odometers: &[f64]) -> Scanned {
        let mut found = Scanned::default();
        let rests = |body: usize| self.seen.get(body) == Some(&odometers[body]);
        for a in rows {
            let gone = odometers[a];
            let range = self.starts[a] as usize..self.starts[a + 1] as usize;
            let (seconds, limits) = (&self.pairs.seconds[range.clone()], &self.pairs.limits[range.clone()]);
            for (at, (&b, &limit)) in seconds.iter().zip(limits).enumerate() {
                if gone + odometers[b as usize] < limit {
                    found.skipped += 1;
                    continue;
                }
                let entry = [a as u32, (range.start + at) as u32];
                let is_deep = gone + odometers[b as usize] < DEEP - limit;
                if is_deep || (is_row(limit) && rests(a) && rests(b as usize)) {
                    found.asleep.push(entry);
                } else {
                    found.active.push(entry);
                }
            }
        }
        found
    }
}

/// Pairs that the caller gave, in their order.
#[derive(Debug, Default)]
pub(super) struct Given {
    pub(super) pairs: GivenEntries,
}

/// The entries, with the first body of each.
pub(super) type GivenEntries = NearEntries;

impl Given {
    /// Indices of the pairs that must be looked at. What is known belongs to a place in the list: a pair that stands
    /// where another one stood is unknown.
    pub(super) fn scan(&mut self, pairs: &[[u32; 2]], odometers: &[f64]) -> Vec<u32> {
        let NearEntries { firsts, entries } = &mut self.pairs;
        firsts.resize(pairs.len(), 0);
        entries.seconds.resize(pairs.len(), 0);
        entries.limits.resize(pairs.len(), UNKNOWN);
        entries.axes.resize(pairs.len(), [0.0; 3]);
        let mut active = Vec::new();
        for (at, pair) in pairs.iter().enumerate() {
            if [firsts[at], entries.seconds[at]] != *pair {
                [firsts[at], entries.seconds[at]] = *pair;
                entries.limits[at] = UNKNOWN;
                entries.axes[at] = [0.0; 3];
            }
            let gone = odometers[pair[0] as usize] + odometers[pair[1] as usize];
            if !(gone < entries.limits[at] || gone < DEEP - entries.limits[at]) {
                active.push(at as u32);
            }
        }
        active
    }
}
