//! Dijkstra with buckets (Dial 1969), for steps and costs that do not differ too much.
//!
//! A bucket is no wider than the least step. So no cell of a bucket lies on the shortest path to another cell of it,
//! and all of them are settled together, in any order (Dinitz 1978). No step is longer than the ring of buckets, so the
//! buckets are used in turn.

use crate::flow::field::cpu::masks::MoveMask;
use crate::flow::field::cpu::moves::{CostRange, strides};
use crate::flow::field::cpu::stop::StopConditions;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;

/// The most buckets; with more a heap is faster.
const MAX_BUCKETS: u64 = 1 << 15;

/// The width and the number of the buckets. Both are powers of two; `shift` is the logarithm of the width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BucketRing {
    shift: u32,
    count: usize,
}

impl BucketRing {
    /// The ring for the steps and costs of a grid; `None` if it would need too many buckets.
    pub(crate) fn new(grid: &Grid, costs: CostRange) -> Option<Self> {
        let min_step = u64::from(grid.connectivity().unit()) * u64::from(costs.min);
        let shift = min_step.ilog2().min(31);
        let count = (costs.longest_step(grid) >> shift) + 2;
        (count <= MAX_BUCKETS).then(|| Self { shift, count: (count as usize).next_power_of_two() })
    }
}

/// The distances from the goals, up to the stop conditions, and whether a distance was too large for them.
pub(crate) fn solve<M: MoveMask>(
    grid: &Grid,
    masks: &[M],
    goals: &[u32],
    ring: BucketRing,
    stop: &mut StopConditions,
) -> (Vec<u32>, bool) {
    let mut distances = vec![UNREACHABLE; grid.cell_count()];
    let BucketRing { shift, count } = ring;
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); count];
    for &goal in goals {
        distances[goal as usize] = 0;
    }
    buckets[0].extend_from_slice(goals);
    let strides = strides(grid);
    let costs = grid.costs();
    let mut is_cut = false;
    let mut queued_count = goals.len();
    let distance_end = stop.max_distance + 1;
    let mut current = 0;
    while queued_count > 0 {
        let mut bucket = std::mem::take(&mut buckets[current as usize & (count - 1)]);
        queued_count -= bucket.len();
        for &index in &bucket {
            let from = index as usize;
            let distance = distances[from];
            // A shorter path has been found since: the cell was settled in an earlier bucket.
            if distance >> shift != current {
                continue;
            }
            let cost = if costs.is_empty() { 1 } else { costs[from] };
            let mut moves: u32 = masks[from].into();
            while moves != 0 {
                let (stride, step) = strides[(moves.trailing_zeros() & 31) as usize];
                moves &= moves - 1;
                let to = from.wrapping_add_signed(stride);
                let new_distance = distance.saturating_add(step.saturating_mul(cost));
                is_cut |= new_distance >= distance_end;
                if new_distance < distances[to].min(distance_end) {
                    distances[to] = new_distance;
                    buckets[(new_distance >> shift) as usize & (count - 1)].push(to as u32);
                    queued_count += 1;
                }
            }
        }
        bucket.clear();
        buckets[current as usize & (count - 1)] = bucket;
        if stop.should_stop(|cell| distances[cell] != UNREACHABLE && distances[cell] >> shift <= current) {
            break;
        }
        current += 1;
    }
    (distances, is_cut)
}
