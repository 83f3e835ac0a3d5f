//! `flow` with costs that fields don't have, in one piece: friction in floats or in map units, other rules of costs, and allocations.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use hullfield::Engine;
use hullfield::flow::{
    Cell, Connectivity, CostDistance, CostDistanceOptions, CostRule, GoalReport, MemoryTiles, NEXT_NONE,
    RASTER_UNREACHABLE, Raster, RasterOptions, RasterWindow, allocation, cost_distance, solve_raster,
};
use serde_json::{Value, json};

use super::arguments::{Arguments, Units};
use super::distances::{CellNumber, DistanceFile, DistanceType, Unit};
use super::solved::{warn_of_cells, warn_of_goals};
use super::trace::{Length, Trace, write_geojson};
use crate::command::{common_json, extend, milliseconds, print_json};
use crate::failure::{Failure, Result};
use crate::output::{ReportStream, to_file, warn};
use crate::picture::{CellState, FieldPicture, write_png};
use crate::progress::StageBar;
use crate::read::{FrictionNumbers, MapRaster, WholeFriction, write_npy};
use crate::table::Table;

/// Distances, row-major.
#[derive(Debug)]
enum Distances {
    /// In steps.
    Whole(Vec<u64>),
    /// In map units times friction.
    Map(Vec<f32>),
}

/// A solved map.
#[derive(Debug)]
struct Solved {
    distances: Distances,
    /// The codes of next cells; empty where nothing needs them.
    next: Vec<u8>,
    obstacles: Vec<bool>,
    goals: GoalReport,
    reached_count: u64,
    farthest: f64,
    /// The largest relative error of distances in map units.
    error_bound: Option<f64>,
    visit_count: u64,
}

/// A solved map, and what the report and the files need.
struct Answer<'a> {
    arguments: &'a Arguments,
    raster: &'a MapRaster,
    connectivity: Connectivity,
    /// Columns and rows.
    size: [u32; 2],
    goals: &'a [Cell],
    unit: Unit,
    solved: Solved,
    traces: Vec<Trace>,
}

/// Solves a map, writes its files, and prints the report.
pub(super) fn run(
    arguments: &Arguments,
    goals: &[Cell],
    starts: &[Cell],
    started: Instant,
    report_stream: ReportStream,
) -> Result<()> {
    let raster = MapRaster::open(&arguments.map_files(), u64::MAX)?;
    let size = raster.size();
    let units = arguments.units(raster.is_float());
    if raster.is_float() && !units.is_of_map() {
        let name = units.name();
        return Err(Failure::input(format!(
            "--units {name}: with friction in floats distances are in map units"
        )));
    }
    let inside = |cell: &Cell| index(size, *cell).is_some();
    if let Some(start) = starts.iter().find(|start| !inside(start)) {
        return Err(Failure::input(format!("--trace: cell {start} is not on the map")));
    }
    let connectivity = arguments.connectivity(1)?;
    let read_ms = milliseconds(started);
    let solve_start = Instant::now();
    let needs_next = arguments.next.is_some()
        || arguments.png.is_some()
        || arguments.allocation.is_some()
        || !starts.is_empty();
    let (solved, unit) = if units.is_of_map() {
        (in_map_units(arguments, &raster, goals, connectivity, needs_next)?, Unit::Map(1.0))
    } else {
        warn_of_cells(raster.georeference());
        // The mean of two costs counts halves.
        let halves = if arguments.cost_rule() == CostRule::Mean { 2 } else { 1 };
        let unit = Unit::Cells(connectivity.unit() * halves);
        (in_steps(arguments, &raster, goals, connectivity, needs_next)?, unit)
    };
    let solve_ms = milliseconds(solve_start);
    let write_start = Instant::now();
    let mut answer =
        Answer { arguments, raster: &raster, connectivity, size, goals, unit, solved, traces: Vec::new() };
    answer.traces = starts.iter().map(|&start| answer.trace(start, units)).collect();
    answer.write_files(units)?;
    warn_of_goals(&answer.solved.goals, goals.len());
    let stages = [("read", read_ms), ("solve", solve_ms), ("write", milliseconds(write_start))];
    if arguments.json {
        return print_json(&answer.json(units, started, stages));
    }
    report_stream.write(|writer| answer.write(writer, units))
}

/// The index of a cell in arrays of the map; none outside.
fn index([width, height]: [u32; 2], Cell { x, y, z }: Cell) -> Option<usize> {
    let inside = |at: i32, length: u32| u32::try_from(at).ok().filter(|&at| at < length);
    (z == 0).then_some(inside(y, height)? as usize * width as usize + inside(x, width)? as usize)
}

