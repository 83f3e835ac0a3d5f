//! Trees whose boxes move while their bodies keep their places.
//!
//! A node has a byte, and a bit of it for each of its lanes. A pass over a level finds the nodes with a bit set, works out the box around each once,
//! and sets the bit of the lane above where that box is another one than before.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::{Node, TASK_NODES, Tree, WIDTH};
use crate::parallel::for_each_share;
use std::ops::Range;

/// From so many lanes on all cores share the work.
const SHARED: usize = 1 << 13;

/// The lanes whose boxes are out of date: for each level a byte for each node. Between refits none is.
#[derive(Debug, Clone, Default)]
pub(super) struct StaleLanes {
    levels: Vec<Vec<u8>>,
    /// How many of the lowest level were marked, counted once for each time.
    marked: usize,
}

impl StaleLanes {
    /// Makes room for the nodes of a tree.
    pub(super) fn fit(&mut self, tree: &Tree) {
        self.levels.resize_with(tree.levels.len(), Vec::new);
        for (stale, nodes) in self.levels.iter_mut().zip(&tree.levels) {
            stale.resize(nodes.len(), 0);
        }
    }

    /// Marks the body in a place of the order.
    #[inline(always)]
    pub(super) fn mark(&mut self, place: usize) {
        if let Some(lanes) = self.levels.first_mut().and_then(|level| level.get_mut(place / WIDTH)) {
            *lanes |= 1 << (place % WIDTH);
            self.marked += 1;
        }
    }

    /// Marks the bodies in some places.
    pub(super) fn mark_range(&mut self, places: Range<usize>) {
        places.for_each(|place| self.mark(place));
    }

    /// Whether no body in the places of some leaves is marked.
    pub(super) fn is_fresh(&self, leaves: Range<usize>) -> bool {
        let Some(level) = self.levels.first() else { return true };
        level[leaves.start.min(level.len())..leaves.end.min(level.len())].iter().all(|&lanes| lanes == 0)
    }
}

/// Some neighbours of a level, and the nodes above them.
struct Task<'a> {
    /// The first place of the order below the nodes, where they are leaves.
    first: usize,
    nodes: &'a mut [Node],
    stale: &'a mut [u8],
    above: &'a mut [Node],
    stale_above: &'a mut [u8],
}

impl Tree {
    /// Works out again what lies around the bodies that are marked, whose boxes moved. Each node is done once. `stale` fits the tree.
    pub(super) fn refit(&mut self, aabbs: &[Aabb], stale: &mut StaleLanes) {
        let task_len = if stale.marked < SHARED { usize::MAX } else { TASK_NODES };
        stale.marked = 0;
        let order = &self.order;
        let (mut levels, mut marks) = (&mut self.levels[..], &mut stale.levels[..]);
        let mut is_leaf = true;
        while let ([nodes, above @ ..], [stale, stale_above @ ..]) = (levels, marks) {
            let mut tasks = Vec::new();
            {
                let (above, stale_above) = (above.first_mut(), stale_above.first_mut());
                let mut above = above.map_or(&mut [][..], |nodes| &mut nodes[..]);
                let mut stale_above = stale_above.map_or(&mut [][..], |stale| &mut stale[..]);
                let parts = nodes.chunks_mut(task_len).zip(stale.chunks_mut(task_len));
                for (number, (nodes, stale)) in parts.enumerate() {
                    // The root has none above.
                    let count = nodes.len().div_ceil(WIDTH).min(above.len());
                    let (part, rest) = above.split_at_mut(count);
                    let (stale_part, stale_rest) = stale_above.split_at_mut(count);
                    (above, stale_above) = (rest, stale_rest);
                    let first = number.wrapping_mul(task_len).wrapping_mul(WIDTH);
                    tasks.push(Task { first, nodes, stale, above: part, stale_above: stale_part });
                }
            }
            if is_leaf {
                for_each_share(tasks, 1, |task| refit_leaves(task, order, aabbs));
            } else {
                for_each_share(tasks, 1, refit_nodes);
            }
            is_leaf = false;
            (levels, marks) = (above, stale_above);
        }
    }
}

/// Writes the boxes of the bodies that are marked, and passes on what lies around their leaves.
fn refit_leaves(task: Task, order: &[u32], aabbs: &[Aabb]) {
    let Task { first, nodes, stale, above, stale_above } = task;
    for (at, (nodes, stale)) in nodes.chunks_mut(WIDTH).zip(stale.chunks_mut(WIDTH)).enumerate() {
        if stale.iter().all(|&lanes| lanes == 0) {
            continue;
        }
        for (k, (node, stale)) in nodes.iter_mut().zip(stale.iter_mut()).enumerate() {
            let mut lanes = std::mem::take(stale);
            if lanes == 0 {
                continue;
            }
            let leaf = first + (at * WIDTH + k) * WIDTH;
            while lanes != 0 {
                let lane = lanes.trailing_zeros() as usize;
                lanes &= lanes - 1;
                node.set_body(lane, &aabbs[order[leaf + lane] as usize]);
            }
            if let (Some(above), Some(stale)) = (above.get_mut(at), stale_above.get_mut(at)) {
                pass_on(node, k, above, stale);
            }
        }
    }
}

/// Passes on what lies around the nodes of which a lane is marked.
fn refit_nodes(task: Task) {
    let Task { nodes, stale, above, stale_above, .. } = task;
    for (at, (nodes, stale)) in nodes.chunks(WIDTH).zip(stale.chunks_mut(WIDTH)).enumerate() {
        for (k, (node, stale)) in nodes.iter().zip(stale.iter_mut()).enumerate() {
            if std::mem::take(stale) != 0
                && let (Some(above), Some(stale)) = (above.get_mut(at), stale_above.get_mut(at))
            {
                pass_on(node, k, above, stale);
            }
        }
    }
}

/// Writes the box around a node to its lane of the node above, and marks the lane where it is another box than before.
#[inline(always)]
fn pass_on(node: &Node, lane: usize, above: &mut Node, stale: &mut u8) {
    let around = node.union();
    if above.get(lane) != around {
        above.set(lane, &around);
        *stale |= 1 << lane;
    }
}
