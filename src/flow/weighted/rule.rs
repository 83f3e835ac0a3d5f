//! What a move from cell to cell costs.

use crate::error::{Error, Location, Result};
use crate::flow::grid::moves::Connectivity;

/// Which cells' costs a move pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum CostRule {
    /// The length of the step times the cost of the cell entered, on the path from a cell to the goal: the rule of fields.
    #[default]
    Entry,
    /// The length of the step times the cost of the cell left. Read from the goal outward it is the cell entered: the rule of scikit-image's `MCP`,
    /// which also adds the cost of the start.
    Exit,
    /// The length of the step times the mean cost of both cells: the rule of GRASS's `r.cost`, of xarray-spatial and of
    /// scikit-image's `MCP_Geometric`. Whole distances count it twice, so that nothing is rounded: the length times the sum of both costs.
    Mean,
}

/// The lengths of steps, as whole numbers in one unit: along x, along y and diagonal.
///
/// ```
/// use hullfield::flow::{Connectivity, StepLengths};
///
/// let steps = StepLengths::of(Connectivity::default());
/// assert_eq!(steps, StepLengths { x: 408, y: 408, diagonal: 577 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct StepLengths {
    /// From a column to the next.
    pub x: u32,
    /// From a row to the next.
    pub y: u32,
    /// From a cell to one that shares only a corner with it. Without diagonals it is not used.
    pub diagonal: u32,
}

impl StepLengths {
    /// The lengths that [`Connectivity`] names: 1, or 408 along an axis and 577 across a square.
    pub fn of(connectivity: Connectivity) -> Self {
        let unit = connectivity.unit();
        Self { x: unit, y: unit, diagonal: connectivity.step(4).max(1) }
    }

    /// The longest of those that a connectivity uses.
    pub(crate) fn longest(self, connectivity: Connectivity) -> u32 {
        let along = self.x.max(self.y);
        if connectivity.neighbour_count() > 4 { along.max(self.diagonal) } else { along }
    }

    /// # Errors
    /// [`Error::Value`] for a length of 0, or of more than 2²⁴.
    pub(crate) fn check(self) -> Result<()> {
        if [self.x, self.y, self.diagonal].into_iter().all(|length| (1..=1 << 24).contains(&length)) {
            return Ok(());
        }
        let allowed = "each length must be from 1 to 2^24";
        Err(Error::value(
            Location::Argument,
            "step_lengths",
            format!("{:?}", [self.x, self.y, self.diagonal]),
            allowed,
        ))
    }
}

/// The moves of a grid of two dimensions, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct MoveCosts {
    pub(crate) connectivity: Connectivity,
    pub(crate) rule: CostRule,
    pub(crate) lengths: StepLengths,
}

impl MoveCosts {
    /// Whether moves cost what they do in fields.
    pub(crate) fn are_plain(&self) -> bool {
        self.rule == CostRule::Entry && self.lengths == StepLengths::of(self.connectivity)
    }

    /// The length of the step of a move.
    pub(crate) fn step(&self, code: u8) -> u32 {
        match code {
            0 | 2 => self.lengths.y,
            1 | 3 => self.lengths.x,
            _ => self.lengths.diagonal,
        }
    }

    /// The weight of a move from a cell of the cost `start` to one of the cost `target`.
    pub(crate) fn weight(&self, code: u8, start: u32, target: u32) -> u64 {
        let costs = match self.rule {
            CostRule::Entry => u64::from(target),
            CostRule::Exit => u64::from(start),
            CostRule::Mean => u64::from(start) + u64::from(target),
        };
        u64::from(self.step(code)).saturating_mul(costs)
    }

    /// The largest weight of a move between cells that cost no more than `max_cost`.
    pub(crate) fn longest_weight(&self, max_cost: u32) -> u64 {
        u64::from(self.lengths.longest(self.connectivity))
            .saturating_mul(u64::from(max_cost) * self.rule.cell_count())
    }
}

impl CostRule {
    /// The cells whose costs a move pays; whole distances count each in full.
    pub(crate) fn cell_count(self) -> u64 {
        if self == Self::Mean { 2 } else { 1 }
    }

    /// What the costs of the cells that moves enter and leave are multiplied by: `one` where a single cell pays, `both` where both do, or `none`.
    pub(crate) fn shares<T>(self, one: [T; 3], both: [T; 3], none: T) -> [[T; 3]; 2]
    where
        T: Copy,
    {
        match self {
            Self::Entry => [one, [none; 3]],
            Self::Exit => [[none; 3], one],
            Self::Mean => [both, both],
        }
    }
}
