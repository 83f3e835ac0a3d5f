//! The paths of many agents, one after another.

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::field::stats::Stats;

/// The paths of many agents.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Paths {
    /// Where each path begins in [`cells`](Self::cells); one more at the end, their number.
    pub offsets: Vec<usize>,
    /// The cells of all paths, one path after another, the start and the goal among them, as indices of row-major
    /// arrays: see [`Grid::cell`](crate::flow::Grid::cell). Where no goal is reached the start alone.
    pub cells: Vec<u32>,
    /// How long each path is: the distance of its first cell that is no obstacle, [`UNREACHABLE`](crate::flow::UNREACHABLE)
    /// where no goal is reached. The way out of obstacles has no length.
    pub lengths: Vec<u32>,
    /// What the call took.
    pub stats: Stats,
}

/// The path of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Path {
    /// Its cells, the start and the goal among them; where no goal is reached the start alone.
    pub cells: Vec<Cell>,
    /// The distance of its first cell that is no obstacle, in the units of [`Connectivity`](crate::flow::Connectivity);
    /// [`UNREACHABLE`](crate::flow::UNREACHABLE) where no goal is reached. The way out of obstacles has no length.
    pub length: u32,
}

impl Paths {
    /// How many paths there are.
    pub fn count(&self) -> usize {
        self.lengths.len()
    }

    /// The cells of a path; none past the last path.
    pub fn path(&self, row: usize) -> &[u32] {
        match (self.offsets.get(row), self.offsets.get(row + 1)) {
            (Some(&from), Some(&to)) => self.cells.get(from..to).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// How many distances are those of reached cells.
pub(crate) fn reached_count(distances: &[u32]) -> usize {
    distances.iter().filter(|&&distance| distance != UNREACHABLE).count()
}

/// Where each path begins, by its steps, and room for the cells of all.
pub(crate) fn path_offsets(
    step_counts: impl ExactSizeIterator<Item = usize>,
) -> Result<(Vec<usize>, Vec<u32>)> {
    let mut offsets = Vec::with_capacity(step_counts.len() + 1);
    let mut cell_count = 0_usize;
    offsets.push(0);
    for step_count in step_counts {
        cell_count = cell_count.saturating_add(step_count + 1);
        offsets.push(cell_count);
    }
    let mut cells = Vec::new();
    if cells.try_reserve_exact(cell_count).is_err() {
        let needed_bytes = (cell_count as u64).saturating_mul(4);
        return Err(Error::MemoryLimit { what: "the paths", needed_bytes, limit_bytes: isize::MAX as u64 });
    }
    Ok((offsets, cells))
}
