//! What it costs to walk a tree: the nodes that queries visit, and how large nodes are for what they hold.

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::near_first::lanes_within;
use crate::collide::bvh::tree::{LEVELS, Node, Tree, WIDTH};
use std::ops::Range;

/// A box, and the places of the bodies that it is held against.
pub(super) type Query = (Aabb, Range<usize>);

/// The number of nodes that queries with some boxes visit, each among some places of the order. It stops counting at `most`.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(super) fn visit_count(tree: &Tree, queries: &[Query], most: u32) -> u32 {
    let Some(root) = tree.levels.len().checked_sub(1) else { return 0 };
    let mut stack = [0_u32; WIDTH * LEVELS];
    let mut stack_levels = [0_u8; WIDTH * LEVELS];
    let mut count = 0;
    for (query, places) in queries {
        if places.is_empty() || root == 0 {
            continue;
        }
        stack[0] = 0;
        stack_levels[0] = root as u8;
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let (level, index) = (stack_levels[depth], stack[depth]);
            let node = &tree.levels[usize::from(level)][index as usize];
            let mut met = node.overlaps(query) & lanes_within(usize::from(level), index as usize, places);
            count += met.count_ones();
            if count >= most {
                return most;
            }
            // Leaves hold no nodes.
            while level > 1 && met != 0 {
                stack[depth] = index * WIDTH as u32 + met.trailing_zeros();
                stack_levels[depth] = level - 1;
                met &= met - 1;
                depth += 1;
            }
        }
    }
    count
}

impl Tree {
    /// The areas of the boxes around the nodes below one, summed, over the area of the box around that one: how many of those nodes a line
    /// meets that meets this one (the surface-area heuristic, Goldsmith and Salmon 1987). 0 where that box has no area.
    pub(super) fn surface_cost(&self, level: usize, index: usize) -> f64 {
        let own = self.levels[level].get(index).map_or(0.0, |node| half_area(&node.union()));
        let mut sum = 0.0;
        for (below, nodes) in self.levels[1..=level].iter().enumerate() {
            let width = WIDTH.pow((level - 1 - below) as u32);
            let nodes = &nodes[nodes.len().min(index * width)..nodes.len().min((index + 1) * width)];
            sum += nodes.iter().map(half_areas).sum::<f64>();
        }
        if own > 0.0 { sum / own } else { 0.0 }
    }
}

/// Half the area of a box: 0 for one that is empty.
fn half_area(aabb: &Aabb) -> f64 {
    let side = |axis: usize| (f64::from(aabb.max[axis]) - f64::from(aabb.min[axis])).max(0.0);
    side(0) * side(1) + side(1) * side(2) + side(2) * side(0)
}

/// Half the areas of the boxes of a node, summed.
fn half_areas(node: &Node) -> f64 {
    let side = |axis: usize, lane: usize| {
        let side = f64::from(node.max[axis][lane]) - f64::from(node.min[axis][lane]);
        if side > 0.0 { side } else { 0.0 }
    };
    let mut areas = [0.0; WIDTH];
    for (lane, area) in areas.iter_mut().enumerate() {
        let [x, y, z] = [side(0, lane), side(1, lane), side(2, lane)];
        *area = x * y + y * z + z * x;
    }
    areas.iter().sum()
}
