//! The lengths of steps over flat ground, the same in all rows or of each row.

use crate::error::{Error, Location, Result};
use crate::flow::grid::moves::Connectivity;
use crate::flow::weighted::geographic::Geographic;
use crate::flow::weighted::rule::CostRule;

/// The largest ratio of the sizes of a cell.
const MAX_RATIO: f64 = 1000.0;

/// Along x; along y, to the row before; and diagonally to that row.
pub(crate) type RowLengths = [f64; 3];
/// What the costs of the cells that moves enter and leave are multiplied by.
pub(crate) type RowShares = [RowLengths; 2];

/// The lengths of steps between cells, in a unit that keeps them small.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lengths {
    /// The unit, in those of the map, or in metres.
    pub(crate) unit: f64,
    /// About that of a step from row to row.
    pub(crate) typical: f64,
    /// That of the shortest step.
    pub(crate) shortest: f64,
    rows: Rows,
}

#[derive(Debug, Clone, PartialEq)]
enum Rows {
    Alike(RowLengths),
    /// Those from a row on.
    Each(u32, Vec<RowLengths>),
}

impl Lengths {
    /// For some rows of a raster that has `row_count` of them. The cells have this size, unless they lie on a globe.
    pub(crate) fn new(
        [x, y]: [f64; 2],
        geographic: Option<&Geographic>,
        rows: std::ops::Range<u32>,
        row_count: u32,
    ) -> Self {
        let Some(geographic) = geographic else {
            // In units of the shorter side no length overflows.
            let unit = x.min(y);
            let lengths = [x / unit, y / unit, (x / unit).hypot(y / unit)];
            return Self { unit, typical: 1.0, shortest: 1.0, rows: Rows::Alike(lengths) };
        };
        let first = rows.start;
        let rows: Vec<RowLengths> = rows.map(|row| geographic.step_lengths(row, row_count)).collect();
        let along = rows.iter().map(|lengths| lengths[0]).fold(f64::INFINITY, f64::min);
        // The first row has none before it.
        let beside = rows.iter().map(|lengths| lengths[1]).filter(|&length| length > 0.0);
        let beside = beside.fold(f64::INFINITY, f64::min);
        let typical = if beside < f64::INFINITY { beside } else { along };
        Self { unit: 1.0, typical, shortest: along.min(beside), rows: Rows::Each(first, rows) }
    }

    /// Over slopes: in the units of the map.
    pub(crate) fn in_map_units(self, [x, y]: [f64; 2]) -> Self {
        match self.rows {
            Rows::Alike(_) => {
                let rows = Rows::Alike([x, y, x.hypot(y)]);
                Self { unit: 1.0, typical: x.min(y), shortest: x.min(y), rows }
            }
            Rows::Each(..) => self,
        }
    }

    /// Those of the steps of a row of the raster.
    pub(crate) fn at(&self, row: usize) -> RowLengths {
        match &self.rows {
            Rows::Alike(lengths) => *lengths,
            Rows::Each(first, rows) => {
                row.checked_sub(*first as usize).and_then(|row| rows.get(row)).copied().unwrap_or_default()
            }
        }
    }

    /// What costs are multiplied by under a rule: for all rows, and for each where they differ.
    pub(crate) fn shares(&self, rule: CostRule) -> (RowShares, Vec<RowShares>) {
        let shares = |lengths: RowLengths| rule.shares(lengths, lengths.map(|length| 0.5 * length), 0.0);
        match &self.rows {
            Rows::Alike(lengths) => (shares(*lengths), Vec::new()),
            Rows::Each(_, rows) => {
                let each: Vec<RowShares> = rows.iter().map(|&lengths| shares(lengths)).collect();
                (each.first().copied().unwrap_or_default(), each)
            }
        }
    }
}

/// # Errors
/// [`Error::Value`] for a connectivity of three dimensions, and for a size or a place on a globe outside its range.
pub(crate) fn check_moves(
    connectivity: Connectivity,
    cell_size: [f64; 2],
    geographic: Option<&Geographic>,
    row_count: u32,
) -> Result<()> {
    let refuse =
        |field, value: String, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
    if connectivity.dimension() != 2 {
        let allowed = "a raster has two dimensions: 4 or 8 of them";
        return refuse("connectivity", connectivity.to_string(), allowed);
    }
    if let Some(geographic) = geographic {
        return geographic.check(row_count);
    }
    let [width, height] = cell_size;
    if !(width > 0.0 && height > 0.0 && width.max(height) < f64::INFINITY) {
        return refuse("cell_size", format!("{cell_size:?}"), "both must be finite and more than 0");
    }
    if width.max(height) > MAX_RATIO * width.min(height) {
        return refuse("cell_size", format!("{cell_size:?}"), "one may be up to 1,000 times the other");
    }
    Ok(())
}
