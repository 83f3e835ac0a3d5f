//! Edits of a grid.

use crate::cell::Cell;

/// One change of a grid: see [`Flow::edit`](crate::flow::Flow::edit).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Edit {
    /// The cell becomes an obstacle. It keeps its cost for when it is freed again.
    Block(Cell),
    /// The cell becomes free.
    Free(Cell),
    /// Entering the cell costs this multiple of the step's length, 1 or more.
    Cost(Cell, u32),
}

impl Edit {
    /// The cell that changes.
    pub fn cell(self) -> Cell {
        match self {
            Self::Block(cell) | Self::Free(cell) | Self::Cost(cell, _) => cell,
        }
    }
}
