//! The options of fields, and the limits of each.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::grid::cells::Grid;

/// How far fields are solved. By default to the last cell from which a goal can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct FieldOptions {
    /// The largest distance, in the units of [`Connectivity`](crate::flow::Connectivity). Cells farther than this are
    /// left [`UNREACHABLE`](crate::flow::UNREACHABLE). `None`: no limit.
    pub max_distance: Option<u32>,
    /// The field is solved until all these cells have their distance. Cells farther than the farthest of these are left
    /// unreachable. If one of these cells cannot be reached, or the list is empty, the whole field is solved.
    pub until: Vec<Cell>,
    /// Cells as in `until` for each field: one list per list of goals. A field is solved until its own cells and those
    /// of `until` have their distance. Empty: no field has cells of its own.
    /// This measures many pairs of starts and goals in one call of [`Flow::fields`](crate::flow::Flow::fields): one
    /// field per goal, with the starts of that goal here.
    pub until_each: Vec<Vec<Cell>>,
}

/// The limits of one field.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldLimits {
    pub(crate) max_distance: Option<u32>,
    /// The cells of [`FieldOptions::until`] and of the field's own list in `until_each`. Empty: the field is whole.
    pub(crate) targets: Vec<Cell>,
}

impl FieldOptions {
    /// The limits of each of `field_count` fields over a grid.
    ///
    /// # Errors
    /// [`Error::Value`] for a cell outside the grid; [`Error::Count`] if `until_each` has a wrong number of lists.
    pub(crate) fn per_field(&self, grid: &Grid, field_count: usize) -> Result<Vec<FieldLimits>> {
        for &cell in &self.until {
            grid.require(Location::Argument, "until", cell)?;
        }
        if !self.until_each.is_empty() && self.until_each.len() != field_count {
            let (given, allowed) = (self.until_each.len() as u64, format!("there are {field_count} fields"));
            return Err(Error::Count { at: Location::Argument, what: "lists of until_each", given, allowed });
        }
        let limits_of = |row: usize| {
            let own = self.until_each.get(row).map(Vec::as_slice).unwrap_or_default();
            for &cell in own {
                grid.require(Location::Query(row), "until_each", cell)?;
            }
            Ok(FieldLimits { max_distance: self.max_distance, targets: [&self.until, own].concat() })
        };
        (0..field_count).map(limits_of).collect()
    }
}
