//! The broad phase on the CPU: all pairs of overlapping boxes, by a tree of eights over the bodies' Morton
//! order.
//!
//! The GPU walks a tree of fours instead, a row at a time (`shaders/collide/broad_phase/tree_walk.wgsl`); both return the same pairs in
//! the same order, as boxes are equal bit for bit and compared by the same few operations ([`Aabb::meets`]).
//!
//! Morton codes order the bodies (Morton 1966); eight consecutive bodies make a leaf, eight consecutive nodes
//! the next node up. So the tree is implicit: no pointers, no build beyond the boxes. Each leaf searches the tree from
//! itself on, so every pair is found once, and eight boxes are tested at a time. Statics have a tree of their own, which
//! is searched next. Half-spaces are in no tree: every box is tested against them.
//!
//! Pairs come in the order of the leaves. They are sorted in two steps that stay in the cache: each task groups its pairs by
//! ranges of a few thousand rows, then one task for each range lays out its rows. Where there are too many pairs to hold, rows are
//! counted first, and then found again one window at a time.
//!
//! Small worlds are in no tree either: each is searched by itself (`small_worlds`), and its pairs come in order. Where all worlds are
//! small there is no tree, and nothing to sort.

use crate::collide::broad_phase::search::{TreeSearch, pairs_of_leaves};
use crate::collide::broad_phase::small_worlds::pairs_of_small_worlds;
use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::bvh::tree::WIDTH;
use crate::collide::scene::moving::MovingBoxes;
use crate::collide::scene::rules::PairRules;
use crate::error::{Error, Result};
use crate::order::sort_pairs;
use crate::parallel::{for_each_chunk, for_each_share};
use std::sync::Arc;

/// Leaves that one task searches from.
const CHUNK: usize = 128;
/// Small worlds that one task searches, where there are no others.
const WORLDS: usize = 64;
/// Least number of rows that are laid out together.
const GROUP_ROWS: usize = 1 << 10;
/// Most groups of rows.
const GROUP_LIMIT: usize = 256;
/// Rows in one task where there is more than one window.
const TASK_ROWS: usize = 256;
/// Most pairs that are held at a time.
pub(crate) const WINDOW: usize = 1 << 24;
/// Rows of a sample, and most pairs of each.
const SAMPLE_ROWS: usize = 128;
pub(crate) const SAMPLE_PAIRS: usize = 64;

/// One row of a sample.
#[derive(Debug, Clone, Default)]
pub(crate) struct SampledRow {
    /// How many pairs it has.
    pub(crate) count: usize,
    /// Some of them, evenly spaced.
    pub(crate) pairs: Vec<[u32; 2]>,
}

/// Pairs of one task, and where each group of rows begins in them.
#[derive(Debug, Default)]
struct TaskPairs {
    pairs: Vec<[u32; 2]>,
    grouped: Vec<[u32; 2]>,
    starts: Vec<u32>,
}

/// The broad phase of the CPU engine; its memory is reused from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct BroadPhase {
    /// The bodies that move: their boxes are filled in by the caller, or they are the caller's own.
    pub(crate) movers: Arc<MovingBoxes>,
    /// Which pairs may meet: set by the caller. Worlds put the boxes in their order.
    pub(crate) rules: Arc<PairRules>,
    found: Vec<TaskPairs>,
    counts: Vec<u32>,
    /// Whether there are more pairs than can be held, and rows are not counted yet.
    is_uncounted: bool,
    /// First row that was not returned yet.
    next_row: usize,
    pairs: Vec<[u32; 2]>,
}

/// The row ids of a sample of `count` rows: evenly distributed, always the same, some possibly twice.
pub(crate) fn sample_row_ids(count: usize) -> impl Iterator<Item = u32> {
    let sample_count = if count == 0 { 0 } else { SAMPLE_ROWS as u64 };
    (1..=sample_count).map(move |at| {
        // Multiples of the golden ratio are evenly distributed and match no regular order of the bodies (Knuth 1973).
        let turn = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((u128::from(turn) * count as u128) >> 64) as u32
    })
}

impl BroadPhase {
    /// The boxes of the movers, to be filled in.
    pub(crate) fn boxes(&mut self) -> &mut Vec<Aabb> {
        &mut MovingBoxes::renew(&mut self.movers).boxes
    }

