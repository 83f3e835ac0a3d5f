//! `flow --check`: distances in a file, proved at some cells by their neighbours.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use hullfield::flow::{
    Cell, Connectivity, CostRule, Geographic, Grid, GridOptions, Raster, RasterWindow, StepLengths,
    UNREACHABLE,
};
use serde_json::json;

use super::arguments::Arguments;
use crate::command::{common_json, extend, milliseconds, print_json};
use crate::failure::{Failure, Result};
use crate::output::to_stdout;
use crate::progress::Bar;
use crate::random::Random;
use crate::read::{MapRaster, RasterFile};
use crate::table::Table;

/// What decoded strips and tiles of each file may take.
const CACHE_BYTES: u64 = 1 << 28;
/// The largest relative difference of distances in f32 from those over their neighbours: each is rounded.
const TOLERANCE: f64 = 4.0 * f32::EPSILON as f64;
/// Up to here f64 has all whole numbers.
const EXACT: f64 = (1_u64 << 53) as f64;
/// The cells between two steps of the bar.
const BAR_STEP: u64 = 1 << 10;

/// What was found.
#[derive(Debug, Default)]
struct Found {
    reached: u64,
    unreached: u64,
    obstacles: u64,
    wrong: u64,
    first_wrong: Option<String>,
}

/// Checks the goals and random cells.
///
/// Where every cell has its distance by its neighbours, the field is the only one that there is: each step is 1 long or more. So a share of wrong
/// cells `p` is missed by `n` random cells with a chance of `(1 - p)^n`.
pub(super) fn run(arguments: &Arguments, file: &Path, goals: &[Cell], started: Instant) -> Result<()> {
    let map = MapRaster::open(&arguments.map_files(), CACHE_BYTES)?;
    let field = RasterFile::open(file, None, CACHE_BYTES)?;
    let [width, height] = map.size();
    if field.size != [width, height] {
        let [found_width, found_height] = field.size;
        return Err(Failure::file(
            file,
            format!("it has {found_width} x {found_height} cells, the map {width} x {height}"),
        ));
    }
    let connectivity = arguments.connectivity(1)?;
    let is_whole = ["u32", "u64"].contains(&field.kind.name().as_str());
    if !is_whole && !field.kind.is_float() {
        let name = field.kind.name();
        return Err(Failure::file(file, format!("its cells are {name}; distances are u32, u64 or floats")));
    }
    if map.is_float() && is_whole {
        let message = "its cells are whole numbers; distances over friction in floats are floats";
        return Err(Failure::file(file, message));
    }
    let is_mean = arguments.cost_rule() == CostRule::Mean;
    let (lengths, tolerance) = if map.is_float() {
        let [x, y] = map.cell_size();
        let lengths = match map.geographic() {
            Some(geographic) => StepsOf::Rows(geographic, height),
            None => StepsOf::All([x, y, x.hypot(y)]),
        };
        (lengths, TOLERANCE)
    } else {
        let StepLengths { x, y, diagonal } = StepLengths::of(connectivity);
        // Whole distances count the mean of two costs twice.
        let unit = if is_whole { 1.0 } else { f64::from(connectivity.unit()) };
        let unit = if is_whole && is_mean { 0.5 } else { unit };
        let tolerance = if is_whole { 0.0 } else { TOLERANCE };
        (StepsOf::All([x, y, diagonal].map(|length| f64::from(length) / unit)), tolerance)
    };
    let is_inside = |goal: &Cell| {
        let inside = |at: i32, length: u32| u32::try_from(at).is_ok_and(|at| at < length);
        goal.z == 0 && inside(goal.x, width) && inside(goal.y, height)
    };
    let goals: HashSet<[u32; 2]> =
        goals.iter().filter(|goal| is_inside(goal)).map(|goal| [goal.x as u32, goal.y as u32]).collect();
    // The limit is in map units for friction in floats, and else a whole distance.
    let limit_unit = if !map.is_float() && !is_whole {
        f64::from(connectivity.unit()) * if is_mean { 2.0 } else { 1.0 }
    } else {
        1.0
    };
    let max_distance = arguments.max_distance.map_or(f64::INFINITY, |distance| distance / limit_unit);
    let check = Check {
        map: &map,
        field: &field,
        goals: &goals,
        connectivity,
        rule: arguments.cost_rule(),
        lengths,
        max_distance,
        tolerance,
    };
    let mut found = Found::default();
    let mut sorted: Vec<_> = goals.iter().copied().collect();
    sorted.sort_unstable();
    sorted.into_iter().try_for_each(|goal| check.cell(goal, &mut found))?;
    let mut random = Random::new(1);
    let mut bar = Bar::new("checking cells", arguments.check_cells);
    for number in 0..arguments.check_cells {
        let [x, y] = [width, height].map(|length| random.below(length as usize) as u32);
        check.cell([x, y], &mut found)?;
        if number % BAR_STEP == BAR_STEP - 1 {
            bar.step(BAR_STEP);
        }
    }
    drop(bar);
    let Found { reached, unreached, obstacles, wrong, first_wrong } = found;
    let checked = reached + unreached + obstacles;
    if arguments.json {
        let counts = [
            ("checked", checked),
            ("reached", reached),
            ("unreached", unreached),
            ("obstacles", obstacles),
            ("wrong", wrong),
        ];
        let mut value = common_json(None, started, [("check", milliseconds(started))], counts);
        extend(&mut value, json!({ "map": { "size": [width, height, 1] } }));
        print_json(&value)?;
    } else {
        let mut table = Table::new(&["map", "cells checked", "reached", "unreached", "obstacles", "wrong"]);
        let counts = [checked, reached, unreached, obstacles, wrong].map(|count| count.to_string());
        table.row([vec![format!("{width} x {height}")], counts.to_vec()].concat());
        to_stdout(|writer| table.write(writer))?;
    }
    match first_wrong {
        Some(first) => Err(Failure::Failed(format!(
            "{}: {wrong} of {checked} cells are wrong, the first: {first}",
            file.display()
        ))),
        None => Ok(()),
    }
}

