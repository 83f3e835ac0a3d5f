//! The broad phase on the CPU: all pairs of overlapping boxes, by a tree of eights over the bodies' Morton
//! order.
//!
//! The GPU's twin (`shaders/collide/tree_walk.wgsl`) walks a tree of fours, a row at a time; both return the same pairs in
//! the same order, as boxes are equal bit for bit and compared by the same few operations ([`Aabb::meets`]).
//!
//! Morton codes order the bodies (Morton 1966); eight consecutive bodies make a leaf, eight consecutive nodes
//! the next node up, so the tree is implicit: no pointers, no build beyond the boxes. Each leaf asks the tree
//! for the leaves from itself on, so every pair is met once, and eight boxes are tested at a time. Bodies that do not
//! move have a tree of their own, which is asked after that; half-spaces are in no tree, and every box is held against
//! them.
//!
//! Pairs come out in the order of the leaves. They are sorted in two steps that stay in the cache: each task groups its own
//! by a few thousand rows, then a task for each such group lays its rows out. Where there are too many pairs to hold, rows
//! are counted and then found again one window at a time.

use super::bounds::Aabb;
use super::morton;
use crate::{Error, Result};

/// Boxes in a node.
const WIDTH: usize = 8;
/// Leaves that one task asks for.
const CHUNK: usize = 128;
/// Levels that `WIDTH^LEVELS` needs to pass every 32-bit count of bodies, and one.
const LEVELS: usize = 12;
/// Rows that are laid out together, at least.
const GROUP_ROWS: usize = 1 << 10;
/// Groups of rows, at most.
const GROUP_LIMIT: usize = 256;
/// Rows that one task counts or finds where there is more than one window.
const TASK_ROWS: usize = 256;
/// Pairs that are held at a time.
const WINDOW: usize = 1 << 24;

/// Eight boxes, coordinate by coordinate, so that a test of all eight is a few vector instructions.
#[derive(Debug, Clone, Copy)]
struct Node {
    min: [[f32; WIDTH]; 3],
    max: [[f32; WIDTH]; 3],
}

impl Node {
    /// Eight boxes that overlap nothing.
    const EMPTY: Self = Self { min: [[f32::INFINITY; WIDTH]; 3], max: [[f32::NEG_INFINITY; WIDTH]; 3] };

    fn set(&mut self, lane: usize, aabb: &Aabb) {
        for i in 0..3 {
            self.min[i][lane] = aabb.min[i];
            self.max[i][lane] = aabb.max[i];
        }
    }

    fn get(&self, lane: usize) -> Aabb {
        Aabb::new(self.min.map(|x| x[lane]), self.max.map(|x| x[lane]))
    }

    /// The box around all eight.
    fn union(&self) -> Aabb {
        Aabb::new(
            self.min.map(|x| x.into_iter().fold(f32::INFINITY, f32::min)),
            self.max.map(|x| x.into_iter().fold(f32::NEG_INFINITY, f32::max)),
        )
    }

    /// The boxes with `grow` more on all sides.
    fn grown(&self, grow: f32) -> Self {
        let mut wider = Self::EMPTY;
        for lane in (0..WIDTH).filter(|&lane| self.min[0][lane] <= self.max[0][lane]) {
            wider.set(lane, &self.get(lane).grown(grow));
        }
        wider
    }

    /// Bit `k` is set where box `k` overlaps `aabb`.
    #[inline(always)]
    fn overlaps(&self, aabb: &Aabb) -> u32 {
        let mut hit = [u32::MAX; WIDTH];
        for i in 0..3 {
            for (k, hit) in hit.iter_mut().enumerate() {
                let meets = (self.min[i][k] <= aabb.max[i]) & (aabb.min[i] <= self.max[i][k]);
                *hit &= u32::from(meets).wrapping_neg();
            }
        }
        let mut mask = 0;
        for (k, hit) in hit.iter().enumerate() {
            mask |= hit & (1 << k);
        }
        mask
    }
}

/// The tree: `levels[0]` holds the bodies, eight to a node; a box of `levels[l + 1]` is around a node of
/// `levels[l]`.
#[derive(Debug, Default)]
struct Tree {
    levels: Vec<Vec<Node>>,
    /// The body in each lane of `levels[0]`.
    order: Vec<u32>,
    sorter: morton::Sorter,
}