    /// Starts a search over boxes that were filled in, and `static_boxes`. The boxes of the movers are wider by `grow`, half of the margin.
    pub(crate) fn begin(&mut self, static_boxes: &StaticBoxes, grow: f32) {
        MovingBoxes::renew(&mut self.movers).build_for_pairs(&self.rules);
        self.begin_built(static_boxes, grow);
    }

    /// The same over movers whose tree is built.
    pub(crate) fn begin_built(&mut self, static_boxes: &StaticBoxes, grow: f32) {
        self.next_row = 0;
        self.pairs.clear();
        self.is_uncounted = !self.find_all(static_boxes, grow);
    }

    /// Builds a tree over boxes that were filled in, for a query that walks it itself, `walk_count` times.
    pub(crate) fn build_for_walks(&mut self, rules: &PairRules, walk_count: usize) {
        MovingBoxes::renew(&mut self.movers).build_for_walks(rules, walk_count);
    }

    /// Leaves movers to others who have them.
    pub(crate) fn release(&mut self) {
        if Arc::get_mut(&mut self.movers).is_none() {
            self.movers = Arc::default();
        }
    }

    /// The same sample as [`sample`](Self::sample), for a search that runs on the device.
    pub(crate) fn sample_of(
        boxes: Vec<Aabb>,
        rules: &Arc<PairRules>,
        static_boxes: &StaticBoxes,
        grow: f32,
    ) -> Vec<SampledRow> {
        let mut movers = MovingBoxes::default();
        movers.boxes = boxes;
        movers.build_for_pairs(rules);
        let search = Self { movers: Arc::new(movers), rules: Arc::clone(rules), ..Self::default() };
        search.sample_rows(static_boxes, grow)
    }

    /// A sample of rows of the started search; `None` where all pairs could be held.
    pub(crate) fn sample(&self, static_boxes: &StaticBoxes, grow: f32) -> Option<Vec<SampledRow>> {
        self.is_uncounted.then(|| self.sample_rows(static_boxes, grow))
    }