/// The lengths of steps along x, along y and diagonal.
#[derive(Debug, Clone, Copy)]
enum StepsOf {
    All([f64; 3]),
    /// By rows on a globe, of which there are this many.
    Rows(Geographic, u32),
}

impl StepsOf {
    /// Those between two rows that touch, or along one. The lower of them has this number.
    fn at(self, row: u32) -> [f64; 3] {
        match self {
            Self::All(lengths) => lengths,
            Self::Rows(geographic, row_count) => geographic.step_lengths(row, row_count),
        }
    }
}

/// All that decides over a cell.
struct Check<'a> {
    map: &'a MapRaster,
    field: &'a RasterFile,
    goals: &'a HashSet<[u32; 2]>,
    connectivity: Connectivity,
    rule: CostRule,
    /// In what distances are in in the file.
    lengths: StepsOf,
    /// In the same.
    max_distance: f64,
    /// The largest difference over the distance.
    tolerance: f64,
}

impl Check<'_> {
    /// Checks a cell by those around it.
    fn cell(&self, [x, y]: [u32; 2], found: &mut Found) -> Result<()> {
        let [width, height] = self.field.size;
        let [first_x, first_y] = [x, y].map(|at| at.saturating_sub(1));
        let window = RasterWindow {
            x: first_x,
            y: first_y,
            width: (x + 2).min(width) - first_x,
            height: (y + 2).min(height) - first_y,
        };
        let costs = self.map.exact_costs(window)?;
        let distances = self.distances(window)?;
        let obstacles: Vec<bool> = costs.iter().map(|&cost| cost == 0.0).collect();
        let options = GridOptions { connectivity: self.connectivity, ..GridOptions::default() };
        let grid = Grid::new([window.width, window.height, 1], &obstacles, options)?;
        let centre = Cell::from([(x - first_x) as i32, (y - first_y) as i32]);
        let at = |cell: Cell| grid.index(cell).map_or(f64::INFINITY, |index| distances[index]);
        let distance = at(centre);
        let is_obstacle = grid.is_obstacle(centre);
        let wanted = if is_obstacle {
            f64::INFINITY
        } else if self.goals.contains(&[x, y]) {
            0.0
        } else {
            let cost = |cell: Cell| grid.index(cell).map_or(0.0, |index| costs[index]);
            let over = |code: u8| {
                let next = grid.neighbour(centre, code)?;
                let [along, beside, diagonal] = self.lengths.at(first_y + centre.y.max(next.y) as u32);
                let length = match code {
                    0 | 2 => beside,
                    1 | 3 => along,
                    _ => diagonal,
                };
                let step = match self.rule {
                    CostRule::Entry => length * cost(next),
                    CostRule::Exit => length * cost(centre),
                    CostRule::Mean => 0.5 * length * (cost(centre) + cost(next)),
                };
                // A path leads to nearer cells. Among farther ones one may fit by chance where distances are large.
                (at(next) <= distance).then(|| at(next) + step)
            };
            let codes = 0..self.connectivity.neighbour_count() as u8;
            let best = codes.filter_map(over).fold(f64::INFINITY, f64::min);
            if best > self.max_distance * (1.0 + self.tolerance) { f64::INFINITY } else { best }
        };
        match distance {
            f64::INFINITY if is_obstacle => found.obstacles += 1,
            f64::INFINITY => found.unreached += 1,
            _ => found.reached += 1,
        }
        // What is rounded may lie on the other side of the largest distance.
        let is_cut = self.tolerance > 0.0 && wanted >= self.max_distance * (1.0 - self.tolerance);
        // Of whole distances from 2^53 on only the first 53 bits are looked at.
        let tolerance = if wanted < EXACT { self.tolerance } else { self.tolerance.max(2.0 * f64::EPSILON) };
        let is_right = distance == wanted
            || wanted.is_finite() && (distance - wanted).abs() <= tolerance * wanted
            || distance == f64::INFINITY && is_cut;
        if !is_right {
            found.wrong += 1;
            let text = |distance: f64| match distance {
                f64::INFINITY => "no distance".to_owned(),
                distance => distance.to_string(),
            };
            let message = format!("({x}, {y}) has {}, by its neighbours {}", text(distance), text(wanted));
            found.first_wrong.get_or_insert(message);
        }
        Ok(())
    }

    /// Distances in the file's units.
    fn distances(&self, window: RasterWindow) -> Result<Vec<f64>> {
        let mut distances = vec![f64::INFINITY; window.cell_count()];
        let kind = self.field.kind;
        let unreachable = if kind.bytes == 4 { i64::from(UNREACHABLE) } else { i64::MAX };
        self.field.read(window, &mut |first, cells| {
            if kind.is_float() {
                kind.each_float(cells, |place, value| distances[first + place] = value);
            } else {
                kind.each_whole(cells, None, |place, value| {
                    let value = value.filter(|&value| value != unreachable);
                    distances[first + place] = value.map_or(f64::INFINITY, |value| value as f64);
                });
            }
            Ok(())
        })?;
        Ok(distances)
    }
}
