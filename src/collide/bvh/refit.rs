//! Trees whose boxes move while their bodies keep their places.
//!
//! A level has a bit for each of its lanes. A pass over the level finds the nodes with a bit set, works out the box around each once, and sets the bit
//! of the lane above where that box is another one than before. The bits of the eight nodes below one are one word, so a pass skips what did not
//! move 64 lanes at a time.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::{Node, TASK_NODES, Tree, WIDTH};
use crate::parallel::for_each_share;
use std::ops::Range;

/// From so many marks on all cores share the work.
const SHARED: usize = 1 << 13;
/// Bits of a word.
const WORD: usize = WIDTH * WIDTH;
// A task's lanes above are words of their own.
const _: () = assert!(WORD == u64::BITS as usize && TASK_NODES.is_multiple_of(WORD));

/// The lanes whose boxes are out of date: a bit for each lane of each level. Between refits none is.
#[derive(Debug, Clone, Default)]
pub(super) struct StaleLanes {
    levels: Vec<Vec<u64>>,
    /// How many lanes of the lowest level were marked, each as often as it was.
    marked: usize,
}

impl StaleLanes {
    /// Makes room for the nodes of a tree.
    pub(super) fn fit(&mut self, tree: &Tree) {
        self.levels.resize_with(tree.levels.len(), Vec::new);
        for (stale, nodes) in self.levels.iter_mut().zip(&tree.levels) {
            stale.resize(nodes.len().div_ceil(WIDTH), 0);
        }
    }

    /// Marks the body in a place of the order.
    #[inline(always)]
    pub(super) fn mark(&mut self, place: usize) {
        self.levels[0][place / WORD] |= 1 << (place % WORD);
        self.marked += 1;
    }

    /// Marks the bodies in some places.
    pub(super) fn mark_range(&mut self, places: Range<usize>) {
        places.for_each(|place| self.mark(place));
    }

    /// Whether no body in some places is marked. They begin and end where a word does, or behind the last.
    pub(super) fn is_fresh(&self, places: Range<usize>) -> bool {
        let words = &self.levels[0];
        words[places.start / WORD..words.len().min(places.end / WORD)].iter().all(|&word| word == 0)
    }
}

/// Some neighbours of a level, the nodes above them, and the bits of both.
struct Task<'a> {
    /// The first place of the order below the nodes, where they are leaves.
    first: usize,
    nodes: &'a mut [Node],
    stale: &'a mut [u64],
    above: &'a mut [Node],
    stale_above: &'a mut [u64],
}

impl Tree {
    /// Works out again what lies around the bodies that are marked, whose boxes moved. Each node is done once. `stale` fits the tree.
    pub(super) fn refit(&mut self, aabbs: &[Aabb], stale: &mut StaleLanes) {
        let task_nodes = if stale.marked < SHARED { usize::MAX } else { TASK_NODES };
        stale.marked = 0;
        let order = &self.order;
        let (mut levels, mut words) = (&mut self.levels[..], &mut stale.levels[..]);
        let mut is_lowest = true;
        while let ([nodes, above @ ..], [stale, stale_above @ ..]) = (levels, words) {
            let tasks = tasks(nodes, stale, above.first_mut(), stale_above.first_mut(), task_nodes);
            if is_lowest {
                for_each_share(tasks, 1, |task| refit_leaves(task, order, aabbs));
            } else {
                for_each_share(tasks, 1, refit_nodes);
            }
            is_lowest = false;
            (levels, words) = (above, stale_above);
        }
    }
}

/// The tasks of a level: the root has nothing above it.
fn tasks<'a>(
    nodes: &'a mut [Node],
    stale: &'a mut [u64],
    above: Option<&'a mut Vec<Node>>,
    stale_above: Option<&'a mut Vec<u64>>,
    task_nodes: usize,
) -> Vec<Task<'a>> {
    let mut above = above.map_or(&mut [][..], |nodes| &mut nodes[..]);
    let mut stale_above = stale_above.map_or(&mut [][..], |words| &mut words[..]);
    let parts = nodes.chunks_mut(task_nodes).zip(stale.chunks_mut(task_nodes.div_ceil(WIDTH)));
    let task = |(number, (nodes, stale)): (usize, (&'a mut [Node], &'a mut [u64]))| {
        let node_count = nodes.len().div_ceil(WIDTH).min(above.len());
        let word_count = nodes.len().div_ceil(WORD).min(stale_above.len());
        let (task_above, rest) = std::mem::take(&mut above).split_at_mut(node_count);
        let (task_stale, stale_rest) = std::mem::take(&mut stale_above).split_at_mut(word_count);
        (above, stale_above) = (rest, stale_rest);
        // One task alone begins at 0.
        let first = if number == 0 { 0 } else { number * task_nodes * WIDTH };
        Task { first, nodes, stale, above: task_above, stale_above: task_stale }
    };
    parts.enumerate().map(task).collect()
}

/// Writes the boxes of the bodies that are marked, and passes on what lies around their leaves.
fn refit_leaves(task: Task, order: &[u32], aabbs: &[Aabb]) {
    let Task { first, nodes, stale, above, stale_above } = task;
    for_each_stale(stale, |at, mut lanes| {
        let node = &mut nodes[at];
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            node.set_body(lane, &aabbs[order[first + at * WIDTH + lane] as usize]);
        }
        pass_on(node, at, above, stale_above);
    });
}

/// Passes on what lies around the nodes of which a lane is marked.
fn refit_nodes(task: Task) {
    let Task { nodes, stale, above, stale_above, .. } = task;
    for_each_stale(stale, |at, _| pass_on(&nodes[at], at, above, stale_above));
}

/// Calls `work(node, lanes)` for each node with marked lanes, and takes the marks off.
#[inline(always)]
fn for_each_stale(stale: &mut [u64], mut work: impl FnMut(usize, u32)) {
    for (at, word) in stale.iter_mut().enumerate() {
        let mut rest = std::mem::take(word);
        while rest != 0 {
            let child = rest.trailing_zeros() as usize / WIDTH;
            let lanes = rest & (0xff << (child * WIDTH));
            rest ^= lanes;
            work(at * WIDTH + child, (lanes >> (child * WIDTH)) as u32);
        }
    }
}

/// Writes the box around a node to its lane of the node above, and marks the lane where it is another box than before.
#[inline(always)]
fn pass_on(node: &Node, at: usize, above: &mut [Node], stale_above: &mut [u64]) {
    let Some(above) = above.get_mut(at / WIDTH) else { return };
    let around = node.union();
    if above.get(at % WIDTH) != around {
        above.set(at % WIDTH, &around);
        stale_above[at / WORD] |= 1 << (at % WORD);
    }
}