    fn sample_rows(&self, static_boxes: &StaticBoxes, grow: f32) -> Vec<SampledRow> {
        let search = self.search(static_boxes, grow, true);
        let mut rows: Vec<(u32, SampledRow)> =
            sample_row_ids(self.movers.boxes.len()).map(|row| (row, SampledRow::default())).collect();
        for_each_chunk(&mut rows, 1, |(_, row)| {
            let (a, row) = &mut row[0];
            let mut partners = Vec::new();
            search.for_each_partner(*a, |b| partners.push(b));
            let step = partners.len().div_ceil(SAMPLE_PAIRS).max(1);
            row.count = partners.len();
            row.pairs.extend(partners.iter().step_by(step).map(|&b| [*a, b]));
        });
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The next window of pairs, sorted; `None` after the last.
    pub(crate) fn next(&mut self, static_boxes: &StaticBoxes, grow: f32) -> Option<&[[u32; 2]]> {
        if self.next_row >= self.movers.boxes.len() {
            return None;
        }
        if std::mem::take(&mut self.is_uncounted) {
            self.count_rows(static_boxes, grow);
        }
        if self.counts.is_empty() {
            self.next_row = self.movers.boxes.len();
            return Some(&self.pairs);
        }
        self.find_window(static_boxes, grow);
        Some(&self.pairs)
    }

    /// Calls `found(b)` for each body and each static that meets a box, in no order. The search must have been started.
    pub(crate) fn for_each_overlap(
        &self,
        static_boxes: &StaticBoxes,
        grow: f32,
        aabb: &Aabb,
        found: &mut dyn FnMut(u32),
    ) {
        let movers = 0..self.movers.boxes.len() as u32;
        self.search(static_boxes, grow, true).for_each_overlap(aabb, movers, found);
    }

    fn search<'a>(&'a self, static_boxes: &'a StaticBoxes, grow: f32, is_limited: bool) -> TreeSearch<'a> {
        let (MovingBoxes { boxes, planes, .. }, tree) = (&*self.movers, self.movers.tree());
        TreeSearch { boxes, rules: &self.rules, planes, tree, static_boxes, grow, is_limited }
    }

    /// Finds all pairs; `false` where they are too many to hold.
    fn find_all(&mut self, static_boxes: &StaticBoxes, grow: f32) -> bool {
        use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
        let Self { movers, rules, found, counts, pairs, .. } = self;
        let MovingBoxes { boxes, planes, is_limited, .. } = &**movers;
        let tree = movers.tree();
        counts.clear();
        let is_limited = *is_limited || static_boxes.is_limited || rules.has_filter();
        let search = TreeSearch { boxes, rules, planes, tree, static_boxes, grow, is_limited };
        let held = AtomicUsize::new(0);
        if rules.has_small_worlds_only() {
            found.resize_with(rules.world_count().div_ceil(WORLDS), TaskPairs::default);
            for_each_chunk(found, 1, |(task, found)| {
                let pairs = &mut found[0].pairs;
                pairs.clear();
                let worlds = task * WORLDS..rules.world_count().min((task + 1) * WORLDS);
                pairs_of_small_worlds(&search, worlds, WINDOW.saturating_sub(held.load(Relaxed)), pairs);
                held.fetch_add(pairs.len(), Relaxed);
            });
            if held.into_inner() > WINDOW {
                return false;
            }
            join(found, pairs);
            return true;
        }
        let leaf_count = tree.levels.first().map_or(0, Vec::len);
        found.resize_with(leaf_count.div_ceil(CHUNK), TaskPairs::default);
        let rows = boxes.len().div_ceil(GROUP_LIMIT).max(GROUP_ROWS);
        let group_count = boxes.len().div_ceil(rows);
        for_each_chunk(found, 1, |(chunk, found)| {
            let TaskPairs { pairs, grouped, starts } = &mut found[0];
            pairs.clear();
            let end = leaf_count.min((chunk + 1) * CHUNK);
            if rules.has_worlds() {
                // Those that begin in these leaves.
                let first =
                    |leaf: usize| rules.starts.partition_point(|&start| (start as usize) < leaf * WIDTH);
                let worlds = first(chunk * CHUNK)..first(end).min(rules.world_count());
                pairs_of_small_worlds(&search, worlds, WINDOW.saturating_sub(held.load(Relaxed)), pairs);
            }
            for leaf in chunk * CHUNK..end {
                // One leaf alone may have eight times as many pairs as there are bodies.
                if held.load(Relaxed) + pairs.len() > WINDOW {
                    break;
                }
                pairs_of_leaves(&search, leaf, leaf + 1, pairs);
            }
            held.fetch_add(pairs.len(), Relaxed);
            starts.clear();
            starts.resize(group_count + 1, 0);
            pairs.iter().for_each(|pair| starts[pair[0] as usize / rows + 1] += 1);
            (0..group_count).for_each(|group| starts[group + 1] += starts[group]);
            grouped.resize(pairs.len(), [0; 2]);
            let mut ends = [0; GROUP_LIMIT + 1];
            ends[..=group_count].copy_from_slice(starts);
            for &pair in pairs.iter() {
                let end = &mut ends[pair[0] as usize / rows];
                grouped[*end as usize] = pair;
                *end += 1;
            }
        });
        if held.into_inner() > WINDOW {
            return false;
        }
        let group_len = |group: usize| {
            found.iter().map(move |found| (found.starts[group + 1] - found.starts[group]) as usize)
        };
        pairs.resize(found.iter().map(|found| found.grouped.len()).sum(), [0; 2]);
        let mut rest = &mut pairs[..];
        let mut groups: Vec<(usize, &mut [[u32; 2]])> = Vec::with_capacity(group_count);
        for group in 0..group_count {
            let (first, after) = rest.split_at_mut(group_len(group).sum());
            rest = after;
            groups.push((group, first));
        }
        let found = &*found;
        for_each_chunk(&mut groups, 1, |(_, group)| {
            let (group, out) = &mut group[0];
            let group = *group;
            let part = |found: &'_ TaskPairs| found.starts[group] as usize..found.starts[group + 1] as usize;
            let parts = found.iter().map(|found| &found.grouped[part(found)]);
            lay_out(parts, group * rows, rows, out);
        });
        true
    }

    /// Counts the pairs of each row.
    fn count_rows(&mut self, static_boxes: &StaticBoxes, grow: f32) {
        let Self { movers, rules, counts, .. } = self;
        self.found.clear();
        let (MovingBoxes { boxes, planes, .. }, tree) = (&**movers, movers.tree());
        let search = TreeSearch { boxes, rules, planes, tree, static_boxes, grow, is_limited: true };
        counts.resize(boxes.len(), 0);
        for_each_chunk(counts, TASK_ROWS, |(chunk, counts)| {
            for (a, count) in ((chunk * TASK_ROWS) as u32..).zip(counts) {
                *count = 0;
                search.for_each_partner(a, |_| *count += 1);
            }
        });
    }

    /// Finds the pairs of as many further rows as a window holds, but of at least one.
    fn find_window(&mut self, static_boxes: &StaticBoxes, grow: f32) {
        let Self { movers, rules, counts, next_row, pairs, .. } = self;
        let (MovingBoxes { boxes, planes, .. }, tree) = (&**movers, movers.tree());
        let search = TreeSearch { boxes, rules, planes, tree, static_boxes, grow, is_limited: true };
        let begin = *next_row;
        let mut len = 0;
        while *next_row < counts.len() && (*next_row == begin || len + counts[*next_row] as usize <= WINDOW) {
            len += counts[*next_row] as usize;
            *next_row += 1;
        }
        pairs.resize(len, [0; 2]);
        let mut rest = &mut pairs[..];
        let mut rows: Vec<(u32, &mut [[u32; 2]])> = Vec::with_capacity(*next_row - begin);
        for row in begin..*next_row {
            let (first, after) = rest.split_at_mut(counts[row] as usize);
            rest = after;
            rows.push((row as u32, first));
        }
        for_each_chunk(&mut rows, TASK_ROWS, |(_, rows)| {
            for (a, out) in rows {
                let mut at = 0;
                search.for_each_partner(*a, |b| {
                    out[at] = [*a, b];
                    at += 1;
                });
                sort_pairs(out);
            }
        });
    }
}

/// Joins the pairs of all tasks, which are in order.
fn join(found: &[TaskPairs], pairs: &mut Vec<[u32; 2]>) {
    pairs.resize(found.iter().map(|found| found.pairs.len()).sum(), [0; 2]);
    let mut rest = &mut pairs[..];
    let mut parts = Vec::with_capacity(found.len());
    for TaskPairs { pairs, .. } in found {
        let (first, after) = rest.split_at_mut(pairs.len());
        rest = after;
        parts.push((first, &pairs[..]));
    }
    for_each_share(parts, 8, |(to, from)| to.copy_from_slice(from));
}

/// Lays out the rows `first..first + rows` in order: counts, places, then sorts each short row.
fn lay_out<'a>(
    parts: impl Iterator<Item = &'a [[u32; 2]]> + Clone,
    first: usize,
    rows: usize,
    out: &mut [[u32; 2]],
) {
    let mut ends = vec![0u32; rows + 1];
    for pair in parts.clone().flatten() {
        ends[pair[0] as usize - first + 1] += 1;
    }
    for row in 0..rows {
        ends[row + 1] += ends[row];
    }
    for &pair in parts.flatten() {
        let end = &mut ends[pair[0] as usize - first];
        out[*end as usize] = pair;
        *end += 1;
    }
    let mut begin = 0;
    for end in &ends[..rows] {
        sort_row(&mut out[begin..*end as usize]);
        begin = *end as usize;
    }
}

