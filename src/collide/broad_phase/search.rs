//! Searches of the trees: the pairs of some leaves, and the partners of one box.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::bvh::tree::{Node, Tree, Visit, WIDTH};
use crate::collide::scene::rules::PairRules;
use std::ops::Range;

/// Up to so many leaves of a world are tested one by one, without a walk of the tree.
const FEW_LEAVES: usize = 8;

/// One search over all boxes.
#[derive(Clone, Copy)]
pub(crate) struct TreeSearch<'a> {
    pub(crate) boxes: &'a [Aabb],
    pub(crate) rules: &'a PairRules,
    /// Ids of the half-spaces, ascending.
    pub(crate) planes: &'a [u32],
    pub(crate) tree: &'a Tree,
    pub(crate) static_boxes: &'a StaticBoxes,
    /// Half of the margin: statics' boxes are not widened, so pairs with them are tested with this much more.
    pub(crate) grow: f32,
    /// Whether any body has a group or a mask that excludes others, or rules exclude pairs of one world.
    pub(crate) is_limited: bool,
}

impl TreeSearch<'_> {
    pub(super) fn base(&self) -> u32 {
        self.boxes.len() as u32
    }

    #[inline(always)]
    pub(super) fn accepts(&self, a: u32, b: u32) -> bool {
        !self.is_limited
            || (self.boxes[a as usize].accepts(&self.boxes[b as usize]) && self.rules.allows(a, b))
    }

    fn accepts_static(&self, a: u32, b: u32) -> bool {
        !self.is_limited
            || (self.boxes[a as usize].accepts(&self.static_boxes.boxes[b as usize])
                && self.rules.allows(a, self.base() + b))
    }

    /// The movers in the world of a mover.
    fn world_of(&self, a: u32) -> Range<u32> {
        self.rules.begin_of(a)..self.rules.end_of(a, self.base())
    }

    /// The half-spaces among some movers.
    pub(super) fn planes_in(&self, movers: &Range<u32>) -> &[u32] {
        let place = |id: u32| self.planes.partition_point(|&plane| plane < id);
        if self.planes.is_empty() { &[] } else { &self.planes[place(movers.start)..place(movers.end)] }
    }

    /// Pairs whose first body (in Morton order) lies in the leaves `from..to`, but for those of small worlds.
    #[inline(always)]
    fn leaves(&self, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
        for leaf in from..to {
            let node = &self.tree.levels[0][leaf];
            let bodies = self.tree.leaf_bodies(leaf);
            if self.rules.has_worlds() {
                self.pairs_of_worlds(leaf, node, bodies, pairs);
                continue;
            }
            let leaf_box = node.union();
            self.pairs_in_leaf(node, 0..bodies.len(), bodies, pairs);
            self.tree.visit(
                &leaf_box,
                leaf + 1,
                &mut PairsWithLeaf { search: self, node, bodies, leaf_box: &leaf_box, pairs },
            );
            self.pairs_with_statics(node, bodies, pairs);
            for &body in bodies {
                self.pairs_with_planes(body, pairs);
            }
        }
    }

    /// Pairs of the movers of a node, of which `bodies` are the ids, and statics that are no half-spaces.
    #[inline(always)]
    pub(super) fn pairs_with_statics(&self, node: &Node, bodies: &[u32], pairs: &mut Vec<[u32; 2]>) {
        if !self.static_boxes.boxes.is_empty() {
            pairs_with_statics(self, node, bodies, pairs);
        }
    }

    /// Pairs of the movers of a leaf with those after them in their worlds, and with statics and half-spaces. A world's bodies lie in the
    /// places that their ids number. Small worlds are left out.
    #[inline(always)]
    fn pairs_of_worlds(&self, leaf: usize, node: &Node, bodies: &[u32], pairs: &mut Vec<[u32; 2]>) {
        let begin = leaf * WIDTH;
        let mut first = 0;
        while first < bodies.len() {
            let world_end = self.rules.end_of(bodies[first], self.base()) as usize;
            let lanes = first..bodies.len().min(world_end - begin);
            let own = first;
            first = lanes.end;
            if self.rules.is_in_small_world(bodies[own]) {
                continue;
            }
            if lanes.len() > 1 {
                self.pairs_in_leaf(node, lanes.clone(), bodies, pairs);
            }
            let part;
            let node = if lanes.len() == WIDTH {
                node
            } else {
                part = node.only(lanes.clone());
                &part
            };
            self.pairs_with_statics(node, bodies, pairs);
            for &body in &bodies[lanes] {
                self.pairs_with_planes(body, pairs);
            }
            if world_end <= begin + WIDTH {
                continue;
            }
            // The world goes on behind this leaf, and may end within one.
            let leaf_box = &node.union();
            let (next, whole) = (leaf + 1, world_end / WIDTH);
            let mut visitor = PairsWithLeaf { search: self, node, bodies, leaf_box, pairs };
            if whole <= next + FEW_LEAVES {
                (next..whole).for_each(|other| visitor.leaf(other));
            } else {
                self.tree.visit_range(leaf_box, next, whole, &mut visitor);
            }
            if !world_end.is_multiple_of(WIDTH) {
                let lanes = 0..world_end % WIDTH;
                self.pairs_with_leaf(node, bodies, whole, lanes, leaf_box, pairs);
            }
        }
    }

    /// Pairs of some bodies of a leaf.
    #[inline(always)]
    fn pairs_in_leaf(&self, node: &Node, lanes: Range<usize>, bodies: &[u32], pairs: &mut Vec<[u32; 2]>) {
        for k in lanes.clone() {
            let a = bodies[k];
            let mut mask =
                node.overlaps(&node.get(k)) & (u32::MAX << (k + 1)) & (0xff >> (WIDTH - lanes.end));
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
    fn pairs_with_leaf(
        &self,
        node: &Node,
        bodies: &[u32],
        other: usize,
        lanes: Range<usize>,
        leaf_box: &Aabb,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        // Only boxes of the other leaf that overlap the box around this leaf can be partners.
        let other_node = &self.tree.levels[0][other];
        let mut lanes = other_node.overlaps(leaf_box) & (0xff >> (WIDTH - lanes.end));
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let b = self.tree.order[other * WIDTH + lane];
            let mut mask = node.overlaps(&other_node.get(lane));
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
    fn pairs_with_static_leaf(
        &self,
        node: &Node,
        bodies: &[u32],
        other: usize,
        leaf_box: &Aabb,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let other_node = &self.static_boxes.tree.levels[0][other];
        let mut lanes = other_node.overlaps(leaf_box);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let b = self.static_boxes.tree.order[other * WIDTH + lane];
            let mut mask = node.overlaps(&other_node.get(lane));
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
    fn pairs_with_planes(&self, body: u32, pairs: &mut Vec<[u32; 2]>) {
        let has_planes = !self.planes.is_empty() || !self.static_boxes.planes.is_empty();
        if has_planes {
            self.pairs_with_some_planes(body, pairs);
        }
    }

    #[inline(never)]
    fn pairs_with_some_planes(&self, body: u32, pairs: &mut Vec<[u32; 2]>) {
        let aabb = &self.boxes[body as usize];
        if !aabb.is_plane() && !self.planes.is_empty() {
            for &plane in self.planes_in(&self.world_of(body)) {
                if aabb.meets(&self.boxes[plane as usize], 0.0) && self.accepts(body, plane) {
                    pairs.push([body.min(plane), body.max(plane)]);
                }
            }
        }
        self.pairs_with_static_planes(body, pairs);
    }

    /// Pairs of a body and the half-spaces among the statics; of a half-space and all statics.
    #[inline(always)]
    pub(super) fn pairs_with_static_planes(&self, body: u32, pairs: &mut Vec<[u32; 2]>) {
        let aabb = &self.boxes[body as usize];
        if aabb.is_plane() {
            for (b, other) in (0..).zip(&self.static_boxes.boxes) {
                if aabb.meets(other, self.grow) && self.accepts_static(body, b) {
                    pairs.push([body, self.base() + b]);
                }
            }
            return;
        }
        for &plane in &self.static_boxes.planes {
            if aabb.meets(&self.static_boxes.boxes[plane as usize], self.grow)
                && self.accepts_static(body, plane)
            {
                pairs.push([body, self.base() + plane]);
            }
        }
    }

    /// Calls `found(b)` for each partner `b > a`, in no order.
    pub(crate) fn for_each_partner(&self, a: u32, mut found: impl FnMut(u32)) {
        let mut allowed = |b: u32| {
            if self.rules.allows(a, b) {
                found(b);
            }
        };
        let world = self.world_of(a);
        self.for_each_overlap(&self.boxes[a as usize], a + 1..world.end, &mut allowed);
    }

    /// Calls `found(b)` for movers whose boxes overlap one: for those of a range, the last of a world, and perhaps others.
    fn visit_movers(&self, aabb: &Aabb, movers: &Range<u32>, found: &mut dyn FnMut(u32)) {
        // Worlds lie in the places that their ids number; within one any order is possible.
        let first = self.rules.begin_of(movers.start) as usize / WIDTH;
        let end = (movers.end as usize).div_ceil(WIDTH);
        let mut visitor = OverlappingBodies { tree: self.tree, query: aabb, found };
        self.tree.visit_range(aabb, first, end, &mut visitor);
    }

    /// Calls `found(b)` for each of some movers, and each static, that meets a box, in no order. Of a world, the movers are its last.
    pub(crate) fn for_each_overlap(&self, aabb: &Aabb, movers: Range<u32>, found: &mut dyn FnMut(u32)) {
        if aabb.is_plane() {
            let boxes = &self.boxes[movers.start as usize..movers.end as usize];
            let movers = movers.zip(boxes).map(|(b, other)| (b, other, 0.0));
            let statics =
                (self.base()..).zip(&self.static_boxes.boxes).map(|(b, other)| (b, other, self.grow));
            movers
                .chain(statics)
                .filter(|(_, other, grow)| aabb.meets(other, *grow))
                .for_each(|(b, ..)| found(b));
            return;
        }
        let accepts = |other: &Aabb| !self.is_limited || aabb.accepts(other);
        if !movers.is_empty() {
            let mut mover = |b: u32| {
                if movers.contains(&b) && accepts(&self.boxes[b as usize]) {
                    found(b);
                }
            };
            if self.rules.is_in_small_world(movers.start) {
                // There may be no tree over small worlds.
                for b in movers.clone() {
                    if aabb.overlaps(&self.boxes[b as usize]) {
                        mover(b);
                    }
                }
            } else {
                self.visit_movers(aabb, &movers, &mut mover);
            }
        }
        let wider = aabb.grown(self.grow);
        let mut statics = |b: u32| {
            if accepts(&self.static_boxes.boxes[b as usize]) {
                found(self.base() + b);
            }
        };
        let static_boxes = &self.static_boxes.tree;
        static_boxes.visit(
            &wider,
            0,
            &mut OverlappingBodies { tree: static_boxes, query: &wider, found: &mut statics },
        );
        for &plane in self.planes_in(&movers) {
            if aabb.meets(&self.boxes[plane as usize], 0.0) {
                found(plane);
            }
        }
        for &plane in &self.static_boxes.planes {
            if aabb.meets(&self.static_boxes.boxes[plane as usize], self.grow) {
                found(self.base() + plane);
            }
        }
    }
}

/// The pairs of one leaf's bodies and those of later ones.
struct PairsWithLeaf<'a> {
    search: &'a TreeSearch<'a>,
    node: &'a Node,
    bodies: &'a [u32],
    leaf_box: &'a Aabb,
    pairs: &'a mut Vec<[u32; 2]>,
}

impl Visit for PairsWithLeaf<'_> {
    #[inline(always)]
    fn leaf(&mut self, leaf: usize) {
        self.search.pairs_with_leaf(self.node, self.bodies, leaf, 0..WIDTH, self.leaf_box, self.pairs);
    }
}

/// The pairs of one leaf's bodies and statics.
struct PairsWithStatics<'a> {
    search: &'a TreeSearch<'a>,
    node: &'a Node,
    bodies: &'a [u32],
    leaf_box: &'a Aabb,
    pairs: &'a mut Vec<[u32; 2]>,
}