impl Tree {
    /// Builds it anew, in the memory it has.
    fn rebuild(&mut self, aabbs: &[Aabb]) {
        self.sorter.sort(aabbs, &mut self.order);
        let mut count = aabbs.len().div_ceil(WIDTH);
        let mut depth = 0;
        loop {
            if self.levels.len() == depth {
                self.levels.push(Vec::new());
            }
            self.levels[depth].resize(count, Node::EMPTY);
            let (below, level) = self.levels.split_at_mut(depth);
            let below = below.last();
            let order = &self.order;
            let fill = |(at, nodes): (usize, &mut [Node])| {
                for (k, node) in nodes.iter_mut().enumerate() {
                    let first = (at * TASK_ROWS + k) * WIDTH;
                    *node = Node::EMPTY;
                    match below {
                        None => gather(node, &order[first..order.len().min(first + WIDTH)], aabbs),
                        Some(below) => {
                            let children = &below[first..below.len().min(first + WIDTH)];
                            children
                                .iter()
                                .enumerate()
                                .for_each(|(lane, child)| node.set(lane, &child.union()));
                        }
                    }
                }
            };
            for_each_chunk(&mut level[0], TASK_ROWS, fill);
            depth += 1;
            if count <= 1 {
                self.levels.truncate(depth);
                return;
            }
            count = count.div_ceil(WIDTH);
        }
    }

    /// Calls `leaf(index)` for each leaf, from `first` on, that overlaps `around`.
    #[inline(always)]
    fn visit(&self, around: &Aabb, first: usize, mut leaf: impl FnMut(usize)) {
        if self.order.is_empty() {
            return;
        }
        // Depth first, siblings from the last: at most WIDTH - 1 wait on each level.
        let mut stack = [(0u8, 0u32); WIDTH * LEVELS];
        let mut depth = 1;
        stack[0] = (self.levels.len() as u8 - 1, 0);
        while depth > 0 {
            depth -= 1;
            let (level, index) = stack[depth];
            let (level, index) = (usize::from(level), index as usize);
            if level == 0 {
                // Where there is but one leaf, nobody has asked whether it is wanted.
                if index >= first {
                    leaf(index);
                }
                continue;
            }
            let mut mask = self.levels[level][index].overlaps(around);
            // Children that end before the first leaf asked for.
            let first = first >> (3 * (level - 1));
            mask &= if first >= index * WIDTH + WIDTH {
                0
            } else {
                u32::MAX << first.saturating_sub(index * WIDTH)
            };
            while mask != 0 {
                let lane = 31 - mask.leading_zeros();
                mask ^= 1 << lane;
                stack[depth] = (level as u8 - 1, (index * WIDTH) as u32 + lane);
                depth += 1;
            }
        }
    }

    fn leaf_bodies(&self, leaf: usize) -> &[u32] {
        &self.order[leaf * WIDTH..self.order.len().min(leaf * WIDTH + WIDTH)]
    }
}

fn gather(node: &mut Node, bodies: &[u32], aabbs: &[Aabb]) {
    for (lane, &body) in bodies.iter().enumerate() {
        let aabb = &aabbs[body as usize];
        if !aabb.is_plane() {
            node.set(lane, aabb);
        }
    }
}

/// Bodies that do not move: their boxes, without a margin, and the tree over them.
#[derive(Debug, Default)]
pub(crate) struct Still {
    boxes: Vec<Aabb>,
    planes: Vec<u32>,
    tree: Tree,
}

impl Still {
    pub(crate) fn new(boxes: Vec<Aabb>) -> Self {
        let mut tree = Tree::default();
        tree.rebuild(&boxes);
        let planes = (0..).zip(&boxes).filter(|(_, aabb)| aabb.is_plane()).map(|(id, _)| id).collect();
        Self { boxes, planes, tree }
    }

    /// Ids of the half-spaces.
    pub(crate) fn planes(&self) -> impl Iterator<Item = u32> + '_ {
        self.planes.iter().copied()
    }

    /// Their boxes.
    pub(crate) fn boxes(&self) -> &[Aabb] {
        &self.boxes
    }
}

/// Pairs of one task, and where each group of rows begins in them.
#[derive(Debug, Default)]
struct Found {
    pairs: Vec<[u32; 2]>,
    grouped: Vec<[u32; 2]>,
    starts: Vec<u32>,
}

/// The memory of the broad phase: frame after frame the same.
#[derive(Debug, Default)]
pub(crate) struct Broad {
    /// World boxes of the bodies that move: filled by the caller.
    pub(crate) boxes: Vec<Aabb>,
    planes: Vec<u32>,
    tree: Tree,
    found: Vec<Found>,
    counts: Vec<u32>,
    /// First row that is not handed out yet.
    next_row: usize,
    pairs: Vec<[u32; 2]>,
}

