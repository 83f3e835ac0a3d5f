//! Cost distances over friction and hills: Dijkstra in f64, which knows nothing of whole costs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::grid::{Corners, Neighbours};

/// Which cell gives the friction of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The cell that it enters.
    Entry,
    /// The cell that it leaves.
    Exit,
    /// The mean of both.
    Mean,
}

/// A raster of friction, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// The cells along x and y.
    pub size: [usize; 2],
    /// What a step of length 1 costs; a cell where it is not positive and finite is a barrier.
    pub friction: &'a [f64],
    /// The height of each cell; a cell without a finite one is a barrier. Empty if the ground is flat.
    pub elevation: &'a [f32],
    /// By how much a step is multiplied at a slope, piecewise linear: pairs of slope and factor. Empty if by 1.
    pub factors: &'a [[f64; 2]],
    /// Whether paths are walked from the targets.
    pub is_outward: bool,
    /// The size of a cell.
    pub cell_size: [f64; 2],
    /// The lengths of steps of each row, in place of a size: along it, to the row before, and diagonally to that. Empty if cells have a size.
    pub rows: &'a [[f64; 3]],
    /// The moves, of two dimensions.
    pub neighbours: Neighbours,
    /// The friction of a step.
    pub rule: Rule,
}

impl Ground<'_> {
    fn index(&self, [x, y]: [i32; 2]) -> Option<usize> {
        let [width, height] = self.size.map(|length| length as i32);
        ((0..width).contains(&x) && (0..height).contains(&y)).then_some((y * width + x) as usize)
    }

    fn cell(&self, index: usize) -> [i32; 2] {
        [(index % self.size[0]) as i32, (index / self.size[0]) as i32]
    }

    /// Whether a cell is on the raster and no barrier.
    pub fn is_free(&self, cell: [i32; 2]) -> bool {
        self.index(cell).is_some_and(|index| {
            let has_height = self.elevation.is_empty() || self.elevation[index].is_finite();
            self.friction[index] > 0.0 && self.friction[index].is_finite() && has_height
        })
    }

    /// The length of a step over the ground, times the factor of its slope.
    fn length(&self, from: usize, to: usize, offset: [i32; 2]) -> f64 {
        let [width, height] = self.cell_size;
        let run = match self.rows.get(from.max(to) / self.size[0]) {
            None => (f64::from(offset[0]) * width).hypot(f64::from(offset[1]) * height),
            Some(&[along, beside, diagonal]) => match offset {
                [_, 0] => along,
                [0, _] => beside,
                _ => diagonal,
            },
        };
        if self.elevation.is_empty() {
            return run;
        }
        let [low, high] = [from, to].map(|cell| f64::from(self.elevation[cell]));
        let steepness = (high - low) / run * if self.is_outward { -1.0 } else { 1.0 };
        let mut factor = self.factors.first().map_or(1.0, |row| row[1]);
        for pair in self.factors.windows(2) {
            let share = ((steepness - pair[0][0]) / (pair[1][0] - pair[0][0])).clamp(0.0, 1.0);
            if share > 0.0 {
                factor = pair[0][1] + share * (pair[1][1] - pair[0][1]);
            }
        }
        run.hypot(high - low) * factor
    }

    /// The cost of a move; `None` if it is not allowed.
    pub fn move_cost(&self, from: [i32; 2], to: [i32; 2]) -> Option<f64> {
        let offset = [to[0] - from[0], to[1] - from[1]];
        let [dx, dy] = offset;
        if !self.is_free(from) || !self.is_free(to) || dx.abs().max(dy.abs()) != 1 {
            return None;
        }
        if dx != 0 && dy != 0 {
            let beside = [[from[0], to[1]], [to[0], from[1]]];
            let free_count = beside.into_iter().filter(|&cell| self.is_free(cell)).count();
            let needed = match self.neighbours {
                Neighbours::Eight(Corners::BothFree) => 2,
                Neighbours::Eight(Corners::OneFree) => 1,
                Neighbours::Eight(Corners::Any) => 0,
                _ => return None,
            };
            if free_count < needed {
                return None;
            }
        }
        let (from, to) = (self.index(from)?, self.index(to)?);
        let length = self.length(from, to, offset);
        let [start, target] = [from, to].map(|cell| self.friction[cell]);
        Some(match self.rule {
            Rule::Entry => length * target,
            Rule::Exit => length * start,
            Rule::Mean => length * (start + target) / 2.0,
        })
    }

    /// The least cost of a path from each cell to the nearest of some cells; infinite where there is none.
    pub fn costs(&self, sources: &[usize]) -> Vec<f64> {
        let mut costs = vec![f64::INFINITY; self.friction.len()];
        // Costs are not negative, so their bits sort like the numbers.
        let mut heap = BinaryHeap::new();
        for &source in sources {
            costs[source] = 0.0;
            heap.push(Reverse((0, source)));
        }
        while let Some(Reverse((bits, index))) = heap.pop() {
            let cost = f64::from_bits(bits);
            if cost > costs[index] {
                continue;
            }
            let to = self.cell(index);
            for from in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| [to[0] + dx, to[1] + dy])) {
                let Some(before) = self.index(from) else { continue };
                // A cell that is as near already needs no look at its move.
                if costs[before] <= cost {
                    continue;
                }
                let Some(step) = self.move_cost(from, to) else { continue };
                if cost + step < costs[before] {
                    costs[before] = cost + step;
                    heap.push(Reverse((costs[before].to_bits(), before)));
                }
            }
        }
        costs
    }
}
