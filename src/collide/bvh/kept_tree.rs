//! A tree that is kept from query to query, while some of its bodies move.
//!
//! Bodies keep their places in the order, and what lies around them is refitted. So boxes grow and overlap, and queries visit more nodes: after a
//! while a new order costs less than the old one. What is done is a function of the boxes and of what was said to have moved, never of time or of
//! the number of threads. It affects speed only, never a result.
//!
//! # When a new order pays
//! Let a query visit `1 + g` times as many nodes as it did when the order was new. An update adds `g`, what the next query loses, to what queries
//! have lost so far. The order is made anew when they have lost what that costs. Where `g` grows steadily, no other moment is better: with `r` the
//! cost of a new order, over `t` updates the mean of both costs is `r / t + g' t / 2`, least where `g' t² / 2 = r`.
//!
//! `g` of the whole tree is measured: the nodes that the boxes of a sample of bodies visit. `g` of a subtree is worked out from areas, which single
//! out the subtrees whose bodies have mixed among themselves. Those are packed again each by itself, in the places that they have.
//!
//! # What was measured
//! With one thread, 1,000 to 300,000 boxes in a cube (crowded or sparse) and on a plane. All shares are of one search for all pairs in a fresh tree.
//!
//! | what | share |
//! |---|---|
//! | the whole order anew | 0.45 to 2, mostly 1 |
//! | the boxes of all levels | 0.03 to 0.27 |
//! | a refit of one body in 10, in 100, in 1,000 | 0.03 to 0.25, 0.01 to 0.05, 0.002 to 0.03 |
//!
//! How many times as long a search for pairs, a ray and a box take with the old order of up to 100,000 boxes, and as many nodes the sample visits:
//!
//! | movement | pairs | rays | boxes | sample |
//! |---|---|---|---|---|
//! | all step by a tenth of a body at random, 16 times | 1.0 to 1.1 | 1.0 to 1.2 | 1.0 to 1.1 | 1.0 to 1.15 |
//! | 64 times | 1.1 to 1.6 | 1.0 to 1.7 | 1.0 to 1.3 | 1.1 to 1.5 |
//! | 256 times | 1.2 to 2.3 | 1.1 to 2.2 | 1.1 to 2.0 | 1.4 to 2.4 |
//! | halves stream past each other, 16 times | 1.3 to 1.7 | 1.4 to 2.2 | 1.5 to 2.0 | 1.4 to 2.4 |
//! | 64 times | 1.7 to 2.8 | 1.6 to 2.7 | 1.5 to 3.0 | 1.8 to 3.3 |
//! | one body is put elsewhere, 16 times | 1.0 to 1.5 | 1.3 to 2.0 | 1.2 to 1.7 | 1.4 to 2.5 |
//! | 64 times | 1.5 to 2.9 | 2.7 to 4.6 | 1.8 to 3.4 | 2.5 to 6.1 |
//! | all are exchanged at random | 10 to 1,200 | 9 to 1,100 | 5 to 760 | 12 to 1,200 |
//! | one in 20, in a corner, walk about, 256 times | 1.02 to 1.1 | 1.03 to 1.1 | 1.01 to 1.1 | 1.05 to 1.12 |
//!
//! In the last line the costs of the subtrees in the corner doubled. Updates and searches of 100 such steps took in all 0.5 to 0.8 of what they take
//! with a Morton order made anew each time, 0.6 to 0.95 of what they take with a packed one, and 0.9 to 1.15 where all are exchanged each time.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::refit::StaleLanes;
use crate::collide::bvh::tree::{Tree, WIDTH};
use crate::collide::bvh::tree_cost::{Query, visit_count};
use std::ops::Range;

