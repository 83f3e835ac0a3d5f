//! Boxes eight at a time, and the implicit tree over them.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::morton;
use crate::collide::bvh::packing;
use crate::parallel::for_each_chunk;
use std::ops::Range;

/// Nodes that one task builds.
pub(super) const TASK_NODES: usize = 256;

/// Boxes in a node.
pub(crate) const WIDTH: usize = 8;
/// Most levels: `WIDTH^LEVELS` exceeds every 32-bit count of bodies, with one level to spare.
pub(super) const LEVELS: usize = 12;

/// Eight boxes, coordinate by coordinate, so that a test of all eight is a few vector instructions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(super) min: [[f32; WIDTH]; 3],
    pub(super) max: [[f32; WIDTH]; 3],
}

impl Node {
    /// Eight boxes that overlap nothing.
    const EMPTY: Self = Self { min: [[f32::INFINITY; WIDTH]; 3], max: [[f32::NEG_INFINITY; WIDTH]; 3] };

    /// Up to eight boxes in their lanes.
    pub(crate) fn of(boxes: &[Aabb]) -> Self {
        let mut node = Self::EMPTY;
        boxes.iter().take(WIDTH).enumerate().for_each(|(lane, aabb)| node.set(lane, aabb));
        node
    }

    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, aabb: &Aabb) {
        for i in 0..3 {
            self.min[i][lane] = aabb.min[i];
            self.max[i][lane] = aabb.max[i];
        }
    }

    /// The box of a body: a half-space has a lane of its leaf, and no box.
    #[inline(always)]
    pub(super) fn set_body(&mut self, lane: usize, aabb: &Aabb) {
        if aabb.is_plane() {
            self.set(lane, &Aabb::new([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]));
        } else {
            self.set(lane, aabb);
        }
    }

    #[inline(always)]
    pub(crate) fn get(&self, lane: usize) -> Aabb {
        Aabb::new(self.min.map(|x| x[lane]), self.max.map(|x| x[lane]))
    }

    /// Some of the boxes, in their lanes.
    #[inline(always)]
    pub(crate) fn only(&self, lanes: Range<usize>) -> Self {
        let mut part = *self;
        for lane in (0..WIDTH).filter(|lane| !lanes.contains(lane)) {
            part.set(lane, &Aabb::new([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]));
        }
        part
    }

    /// The box around all eight.
    #[inline(always)]
    pub(crate) fn union(&self) -> Aabb {
        // By halves, four lanes at a time: one by one they are a chain of eight comparisons, and took half of what building a level takes.
        let less = |a: f32, b: f32| if a < b { a } else { b };
        let greater = |a: f32, b: f32| if a > b { a } else { b };
        Aabb::new(self.min.map(|x| folded(x, less)), self.max.map(|x| folded(x, greater)))
    }

    /// The boxes with `grow` more on all sides.
    pub(crate) fn grown(&self, grow: f32) -> Self {
        let mut wider = Self::EMPTY;
        for lane in (0..WIDTH).filter(|&lane| self.min[0][lane] <= self.max[0][lane]) {
            wider.set(lane, &self.get(lane).grown(grow));
        }
        wider
    }

    /// Bit `k` is set where box `k` overlaps `aabb`.
    #[inline(always)]
    pub(crate) fn overlaps(&self, aabb: &Aabb) -> u32 {
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

/// Eight numbers folded by halves.
#[inline(always)]
fn folded(x: [f32; WIDTH], fold: impl Fn(f32, f32) -> f32) -> f32 {
    let four = [0, 1, 2, 3].map(|k| fold(x[k], x[k + 4]));
    fold(fold(four[0], four[2]), fold(four[1], four[3]))
}

/// What a traversal does with a leaf. A trait, because a closure is compiled apart, without the vector registers of the function that
/// makes it.
pub(crate) trait Visit {
    /// Called for each leaf that the traversal reaches.
    fn leaf(&mut self, leaf: usize);
}

/// The tree: `levels[0]` holds the bodies, eight to a node; a box of `levels[l + 1]` is around a node of
/// `levels[l]`.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) levels: Vec<Vec<Node>>,
    /// The body in each lane of `levels[0]`.
    pub(crate) order: Vec<u32>,
    sorter: morton::Sorter,
}

impl Clone for Tree {
    /// Without the memory of the sorter.
    fn clone(&self) -> Self {
        Self { levels: self.levels.clone(), order: self.order.clone(), sorter: morton::Sorter::default() }
    }
}

impl Tree {
    /// Rebuilds the tree in the memory that it has.
    pub(crate) fn rebuild(&mut self, aabbs: &[Aabb]) {
        self.rebuild_groups(aabbs, &[], 0);
    }

