//! The boxes of statics, bodies that do not move.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::Tree;

/// Bodies that do not move: their boxes, without a margin, and the tree over them.
#[derive(Debug, Default)]
pub(crate) struct StaticBoxes {
    pub(crate) boxes: Vec<Aabb>,
    pub(crate) planes: Vec<u32>,
    /// Whether any has a group or a mask that excludes others.
    pub(crate) is_limited: bool,
    pub(crate) tree: Tree,
}

impl StaticBoxes {
    pub(crate) fn new(boxes: Vec<Aabb>) -> Self {
        let mut tree = Tree::default();
        tree.rebuild_packed(&boxes);
        let planes = (0..).zip(&boxes).filter(|(_, aabb)| aabb.is_plane()).map(|(id, _)| id).collect();
        let is_limited = !boxes.iter().all(Aabb::meets_all);
        Self { boxes, planes, is_limited, tree }
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