/// A subtree that is packed by itself is one below a node of this level. One of 4,096 bodies was no better than one of 512.
const SUBTREE_LEVEL: usize = 2;
/// Places of such a subtree.
const SUBTREE_LEN: usize = WIDTH.pow(SUBTREE_LEVEL as u32 + 1);
/// What queries may lose before the whole order is made anew, in queries: what it costs, by the nodes that the sample visits, which grow by half as
/// much again as a search's time, or twice as much. Updates and searches took the same in all, to a tenth, with 1 to 3; with 0.3 up to half more.
const REBUILD_LOSS: f64 = 1.5;
/// The same for the order of one subtree. With 0.2 subtrees of a crowd that walks at random were packed all the time, for nothing; from 0.5 to 3 the
/// sums were equal to a tenth. In a corner that is stirred, whole orders were saved.
const REPACK_LOSS: f64 = 1.5;
/// Where at least one in so many bodies moved, the levels are built as if all had. Scattered, one in ten take as long to refit as all levels to
/// build, one in five half as long again; neighbours take less.
const LEVELS_SHARE: usize = 6;
/// Bodies of the sample.
const SAMPLE: usize = 64;
/// As many of it tell whether a few moves did harm.
const FEW_SAMPLE: usize = 8;
/// At most one in so many bodies are a few.
const FEW_SHARE: usize = 64;

/// What an update did, apart from the boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reorder {
    /// All bodies kept their places.
    None,
    /// So many subtrees were packed again, each by itself.
    Subtrees(usize),
    /// The order is new.
    Whole,
}

/// What has become of an order since it was new.
#[derive(Debug, Clone, Copy, Default)]
struct Wear {
    /// The cost of a query when the order was new.
    fresh: f64,
    /// By what share of it a query costs more now.
    growth: f64,
    /// What queries have lost so far, one query an update.
    loss: f64,
}

impl Wear {
    /// A new order. Costs below 1 are no measure of growth.
    fn new(cost: f64) -> Self {
        Self { fresh: cost.max(1.0), growth: 0.0, loss: 0.0 }
    }

    /// `cost` is that of a query now, `fresh` what it was.
    fn measure(&mut self, cost: f64, fresh: f64) {
        self.growth = (cost / fresh - 1.0).max(0.0);
    }

    fn lose(&mut self) {
        self.loss += self.growth;
    }
}

/// A tree in packed order (see [`packing`](super::packing)) over boxes that the caller keeps. It is refitted, and rebuilt in part or whole when
/// that costs less than queries lose.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptTree {
    tree: Tree,
    /// Where groups of ids begin, and where the last ends; empty without groups.
    starts: Vec<u32>,
    /// Groups of up to so many ids keep their order.
    kept: usize,
    /// The place of each body in the order; empty where nobody has asked since the order was new.
    place_of: Vec<u32>,
    stale: StaleLanes,
    sample: Vec<Sampled>,
    /// By the nodes that the sample visits.
    wear: Wear,
    /// The nodes that the few first of the sample visited when the order was new.
    few_fresh: f64,
    subtrees: Vec<Wear>,
}

/// A body of the sample, and the places of its group.
#[derive(Debug, Clone)]
struct Sampled {
    body: u32,
    group: Range<usize>,
}

impl KeptTree {
    /// The tree over some boxes. Groups of ids keep their places, and those of up to `kept` ids their order: see [`Tree::rebuild_groups`].
    pub(crate) fn new(aabbs: &[Aabb], starts: &[u32], kept: usize) -> Self {
        let mut tree = Self::default();
        tree.rebuild(aabbs, starts, kept);
        tree
    }

    /// The tree as [`new`](Self::new) makes it, in the memory that this one has: where bodies come or go.
    pub(crate) fn rebuild(&mut self, aabbs: &[Aabb], starts: &[u32], kept: usize) {
        let count = aabbs.len();
        self.starts.clear();
        self.starts.extend(starts);
        self.kept = kept;
        self.tree.order.clear();
        self.tree.order.extend(0..count as u32);
        self.sample.clear();
        for number in 1..=SAMPLE.min(count) as u64 {
            // Multiples of the golden ratio are evenly distributed, few or many, and match no regular order of the bodies (Knuth 1973).
            let turn = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let body = ((u128::from(turn) * count as u128) >> 64) as u32;
            let group = self.group_of(body as usize);
            if group.len() > kept {
                self.sample.push(Sampled { body, group });
            }
        }
        self.reorder(aabbs);
    }

