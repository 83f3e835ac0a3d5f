//! Dijkstra with a binary heap: any steps, any costs.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::flow::field::UNREACHABLE;
use crate::flow::grid::Grid;

/// The distances from the goals up to `limit`.
pub(super) fn solve(grid: &Grid, goals: &[u32], limit: u32) -> Vec<u32> {
    let mut distances = vec![UNREACHABLE; grid.cell_count()];
    let mut heap: BinaryHeap<Reverse<(u32, u32)>> = goals.iter().map(|&goal| Reverse((0, goal))).collect();
    for &goal in goals {
        distances[goal as usize] = 0;
    }
    let connectivity = grid.connectivity();
    while let Some(Reverse((distance, index))) = heap.pop() {
        if distance > distances[index as usize] {
            continue;
        }
        // What is settled is entered by its neighbours, at its cost; a move and its opposite pass the same corners.
        let cell = grid.cell(index as usize);
        let cost = u64::from(grid.cost(cell));
        for code in 0..connectivity.neighbour_count() as u8 {
            let Some(from) = grid.neighbour(cell, code).and_then(|from| grid.index(from)) else { continue };
            let sum = u64::from(distance) + u64::from(connectivity.step(code)) * cost;
            if sum <= limit.into() && sum < distances[from].into() {
                distances[from] = sum as u32;
                heap.push(Reverse((sum as u32, from as u32)));
            }
        }
    }
    distances
}
