//! Dijkstra with buckets: steps and costs that are not too far apart.
//!
//! A bucket is no wider than the least step, so that no cell of a bucket is on the way to another one of it: all are
//! settled once the bucket's turn comes, in any order (Dial 1969; Dinitz 1978). As no step is longer than the largest, a ring
//! of buckets is enough.

use crate::flow::field::cpu::limits::Limits;
use crate::flow::field::cpu::masks::Moves;
use crate::flow::field::cpu::moves::strides;
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::grid::cells::Grid;

/// Buckets past which a heap does better.
const BUCKET_LIMIT: u64 = 1 << 15;

/// How wide the buckets are and how many there are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ring {
    shift: u32,
    count: usize,
}

impl Ring {
    /// The ring for a grid's steps and costs; none where it would be too long.
    pub(crate) fn new(grid: &Grid) -> Option<Self> {
        let least_cost = grid.costs().iter().min().map_or(1, |&cost| cost);
        let most_cost = grid.costs().iter().max().map_or(1, |&cost| cost);
        let connectivity = grid.connectivity();
        let longest = connectivity.step(connectivity.neighbour_count() as u8 - 1);
        let least = u64::from(connectivity.unit()) * u64::from(least_cost);
        let most = u64::from(longest) * u64::from(most_cost);
        let shift = least.ilog2().min(31);
        let count = (most >> shift) + 2;
        (count <= BUCKET_LIMIT).then(|| Self { shift, count: (count as usize).next_power_of_two() })
    }
}

/// The distances from the goals, up to the limits; whether one past the limit was met.
pub(crate) fn solve<M: Moves>(
    grid: &Grid,
    masks: &[M],
    goals: &[u32],
    ring: Ring,
    limits: &mut Limits,
) -> (Vec<u32>, bool) {
    let mut distances = vec![UNREACHABLE; grid.cell_count()];
    let Ring { shift, count } = ring;
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); count];
    for &goal in goals {
        distances[goal as usize] = 0;
    }
    buckets[0].extend_from_slice(goals);
    let strides = strides(grid);
    let costs = grid.costs();
    let mut is_cut = false;
    let mut waiting_count = goals.len();
    let bound = limits.most + 1;
    let mut now = 0;
    while waiting_count > 0 {
        let mut bucket = std::mem::take(&mut buckets[now as usize & (count - 1)]);
        waiting_count -= bucket.len();
        for &index in &bucket {
            let at = index as usize;
            let distance = distances[at];
            // It came into an earlier bucket since.
            if distance >> shift != now {
                continue;
            }
            let cost = if costs.is_empty() { 1 } else { costs[at] };
            let mut mask: u32 = masks[at].into();
            while mask != 0 {
                let (ahead, step) = strides[(mask.trailing_zeros() & 31) as usize];
                mask &= mask - 1;
                let to = at.wrapping_add_signed(ahead);
                let sum = distance.saturating_add(step.saturating_mul(cost));
                is_cut |= sum >= bound;
                if sum < distances[to].min(bound) {
                    distances[to] = sum;
                    buckets[(sum >> shift) as usize & (count - 1)].push(to as u32);
                    waiting_count += 1;
                }
            }
        }
        bucket.clear();
        buckets[now as usize & (count - 1)] = bucket;
        if limits.are_settled(|cell| distances[cell] != UNREACHABLE && distances[cell] >> shift <= now) {
            break;
        }
        now += 1;
    }
    (distances, is_cut)
}
