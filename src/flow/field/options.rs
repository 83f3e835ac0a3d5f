//! The options of a field.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::grid::cells::Grid;

/// How far a field goes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct FieldOptions {
    /// Cells farther than that are not reached. In the units of [`Connectivity`](crate::flow::Connectivity); `None` for no
    /// limit.
    pub max_distance: Option<u32>,
    /// The field need only reach these cells: what is farther than the farthest of them is not reached. Where one of them
    /// can't be reached the field is whole. Empty: the field is whole.
    pub until: Vec<Cell>,
    /// Cells as in `until` for each field on its own, a list for each list of goals; a field need reach both. Empty: there are
    /// none. So many pairs of starts and goals are measured in one call of [`Flow::fields`](crate::flow::Flow::fields): a field
    /// for each goal, with its starts here.
    pub until_each: Vec<Vec<Cell>>,
}

/// The options of one field.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reach {
    pub(crate) max_distance: Option<u32>,
    /// The cells that it need only reach; none: it is whole.
    pub(crate) until: Vec<Cell>,
}

impl FieldOptions {
    /// The options of each of so many fields over a grid.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell beside the grid, [`Error::Count`] where there are other than so many lists.
    pub(crate) fn each(&self, grid: &Grid, field_count: usize) -> Result<Vec<Reach>> {
        for &cell in &self.until {
            grid.require(Location::Argument, "until", cell)?;
        }
        if !self.until_each.is_empty() && self.until_each.len() != field_count {
            let (given, allowed) = (self.until_each.len() as u64, format!("there are {field_count} fields"));
            return Err(Error::Count { at: Location::Argument, what: "lists of until_each", given, allowed });
        }
        let one = |row: usize| {
            let own = self.until_each.get(row).map(Vec::as_slice).unwrap_or_default();
            for &cell in own {
                grid.require(Location::Query(row), "until_each", cell)?;
            }
            Ok(Reach { max_distance: self.max_distance, until: [&self.until, own].concat() })
        };
        (0..field_count).map(one).collect()
    }
}
