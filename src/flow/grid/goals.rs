//! The goals of a field, checked against the grid.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::grid::cells::Grid;

/// Which of the given goals were used, and which were left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct GoalReport {
    /// How many different cells are goals.
    pub used_count: usize,
    /// Goals on obstacles, which were left out, in the order given.
    pub blocked: Vec<Cell>,
    /// Goals outside the grid, which were left out, in the order given.
    pub outside: Vec<Cell>,
}

/// The goals of a field, sorted out.
#[derive(Debug, Clone)]
pub(crate) struct Goals {
    /// Indices of the goal cells, ascending, without duplicates.
    pub(crate) cells: Vec<u32>,
    pub(crate) report: GoalReport,
    /// All goals as the caller gave them.
    pub(crate) given: Vec<Cell>,
}

/// Where a goal lies.
pub(crate) enum Place<K> {
    Outside,
    Blocked,
    /// On a cell that can be a goal, with what it is sorted by.
    Free(K),
}

/// The goals that can be used, sorted and each once, and what became of all.
///
/// # Errors
/// [`Error::NoGoals`] if none can be used; those of `place`.
pub(crate) fn sort_out<K: Ord>(
    goals: &[Cell],
    mut place: impl FnMut(Cell) -> Result<Place<K>>,
) -> Result<(Vec<K>, GoalReport)> {
    let mut cells = Vec::with_capacity(goals.len());
    let mut report = GoalReport::default();
    for &goal in goals {
        match place(goal)? {
            Place::Outside => report.outside.push(goal),
            Place::Blocked => report.blocked.push(goal),
            Place::Free(cell) => cells.push(cell),
        }
    }
    cells.sort_unstable();
    cells.dedup();
    report.used_count = cells.len();
    if cells.is_empty() {
        return Err(Error::NoGoals {
            at: Location::Argument,
            given_count: goals.len(),
            blocked_count: report.blocked.len(),
            outside_count: report.outside.len(),
        });
    }
    Ok((cells, report))
}

impl Goals {
    pub(crate) fn new(grid: &Grid, goals: &[Cell]) -> Result<Self> {
        let place = |goal| {
            Ok(match grid.index(goal) {
                None => Place::Outside,
                Some(_) if grid.is_obstacle(goal) => Place::Blocked,
                Some(index) => Place::Free(index as u32),
            })
        };
        let (cells, report) = sort_out(goals, place)?;
        Ok(Self { cells, report, given: goals.to_vec() })
    }

    /// The goal cells that are not among the others.
    pub(crate) fn without(&self, others: &Self) -> Vec<u32> {
        self.cells.iter().copied().filter(|goal| others.cells.binary_search(goal).is_err()).collect()
    }
}
