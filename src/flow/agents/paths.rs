//! The paths of agents.

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::field::solved::UNREACHABLE;
use crate::flow::field::stats::Stats;

/// The paths of many agents, in the order of their starts.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Paths {
    /// Where each path starts in [`cells`](Self::cells); one more entry at the end holds the number of cells.
    pub offsets: Vec<usize>,
    /// The cells of all paths, one path after the other, from its start to its goal, as row-major indices: see
    /// [`Grid::cell`](crate::flow::Grid::cell). If no goal is reached a path has its start alone.
    pub cells: Vec<u32>,
    /// The length of each path in the units of [`Connectivity`](crate::flow::Connectivity): the distance of its first
    /// cell that is not an obstacle, so the way out of obstacles counts nothing.
    /// [`UNREACHABLE`](crate::flow::UNREACHABLE) if no goal is reached.
    pub lengths: Vec<u32>,
    /// The statistics and times of the call.
    pub stats: Stats,
}

/// The path of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Path {
    /// Its cells from the start to the goal; if no goal is reached the start alone.
    pub cells: Vec<Cell>,
    /// The length of the path in the units of [`Connectivity`](crate::flow::Connectivity): the distance of its first
    /// cell that is not an obstacle, so the way out of obstacles counts nothing.
    /// [`UNREACHABLE`](crate::flow::UNREACHABLE) if no goal is reached.
    pub length: u32,
}

impl Paths {
    /// The number of paths.
    pub fn count(&self) -> usize {
        self.lengths.len()
    }

    /// The cells of a path as row-major indices; empty past the last path.
    pub fn path(&self, row: usize) -> &[u32] {
        match (self.offsets.get(row), self.offsets.get(row + 1)) {
            (Some(&from), Some(&to)) => self.cells.get(from..to).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The number of distances that are those of reached cells.
pub(crate) fn reached_count(distances: &[u32]) -> usize {
    distances.iter().filter(|&&distance| distance != UNREACHABLE).count()
}

/// The offsets of paths with these numbers of steps, and an empty list with room for their cells.
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