/// One search over all boxes.
#[derive(Clone, Copy)]
struct Search<'a> {
    boxes: &'a [Aabb],
    planes: &'a [u32],
    tree: &'a Tree,
    still: &'a Still,
    /// What the boxes of a mover and a static lack of the margin.
    grow: f32,
    /// Whether any body has groups or a mask that do not meet everything.
    is_grouped: bool,
}

impl Search<'_> {
    fn base(&self) -> u32 {
        self.boxes.len() as u32
    }

    fn accepts(&self, a: u32, b: u32) -> bool {
        !self.is_grouped || self.boxes[a as usize].accepts(&self.boxes[b as usize])
    }

    fn accepts_static(&self, a: u32, b: u32) -> bool {
        !self.is_grouped || self.boxes[a as usize].accepts(&self.still.boxes[b as usize])
    }

    /// Pairs whose first body (in Morton order) lies in the leaves `from..to`.
    #[inline(always)]
    fn leaves(&self, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
        for leaf in from..to {
            let node = &self.tree.levels[0][leaf];
            let bodies = self.tree.leaf_bodies(leaf);
            let around = node.union();
            self.within(node, bodies, pairs);
            self.tree.visit(&around, leaf + 1, |other| {
                self.between(node, bodies, other, &around, pairs);
            });
            if !self.still.boxes.is_empty() {
                let node = &node.grown(self.grow);
                let around = node.union();
                self.still
                    .tree
                    .visit(&around, 0, |other| self.with_static(node, bodies, other, &around, pairs));
            }
            for &body in bodies {
                self.with_planes(body, pairs);
            }
        }
    }

    #[inline(always)]
    fn within(&self, node: &Node, bodies: &[u32], pairs: &mut Vec<[u32; 2]>) {
        for (k, &a) in bodies.iter().enumerate() {
            let mut mask = node.overlaps(&node.get(k)) & (u32::MAX << (k + 1));
            while mask != 0 {
                let b = bodies[mask.trailing_zeros() as usize];
                mask &= mask - 1;
                if self.accepts(a, b) {
                    pairs.push([a.min(b), a.max(b)]);
                }
            }
        }
    }

    #[inline(always)]
    fn between(&self, node: &Node, bodies: &[u32], other: usize, around: &Aabb, pairs: &mut Vec<[u32; 2]>) {
        // Only boxes of the other leaf that reach into the box around this one can meet anything.
        let theirs = &self.tree.levels[0][other];
        let mut lanes = theirs.overlaps(around);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let b = self.tree.order[other * WIDTH + lane];
            let mut mask = node.overlaps(&theirs.get(lane));
            while mask != 0 {
                let a = bodies[mask.trailing_zeros() as usize];
                mask &= mask - 1;
                if self.accepts(a, b) {
                    pairs.push([a.min(b), a.max(b)]);
                }
            }
        }
    }

    #[inline(always)]
    fn with_static(
        &self,
        node: &Node,
        bodies: &[u32],
        other: usize,
        around: &Aabb,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let theirs = &self.still.tree.levels[0][other];
        let mut lanes = theirs.overlaps(around);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let b = self.still.tree.order[other * WIDTH + lane];
            let mut mask = node.overlaps(&theirs.get(lane));
            while mask != 0 {
                let a = bodies[mask.trailing_zeros() as usize];
                mask &= mask - 1;
                if self.accepts_static(a, b) {
                    pairs.push([a, self.base() + b]);
                }
            }
        }
    }

    /// Pairs of a body and the half-spaces; of a half-space and the statics.
    #[inline(always)]
    fn with_planes(&self, body: u32, pairs: &mut Vec<[u32; 2]>) {
        let aabb = &self.boxes[body as usize];
        if aabb.is_plane() {
            for (b, other) in (self.base()..).zip(&self.still.boxes) {
                if aabb.meets(other, self.grow) {
                    pairs.push([body, b]);
                }
            }
            return;
        }
        for &plane in self.planes {
            if aabb.meets(&self.boxes[plane as usize], 0.0) {
                pairs.push([body.min(plane), body.max(plane)]);
            }
        }
        for &plane in &self.still.planes {
            if aabb.meets(&self.still.boxes[plane as usize], self.grow) {
                pairs.push([body, self.base() + plane]);
            }
        }
    }

    /// Calls `found(b)` for each partner `b > a`, in no order.
    fn row(&self, a: u32, mut found: impl FnMut(u32)) {
        let aabb = &self.boxes[a as usize];
        if aabb.is_plane() {
            let movers = (a + 1..).zip(&self.boxes[a as usize + 1..]).map(|(b, other)| (b, other, 0.0));
            let statics = (self.base()..).zip(&self.still.boxes).map(|(b, other)| (b, other, self.grow));
            movers
                .chain(statics)
                .filter(|(_, other, grow)| aabb.meets(other, *grow))
                .for_each(|(b, ..)| found(b));
            return;
        }
        let lanes = |tree: &Tree, query: &Aabb, other: usize, found: &mut dyn FnMut(u32)| {
            let mut lanes = tree.levels[0][other].overlaps(query);
            while lanes != 0 {
                found(tree.order[other * WIDTH + lanes.trailing_zeros() as usize]);
                lanes &= lanes - 1;
            }
        };
        self.tree.visit(aabb, 0, |other| {
            lanes(self.tree, aabb, other, &mut |b| {
                if b > a && self.accepts(a, b) {
                    found(b);
                }
            });
        });
        let wider = aabb.grown(self.grow);
        self.still.tree.visit(&wider, 0, |other| {
            lanes(&self.still.tree, &wider, other, &mut |b| {
                if self.accepts_static(a, b) {
                    found(self.base() + b);
                }
            });
        });
        let movers =
            self.planes.iter().filter(|&&plane| plane > a && aabb.meets(&self.boxes[plane as usize], 0.0));
        movers.for_each(|&plane| found(plane));
        let statics = self.still.planes.iter();
        let statics = statics.filter(|&&plane| aabb.meets(&self.still.boxes[plane as usize], self.grow));
        statics.for_each(|&plane| found(self.base() + plane));
    }
}