/// Sorts the pairs of a row, mostly few.
#[inline]
fn sort_row(row: &mut [[u32; 2]]) {
    if row.len() > 20 {
        sort_pairs(row);
        return;
    }
    for i in 1..row.len() {
        let pair = row[i];
        let mut hole = i;
        while hole > 0 && row[hole - 1][1] > pair[1] {
            row[hole] = row[hole - 1];
            hole -= 1;
        }
        row[hole] = pair;
    }
}

/// Fails where 32 bits cannot number the pairs.
pub(crate) fn check_total(total: u64) -> Result<()> {
    let limit = u64::from(u32::MAX);
    if total > limit {
        return Err(Error::TooMany { what: "candidate pairs", count: total, limit });
    }
    Ok(())
}

/// All pairs `[a, b]`, `a < b`, that meet, sorted by `a`, then `b`.
#[cfg(test)]
pub(crate) fn candidates(aabbs: &[Aabb]) -> Vec<[u32; 2]> {
    with_statics(aabbs, &StaticBoxes::default(), 0.0)
}

/// The same with statics behind the bodies.
#[cfg(test)]
pub(crate) fn with_statics(aabbs: &[Aabb], static_boxes: &StaticBoxes, grow: f32) -> Vec<[u32; 2]> {
    let mut broad = BroadPhase::default();
    *broad.boxes() = aabbs.to_vec();
    let mut pairs = Vec::new();
    broad.begin(static_boxes, grow);
    while let Some(found) = broad.next(static_boxes, grow) {
        pairs.extend_from_slice(found);
    }
    pairs
}

#[cfg(test)]
pub(crate) mod tests;