    /// The tree. Its boxes are those of the last update.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Takes over the boxes of the bodies that moved: `moved` names each whose box is another one than at the last update, and may name others.
    /// There are as many boxes as before. A body may become a half-space, or cease to be one. What pays is worked out as if a search for all pairs
    /// followed each update.
    pub(crate) fn update(&mut self, aabbs: &[Aabb], moved: &[u32]) -> Reorder {
        debug_assert_eq!(aabbs.len(), self.tree.order.len(), "bodies come and go with `rebuild`");
        if self.wear.loss >= REBUILD_LOSS {
            self.reorder(aabbs);
            return Reorder::Whole;
        }
        let worn: Vec<usize> =
            (0..self.subtrees.len()).filter(|&at| self.subtrees[at].loss >= REPACK_LOSS).collect();
        if !moved.is_empty() || !worn.is_empty() {
            let touched = self.take_over(aabbs, moved, &worn);
            for at in touched {
                let subtree = &mut self.subtrees[at];
                subtree.measure(self.tree.surface_cost(SUBTREE_LEVEL, at), subtree.fresh);
            }
            for &at in &worn {
                self.subtrees[at] = Wear::new(self.tree.surface_cost(SUBTREE_LEVEL, at));
            }
            self.measure(aabbs, moved.len() * FEW_SHARE <= aabbs.len() && worn.is_empty());
            // The next query alone loses more than an order costs: it is not asked.
            if self.wear.growth >= REBUILD_LOSS {
                self.reorder(aabbs);
                return Reorder::Whole;
            }
        }
        self.wear.lose();
        self.subtrees.iter_mut().for_each(Wear::lose);
        if worn.is_empty() { Reorder::None } else { Reorder::Subtrees(worn.len()) }
    }

    /// Packs the worn subtrees and refits the tree. Returns the subtrees that hold a body that moved.
    fn take_over(&mut self, aabbs: &[Aabb], moved: &[u32], worn: &[usize]) -> Vec<usize> {
        let mut packed = Vec::new();
        for &at in worn {
            self.push_ranges(at * SUBTREE_LEN..aabbs.len().min((at + 1) * SUBTREE_LEN), &mut packed);
        }
        self.tree.pack_ranges(aabbs, &packed);
        if moved.len() * LEVELS_SHARE >= aabbs.len() {
            if !packed.is_empty() {
                self.place_of.clear();
            }
            self.tree.build_levels(aabbs);
            return (0..self.subtrees.len()).collect();
        }
        self.find_places(&packed);
        packed.into_iter().for_each(|places| self.stale.mark_range(places));
        for &body in moved {
            debug_assert!((body as usize) < aabbs.len(), "{body} is no body");
            if let Some(&place) = self.place_of.get(body as usize) {
                self.stale.mark(place as usize);
            }
        }
        let is_touched = |&at: &usize| !self.stale.is_fresh(at * SUBTREE_LEN..(at + 1) * SUBTREE_LEN);
        let touched = (0..self.subtrees.len()).filter(is_touched).collect();
        self.tree.refit(aabbs, &mut self.stale);
        touched
    }

    /// Fills in the places of the bodies: of all where they are not known, else of those in some places.
    fn find_places(&mut self, changed: &[Range<usize>]) {
        let Self { place_of, tree, .. } = self;
        let note = |places: Range<usize>, place_of: &mut [u32]| {
            for (place, &body) in (places.start as u32..).zip(&tree.order[places]) {
                place_of[body as usize] = place;
            }
        };
        if place_of.is_empty() {
            place_of.resize(tree.order.len(), 0);
            note(0..tree.order.len(), place_of);
        } else {
            changed.iter().for_each(|places| note(places.clone(), place_of));
        }
    }

