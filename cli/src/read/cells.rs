//! Cells of a map, scenarios and edits.

use std::path::Path;

use hullfield::flow::{Cell, Edit, Grid};

use super::input;
use super::table::Table;
use super::text::excerpt;
use crate::failure::{Failure, Result};

/// A scenario: two cells, and the length of the shortest path between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CellScenario {
    /// Its line in the file.
    pub(crate) line: u64,
    pub(crate) start: Cell,
    pub(crate) goal: Cell,
    /// In cells.
    pub(crate) length: f64,
}

/// Reads `x,y` or `x,y,z` from a flag.
pub(crate) fn cell(option: &str, text: &str) -> Result<Cell> {
    let parts: Option<Vec<i32>> = text.split(',').map(|part| part.trim().parse().ok()).collect();
    match parts.as_deref() {
        Some(&[x, y]) => Ok(Cell { x, y, z: 0 }),
        Some(&[x, y, z]) => Ok(Cell { x, y, z }),
        _ => Err(Failure::input(format!(
            "{option}: \"{}\" is not whole numbers x,y or x,y,z of at most {} in magnitude",
            excerpt(text),
            i32::MAX
        ))),
    }
}

/// Reads a `.scen` file of version 1 for a map of the given size: `bucket map width height x0 y0 x1 y1 length`.
pub(crate) fn cell_scenarios(path: &Path, size: [u32; 3]) -> Result<Vec<CellScenario>> {
    let text = input::text(path)?;
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    match lines.next() {
        Some((line, _)) if line.split_whitespace().next() == Some("version") => {}
        _ => return Err(Failure::line(path, 1, "a scenario file begins with the word version")),
    }
    let read = |(text, line): (&str, u64)| {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() != 9 {
            return Err(Failure::line(path, line, format!("{} fields, 9 expected", words.len())));
        }
        let whole = |k: usize, name: &str| {
            let value: Result<i32, _> = words[k].parse();
            value.map_err(|_| {
                Failure::field(path, line, name, format!("\"{}\" is not a whole number", excerpt(words[k])))
            })
        };
        let [width, height] = [whole(2, "width")?, whole(3, "height")?];
        if [i64::from(width), i64::from(height)] != [i64::from(size[0]), i64::from(size[1])] {
            let message = format!("its map is {width} x {height}, this one is {} x {}", size[0], size[1]);
            return Err(Failure::line(path, line, message));
        }
        let place = |k: usize, name: [&str; 2], what: &str| {
            let cell = Cell::from([whole(k, name[0])?, whole(k + 1, name[1])?]);
            let is_inside = |at: i32, length: u32| (0..i64::from(length)).contains(&i64::from(at));
            if is_inside(cell.x, size[0]) && is_inside(cell.y, size[1]) {
                return Ok(cell);
            }
            Err(Failure::line(path, line, format!("its {what} {cell} is not on the map")))
        };
        let start = place(4, ["start x", "start y"], "start")?;
        let goal = place(6, ["goal x", "goal y"], "goal")?;
        let length: f64 =
            words[8].parse().ok().filter(|length: &f64| length.is_finite()).ok_or_else(|| {
                Failure::field(
                    path,
                    line,
                    "length",
                    format!("\"{}\" is not a finite number", excerpt(words[8])),
                )
            })?;
        Ok(CellScenario { line, start, goal, length })
    };
    lines.map(read).collect()
}

/// Reads edits of a grid: columns `x,y,what` and optionally `z` and `cost`; `what` is block, free or cost.
pub(crate) fn edits(path: &Path, grid: &Grid) -> Result<Vec<Edit>> {
    let mut table = Table::open(path, &["x", "y", "z", "what", "cost"])?;
    let [x, y, what] = [table.required("x")?, table.required("y")?, table.required("what")?];
    let (z, cost) = (table.column("z"), table.column("cost"));
    let mut edits = Vec::new();
    while table.next()? {
        let whole = |column| {
            let text = table.text(column)?;
            let value: Result<i32, _> = text.parse();
            value.map_err(|_| table.invalid(column, format!("\"{}\" is not a whole number", excerpt(text))))
        };
        let cell = Cell { x: whole(x)?, y: whole(y)?, z: z.map_or(Ok(0), whole)? };
        if !grid.contains(cell) {
            return Err(table.invalid(x, format!("cell {cell} is not on the map")));
        }
        let given = cost.map(|column| Ok::<_, Failure>((column, table.text(column)?))).transpose()?;
        let action = table.text(what)?;
        edits.push(match (action, given) {
            ("cost", Some((column, text))) => match text.parse() {
                Ok(cost @ 1..) => Edit::Cost(cell, cost),
                _ => {
                    let message =
                        format!("\"{}\" is not a whole number from 1 to {}", excerpt(text), u32::MAX);
                    return Err(table.invalid(column, message));
                }
            },
            ("cost", None) => return Err(table.invalid(what, "cost, but there is no column cost")),
            ("block" | "free", Some((column, text))) if !text.is_empty() => {
                return Err(table.invalid(column, format!("\"{}\" means nothing to {action}", excerpt(text))));
            }
            ("block", _) => Edit::Block(cell),
            ("free", _) => Edit::Free(cell),
            _ => {
                let message = format!("\"{}\" is none of block, free and cost", excerpt(action));
                return Err(table.invalid(what, message));
            }
        });
    }
    Ok(edits)
}