impl Visit for PairsWithStatics<'_> {
    #[inline(always)]
    fn leaf(&mut self, leaf: usize) {
        self.search.pairs_with_static_leaf(self.node, self.bodies, leaf, self.leaf_box, self.pairs);
    }
}

/// The bodies whose boxes overlap one box.
struct OverlappingBodies<'a> {
    tree: &'a Tree,
    query: &'a Aabb,
    found: &'a mut dyn FnMut(u32),
}

impl Visit for OverlappingBodies<'_> {
    #[inline(always)]
    fn leaf(&mut self, leaf: usize) {
        let mut lanes = self.tree.levels[0][leaf].overlaps(self.query);
        while lanes != 0 {
            (self.found)(self.tree.order[leaf * WIDTH + lanes.trailing_zeros() as usize]);
            lanes &= lanes - 1;
        }
    }
}

/// [`TreeSearch::pairs_with_statics`] where there are statics.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn pairs_with_statics(search: &TreeSearch<'_>, node: &Node, bodies: &[u32], pairs: &mut Vec<[u32; 2]>) {
    let node = &node.grown(search.grow);
    let leaf_box = node.union();
    let mut visitor = PairsWithStatics { search, node, bodies, leaf_box: &leaf_box, pairs };
    search.static_boxes.tree.visit(&leaf_box, 0, &mut visitor);
}

/// [`TreeSearch::leaves`], compiled for wide registers too.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
pub(crate) fn pairs_of_leaves(search: &TreeSearch<'_>, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
    search.leaves(from, to, pairs);
}