/// The relative error of lengths on a globe.
pub(super) const GEODESIC_ERROR: f64 = 1e-9;

/// Warns of distances that f32 can't hold.
pub(super) fn warn_of_large(farthest: f64) {
    if farthest > f64::from(f32::MAX) {
        warn(format_args!(
            "distances up to {farthest:e} are reached; beyond {:e} they are written as inf, as where no goal is reached",
            f32::MAX
        ));
    }
}

/// Distances in map units times friction, in floats.
fn in_map_units(
    arguments: &Arguments,
    raster: &MapRaster,
    goals: &[Cell],
    connectivity: Connectivity,
    next: bool,
) -> Result<Solved> {
    let size = raster.size();
    let mut bar = StageBar::new();
    bar.at("reading friction", 0, 1);
    let WholeFriction { numbers: friction, least_distance } = raster.friction()?;
    let options = CostDistanceOptions {
        connectivity,
        cost_rule: arguments.cost_rule(),
        cell_size: raster.cell_size(),
        geographic: raster.geographic(),
        // Cells that cost nothing are at no distance.
        max_distance: arguments.max_distance.map(|distance| distance.max(least_distance)),
        next,
        ..CostDistanceOptions::default()
    };
    let mut on_progress = |progress: hullfield::flow::CostDistanceProgress| {
        bar.at("solving", progress.solved_count, progress.tile_count);
        ControlFlow::Continue(())
    };
    let is_barrier = |value: f64| !(value > 0.0 && value < f64::INFINITY);
    let (solved, obstacles) = match &friction {
        FrictionNumbers::Single(cells) => (
            cost_distance(size, cells, goals, &options, &mut on_progress)?,
            cells.iter().map(|&value| is_barrier(value.into())).collect(),
        ),
        FrictionNumbers::Double(cells) => (
            cost_distance(size, cells, goals, &options, &mut on_progress)?,
            cells.iter().map(|&value| is_barrier(value)).collect(),
        ),
    };
    let CostDistance { mut distances, next, report, .. } = solved;
    let without_cost = distances.iter_mut().filter(|distance| f64::from(**distance) < least_distance);
    without_cost.for_each(|distance| *distance = 0.0);
    warn_of_large(report.farthest);
    Ok(Solved {
        distances: Distances::Map(distances),
        next,
        obstacles,
        goals: report.targets,
        reached_count: report.reached_count,
        farthest: if report.farthest < least_distance { 0.0 } else { report.farthest },
        error_bound: Some(report.error_bound + raster.geographic().map_or(0.0, |_| GEODESIC_ERROR)),
        visit_count: report.visit_count,
    })
}

/// Distances in whole steps, over whole costs.
fn in_steps(
    arguments: &Arguments,
    raster: &MapRaster,
    goals: &[Cell],
    connectivity: Connectivity,
    needs_next: bool,
) -> Result<Solved> {
    let mut bar = StageBar::new();
    let options = RasterOptions {
        connectivity,
        cost_rule: arguments.cost_rule(),
        // Whole steps up to it are those up to the next whole number below.
        max_distance: arguments.max_distance.map(|distance| distance as u64),
        memory_limit: arguments.engine.memory_limit(),
        ..RasterOptions::default()
    };
    raster.count_zeros()?;
    raster.warn_of_zeros();
    let store = MemoryTiles::default();
    let field = solve_raster(raster, goals, &store, &options, |progress| {
        bar.at("solving tiles", progress.solved_count as u64, progress.tile_count as u64);
        ControlFlow::Continue(())
    })?;
    let [width, height] = raster.size();
    let all = RasterWindow { x: 0, y: 0, width, height };
    let distances = field.distances(all)?;
    let next = if needs_next { field.next_codes(raster, all)? } else { Vec::new() };
    let mut costs = vec![0; all.cell_count()];
    raster.read(all, &mut costs)?;
    let report = field.report();
    Ok(Solved {
        distances: Distances::Whole(distances),
        next,
        obstacles: costs.iter().map(|&cost| cost == 0).collect(),
        goals: report.goals.clone(),
        reached_count: report.reached_count,
        farthest: report.farthest as f64,
        error_bound: None,
        visit_count: report.visit_count as u64,
    })
}

