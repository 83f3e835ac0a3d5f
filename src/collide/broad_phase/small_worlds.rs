//! Pairs of small worlds: all boxes of a world are tested against each other, four at a time, without a tree. Pairs come sorted.
//!
//! The GPU tests the same pairs, a row at a time (`shaders/collide/broad_phase/world_find.wgsl`).

use crate::collide::broad_phase::search::TreeSearch;
use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::{Node, WIDTH};
use crate::collide::scene::quads::{QUAD, transposed};
use crate::collide::scene::rules::SMALL_WORLD;
use crate::order::sort_pairs;
use glam::{Vec3, Vec4};
use std::ops::Range;

/// Most quads of boxes of a small world.
const QUADS: usize = SMALL_WORLD / QUAD;

/// Four boxes, coordinate by coordinate.
#[derive(Debug, Clone, Copy)]
struct Quad {
    min: [Vec4; 3],
    max: [Vec4; 3],
}

impl Quad {
    const NONE: Self = Self { min: [Vec4::ZERO; 3], max: [Vec4::ZERO; 3] };

    /// Those from `first` on; the last of all in the place of those that there are not.
    #[inline(always)]
    fn new(boxes: &[Aabb], first: usize) -> Self {
        let four = [0, 1, 2, 3].map(|lane| &boxes[(first + lane).min(boxes.len() - 1)]);
        // What is next to the corners in memory comes along, so that each is one load.
        let corner = |[x, y, z]: [f32; 3], next: u32| Vec3::new(x, y, z).extend(f32::from_bits(next));
        let [min_x, min_y, min_z, _] = transposed(four.map(|aabb| corner(aabb.min, aabb.group)));
        let [max_x, max_y, max_z, _] = transposed(four.map(|aabb| corner(aabb.max, aabb.mask)));
        Self { min: [min_x, min_y, min_z], max: [max_x, max_y, max_z] }
    }

    /// Bit `k` is set where box `k` overlaps the box with these corners. A half-space overlaps nothing as a box.
    #[inline(always)]
    fn overlaps(&self, min: &[Vec4; 3], max: &[Vec4; 3]) -> u32 {
        let along = |axis: usize| self.min[axis].cmple(max[axis]) & min[axis].cmple(self.max[axis]);
        (along(0) & along(1) & along(2)).bitmask()
    }
}

impl TreeSearch<'_> {
    /// Pairs whose first body is a mover of these, which are those of a small world. `found` is memory for pairs with statics.
    #[inline(always)]
    fn small_world(&self, movers: Range<u32>, found: &mut Vec<[u32; 2]>, pairs: &mut Vec<[u32; 2]>) {
        let boxes = &self.boxes[movers.start as usize..movers.end as usize];
        if !self.static_boxes.boxes.is_empty() || !self.planes_in(&movers).is_empty() {
            self.rows_with_others(movers, boxes, found, pairs);
            return;
        }
        let (quads, quad_count) = quads_of(boxes);
        // The partners of several rows are the bits of a word, so that the loop over them ends less often where no branch predictor expects it.
        let width = if boxes.len() <= 16 { 16 } else { 32 };
        for first in (0..boxes.len()).step_by(64 / width) {
            let mut word = 0;
            for row in first..boxes.len().min(first + 64 / width) {
                let mask = later_partners(&quads[..quad_count], boxes, row);
                word |= u64::from(mask) << ((row - first) * width);
            }
            while word != 0 {
                let bit = word.trailing_zeros();
                word &= word - 1;
                let a = movers.start + first as u32 + bit / width as u32;
                let b = movers.start + bit % width as u32;
                if self.accepts(a, b) {
                    pairs.push([a, b]);
                }
            }
        }
    }

    /// The same where there are statics, or half-spaces in the world.
    #[inline(never)]
    fn rows_with_others(
        &self,
        movers: Range<u32>,
        boxes: &[Aabb],
        found: &mut Vec<[u32; 2]>,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        let (quads, quad_count) = quads_of(boxes);
        let has_planes = !self.planes_in(&movers).is_empty();
        let ids: [u32; SMALL_WORLD] = std::array::from_fn(|at| movers.start + at as u32);
        for first in (0..boxes.len()).step_by(WIDTH) {
            let rows = first..boxes.len().min(first + WIDTH);
            found.clear();
            if !self.static_boxes.boxes.is_empty() {
                let node = Node::of(&boxes[rows.clone()]);
                self.pairs_with_statics(&node, &ids[rows.clone()], found);
                ids[rows.clone()].iter().for_each(|&a| self.pairs_with_static_planes(a, found));
                sort_pairs(found);
            }
            let mut statics = found.iter().peekable();
            for row in rows {
                let a = ids[row];
                let mut mask = if has_planes {
                    self.later_partners_one_by_one(boxes, row)
                } else {
                    later_partners(&quads[..quad_count], boxes, row)
                };
                while mask != 0 {
                    let b = ids[mask.trailing_zeros() as usize];
                    mask &= mask - 1;
                    if self.accepts(a, b) {
                        pairs.push([a, b]);
                    }
                }
                while let Some(&pair) = statics.next_if(|pair| pair[0] == a) {
                    pairs.push(pair);
                }
            }
        }
    }

    /// Bit `k` is set where body `k` of a world is behind a row and meets it, half-spaces too.
    fn later_partners_one_by_one(&self, boxes: &[Aabb], row: usize) -> u32 {
        let meets = |&other: &usize| boxes[row].meets(&boxes[other], 0.0);
        (row + 1..boxes.len()).filter(meets).fold(0, |mask, other| mask | 1 << other)
    }
}

#[inline(always)]
fn quads_of(boxes: &[Aabb]) -> ([Quad; QUADS], usize) {
    let mut quads = [Quad::NONE; QUADS];
    let count = boxes.len().div_ceil(QUAD);
    for (at, quad) in quads[..count].iter_mut().enumerate() {
        *quad = Quad::new(boxes, at * QUAD);
    }
    (quads, count)
}

/// Bit `k` is set where box `k` of a world is behind a row and overlaps its box.
#[inline(always)]
fn later_partners(quads: &[Quad], boxes: &[Aabb], row: usize) -> u32 {
    let (min, max) = (boxes[row].min.map(Vec4::splat), boxes[row].max.map(Vec4::splat));
    let mut mask = 0;
    for (at, quad) in quads.iter().enumerate().skip(row / QUAD) {
        mask |= quad.overlaps(&min, &max) << (at * QUAD);
    }
    mask & (u32::MAX << row) << 1 & (u32::MAX >> (SMALL_WORLD - boxes.len()))
}

/// Pairs of some worlds, but for those that are not small, in order. Stops where there are more than `limit`.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn pairs_of_small_worlds(
    search: &TreeSearch<'_>,
    worlds: Range<usize>,
    limit: usize,
    pairs: &mut Vec<[u32; 2]>,
) {
    let mut found = Vec::new();
    for world in worlds {
        let movers = search.rules.movers_of(world);
        if movers.len() <= SMALL_WORLD {
            search.small_world(movers, &mut found, pairs);
        }
        if pairs.len() > limit {
            return;
        }
    }
}
