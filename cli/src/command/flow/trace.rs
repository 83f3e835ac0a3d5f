//! The paths of `--trace`: for people, as JSON, and as GeoJSON in map coordinates.

use std::io::{self, Write};
use std::path::Path;

use hullfield::flow::Cell;
use serde_json::{Value, json};

use crate::failure::Result;
use crate::output::to_file;

/// Bends of a path that are printed for people.
const MAX_PRINTED: usize = 12;

/// A distance in the unit of `--units`, and how it is printed.
#[derive(Debug)]
pub(super) struct Length {
    pub(super) number: Value,
    pub(super) text: String,
}

/// The path from a cell to its goal.
#[derive(Debug)]
pub(super) struct Trace {
    /// From the cell to the goal, both included; the cell alone where no goal is reached.
    pub(super) cells: Vec<Cell>,
    /// None where no goal is reached.
    pub(super) length: Option<Length>,
    /// Whether the cell is an obstacle.
    pub(super) is_blocked: bool,
}

impl Trace {
    fn status(&self) -> &'static str {
        if self.length.is_some() { "reached" } else { "unreachable" }
    }

    fn start(&self) -> Cell {
        self.cells.first().copied().unwrap_or(Cell { x: 0, y: 0, z: 0 })
    }

    /// The object of the report. `coordinates` has two or three numbers for a cell.
    pub(super) fn json(&self, coordinates: impl Fn(Cell) -> Vec<i32>) -> Value {
        json!({
            "start": coordinates(self.start()),
            "status": self.status(),
            "distance": self.length.as_ref().map(|length| &length.number),
            "cells": self.cells.iter().map(|&cell| coordinates(cell)).collect::<Vec<_>>(),
        })
    }

    /// Prints it for people: its distance, and where it bends.
    pub(super) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let (start, steps) = (self.start(), self.cells.len().saturating_sub(1));
        let from_obstacle = if self.is_blocked { ", out of an obstacle" } else { "" };
        match (&self.length, self.cells.last()) {
            (Some(Length { text, .. }), Some(end)) => {
                writeln!(writer, "{start} to {end}: {steps} steps, distance {text}{from_obstacle}")?;
            }
            _ if self.is_blocked && steps == 0 => {
                writeln!(writer, "{start}: no goal is reached, it is an obstacle")?
            }
            _ => writeln!(writer, "{start}: no goal is reached{from_obstacle}")?,
        }
        let bends = self.bends();
        let printed: Vec<String> = bends.iter().take(MAX_PRINTED).map(Cell::to_string).collect();
        let more = bends.len().saturating_sub(MAX_PRINTED);
        let rest = if more > 0 {
            format!(" … and {more} more bends: --json prints every cell")
        } else {
            String::new()
        };
        writeln!(writer, "  {}{rest}", printed.join(" "))
    }

    /// The cells at which a path changes direction, and its ends.
    fn bends(&self) -> Vec<Cell> {
        let cells = &self.cells;
        let step = |from: Cell, to: Cell| [to.x - from.x, to.y - from.y, to.z - from.z];
        let turns = |at: usize| {
            at == 0
                || at + 1 == cells.len()
                || step(cells[at - 1], cells[at]) != step(cells[at], cells[at + 1])
        };
        (0..cells.len()).filter(|&at| turns(at)).map(|at| cells[at]).collect()
    }
}

/// Writes paths as GeoJSON: a feature for each, with the properties `start`, `goal`, `distance` and `status`. `place` has the map coordinates of a
/// cell's centre. A path of one cell is a point, any other a line.
pub(super) fn write_geojson(
    out: &Path,
    traces: &[Trace],
    place: impl Fn(Cell) -> Vec<f64>,
    coordinates: impl Fn(Cell) -> Vec<i32>,
) -> Result<()> {
    let feature = |trace: &Trace| {
        let line: Vec<Vec<f64>> = trace.cells.iter().map(|&cell| place(cell)).collect();
        let geometry = match line.as_slice() {
            [point] => json!({ "type": "Point", "coordinates": point }),
            _ => json!({ "type": "LineString", "coordinates": line }),
        };
        let goal = trace.cells.last().filter(|_| trace.length.is_some()).map(|&cell| coordinates(cell));
        json!({
            "type": "Feature",
            "geometry": geometry,
            "properties": {
                "start": coordinates(trace.start()),
                "goal": goal,
                "distance": trace.length.as_ref().map(|length| &length.number),
                "status": trace.status(),
            },
        })
    };
    let features: Vec<Value> = traces.iter().map(feature).collect();
    let collection = json!({ "type": "FeatureCollection", "features": features });
    to_file(out, |writer| writeln!(writer, "{collection}"))
}
