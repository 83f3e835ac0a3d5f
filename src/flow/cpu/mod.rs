//! Fields on the CPU.

mod heap;
mod next;

use std::sync::Arc;

use super::field::{Field, FieldCells, FieldData, FieldSummary, UNREACHABLE};
use super::grid::Grid;
use super::solve::{FieldOptions, Goals};
use crate::{Error, Result};

/// Solves a field.
pub(crate) fn solve(grid: &Arc<Grid>, goals: Goals, options: &FieldOptions) -> Result<Field> {
    let limit = options.max_distance.unwrap_or(UNREACHABLE - 1).min(UNREACHABLE - 1);
    let mut distances = heap::solve(grid, &goals.cells, limit);
    if let Some(limit) = until(grid, &distances, options) {
        distances
            .iter_mut()
            .filter(|distance| **distance > limit)
            .for_each(|distance| *distance = UNREACHABLE);
    } else if options.max_distance.is_none() {
        if let Some(cell) = next::overflowing(grid, &distances) {
            return Err(Error::DistanceOverflow { cell });
        }
    }
    let next = next::codes(grid, &distances);
    let reached = distances.iter().filter(|&&distance| distance != UNREACHABLE);
    let levels = reached.clone().max().map_or(0, |&most| most / grid.connectivity().unit() + 1);
    let summary =
        FieldSummary { levels, rounds: levels, reached_count: reached.count(), goals: goals.report };
    let cells = FieldCells::Host { distances, next };
    Ok(Field { shared: Arc::new(FieldData { grid: Arc::clone(grid), summary, cells }) })
}

/// The largest distance of the cells that the field need only reach; none where it is to be whole.
fn until(grid: &Grid, distances: &[u32], options: &FieldOptions) -> Option<u32> {
    let farthest = options.until.iter().filter_map(|&cell| grid.index(cell)).map(|at| distances[at]).max();
    farthest.filter(|&distance| distance != UNREACHABLE)
}