/// [`Search::leaves`], compiled for wide registers too.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw",
    "x86_64+avx2",
    "x86_64+avx"
))]
fn pairs_of_leaves(search: &Search<'_>, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
    search.leaves(from, to, pairs);
}

/// Runs `task(index, chunk)` for all chunks of `items`, on all cores where there are threads.
fn for_each_chunk<T: Send>(items: &mut [T], len: usize, task: impl Fn((usize, &mut [T])) + Sync + Send) {
    #[cfg(feature = "threads")]
    {
        use rayon::prelude::*;
        items.par_chunks_mut(len).enumerate().for_each(task);
    }
    #[cfg(not(feature = "threads"))]
    items.chunks_mut(len).enumerate().for_each(task);
}

impl Broad {
    /// Begins a search over `boxes`, those of `still`, and `grow`, half of the margin (which the movers' boxes have).
    pub(crate) fn begin(&mut self, still: &Still, grow: f32) {
        let Self { boxes, planes, tree, .. } = self;
        planes.clear();
        planes.extend((0..).zip(&*boxes).filter(|(_, aabb)| aabb.is_plane()).map(|(id, _)| id));
        tree.rebuild(boxes);
        self.next_row = 0;
        self.pairs.clear();
        if !self.find_all(still, grow) {
            self.count_rows(still, grow);
        }
    }

    /// The next pairs, sorted; none when all have been handed out.
    pub(crate) fn next(&mut self, still: &Still, grow: f32) -> Option<&[[u32; 2]]> {
        if self.next_row >= self.boxes.len() {
            return None;
        }
        if self.counts.is_empty() {
            self.next_row = self.boxes.len();
            return Some(&self.pairs);
        }
        self.find_window(still, grow);
        Some(&self.pairs)
    }

