//! The report of `flow`.

use std::io::{self, Write};
use std::time::Instant;

use hullfield::Engine;
use hullfield::flow::{Cell, Connectivity, Paths, UNREACHABLE};
use serde_json::{Value, json};

use super::arguments::{Arguments, Units};
use super::solved::{Solved, in_cells};
use crate::command::{common_json, extend, print_json};
use crate::failure::Result;
use crate::output::ReportStream;
use crate::read::Map;
use crate::table::Table;

/// Bends of a path that are printed for people.
const MAX_PRINTED: usize = 12;

/// A solved field and everything that the report needs.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) engine: &'a Engine,
    pub(super) map: &'a Map,
    pub(super) arguments: &'a Arguments,
    pub(super) connectivity: Connectivity,
    pub(super) solved: &'a Solved,
    pub(super) starts: Vec<Cell>,
    pub(super) traces: Paths,
    /// The number of distances that changed, if there were edits.
    pub(super) changed_count: Option<usize>,
    /// The start of the run, and the times of its stages in milliseconds.
    pub(super) started: Instant,
    pub(super) stages: [(&'static str, f64); 3],
    /// Where the report goes.
    pub(super) report_stream: ReportStream,
}

impl Report<'_> {
    pub(super) fn print(&self) -> Result<()> {
        if self.arguments.json {
            print_json(&self.json())
        } else {
            self.report_stream.write(|writer| self.write(writer))
        }
    }

    /// The largest distance of a reached cell.
    fn farthest(&self) -> u32 {
        let reached = self.solved.distances.iter().filter(|&&distance| distance != UNREACHABLE);
        reached.max().copied().unwrap_or(0)
    }

    /// A distance in the unit of `--units`; none where no goal is reached.
    fn distance(&self, steps: u32) -> Option<Value> {
        let unit = self.connectivity.unit();
        (steps != UNREACHABLE).then(|| match self.arguments.units(false) {
            Units::Steps => json!(steps),
            Units::Cells | Units::Map => json!(in_cells(steps, unit)),
        })
    }

    fn coordinates(&self, cell: Cell) -> Vec<i32> {
        if self.map.is_volume { vec![cell.x, cell.y, cell.z] } else { vec![cell.x, cell.y] }
    }

    fn json(&self) -> Value {
        let Solved { field, .. } = self.solved;
        let (grid, stats, goals) = (field.grid(), field.stats(), field.goals());
        let list = |cells: &[Cell]| cells.iter().map(|&cell| self.coordinates(cell)).collect::<Vec<_>>();
        let frame = grid.frame();
        let traces: Vec<Value> = self
            .starts
            .iter()
            .enumerate()
            .map(|(row, &start)| {
                let length = self.traces.lengths[row];
                let cells =
                    self.traces.path(row).iter().map(|&cell| self.coordinates(grid.cell(cell as usize)));
                json!({
                    "start": self.coordinates(start),
                    "status": if length == UNREACHABLE { "unreachable" } else { "reached" },
                    "distance": self.distance(length),
                    "cells": cells.collect::<Vec<_>>(),
                })
            })
            .collect();
        let mut counts = vec![
            ("cells", grid.cell_count()),
            ("obstacles", grid.obstacle_count()),
            ("unknown", self.map.unknown_count),
            ("goals", goals.used_count),
            ("levels", stats.levels as usize),
            ("rounds", stats.rounds as usize),
            ("reached", stats.reached_count),
            ("unreached", grid.cell_count() - grid.obstacle_count() - stats.reached_count),
        ];
        counts.extend(self.changed_count.map(|count| ("changed", count)));
        let counts = counts.into_iter().map(|(what, count)| (what, count as u64));
        let mut value = common_json(Some(self.engine), self.started, self.stages, counts);
        let more = json!({
            "map": {
                "size": grid.size(),
                "origin": frame.origin,
                "cell_size": frame.cell_size,
                "axes": frame.axes,
            },
            "step": self.connectivity.unit(),
            "units": self.arguments.units(false).name(),
            "goals": { "blocked": list(&goals.blocked), "outside": list(&goals.outside) },
            "farthest": self.distance(self.farthest()),
            "traces": traces,
        });
        extend(&mut value, more);
        value
    }

    fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let Solved { field, .. } = self.solved;
        let (grid, stats, goals) = (field.grid(), field.stats(), field.goals());
        let [width, height, depth] = grid.size();
        let size = if self.map.is_volume {
            format!("{width} x {height} x {depth}")
        } else {
            format!("{width} x {height}")
        };
        let free_count = grid.cell_count() - grid.obstacle_count();
        let mut table = Table::new(&[
            "map",
            "obstacles",
            "goals",
            "reached",
            "unreached",
            "farthest",
            "levels",
            "rounds",
        ]);
        let mut row = vec![size];
        let farthest = self.farthest();
        let farthest = match self.arguments.units(false) {
            Units::Steps => farthest.to_string(),
            Units::Cells | Units::Map => format!("{:.5} cells", in_cells(farthest, self.connectivity.unit())),
        };
        row.extend([
            grid.obstacle_count().to_string(),
            goals.used_count.to_string(),
            stats.reached_count.to_string(),
            (free_count - stats.reached_count).to_string(),
            farthest,
            stats.levels.to_string(),
            stats.rounds.to_string(),
        ]);
        table.row(row);
        table.write(writer)?;
        if self.map.unknown_count > 0 {
            writeln!(
                writer,
                "{} of the obstacles are cells that the map leaves unknown",
                self.map.unknown_count
            )?;
        }
        if let Some(count) = self.changed_count {
            writeln!(writer, "the edits changed {count} distances")?;
        }
        for (row, &start) in self.starts.iter().enumerate() {
            writeln!(writer)?;
            self.write_trace(writer, row, start)?;
        }
        Ok(())
    }

    fn write_trace(&self, writer: &mut dyn Write, row: usize, start: Cell) -> io::Result<()> {
        let (grid, path) = (self.solved.field.grid(), self.traces.path(row));
        let steps = path.len() - 1;
        let end = grid.cell(path[steps] as usize);
        let from_obstacle = if grid.is_obstacle(start) { ", out of an obstacle" } else { "" };
        match self.traces.lengths[row] {
            UNREACHABLE => writeln!(writer, "{start}: no goal is reached{from_obstacle}")?,
            length => {
                let cells = in_cells(length, self.connectivity.unit());
                let distance = match self.arguments.units(false) {
                    Units::Steps => format!("{length} ({cells:.5} cells)"),
                    Units::Cells | Units::Map => format!("{cells:.5} cells"),
                };
                writeln!(writer, "{start} to {end}: {steps} steps, distance {distance}{from_obstacle}")?;
            }
        }
        let bends = self.bends(path);
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
    fn bends(&self, path: &[u32]) -> Vec<Cell> {
        let cells: Vec<Cell> =
            path.iter().map(|&cell| self.solved.field.grid().cell(cell as usize)).collect();
        let step = |from: Cell, to: Cell| [to.x - from.x, to.y - from.y, to.z - from.z];
        let turns = |at: usize| {
            at == 0
                || at + 1 == cells.len()
                || step(cells[at - 1], cells[at]) != step(cells[at], cells[at + 1])
        };
        (0..cells.len()).filter(|&at| turns(at)).map(|at| cells[at]).collect()
    }
}
