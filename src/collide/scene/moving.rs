//! The boxes of bodies that move, and a tree over them.

use std::sync::Arc;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::kept_tree::KeptTree;
use crate::collide::bvh::tree::Tree;
use crate::collide::scene::rules::{PairRules, SMALL_WORLD};
use crate::parallel::map_chunks;

/// Boxes that one task looks through for half-spaces.
const SCAN: usize = 1 << 14;

/// The boxes of bodies that move, and a tree over them.
#[derive(Debug, Clone, Default)]
pub(crate) struct MovingBoxes {
    pub(crate) boxes: Vec<Aabb>,
    /// Ids of the half-spaces, ascending.
    pub(crate) planes: Vec<u32>,
    /// Whether any body has a group or a mask that excludes others.
    pub(crate) is_limited: bool,
    tree: Tree,
    /// In its place where it is kept from query to query.
    kept: Option<KeptTree>,
}

impl MovingBoxes {
    /// Boxes with a tree over them that is kept.
    pub(crate) fn kept(boxes: Vec<Aabb>, rules: &PairRules) -> Self {
        let kept = Some(KeptTree::new(&boxes, &rules.starts, 0));
        let mut made = Self { boxes, kept, ..Self::default() };
        made.list_planes();
        made
    }

    /// Other boxes for some bodies, none of which becomes or ceases to be a half-space.
    pub(crate) fn update(&mut self, moved: &[u32], boxes: &[Aabb]) {
        for (&body, aabb) in moved.iter().zip(boxes) {
            self.boxes[body as usize] = *aabb;
        }
        if let Some(kept) = &mut self.kept {
            kept.update(&self.boxes, moved);
        }
    }

    /// The tree.
    pub(crate) fn tree(&self) -> &Tree {
        self.kept.as_ref().map_or(&self.tree, KeptTree::tree)
    }

    /// Builds a tree over `boxes` for `walk_count` walks from outside. With worlds the leaves are in the order of the worlds, so that those of a
    /// world are neighbours.
    pub(crate) fn build_for_walks(&mut self, rules: &PairRules, walk_count: usize) {
        self.list_planes();
        self.kept = None;
        if !rules.has_worlds() && walk_count >= self.boxes.len() / 2 {
            self.tree.rebuild_packed(&self.boxes);
        } else {
            self.tree.rebuild_groups(&self.boxes, &rules.starts, 0);
        }
    }

    /// Builds a tree over `boxes` for a search for pairs, unless all worlds are small. Within a small world the order has no use.
    pub(crate) fn build_for_pairs(&mut self, rules: &PairRules) {
        self.list_planes();
        self.kept = None;
        if !rules.has_small_worlds_only() {
            self.tree.rebuild_groups(&self.boxes, &rules.starts, SMALL_WORLD);
        }
    }

    /// Lists the half-spaces, and finds whether any body is limited.
    fn list_planes(&mut self) {
        let found = map_chunks(&self.boxes, SCAN, |boxes| {
            let is_whole = boxes.iter().fold(true, |whole, aabb| whole & aabb.meets_all());
            let has_planes = boxes.iter().fold(false, |any, aabb| any | aabb.is_plane());
            (is_whole, has_planes)
        });
        self.planes.clear();
        for (chunk, _) in found.iter().enumerate().filter(|(_, (_, has_planes))| *has_planes) {
            let begin = chunk * SCAN;
            let part = &self.boxes[begin..self.boxes.len().min(begin + SCAN)];
            let planes = (begin as u32..).zip(part).filter(|(_, aabb)| aabb.is_plane());
            self.planes.extend(planes.map(|(id, _)| id));
        }
        self.is_limited = !found.iter().all(|(is_whole, _)| *is_whole);
    }

    /// The boxes in memory that nobody else has: for other content.
    pub(crate) fn renew(this: &mut Arc<Self>) -> &mut Self {
        if Arc::get_mut(this).is_none() {
            *this = Arc::default();
        }
        Arc::make_mut(this)
    }
}
