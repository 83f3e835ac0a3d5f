//! The options of a field.

use crate::cell::Cell;

/// How far a field goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldOptions {
    /// Cells farther than that are not reached. In the units of [`Connectivity`](crate::flow::Connectivity); `None` for no
    /// limit.
    pub max_distance: Option<u32>,
    /// The field need only reach these cells: what is farther than the farthest of them is not reached. Where one of them
    /// can't be reached the field is whole. Empty: the field is whole.
    pub until: Vec<Cell>,
}
