//! Searches of the trees: the pairs of some leaves, and the partners of one box.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::bvh::tree::{Node, Tree, Visit, WIDTH};

/// One search over all boxes.
#[derive(Clone, Copy)]
pub(crate) struct TreeSearch<'a> {
    pub(crate) boxes: &'a [Aabb],
    pub(crate) planes: &'a [u32],
    pub(crate) tree: &'a Tree,
    pub(crate) static_boxes: &'a StaticBoxes,
    /// Half of the margin: statics' boxes are not widened, so pairs with them are tested with this much more.
    pub(crate) grow: f32,
    /// Whether any body has a group or a mask that excludes others.
    pub(crate) is_grouped: bool,
}

impl TreeSearch<'_> {
    fn base(&self) -> u32 {
        self.boxes.len() as u32
    }

    fn accepts(&self, a: u32, b: u32) -> bool {
        !self.is_grouped || self.boxes[a as usize].accepts(&self.boxes[b as usize])
    }

    fn accepts_static(&self, a: u32, b: u32) -> bool {
        !self.is_grouped || self.boxes[a as usize].accepts(&self.static_boxes.boxes[b as usize])
    }

    /// Pairs whose first body (in Morton order) lies in the leaves `from..to`.
    #[inline(always)]
    fn leaves(&self, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
        for leaf in from..to {
            let node = &self.tree.levels[0][leaf];
            let bodies = self.tree.leaf_bodies(leaf);
            let leaf_box = node.union();
            self.pairs_in_leaf(node, bodies, pairs);
            self.tree.visit(
                &leaf_box,
                leaf + 1,
                &mut PairsWithLeaf { search: self, node, bodies, leaf_box: &leaf_box, pairs },
            );
            if !self.static_boxes.boxes.is_empty() {
                let node = &node.grown(self.grow);
                let leaf_box = node.union();
                let mut visitor = PairsWithStatics { search: self, node, bodies, leaf_box: &leaf_box, pairs };
                self.static_boxes.tree.visit(&leaf_box, 0, &mut visitor);
            }
            for &body in bodies {
                self.pairs_with_planes(body, pairs);
            }
        }
    }

    #[inline(always)]
    fn pairs_in_leaf(&self, node: &Node, bodies: &[u32], pairs: &mut Vec<[u32; 2]>) {
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
    fn pairs_with_leaf(
        &self,
        node: &Node,
        bodies: &[u32],
        other: usize,
        leaf_box: &Aabb,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        // Only boxes of the other leaf that overlap the box around this leaf can be partners.
        let other_node = &self.tree.levels[0][other];
        let mut lanes = other_node.overlaps(leaf_box);
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
        let aabb = &self.boxes[body as usize];
        if aabb.is_plane() {
            for (b, other) in (self.base()..).zip(&self.static_boxes.boxes) {
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
        for &plane in &self.static_boxes.planes {
            if aabb.meets(&self.static_boxes.boxes[plane as usize], self.grow) {
                pairs.push([body, self.base() + plane]);
            }
        }
    }

    /// Calls `found(b)` for each partner `b > a`, in no order.
    pub(crate) fn for_each_partner(&self, a: u32, mut found: impl FnMut(u32)) {
        self.for_each_overlap(&self.boxes[a as usize], a + 1, &mut found);
    }

    /// Calls `found(b)` for each body `b` from `first` on, and each static, that meets a box, in no order.
    pub(crate) fn for_each_overlap(&self, aabb: &Aabb, first: u32, found: &mut dyn FnMut(u32)) {
        if aabb.is_plane() {
            let movers = (first..).zip(&self.boxes[first as usize..]).map(|(b, other)| (b, other, 0.0));
            let statics =
                (self.base()..).zip(&self.static_boxes.boxes).map(|(b, other)| (b, other, self.grow));
            movers
                .chain(statics)
                .filter(|(_, other, grow)| aabb.meets(other, *grow))
                .for_each(|(b, ..)| found(b));
            return;
        }
        let accepts = |other: &Aabb| !self.is_grouped || aabb.accepts(other);
        let mut movers = |b: u32| {
            if b >= first && accepts(&self.boxes[b as usize]) {
                found(b);
            }
        };
        self.tree.visit(aabb, 0, &mut OverlappingBodies { tree: self.tree, query: aabb, found: &mut movers });
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
        for &plane in self.planes {
            if plane >= first && aabb.meets(&self.boxes[plane as usize], 0.0) {
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
        self.search.pairs_with_leaf(self.node, self.bodies, leaf, self.leaf_box, self.pairs);
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

/// [`TreeSearch::leaves`], compiled for wide registers too.
#[multiversion::multiversion(targets(
    "x86_64+avx512f+avx512vl+avx512dq+avx512bw",
    "x86_64+avx2",
    "x86_64+avx"
))]
pub(crate) fn pairs_of_leaves(search: &TreeSearch<'_>, from: usize, to: usize, pairs: &mut Vec<[u32; 2]>) {
    search.leaves(from, to, pairs);
}