    /// All pairs, where they are few enough to hold.
    fn find_all(&mut self, still: &Still, grow: f32) -> bool {
        use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
        let Self { boxes, planes, tree, found, counts, pairs, .. } = self;
        counts.clear();
        let is_whole = |aabb: &Aabb| aabb.group & aabb.mask == u32::MAX;
        let is_grouped = !boxes.iter().chain(&still.boxes).all(is_whole);
        let search = Search { boxes, planes, tree, still, grow, is_grouped };
        let leaf_count = tree.levels.first().map_or(0, Vec::len);
        found.resize_with(leaf_count.div_ceil(CHUNK), Found::default);
        let rows = boxes.len().div_ceil(GROUP_LIMIT).max(GROUP_ROWS);
        let group_count = boxes.len().div_ceil(rows);
        let held = AtomicUsize::new(0);
        for_each_chunk(found, 1, |(chunk, found)| {
            let Found { pairs, grouped, starts } = &mut found[0];
            pairs.clear();
            let end = leaf_count.min((chunk + 1) * CHUNK);
            for leaf in chunk * CHUNK..end {
                // One leaf more may hold eight times all others.
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
            let part = |found: &'_ Found| found.starts[group] as usize..found.starts[group + 1] as usize;
            let parts = found.iter().map(|found| &found.grouped[part(found)]);
            lay_out(parts, group * rows, rows, out);
        });
        true
    }

    /// How many pairs each row has.
    fn count_rows(&mut self, still: &Still, grow: f32) {
        let Self { boxes, planes, tree, counts, .. } = self;
        self.found.clear();
        let search = Search { boxes, planes, tree, still, grow, is_grouped: true };
        counts.resize(boxes.len(), 0);
        for_each_chunk(counts, TASK_ROWS, |(chunk, counts)| {
            for (a, count) in ((chunk * TASK_ROWS) as u32..).zip(counts) {
                *count = 0;
                search.row(a, |_| *count += 1);
            }
        });
    }

    /// The pairs of as many further rows as a window holds, and of one at least.
    fn find_window(&mut self, still: &Still, grow: f32) {
        let Self { boxes, planes, tree, counts, next_row, pairs, .. } = self;
        let search = Search { boxes, planes, tree, still, grow, is_grouped: true };
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
                search.row(*a, |b| {
                    out[at] = [*a, b];
                    at += 1;
                });
                out.sort_unstable();
            }
        });
    }
}

/// Lays the rows `first..first + rows` out in order: counted, placed, then each row's few sorted.
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

