//! A solved field and its output files.

use std::path::Path;

use hullfield::flow::{Cell, Field, GoalReport, Paths, RASTER_UNREACHABLE, UNREACHABLE};

use super::arguments::{Arguments, Units};
use super::distances::{DistanceFile, DistanceType, Unit, is_tiff};
use crate::failure::{Failure, Result};
use crate::output::{self, to_file};
use crate::picture::{FieldPicture, grid_states, write_png};
use crate::read::{Georeference, Map, write_npy};

/// A distance in cells, from steps. `unit` is a step along an axis.
pub(super) fn in_cells(steps: u32, unit: u32) -> f64 {
    if steps == UNREACHABLE { f64::INFINITY } else { f64::from(steps) / f64::from(unit) }
}

/// A distance in cells, or in the units of the map.
pub(super) fn in_units(steps: u32, unit: u32, units: Units, map: &Map) -> f64 {
    let cells = in_cells(steps, unit);
    if units.is_of_map() { cells * map.frame.cell_size } else { cells }
}

/// A field, its distances and its next-cell codes.
#[derive(Debug)]
pub(super) struct Solved {
    pub(super) field: Field,
    pub(super) distances: Vec<u32>,
    pub(super) next: Vec<u8>,
}

impl Solved {
    pub(super) fn new(field: Field) -> Result<Self> {
        let (distances, next) = (field.distances()?.wait()?, field.next_codes()?.wait()?);
        Ok(Self { field, distances, next })
    }

    /// Writes the output files, and warns of goals that were left out.
    pub(super) fn write(
        &self,
        arguments: &Arguments,
        map: &Map,
        goals: &[Cell],
        traces: &Paths,
        georeference: Option<&Georeference>,
    ) -> Result<()> {
        if let Some(out) = arguments.out.as_ref().filter(|out| is_tiff(out)) {
            self.write_tiff(out, arguments, map, georeference)?;
        } else if let Some(out) = &arguments.out {
            let (descr, bytes): (_, Vec<u8>) = match arguments.units(false) {
                Units::Steps => {
                    ("<u4", self.distances.iter().flat_map(|steps| steps.to_le_bytes()).collect())
                }
                units @ (Units::Cells | Units::Map | Units::Metres) => {
                    let unit = self.field.grid().connectivity().unit();
                    let cells = |&steps: &u32| (in_units(steps, unit, units, map) as f32).to_le_bytes();
                    ("<f4", self.distances.iter().flat_map(cells).collect())
                }
            };
            to_file(out, |writer| write_npy(writer, descr, &map.shape(), &bytes))?;
        }
        if let Some(out) = &arguments.next {
            to_file(out, |writer| write_npy(writer, "|u1", &map.shape(), &self.next))?;
        }
        if let Some(out) = &arguments.png {
            let grid = self.field.grid();
            let picture = FieldPicture {
                size: grid.size(),
                connectivity: grid.connectivity(),
                states: grid_states(grid, &self.distances),
                next: &self.next,
                goals,
                traces: (0..traces.count()).map(|row| traces.path(row)).collect(),
            };
            write_png(&picture.draw(), out)?;
        }
        warn_of_goals(self.field.goals(), goals.len());
        Ok(())
    }

    fn write_tiff(
        &self,
        out: &Path,
        arguments: &Arguments,
        map: &Map,
        georeference: Option<&Georeference>,
    ) -> Result<()> {
        let [width, height, depth] = map.size;
        if depth != 1 {
            return Err(Failure::input(format!("--out: a map of {depth} layers is written as .npy")));
        }
        let unit = self.field.grid().connectivity().unit();
        let unit = match arguments.units(false) {
            Units::Map | Units::Metres => Unit::Map(map.frame.cell_size / f64::from(unit)),
            _ => Unit::Cells(unit),
        };
        let number = DistanceType::new(arguments.units(false), 0);
        let size = [width, height];
        let file =
            DistanceFile { path: out, size, number, unit, packing: arguments.compression, georeference };
        let wide = |&steps: &u32| if steps == UNREACHABLE { RASTER_UNREACHABLE } else { steps.into() };
        file.write_whole(&self.distances.iter().map(wide).collect::<Vec<u64>>())
    }
}

/// Warns of cells that are no squares: steps take them for such.
pub(super) fn warn_of_cells(georeference: Option<&Georeference>) {
    if let Some([width, height]) = georeference.and_then(Georeference::cell_size)
        && (width - height).abs() > 1e-6 * width.max(height)
    {
        output::warn(format_args!(
            "the cells of the map are {width} wide and {height} high; distances take them for squares, --units map does not"
        ));
    }
}

/// Warns of goals that were left out.
pub(super) fn warn_of_goals(report: &GoalReport, given: usize) {
    for (cells, what) in [(&report.blocked, "on obstacles"), (&report.outside, "outside the map")] {
        if cells.is_empty() {
            continue;
        }
        let list: Vec<String> = cells.iter().take(8).map(Cell::to_string).collect();
        let more = if cells.len() > 8 { ", …" } else { "" };
        output::warn(format_args!(
            "{} of {given} goals {what}, left out: {}{more}",
            cells.len(),
            list.join(", ")
        ));
    }
}
