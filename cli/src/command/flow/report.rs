//! The report of `flow`.

use std::io::{self, Write};
use std::time::Instant;

use hullfield::Engine;
use hullfield::flow::{Cell, Connectivity, UNREACHABLE};
use serde_json::{Value, json};

use super::arguments::{Arguments, Units};
use super::solved::{Solved, in_cells, in_units};
use super::trace::{Length, Trace};
use crate::command::{common_json, extend, print_json};
use crate::failure::Result;
use crate::output::ReportStream;
use crate::read::Map;
use crate::table::Table;

/// A solved field and everything that the report needs.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) engine: &'a Engine,
    pub(super) map: &'a Map,
    pub(super) arguments: &'a Arguments,
    pub(super) connectivity: Connectivity,
    pub(super) solved: &'a Solved,
    pub(super) traces: &'a [Trace],
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
        length(steps, self.connectivity, self.arguments.units(false), self.map).map(|length| length.number)
    }

    fn json(&self) -> Value {
        let Solved { field, .. } = self.solved;
        let (grid, stats, goals) = (field.grid(), field.stats(), field.goals());
        let list = |cells: &[Cell]| cells.iter().map(|&cell| self.map.coordinates(cell)).collect::<Vec<_>>();
        let frame = grid.frame();
        let traces: Vec<Value> =
            self.traces.iter().map(|trace| trace.json(|cell| self.map.coordinates(cell))).collect();
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
            units @ (Units::Cells | Units::Map | Units::Metres) => {
                let distance = in_units(farthest, self.connectivity.unit(), units, self.map);
                format!("{distance:.5} {}", units.word())
            }
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
        for trace in self.traces {
            writeln!(writer)?;
            trace.write(writer)?;
        }
        Ok(())
    }
}

/// A distance in the unit of `--units`; none where no goal is reached.
pub(super) fn length(steps: u32, connectivity: Connectivity, units: Units, map: &Map) -> Option<Length> {
    let cells = in_cells(steps, connectivity.unit());
    (steps != UNREACHABLE).then(|| match units {
        Units::Steps => Length { number: json!(steps), text: format!("{steps} ({cells:.5} cells)") },
        Units::Cells | Units::Map | Units::Metres => {
            let distance = in_units(steps, connectivity.unit(), units, map);
            Length { number: json!(distance), text: format!("{distance:.5} {}", units.word()) }
        }
    })
}
