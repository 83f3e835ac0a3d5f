//! Moves as strides through row-major arrays.

use crate::flow::grid::cells::Grid;

/// For each move: what it adds to the index of a cell, and the length of its step.
pub(crate) fn strides(grid: &Grid) -> [(isize, u32); 32] {
    let connectivity = grid.connectivity();
    let [width, height, _] = grid.size().map(|length| length as isize);
    let mut strides = [(0, 0); 32];
    for (code, (stride, &[x, y, z])) in strides.iter_mut().zip(connectivity.offsets()).enumerate() {
        let index_step = (z as isize * height + y as isize) * width + x as isize;
        *stride = (index_step, connectivity.step(code as u8));
    }
    strides
}

/// The least, the largest and the mean of the costs of a grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CostRange {
    pub(crate) min: u32,
    pub(crate) max: u32,
    pub(crate) mean: u64,
}

impl CostRange {
    pub(crate) fn new(grid: &Grid) -> Self {
        let costs = grid.costs();
        if costs.is_empty() {
            return Self { min: 1, max: 1, mean: 1 };
        }
        let (mut min, mut max, mut sum) = (u32::MAX, 0, 0);
        for costs in costs.chunks(1 << 12) {
            let part = range_of(costs);
            (min, max, sum) = (min.min(part.0), max.max(part.1), sum + part.2);
        }
        Self { min, max, mean: sum / costs.len() as u64 }
    }

    /// The length of the longest step, times the largest cost.
    pub(crate) fn longest_step(self, grid: &Grid) -> u64 {
        let connectivity = grid.connectivity();
        let longest_move = connectivity.step(connectivity.neighbour_count() as u8 - 1);
        u64::from(longest_move) * u64::from(self.max)
    }
}

/// The least, the largest and the sum of some costs.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn range_of(costs: &[u32]) -> (u32, u32, u64) {
    let (mut min, mut max, mut sum) = (u32::MAX, 0, 0);
    for &cost in costs {
        (min, max, sum) = (min.min(cost), max.max(cost), sum + u64::from(cost));
    }
    (min, max, sum)
}