impl Answer<'_> {
    /// A distance in the unit of `--units`; none where no goal is reached.
    fn length_at(&self, index: usize, units: Units) -> Option<Length> {
        match &self.solved.distances {
            Distances::Map(distances) => {
                let distance = f64::from(distances[index]);
                let is_reached = self.solved.is_reached(index);
                is_reached
                    .then(|| Length { number: json!(distance), text: format!("{distance} {}", units.word()) })
            }
            Distances::Whole(distances) => {
                let steps = distances[index];
                let cells = self.unit.of(steps);
                (steps != RASTER_UNREACHABLE).then(|| match units {
                    Units::Steps => {
                        Length { number: json!(steps), text: format!("{steps} ({cells:.5} cells)") }
                    }
                    Units::Cells | Units::Map | Units::Metres => {
                        Length { number: json!(cells), text: format!("{cells:.5} cells") }
                    }
                })
            }
        }
    }

    /// The path from a cell of the map.
    fn trace(&self, start: Cell, units: Units) -> Trace {
        let at = index(self.size, start).unwrap_or_default();
        let offsets = self.connectivity.offsets();
        let mut cells = vec![start];
        let (mut cell, mut place) = (start, at);
        while let Some(&[x, y, _]) = offsets.get(usize::from(self.solved.next[place])) {
            cell = Cell { x: cell.x + x, y: cell.y + y, z: 0 };
            let Some(next) = index(self.size, cell) else { break };
            cells.push(cell);
            place = next;
        }
        Trace { cells, length: self.length_at(at, units), is_blocked: self.solved.obstacles[at] }
    }

    fn write_files(&self, units: Units) -> Result<()> {
        let Self { arguments, size: [width, height], .. } = *self;
        let shape = [height as usize, width as usize];
        if let Some(out) = &arguments.out {
            match &self.solved.distances {
                Distances::Map(distances) => self.write_cells(out, DistanceType::F32, distances)?,
                Distances::Whole(distances) => {
                    let number = DistanceType::new(units, self.solved.farthest as u64);
                    self.write_cells(out, number, distances)?;
                }
            }
        }
        if let Some(out) = &arguments.next {
            to_file(out, |writer| write_npy(writer, "|u1", &shape, &self.solved.next))?;
        }
        if let Some(out) = &arguments.allocation {
            let numbers = self.allocation()?;
            self.write_cells(out, DistanceType::U32, &numbers)?;
        }
        if let Some(out) = &arguments.png {
            self.write_picture(out)?;
        }
        if let Some(out) = &arguments.paths {
            let centre = |cell: Cell| {
                let place = self
                    .raster
                    .georeference()
                    .and_then(|place| place.centre_of([cell.x, cell.y].map(f64::from)));
                place.unwrap_or([cell.x, cell.y].map(|at| f64::from(at) + 0.5)).to_vec()
            };
            write_geojson(out, &self.traces, centre, |cell| vec![cell.x, cell.y])?;
        }
        Ok(())
    }

    fn write_cells<N: CellNumber>(&self, out: &Path, number: DistanceType, cells: &[N]) -> Result<()> {
        let (packing, georeference) = (self.arguments.compression, self.raster.georeference());
        let file =
            DistanceFile { path: out, size: self.size, number, unit: self.unit, packing, georeference };
        file.write_whole(cells)
    }

    /// The number of the goal that each cell's path leads to, in the order in which they were given.
    fn allocation(&self) -> Result<Vec<u32>> {
        let is_used = |&(_, &goal): &(usize, &Cell)| {
            index(self.size, goal).is_some_and(|index| self.solved.is_reached(index))
        };
        let (numbers, goals): (Vec<usize>, Vec<Cell>) =
            self.goals.iter().enumerate().filter(is_used).map(|(number, &goal)| (number, goal)).unzip();
        let mut found = allocation(self.size, self.connectivity, &self.solved.next, &goals)?;
        for number in &mut found {
            *number = numbers.get(*number as usize).map_or(u32::NONE, |&number| number as u32);
        }
        Ok(found)
    }

    fn write_picture(&self, out: &Path) -> Result<()> {
        let [width, height] = self.size;
        let share = |distance: f64| (distance / self.solved.farthest.max(f64::MIN_POSITIVE)) as f32;
        let state = |index: usize| match &self.solved.distances {
            _ if self.solved.obstacles[index] => CellState::Obstacle,
            _ if !self.solved.is_reached(index) => CellState::Unreached,
            Distances::Map(distances) => CellState::Reached(share(distances[index].into())),
            Distances::Whole(distances) => CellState::Reached(share(distances[index] as f64)),
        };
        let indices = |trace: &Trace| -> Vec<u32> {
            trace.cells.iter().filter_map(|&cell| index(self.size, cell)).map(|index| index as u32).collect()
        };
        let traces: Vec<Vec<u32>> = self.traces.iter().map(indices).collect();
        let picture = FieldPicture {
            size: [width, height, 1],
            connectivity: self.connectivity,
            states: (0..self.solved.obstacles.len()).map(state).collect(),
            next: &self.solved.next,
            goals: self.goals,
            traces: traces.iter().map(Vec::as_slice).collect(),
        };
        write_png(&picture.draw(), out)
    }

    fn farthest(&self, units: Units) -> Value {
        match units {
            Units::Steps => json!(self.solved.farthest as u64),
            Units::Cells | Units::Map | Units::Metres => json!(self.in_units()),
        }
    }

    /// The largest distance in cells or in map units.
    fn in_units(&self) -> f64 {
        match self.unit {
            Unit::Map(_) => self.solved.farthest,
            Unit::Cells(count) => self.solved.farthest / f64::from(count),
        }
    }

    /// Cells of the map, obstacles, and cells that are no obstacles and not reached.
    fn counts(&self) -> [u64; 3] {
        let cells = self.solved.obstacles.len() as u64;
        let obstacles = self.solved.obstacles.iter().filter(|&&is_obstacle| is_obstacle).count() as u64;
        [cells, obstacles, cells - obstacles - self.solved.reached_count]
    }

    fn json(&self, units: Units, started: Instant, stages: [(&'static str, f64); 3]) -> Value {
        let Self { arguments, size: [width, height], ref solved, .. } = *self;
        let list = |cells: &[Cell]| cells.iter().map(|cell| [cell.x, cell.y]).collect::<Vec<_>>();
        let [cells, obstacles, unreached] = self.counts();
        let counts = [
            ("cells", cells),
            ("obstacles", obstacles),
            ("goals", solved.goals.used_count as u64),
            ("reached", solved.reached_count),
            ("unreached", unreached),
            ("visits", solved.visit_count),
        ];
        let mut value = common_json(Some(&Engine::cpu()), started, stages, counts);
        let step = match self.unit {
            Unit::Cells(count) => json!(count),
            Unit::Map(_) => Value::Null,
        };
        let number = match &solved.distances {
            Distances::Map(_) => DistanceType::F32,
            Distances::Whole(_) => DistanceType::new(units, solved.farthest as u64),
        };
        let traces: Vec<Value> =
            self.traces.iter().map(|trace| trace.json(|cell| vec![cell.x, cell.y])).collect();
        let more = json!({
            "map": { "size": [width, height, 1] },
            "step": step,
            "units": units.name(),
            "goals": { "blocked": list(&solved.goals.blocked), "outside": list(&solved.goals.outside) },
            "farthest": self.farthest(units),
            "type": number.descr(),
            "cost_rule": arguments.cost_rule.name(),
            "error_bound": solved.error_bound,
            "traces": traces,
        });
        extend(&mut value, more);
        value
    }

    fn write(&self, writer: &mut dyn Write, units: Units) -> io::Result<()> {
        let [_, obstacles, unreached] = self.counts();
        let Self { size: [width, height], ref solved, .. } = *self;
        let mut table = Table::new(&["map", "obstacles", "goals", "reached", "unreached", "farthest"]);
        table.row(vec![
            format!("{width} x {height}"),
            obstacles.to_string(),
            solved.goals.used_count.to_string(),
            solved.reached_count.to_string(),
            unreached.to_string(),
            match units {
                Units::Steps => (solved.farthest as u64).to_string(),
                Units::Cells => format!("{:.5} cells", self.in_units()),
                Units::Map | Units::Metres => self.in_units().to_string(),
            },
        ]);
        table.write(writer)?;
        if let Some(bound) = solved.error_bound {
            writeln!(
                writer,
                "distances in {} times friction, off by at most {bound:.1e} of themselves and the rounding to f32",
                units.word()
            )?;
        }
        for trace in &self.traces {
            writeln!(writer)?;
            trace.write(writer)?;
        }
        Ok(())
    }
}

impl Solved {
    /// Whether a cell reaches a goal. A distance too large for f32 is infinite, and its cell has a next one all the same.
    fn is_reached(&self, index: usize) -> bool {
        let has_next = self.next.get(index).is_some_and(|&code| code != NEXT_NONE);
        has_next
            || match &self.distances {
                Distances::Map(distances) => distances[index] < f32::INFINITY,
                Distances::Whole(distances) => distances[index] != RASTER_UNREACHABLE,
            }
    }
}