    /// Makes the order anew, from the one that there is.
    fn reorder(&mut self, aabbs: &[Aabb]) {
        let mut ranges = Vec::new();
        self.push_ranges(0..aabbs.len(), &mut ranges);
        self.tree.pack_ranges(aabbs, &ranges);
        self.tree.build_levels(aabbs);
        self.place_of.clear();
        self.stale.fit(&self.tree);
        self.wear = Wear::new(self.visit_count(aabbs, SAMPLE, u32::MAX));
        self.few_fresh = self.visit_count(aabbs, FEW_SAMPLE, u32::MAX).max(1.0);
        // A tree that is one subtree has none.
        let is_larger = self.tree.levels.len() > SUBTREE_LEVEL + 1;
        let count = if is_larger { self.tree.levels[SUBTREE_LEVEL].len() } else { 0 };
        self.subtrees.clear();
        let fresh = (0..count).map(|at| Wear::new(self.tree.surface_cost(SUBTREE_LEVEL, at)));
        self.subtrees.extend(fresh);
    }

    /// Measures the growth of what the sample visits; after a few moves by a few bodies.
    fn measure(&mut self, aabbs: &[Aabb], is_few: bool) {
        let (count, fresh) = if is_few { (FEW_SAMPLE, self.few_fresh) } else { (SAMPLE, self.wear.fresh) };
        // Beyond, the order is made anew whatever the rest visits.
        let most = ((1.0 + REBUILD_LOSS) * fresh).ceil() as u32 + 1;
        self.wear.measure(self.visit_count(aabbs, count, most), fresh);
    }

    /// The nodes that some of the sample visit, or `most`.
    fn visit_count(&self, aabbs: &[Aabb], count: usize, most: u32) -> f64 {
        let query = |sampled: &Sampled| (aabbs[sampled.body as usize], sampled.group.clone());
        let queries: Vec<Query> = self.sample.iter().take(count).map(query).collect();
        f64::from(visit_count(&self.tree, &queries, most))
    }

    /// The places of the group that has a place.
    fn group_of(&self, place: usize) -> Range<usize> {
        let after = self.starts.partition_point(|&start| start as usize <= place);
        match (after.checked_sub(1).and_then(|at| self.starts.get(at)), self.starts.get(after)) {
            (Some(&start), Some(&end)) => start as usize..end as usize,
            _ => 0..self.tree.order.len(),
        }
    }

