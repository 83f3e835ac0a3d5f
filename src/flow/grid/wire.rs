//! Grids in the data format of serde: cells as lines of text, which people can read and draw.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Location, Result};
use crate::flow::grid::cells::{Grid, GridOptions, check_size};
use crate::flow::grid::frame::GridFrame;
use crate::flow::grid::moves::Connectivity;

const FREE: char = '.';
const OBSTACLE: char = '@';

/// The fields of a grid in data. Its obstacles include those of a clearance, so the clearance itself is not written.
#[derive(Serialize, Deserialize)]
#[serde(rename = "Grid", deny_unknown_fields)]
struct GridWire<'a> {
    size: [u32; 3],
    #[serde(default)]
    connectivity: Connectivity,
    /// One line per row, those of the first layer first.
    cells: Vec<String>,
    #[serde(default)]
    costs: Cow<'a, [u32]>,
    #[serde(default)]
    frame: GridFrame,
}

impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let line = |row: usize| {
            let first = row * self.width();
            let code = |index| if self.is_obstacle(self.cell(index)) { OBSTACLE } else { FREE };
            (first..first + self.width()).map(code).collect()
        };
        let [_, height, depth] = self.size().map(|length| length as usize);
        let wire = GridWire {
            size: self.size(),
            connectivity: self.connectivity(),
            cells: (0..height * depth).map(line).collect(),
            costs: Cow::Borrowed(self.costs()),
            frame: *self.frame(),
        };
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Grid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        build(GridWire::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn build(wire: GridWire<'_>) -> Result<Grid> {
    let GridWire { size, connectivity, cells, costs, frame } = wire;
    check_size(size, connectivity)?;
    let [width, height, depth] = size;
    let row_count = u64::from(height) * u64::from(depth);
    let count = |at, what, given: usize, allowed| Error::Count { at, what, given: given as u64, allowed };
    if cells.len() as u64 != row_count {
        let allowed = format!("a grid of {width} x {height} x {depth} cells has {row_count}");
        return Err(count(Location::Argument, "lines of cells", cells.len(), allowed));
    }
    // Grows with the lines, so a wrong size cannot make it reserve memory.
    let mut obstacles = Vec::new();
    for (row, line) in cells.iter().enumerate() {
        let before = obstacles.len();
        for code in line.chars() {
            obstacles.push(match code {
                FREE => false,
                OBSTACLE => true,
                other => {
                    let x = obstacles.len() - before;
                    let message = format!(
                        "cell {x} is {other:?}, it must be {FREE:?}, which is free, or {OBSTACLE:?}, an obstacle"
                    );
                    return Err(Error::invalid(Location::Line(row + 1), message));
                }
            });
        }
        let given = obstacles.len() - before;
        if given as u64 != u64::from(width) {
            let allowed = format!("the grid has {width} columns");
            return Err(count(Location::Line(row + 1), "cells", given, allowed));
        }
    }
    let has_costs = !costs.is_empty();
    let options = GridOptions { connectivity, costs: costs.into_owned(), frame, ..GridOptions::default() };
    let mut grid = Grid::new(size, &obstacles, options)?;
    if has_costs {
        grid.hold_costs();
    }
    Ok(grid)
}
