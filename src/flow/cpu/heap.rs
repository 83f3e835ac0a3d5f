//! Dijkstra with a binary heap: any steps, any costs.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::Limits;
use super::masks::Moves;
use crate::flow::field::UNREACHABLE;
use crate::flow::grid::Grid;

/// The distances from the goals, up to the limits; whether one past the limit was met.
pub(super) fn solve<M: Moves>(
    grid: &Grid,
    masks: &[M],
    goals: &[u32],
    limits: &mut Limits,
) -> (Vec<u32>, bool) {
    let mut distances = vec![UNREACHABLE; grid.cell_count()];
    let mut heap: BinaryHeap<Reverse<(u32, u32)>> = goals.iter().map(|&goal| Reverse((0, goal))).collect();
    for &goal in goals {
        distances[goal as usize] = 0;
    }
    let ways = super::ways(grid);
    let (costs, bound) = (grid.costs(), limits.most + 1);
    let mut is_cut = false;
    let mut settled = 0;
    while let Some(Reverse((distance, index))) = heap.pop() {
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
            let (ahead, step) = ways[(mask.trailing_zeros() & 31) as usize];
            mask &= mask - 1;
            let to = at.wrapping_add_signed(ahead);
            let sum = distance.saturating_add(step.saturating_mul(cost));
            is_cut |= sum >= bound;
            if sum < distances[to].min(bound) {
                distances[to] = sum;
                heap.push(Reverse((sum, to as u32)));
            }
        }
    }
    (distances, is_cut)
}