    /// Appends the ranges of some places whose bodies may change them among themselves.
    fn push_ranges(&self, places: Range<usize>, ranges: &mut Vec<Range<usize>>) {
        let mut at = places.start;
        while at < places.end {
            let group = self.group_of(at);
            let end = group.end.min(places.end);
            if group.len() > self.kept {
                ranges.push(at..end);
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::bvh::aabb::PLANE;
    use crate::collide::bvh::near_first::{BodyVisit, BoxPoint, SlabRay};
    use crate::collide::bvh::tree::{Visit, bodies_within};
    use crate::collide::scene::bounds::tests::Random;

    const SIZES: [usize; 9] = [0, 1, 7, 8, 9, 64, 65, 513, 5_000];
    /// Side of the room that bodies of side 1 are in.
    const ROOM: f32 = 20.0;

    fn somewhere(random: &mut Random) -> Aabb {
        let low = [0; 3].map(|_| ROOM * random.unit());
        Aabb::new(low, low.map(|x| x + 0.5 + random.unit()))
    }

    fn half_space(random: &mut Random) -> Aabb {
        let mut plane = Aabb::new([PLANE, 0.0, 1.0], [-PLANE, 0.0, ROOM * random.unit()]);
        plane.group = 1;
        plane
    }

    /// Worlds of all lengths, some of them empty.
    fn groups(count: usize) -> Vec<u32> {
        let mut starts = vec![0];
        for len in [3, 0, 20, 1, 700, 9, 64].into_iter().cycle() {
            let end = starts[starts.len() - 1] as usize;
            if end == count && starts.len() > 1 {
                return starts;
            }
            starts.push(count.min(end + len) as u32);
        }
        starts
    }

    /// Whether each lane of each level is the box around what lies below it, worked out from the boxes of the bodies one by one.
    fn is_exact(tree: &Tree, aabbs: &[Aabb]) -> bool {
        let counts = std::iter::successors(Some(aabbs.len().div_ceil(WIDTH)), |&count| {
            (count > 1).then(|| count.div_ceil(WIDTH))
        });
        tree.levels.iter().map(Vec::len).eq(counts)
            && tree.levels.iter().zip(0..).all(|(nodes, level)| {
                let width = WIDTH.pow(level);
                (0..nodes.len() * WIDTH).all(|lane| {
                    let below = lane * width..(lane + 1) * width;
                    let bodies = &tree.order[below.start.min(aabbs.len())..below.end.min(aabbs.len())];
                    let mut around = Aabb::new([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
                    let boxes = bodies.iter().map(|&body| &aabbs[body as usize]);
                    for aabb in boxes.filter(|aabb| !aabb.is_plane()) {
                        for axis in 0..3 {
                            around.min[axis] = around.min[axis].min(aabb.min[axis]);
                            around.max[axis] = around.max[axis].max(aabb.max[axis]);
                        }
                    }
                    nodes[lane / WIDTH].get(lane % WIDTH) == around
                })
            })
    }

    /// Each group has its own places.
    fn check_order(tree: &Tree, starts: &[u32], kept: usize) {
        let whole = [0, tree.order.len() as u32];
        for ends in if starts.is_empty() { &whole } else { starts }.windows(2) {
            let mut ids = tree.order[ends[0] as usize..ends[1] as usize].to_vec();
            if ids.len() > kept {
                ids.sort_unstable();
            }
            assert!(ids.into_iter().eq(ends[0]..ends[1]));
        }
    }

    struct Leaves(Vec<usize>);

    impl Visit for Leaves {
        fn leaf(&mut self, leaf: usize) {
            self.0.push(leaf);
        }
    }

    struct Within(f32, Vec<u32>);

    impl BodyVisit for Within {
        fn limit(&self) -> f32 {
            self.0
        }

        fn body(&mut self, body: u32) {
            self.1.push(body);
        }
    }

    /// Queries find what a look at each box finds.
    fn check_queries(tree: &Tree, aabbs: &[Aabb], random: &mut Random) {
        for _ in 0..5 {
            let query = somewhere(random);
            let mut expected: Vec<u32> = (0..)
                .zip(aabbs)
                .filter(|(_, aabb)| !aabb.is_plane() && aabb.overlaps(&query))
                .map(|(body, _)| body)
                .collect();
            let mut found = Vec::new();
            bodies_within(tree, &query, &mut found);
            found.sort_unstable();
            assert_eq!(found, expected);
            let mut leaves = Leaves(Vec::new());
            tree.visit(&query, 0, &mut leaves);
            let reached: Vec<u32> =
                leaves.0.iter().flat_map(|&leaf| tree.leaf_bodies(leaf)).copied().collect();
            assert!(expected.iter().all(|body| reached.contains(body)));
            // Distances from a point, in f64; what is as far as the limit is left open.
            let (point, limit) = (query.min, 3.0);
            let off = |aabb: &Aabb, axis: usize| {
                let [min, max, x] = [aabb.min[axis], aabb.max[axis], point[axis]].map(f64::from);
                (min - x).max(x - max).max(0.0)
            };
            let mut near = Within(limit as f32, Vec::new());
            tree.near_first(&BoxPoint(point), None, &mut near);
            for (body, aabb) in (0..).zip(aabbs).filter(|(_, aabb)| !aabb.is_plane()) {
                let distance: f64 = (0..3).map(|axis| off(aabb, axis).powi(2)).sum::<f64>().sqrt();
                let is_clear = (distance - limit).abs() > 1e-4;
                assert!(!is_clear || near.1.contains(&body) == (distance < limit), "{body} {distance}");
            }
            // A ray through the middle of a box meets it.
            if let Some(target) = expected.pop() {
                let target_box = &aabbs[target as usize];
                let line = [0, 1, 2].map(|axis| {
                    0.5 * (f64::from(target_box.min[axis]) + f64::from(target_box.max[axis])) + 50.0
                });
                let length = line.iter().map(|x| x * x).sum::<f64>().sqrt();
                let mut met = Within(f32::INFINITY, Vec::new());
                tree.near_first(&SlabRay::new([-50.0; 3], line, length), None, &mut met);
                assert!(met.1.contains(&target));
            }
        }
    }

    fn nudge(aabb: &mut Aabb, step: f32, random: &mut Random) {
        for axis in 0..3 {
            let by = step * random.signed();
            aabb.min[axis] += by;
            aabb.max[axis] += by;
        }
    }

    /// One update's moves, of one kind or another.
    fn moves(boxes: &mut [Aabb], kind: u64, random: &mut Random) -> Vec<u32> {
        let count = boxes.len() as u64;
        let share = [1, 0, 2, 9, 40][kind as usize % 5];
        let mut moved: Vec<u32> = match share {
            0 => vec![(random.bits() % count) as u32],
            _ => (0..count as u32).filter(|_| random.bits().is_multiple_of(share)).collect(),
        };
        for &body in &moved {
            let aabb = &mut boxes[body as usize];
            match random.bits() % 16 {
                0 => *aabb = half_space(random),
                1 => *aabb = somewhere(random),
                _ if aabb.is_plane() => *aabb = somewhere(random),
                _ => nudge(aabb, [0.05, 3.0][kind as usize % 2], random),
            }
        }
        // Some that did not move, some twice.
        moved.extend((0..3).map(|_| (random.bits() % count) as u32));
        moved
    }

    #[test]
    fn updates_leave_an_exact_tree() {
        let mut random = Random(31);
        let mut reorders = [0; 3];
        for count in SIZES {
            for (starts, kept) in [(Vec::new(), 0), (groups(count), 0), (groups(count), 9)] {
                let mut boxes: Vec<Aabb> = (0..count).map(|_| somewhere(&mut random)).collect();
                let mut kept_tree = KeptTree::new(&boxes, &starts, kept);
                for step in 0..30 {
                    let moved = if count == 0 { Vec::new() } else { moves(&mut boxes, step, &mut random) };
                    let reorder = kept_tree.update(&boxes, &moved);
                    reorders[match reorder {
                        Reorder::None => 0,
                        Reorder::Subtrees(_) => 1,
                        Reorder::Whole => 2,
                    }] += 1;
                    assert!(is_exact(kept_tree.tree(), &boxes), "{count} {step} {reorder:?}");
                    check_order(kept_tree.tree(), &starts, kept);
                    if step % 6 == 0 {
                        check_queries(kept_tree.tree(), &boxes, &mut random);
                    }
                }
            }
        }
        assert!(reorders[0] > 100 && reorders[2] > 10, "{reorders:?}");
    }

    /// So many moves that tasks share them, and not so many that the levels are built.
    #[test]
    fn tasks_share_what_moved() {
        let mut random = Random(37);
        for count in [65_600, 80_003] {
            let mut boxes: Vec<Aabb> = (0..count).map(|_| somewhere(&mut random)).collect();
            let mut kept_tree = KeptTree::new(&boxes, &[], 0);
            for share in [6, 7, 8] {
                let moved: Vec<u32> = (0..count as u32).filter(|body| body % share == share - 1).collect();
                for &body in &moved {
                    nudge(&mut boxes[body as usize], 0.2, &mut random);
                }
                assert_eq!(kept_tree.update(&boxes, &moved), Reorder::None);
                assert!(moved.len() * LEVELS_SHARE < count || share == 6);
                assert!(is_exact(kept_tree.tree(), &boxes), "{count} {share}");
            }
        }
    }

    /// Every subtree is packed, whatever its loss, with groups that begin and end within it.
    #[test]
    fn a_subtree_is_packed_in_its_own_places() {
        let mut random = Random(32);
        let mut checked = 0;
        for count in [4_097, 5_000, 9_001] {
            for starts in [Vec::new(), groups(count)] {
                let mut boxes: Vec<Aabb> = (0..count).map(|_| somewhere(&mut random)).collect();
                let mut kept_tree = KeptTree::new(&boxes, &starts, 3);
                for step in 0..12 {
                    // Bodies of two subtrees are exchanged at random, each with others of its own.
                    let last = kept_tree.subtrees.len() - 1;
                    let worn = [step % last, last];
                    let mut moved = Vec::new();
                    for at in worn {
                        let places = at * SUBTREE_LEN..count.min((at + 1) * SUBTREE_LEN);
                        let bodies = &kept_tree.tree.order[places];
                        for &body in bodies {
                            let other = bodies[random.bits() as usize % bodies.len()];
                            boxes.swap(body as usize, other as usize);
                        }
                        moved.extend(bodies);
                        kept_tree.subtrees[at].loss = REPACK_LOSS;
                    }
                    let before = kept_tree.tree.order.clone();
                    let cost = |tree: &KeptTree| tree.tree.surface_cost(SUBTREE_LEVEL, worn[0]);
                    let mut refitted = kept_tree.clone();
                    worn.iter().for_each(|&at| refitted.subtrees[at].loss = 0.0);
                    refitted.update(&boxes, &moved);
                    let reorder = kept_tree.update(&boxes, &moved);
                    if reorder == Reorder::Whole || refitted.tree.order != before {
                        continue;
                    }
                    assert!(matches!(reorder, Reorder::Subtrees(1 | 2)));
                    assert!(is_exact(kept_tree.tree(), &boxes) && is_exact(refitted.tree(), &boxes));
                    check_order(kept_tree.tree(), &starts, 3);
                    for (place, (old, new)) in before.iter().zip(&kept_tree.tree.order).enumerate() {
                        assert!(old == new || worn.contains(&(place / SUBTREE_LEN)));
                    }
                    assert!(before != kept_tree.tree.order);
                    let costs = (cost(&refitted), cost(&kept_tree));
                    assert!(!starts.is_empty() || costs.0 > 2.0 * costs.1, "{costs:?}");
                    checked += 1;
                    check_queries(kept_tree.tree(), &boxes, &mut random);
                }
            }
        }
        assert!(checked >= 20, "{checked}");
    }

    /// The check of the boxes finds a body that moved without a call of `refit` for it.
    #[test]
    fn a_move_without_a_refit_is_found() {
        let mut random = Random(33);
        for count in SIZES {
            for at in (0..count).step_by(count.div_ceil(7).max(1)) {
                let mut boxes: Vec<Aabb> = (0..count).map(|_| somewhere(&mut random)).collect();
                let mut kept_tree = KeptTree::new(&boxes, &[], 0);
                boxes[at] = boxes[at].grown(1e-3);
                assert!(!is_exact(kept_tree.tree(), &boxes));
                let others: Vec<u32> = (0..count as u32).filter(|&body| body != at as u32).collect();
                // Where all levels are built, all boxes are read.
                let few = &others[..others.len() / 8];
                kept_tree.update(&boxes, few);
                assert!(!is_exact(kept_tree.tree(), &boxes) || few.len() * LEVELS_SHARE >= count);
                kept_tree.update(&boxes, &[at as u32]);
                assert!(is_exact(kept_tree.tree(), &boxes));
            }
        }
    }

    /// Each kind of movement, and what is done about it.
    #[test]
    fn a_worn_order_is_made_anew() {
        let mut random = Random(34);
        let count = 5_000;
        let first: Vec<Aabb> = (0..count).map(|_| somewhere(&mut random)).collect();
        let all: Vec<u32> = (0..count as u32).collect();
        let fresh = |boxes: &[Aabb]| KeptTree::new(boxes, &[], 0).visit_count(boxes, SAMPLE, u32::MAX);

        // Nothing moves, or all as one.
        let (mut boxes, mut kept_tree) = (first.clone(), KeptTree::new(&first, &[], 0));
        for step in 0..100 {
            boxes.iter_mut().for_each(|aabb| {
                aabb.min[0] += 0.25;
                aabb.max[0] += 0.25;
            });
            let reorder = kept_tree.update(&boxes, &all);
            assert_eq!((reorder, kept_tree.update(&boxes, &[])), (Reorder::None, Reorder::None), "{step}");
        }

        // All are exchanged: at once.
        let (mut boxes, mut kept_tree) = (first.clone(), KeptTree::new(&first, &[], 0));
        (0..count).for_each(|at| boxes.swap(at, random.bits() as usize % count));
        assert_eq!(kept_tree.update(&boxes, &all), Reorder::Whole);
        assert_eq!(kept_tree.wear.growth, 0.0);

        // One is put elsewhere, again and again.
        let (mut boxes, mut kept_tree) = (first.clone(), KeptTree::new(&first, &[], 0));
        let mut wholes = 0;
        for _ in 0..200 {
            let body = random.bits() as usize % count;
            boxes[body] = somewhere(&mut random);
            wholes += usize::from(kept_tree.update(&boxes, &[body as u32]) == Reorder::Whole);
            let visited = kept_tree.visit_count(&boxes, SAMPLE, u32::MAX);
            assert!(visited < 2.5 * fresh(&boxes), "{visited}");
        }
        assert!((5..100).contains(&wholes), "{wholes}");

        // One that is put elsewhere and stays: queries lose a little, and in the end as much as an order costs.
        let (mut boxes, mut kept_tree) = (first.clone(), KeptTree::new(&first, &[], 0));
        let body = (0..count).find(|&at| boxes[at].max[0] < 2.0).unwrap();
        nudge(&mut boxes[body], 0.0, &mut random);
        (boxes[body].min[0], boxes[body].max[0]) = (ROOM - 1.0, ROOM);
        assert_eq!(kept_tree.update(&boxes, &[body as u32]), Reorder::None);
        let growth = kept_tree.wear.growth;
        assert!(growth < 0.5, "{growth}");
        let worn = (1..1000).find(|_| kept_tree.update(&boxes, &[]) == Reorder::Whole);
        assert_eq!(worn.is_some(), growth > 0.0);

        // Some of a corner walk about: their subtrees are packed, and the whole hardly ever.
        let (mut boxes, mut kept_tree) = (first.clone(), KeptTree::new(&first, &[], 0));
        let (mut packed, mut wholes) = (0, 0);
        for _ in 0..150 {
            let in_corner = |aabb: &Aabb| (0..3).all(|axis| aabb.min[axis] < 0.4 * ROOM);
            let moved: Vec<u32> =
                all.iter().copied().filter(|&body| in_corner(&boxes[body as usize])).collect();
            for &body in &moved {
                let mut walked = boxes[body as usize];
                nudge(&mut walked, 0.3, &mut random);
                if in_corner(&walked) && (0..3).all(|axis| walked.min[axis] > 0.0) {
                    boxes[body as usize] = walked;
                }
            }
            match kept_tree.update(&boxes, &moved) {
                Reorder::None => {}
                Reorder::Subtrees(count) => packed += count,
                Reorder::Whole => wholes += 1,
            }
        }
        assert!(packed > wholes, "{packed} {wholes}");
    }

    /// What is done is a function of the boxes: the same again, and on a copy.
    #[test]
    fn a_copy_goes_the_same_way() {
        let mut random = Random(35);
        let mut boxes: Vec<Aabb> = (0..5_000).map(|_| somewhere(&mut random)).collect();
        let mut kept_tree = KeptTree::new(&boxes, &[], 0);
        for step in 0..20 {
            let moved = moves(&mut boxes, step, &mut random);
            let mut copy = kept_tree.clone();
            assert_eq!(copy.update(&boxes, &moved), kept_tree.update(&boxes, &moved));
            assert!(copy.tree.order == kept_tree.tree.order && is_exact(copy.tree(), &boxes));
        }
    }

    /// Bodies come and go.
    #[test]
    fn a_rebuilt_tree_is_as_a_new_one() {
        let mut random = Random(36);
        let mut kept_tree = KeptTree::default();
        for count in [700, 5_000, 0, 9, 5_000, 64] {
            let mut boxes: Vec<Aabb> = (0..count).map(|_| somewhere(&mut random)).collect();
            let starts = if count == 9 { groups(count) } else { Vec::new() };
            kept_tree.rebuild(&boxes, &starts, 0);
            assert!(kept_tree.tree.order == KeptTree::new(&boxes, &starts, 0).tree.order);
            assert!(is_exact(kept_tree.tree(), &boxes));
            if count > 0 {
                let moved = moves(&mut boxes, 3, &mut random);
                kept_tree.update(&boxes, &moved);
                assert!(is_exact(kept_tree.tree(), &boxes));
            }
        }
    }
}