/// Sorts the pairs of a row, which are few.
#[inline]
fn sort_row(row: &mut [[u32; 2]]) {
    if row.len() > 20 {
        row.sort_unstable_by_key(|pair| pair[1]);
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

/// Fails where so many pairs cannot be numbered.
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
    with_statics(aabbs, &Still::default(), 0.0)
}

/// The same with bodies that do not move behind them.
#[cfg(test)]
pub(crate) fn with_statics(aabbs: &[Aabb], still: &Still, grow: f32) -> Vec<[u32; 2]> {
    let mut broad = Broad { boxes: aabbs.to_vec(), ..Broad::default() };
    let mut pairs = Vec::new();
    broad.begin(still, grow);
    while let Some(found) = broad.next(still, grow) {
        pairs.extend_from_slice(found);
    }
    pairs
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::bounds::{EVERYTHING, PLANE, tests::Random};
    use super::*;

    fn cube(middle: [f32; 3], half: f32) -> Aabb {
        Aabb::new(middle.map(|x| x - half), middle.map(|x| x + half))
    }

    fn brute_force(aabbs: &[Aabb]) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        for (a, first) in aabbs.iter().enumerate() {
            for (b, second) in aabbs.iter().enumerate().skip(a + 1) {
                if first.meets(second, 0.0) {
                    pairs.push([a as u32, b as u32]);
                }
            }
        }
        pairs
    }

    /// Scenes of `count` boxes, each with its name.
    pub(crate) fn scenes(count: usize) -> Vec<(&'static str, Vec<Aabb>)> {
        let mut random = Random(7);
        let mut scene = |of: &mut dyn FnMut(usize, &mut Random) -> Aabb| -> Vec<Aabb> {
            (0..count).map(|i| of(i, &mut random)).collect()
        };
        let side = (count as f32).cbrt().ceil().max(1.0) as usize;
        let lattice = |i: usize| [i % side, i / side % side, i / side / side].map(|x| x as f32);
        vec![
            ("coincident", scene(&mut |_, _| cube([1.0, 2.0, 3.0], 0.5))),
            ("points", scene(&mut |i, _| cube([(i / 3) as f32, 0.0, 0.0], 0.0))),
            ("crowd", scene(&mut |_, r| cube([0; 3].map(|_| 10.0 * r.signed()), 0.5 * r.unit()))),
            ("sizes", scene(&mut |_, r| cube([0; 3].map(|_| 100.0 * r.signed()), r.log(1e-5, 50.0)))),
            ("far", scene(&mut |_, r| cube([0; 3].map(|_| 1e6 + 10.0 * r.signed()), r.unit()))),
            ("lattice", scene(&mut |i, _| cube(lattice(i), 0.5))),
            ("plane", scene(&mut |_, r| cube([20.0 * r.signed(), 5.0, 20.0 * r.signed()], 0.5 * r.unit()))),
            ("line", scene(&mut |_, r| cube([0.0, 100.0 * r.signed(), 0.0], r.unit()))),
            (
                "floor",
                scene(&mut |i, r| cube([0; 3].map(|_| 10.0 * r.signed()), if i == 5 { 1e5 } else { 0.1 })),
            ),
            (
                "grouped",
                scene(&mut |i, r| Aabb {
                    group: 1 << (i % 3),
                    mask: if i % 4 == 0 { 5 } else { 6 },
                    ..cube([0; 3].map(|_| 10.0 * r.signed()), r.unit())
                }),
            ),
            (
                "ground",
                scene(&mut |i, r| {
                    let n = [0.0, 1.0, 0.0];
                    if i == 1 || i % 300 == 40 {
                        Aabb { min: [PLANE, n[0], n[1]], max: [-PLANE, n[2], -9.0], ..cube([0.0; 3], 0.0) }
                    } else {
                        cube([0; 3].map(|_| 10.0 * r.signed()), 0.1 + 0.2 * r.unit())
                    }
                }),
            ),
            (
                "one far off",
                scene(&mut |i, r| {
                    let all = cube([0; 3].map(|_| 10.0 * r.signed()), 0.3 * r.unit());
                    if i == 2 { cube([1e18, -1e18, 3.0], 1.0) } else { all }
                }),
            ),
            (
                "everything",
                scene(&mut |i, r| {
                    let all = Aabb::new([-EVERYTHING; 3], [EVERYTHING; 3]);
                    if i % 100 == 3 { all } else { cube([0; 3].map(|_| 1e6 * r.signed()), 1e3) }
                }),
            ),
        ]
    }

    #[test]
    fn candidates_are_those_of_brute_force() {
        for count in [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 511, 512, 513, 700] {
            for (name, aabbs) in scenes(count) {
                assert_eq!(candidates(&aabbs), brute_force(&aabbs), "{name}, {count} bodies");
            }
        }
    }

    #[test]
    fn statics_come_after_the_bodies() {
        let scenes = scenes(900).into_iter().zip(scenes(500).into_iter().rev());
        for ((name, boxes), (other, still)) in scenes {
            let still = Still::new(still);
            for grow in [0.0, 0.25] {
                let mut expected = brute_force(&boxes);
                for (a, first) in (0..).zip(&boxes) {
                    let meets = |second: &&Aabb| first.meets(second, grow);
                    let with = (900..).zip(still.boxes()).filter(|(_, second)| meets(second));
                    expected.extend(with.map(|(b, _)| [a, b]));
                }
                expected.sort_unstable();
                assert!(with_statics(&boxes, &still, grow) == expected, "{name} over {other}, {grow}");
            }
        }
    }

    #[test]
    fn windows_hand_out_the_same_pairs() {
        let still = Still::new(scenes(300)[2].1.clone());
        for (name, boxes) in scenes(700) {
            let expected = with_statics(&boxes, &still, 0.1);
            let mut broad = Broad { boxes, ..Broad::default() };
            broad.begin(&still, 0.1);
            broad.count_rows(&still, 0.1);
            let total: usize = broad.counts.iter().map(|&count| count as usize).sum();
            assert_eq!(total, expected.len(), "{name}");
            let mut pairs = Vec::new();
            while let Some(found) = broad.next(&still, 0.1) {
                pairs.extend_from_slice(found);
            }
            assert!(pairs == expected, "{name}");
        }
    }

    /// 6,000 bodies at one place are 17,997,000 pairs: more than are held at a time.
    #[test]
    fn more_pairs_than_a_window_holds_come_in_several() {
        let boxes = vec![cube([0.0; 3], 1.0); 6_000];
        let mut broad = Broad { boxes, ..Broad::default() };
        let still = Still::default();
        broad.begin(&still, 0.0);
        let (mut windows, mut next) = (0, [0, 0]);
        while let Some(found) = broad.next(&still, 0.0) {
            windows += 1;
            assert!(found.len() <= WINDOW);
            for &pair in found {
                next = if next[1] == 5_999 { [next[0] + 1, next[0] + 2] } else { [next[0], next[1] + 1] };
                assert_eq!(pair, next);
            }
        }
        assert_eq!((windows, next), (2, [5_998, 5_999]));
    }

    #[test]
    fn candidates_of_many_chunks_are_those_of_brute_force() {
        for (name, aabbs) in
            scenes(5_000).into_iter().filter(|(name, _)| *name != "coincident" && *name != "everything")
        {
            assert_eq!(candidates(&aabbs), brute_force(&aabbs), "{name}");
        }
    }
}
