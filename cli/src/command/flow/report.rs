//! What `flow` says.

use std::io::{self, Write};

use hullfield::{Cell, Connectivity, Engine, Paths, UNREACHABLE};
use serde_json::{Value, json};

use super::{Arguments, Solved};
use crate::command::{engine_json, print_json};
use crate::failure::Result;
use crate::output::to_stdout;
use crate::read::Map;
use crate::table::Table;

/// How many cells of a path are printed for people.
const SHOWN: usize = 12;

/// All there is to say about a field.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) engine: &'a Engine,
    pub(super) map: &'a Map,
    pub(super) arguments: &'a Arguments,
    pub(super) connectivity: Connectivity,
    pub(super) solved: &'a Solved,
    pub(super) starts: Vec<Cell>,
    pub(super) traces: Paths,
    /// Distances that the edits changed, where there were any.
    pub(super) changed_count: Option<usize>,
}

impl Report<'_> {
    pub(super) fn print(&self) -> Result<()> {
        if self.arguments.json { print_json(&self.json()) } else { to_stdout(|writer| self.write(writer)) }
    }

    /// The largest distance there is.
    fn farthest(&self) -> u32 {
        let reached = self.solved.distances.iter().filter(|&&distance| distance != UNREACHABLE);
        reached.max().copied().unwrap_or(0)
    }

    fn coordinates(&self, cell: Cell) -> Vec<i32> {
        if self.map.is_volume { vec![cell.x, cell.y, cell.z] } else { vec![cell.x, cell.y] }
    }

    fn json(&self) -> Value {
        let (grid, summary) = (self.solved.field.grid(), self.solved.field.summary());
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
                    "distance": (length != UNREACHABLE).then_some(length),
                    "cells": cells.collect::<Vec<_>>(),
                })
            })
            .collect();
        let mut value = json!({
            "engine": engine_json(self.engine),
            "map": {
                "size": grid.size(),
                "obstacles": grid.obstacle_count(),
                "unknown": self.map.unknown_count,
                "origin": frame.origin,
                "cell_size": frame.cell_size,
                "axes": frame.axes,
            },
            "step": self.connectivity.unit(),
            "goals": {
                "used": summary.goals.used_count,
                "blocked": list(&summary.goals.blocked),
                "outside": list(&summary.goals.outside),
            },
            "field": {
                "levels": summary.levels,
                "rounds": summary.rounds,
                "reached": summary.reached_count,
                "unreached": grid.cell_count() - grid.obstacle_count() - summary.reached_count,
                "farthest": self.farthest(),
            },
            "traces": traces,
        });
        if let Some(count) = self.changed_count {
            value["changed"] = json!(count);
        }
        value
    }

    fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let (grid, summary) = (self.solved.field.grid(), self.solved.field.summary());
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
        row.extend([
            grid.obstacle_count().to_string(),
            summary.goals.used_count.to_string(),
            summary.reached_count.to_string(),
            (free_count - summary.reached_count).to_string(),
            farthest.to_string(),
            summary.levels.to_string(),
            summary.rounds.to_string(),
        ]);
        table.row(row);
        table.write(writer)?;
        if self.map.unknown_count > 0 {
            writeln!(
                writer,
                "{} of the obstacles are cells that the map does not know",
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
                let cells = f64::from(length) / f64::from(self.connectivity.unit());
                writeln!(
                    writer,
                    "{start} to {end}: {steps} steps, distance {length} ({cells:.5} cells){from_obstacle}"
                )?;
            }
        }
        let bends = self.bends(path);
        let shown: Vec<String> = bends.iter().take(SHOWN).map(Cell::to_string).collect();
        let more = bends.len().saturating_sub(SHOWN);
        let rest = if more > 0 {
            format!(" … and {more} more bends: --json prints every cell")
        } else {
            String::new()
        };
        writeln!(writer, "  {}{rest}", shown.join(" "))
    }

    /// The cells at which a path turns, and its ends.
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
