//! Dijkstra with a radix heap: any steps, any costs.

use crate::flow::field::cpu::limits::Limits;
use crate::flow::field::cpu::masks::Moves;
use crate::flow::field::cpu::moves::strides;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;

/// A queue of cells by distance, of which none is put in that is nearer than the last that was taken out (Ahuja, Mehlhorn,
/// Orlin, Tarjan 1990, "Faster Algorithms for the Shortest Path Problem").
#[derive(Debug)]
pub(crate) struct RadixHeap {
    last: u32,
    /// By the highest bit in which a distance differs from `last`; 0 where it does not.
    buckets: [Vec<(u32, u32)>; 33],
}

impl RadixHeap {
    pub(crate) fn new() -> Self {
        Self { last: 0, buckets: [const { Vec::new() }; 33] }
    }

    /// Puts a cell in, no nearer than the last that was taken out.
    pub(crate) fn push(&mut self, distance: u32, index: u32) {
        let bucket = 32 - (distance ^ self.last).leading_zeros();
        self.buckets[bucket as usize].push((distance, index));
    }

    /// Takes out a nearest cell.
    pub(crate) fn pop(&mut self) -> Option<(u32, u32)> {
        if let Some(nearest) = self.buckets[0].pop() {
            return Some(nearest);
        }
        let first = self.buckets.iter().position(|bucket| !bucket.is_empty())?;
        let bucket = std::mem::take(&mut self.buckets[first]);
        self.last = bucket.iter().map(|&(distance, _)| distance).min()?;
        for (distance, index) in bucket {
            self.push(distance, index);
        }
        self.buckets[0].pop()
    }
}

/// The distances from the goals, up to the limits; whether one past the limit was met.
pub(crate) fn solve<M: Moves>(
    grid: &Grid,
    masks: &[M],
    goals: &[u32],
    limits: &mut Limits,
) -> (Vec<u32>, bool) {
    let mut distances = vec![UNREACHABLE; grid.cell_count()];
    let mut heap = RadixHeap::new();
    for &goal in goals {
        distances[goal as usize] = 0;
        heap.push(0, goal);
    }
    let strides = strides(grid);
    let (costs, bound) = (grid.costs(), limits.most + 1);
    let mut is_cut = false;
    let mut settled = 0;
    while let Some((distance, index)) = heap.pop() {
        let at = index as usize;
        if distance > distances[at] {
            continue;
        }
        if distance > settled {
            if limits.are_settled(|cell| distances[cell] <= settled) {
                break;
            }
            settled = distance;
        }
        // What is settled is entered by its neighbours, at its cost; a move and its opposite pass the same corners.
        let cost = costs.get(at).map_or(1, |&cost| cost);
        let mut mask: u32 = masks[at].into();
        while mask != 0 {
            let (ahead, step) = strides[(mask.trailing_zeros() & 31) as usize];
            mask &= mask - 1;
            let to = at.wrapping_add_signed(ahead);
            let sum = distance.saturating_add(step.saturating_mul(cost));
            is_cut |= sum >= bound;
            if sum < distances[to].min(bound) {
                distances[to] = sum;
                heap.push(sum, to as u32);
            }
        }
    }
    (distances, is_cut)
}
