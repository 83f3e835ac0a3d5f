//! Dijkstra with a radix heap, for any steps and costs.

use crate::flow::field::cpu::masks::MoveMask;
use crate::flow::field::cpu::moves::strides;
use crate::flow::field::cpu::stop::StopConditions;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;

/// A monotone priority queue of cells: no cell is pushed that is nearer than the last one popped (Ahuja, Mehlhorn,
/// Orlin and Tarjan 1990, "Faster Algorithms for the Shortest Path Problem").
#[derive(Debug)]
pub(crate) struct RadixHeap {
    last: u32,
    /// A bucket per highest bit in which a distance differs from `last`; bucket 0 for distances equal to `last`.
    buckets: [Vec<(u32, u32)>; 33],
}

impl RadixHeap {
    pub(crate) fn new() -> Self {
        Self { last: 0, buckets: [const { Vec::new() }; 33] }
    }

    /// Adds a cell that is no nearer than the last one popped.
    pub(crate) fn push(&mut self, distance: u32, index: u32) {
        let bucket = 32 - (distance ^ self.last).leading_zeros();
        self.buckets[bucket as usize].push((distance, index));
    }

    /// Removes a nearest cell and returns its distance and index.
    pub(crate) fn pop(&mut self) -> Option<(u32, u32)> {
        if let Some(nearest) = self.buckets[0].pop() {
            return Some(nearest);
        }
        self.advance()?;
        self.buckets[0].pop()
    }

    /// Removes all nearest cells, in the order in which they came, and returns their distance. `cells` is written over.
    pub(crate) fn pop_bucket(&mut self, cells: &mut Vec<(u32, u32)>) -> Option<u32> {
        cells.clear();
        if self.buckets[0].is_empty() {
            self.advance()?;
        }
        std::mem::swap(cells, &mut self.buckets[0]);
        Some(self.last)
    }

    /// Moves the nearest cells to bucket 0, which is empty. `None` if there are no cells.
    fn advance(&mut self) -> Option<()> {
        let first = self.buckets.iter().position(|bucket| !bucket.is_empty())?;
        let mut bucket = std::mem::take(&mut self.buckets[first]);
        self.last = bucket.iter().map(|&(distance, _)| distance).min()?;
        for (distance, index) in bucket.drain(..) {
            self.push(distance, index);
        }
        // All of them have moved to lower buckets, so its memory can be used again.
        self.buckets[first] = bucket;
        Some(())
    }
}

/// The distances from the goals, up to the stop conditions, and whether a distance was too large for them.
pub(crate) fn solve<M: MoveMask>(
    grid: &Grid,
    masks: &[M],
    goals: &[u32],
    stop: &mut StopConditions,
) -> (Vec<u32>, bool) {
    let mut distances = vec![UNREACHABLE; grid.cell_count()];
    let mut heap = RadixHeap::new();
    for &goal in goals {
        distances[goal as usize] = 0;
        heap.push(0, goal);
    }
    let strides = strides(grid);
    let (costs, distance_end) = (grid.costs(), stop.max_distance + 1);
    let mut is_cut = false;
    let mut settled = 0;
    while let Some((distance, index)) = heap.pop() {
        let from = index as usize;
        if distance > distances[from] {
            continue;
        }
        if distance > settled {
            if stop.should_stop(|cell| distances[cell] <= settled) {
                break;
            }
            settled = distance;
        }
        // The neighbours of a settled cell enter it at its cost. A move and its reverse obey the same corner rule, so
        // the mask of the settled cell serves for both.
        let cost = costs.get(from).map_or(1, |&cost| cost);
        let mut moves: u32 = masks[from].into();
        while moves != 0 {
            let (stride, step) = strides[(moves.trailing_zeros() & 31) as usize];
            moves &= moves - 1;
            let to = from.wrapping_add_signed(stride);
            let new_distance = distance.saturating_add(step.saturating_mul(cost));
            is_cut |= new_distance >= distance_end;
            if new_distance < distances[to].min(distance_end) {
                distances[to] = new_distance;
                heap.push(new_distance, to as u32);
            }
        }
    }
    (distances, is_cut)
}