    /// The same where groups of ids keep their places, and those of up to `kept` ids their order: see [`morton::Sorter::sort`].
    pub(crate) fn rebuild_groups(&mut self, aabbs: &[Aabb], starts: &[u32], kept: usize) {
        self.sorter.sort(aabbs, starts, kept, &mut self.order);
        self.build_levels(aabbs);
    }

    /// Rebuilds the tree over an order that takes longer to find, and is walked in half as many steps: see [`packing`].
    pub(crate) fn rebuild_packed(&mut self, aabbs: &[Aabb]) {
        packing::pack(aabbs, WIDTH, &mut self.order);
        self.build_levels(aabbs);
    }

    /// Packs the bodies in some ranges of places among themselves, and leaves the levels as they are: see [`packing::pack_ranges`].
    pub(super) fn pack_ranges(&mut self, aabbs: &[Aabb], ranges: &[Range<usize>]) {
        packing::pack_ranges(aabbs, WIDTH, ranges, &mut self.order);
    }

    /// Builds the levels over the order.
    pub(super) fn build_levels(&mut self, aabbs: &[Aabb]) {
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
                    let first = (at * TASK_NODES + k) * WIDTH;
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
            for_each_chunk(&mut level[0], TASK_NODES, fill);
            depth += 1;
            if count <= 1 {
                self.levels.truncate(depth);
                return;
            }
            count = count.div_ceil(WIDTH);
        }
    }

    /// Visits each leaf, from `first` on, that overlaps `query`.
    #[inline(always)]
    pub(crate) fn visit(&self, query: &Aabb, first: usize, visitor: &mut impl Visit) {
        self.visit_range(query, first, usize::MAX, visitor);
    }

    /// Visits each leaf, from `first` on and before `end`, that overlaps `query`.
    #[inline(always)]
    pub(crate) fn visit_range(&self, query: &Aabb, first: usize, end: usize, visitor: &mut impl Visit) {
        if self.order.is_empty() {
            return;
        }
        // Depth first, siblings from the last: at most WIDTH - 1 of each level are on the stack.
        let mut stack = [(0u8, 0u32); WIDTH * LEVELS];
        let mut depth = 1;
        stack[0] = (self.levels.len() as u8 - 1, 0);
        while depth > 0 {
            depth -= 1;
            let (level, index) = stack[depth];
            let (level, index) = (usize::from(level), index as usize);
            if level == 0 {
                // A tree of a single leaf has no level above that would have checked `first`.
                if index >= first && index < end {
                    visitor.leaf(index);
                }
                continue;
            }
            let mut mask = self.levels[level][index].overlaps(query);
            // Skips children that end before `first`.
            let first = first >> (3 * (level - 1));
            mask &= if first >= index * WIDTH + WIDTH {
                0
            } else {
                u32::MAX << first.saturating_sub(index * WIDTH)
            };
            // And those that begin at `end` or after it.
            let last = (end - 1) >> (3 * (level - 1));
            if last < index * WIDTH + WIDTH {
                mask &= 0xff >> (index * WIDTH + WIDTH - 1 - last);
            }
            while mask != 0 {
                let lane = 31 - mask.leading_zeros();
                mask ^= 1 << lane;
                stack[depth] = (level as u8 - 1, (index * WIDTH) as u32 + lane);
                depth += 1;
            }
        }
    }

    pub(crate) fn leaf_bodies(&self, leaf: usize) -> &[u32] {
        &self.order[leaf * WIDTH..self.order.len().min(leaf * WIDTH + WIDTH)]
    }
}

/// Appends the bodies of a tree whose boxes overlap `query`.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn bodies_within(tree: &Tree, query: &Aabb, bodies: &mut Vec<u32>) {
    tree.visit(query, 0, &mut Within { tree, query, bodies });
}

struct Within<'a> {
    tree: &'a Tree,
    query: &'a Aabb,
    bodies: &'a mut Vec<u32>,
}

impl Visit for Within<'_> {
    #[inline(always)]
    fn leaf(&mut self, leaf: usize) {
        // A half-space has a lane of its leaf, and no box.
        let mut mask = self.tree.levels[0][leaf].overlaps(self.query);
        while mask != 0 {
            self.bodies.push(self.tree.order[leaf * WIDTH + mask.trailing_zeros() as usize]);
            mask &= mask - 1;
        }
    }
}

fn gather(node: &mut Node, bodies: &[u32], aabbs: &[Aabb]) {
    for (lane, &body) in bodies.iter().enumerate() {
        node.set_body(lane, &aabbs[body as usize]);
    }
}
