//! `flow --scenarios`: compares the lengths of shortest paths with those that a file gives.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hullfield::flow::{Cell, Field, FieldOptions, Flow, UNREACHABLE};
use hullfield::{Backend, Error, Location};
use rayon::prelude::*;
use serde_json::json;

use crate::command::{common_json, extend, milliseconds, print_json};
use crate::failure::{Failure, Result};
use crate::output::to_stdout;
use crate::progress::Bar;
use crate::read::{CellScenario, cell_scenarios};
use crate::table::Table;

/// Allowed relative difference of a length from the given one.
const SLACK: f64 = 1e-5;

/// Cells of all fields that a GPU solves at once. Each takes five bytes.
const BATCH_CELLS: usize = 1 << 25;

/// The results of one field.
#[derive(Debug)]
struct GroupResult {
    /// The length from each of its starts, in cells.
    lengths: Vec<f64>,
    round_count: u64,
    /// Cells with a distance when the last start was reached.
    reached_count: u64,
}

/// Solves all scenarios of a file. `starts` are the start of the program and of this work.
pub(super) fn run(file: &Path, flow: &Flow, as_json: bool, starts: [Instant; 2]) -> Result<()> {
    let given = cell_scenarios(file, flow.grid().size())?;
    // Scenarios with the same goal share a field.
    let mut groups: BTreeMap<Cell, Vec<usize>> = BTreeMap::new();
    for (row, scenario) in given.iter().enumerate() {
        groups.entry(scenario.goal).or_default().push(row);
    }
    let groups: Vec<(Cell, Vec<usize>)> = groups.into_iter().collect();
    let bar = Mutex::new(Bar::new("fields", groups.len() as u64));
    // A GPU solves a batch of fields at once; the CPU solves one per thread.
    let batch_len = match flow.engine().backend() {
        Backend::Gpu => (BATCH_CELLS / flow.grid().cell_count()).clamp(1, groups.len().max(1)),
        _ => 1,
    };
    let solve = |batch: &[(Cell, Vec<usize>)]| -> Result<Vec<GroupResult>> {
        let solved = solve_groups(flow, batch, &given).map_err(|error| {
            let (group, cause) = group_and_cause(error);
            Failure::line(file, given[batch[group].1[0]].line, cause)
        })?;
        bar.lock().unwrap_or_else(PoisonError::into_inner).step(batch.len() as u64);
        Ok(solved)
    };
    let solved: Vec<Vec<GroupResult>> = if batch_len == 1 {
        groups.par_chunks(1).map(solve).collect::<Result<_>>()?
    } else {
        groups.chunks(batch_len).map(solve).collect::<Result<_>>()?
    };
    drop(bar);
    let mut lengths = vec![0.0; given.len()];
    let (mut round_count, mut reached_count) = (0, 0);
    for ((_, rows), solved) in groups.iter().zip(solved.into_iter().flatten()) {
        round_count += solved.round_count;
        reached_count += solved.reached_count;
        for (&row, length) in rows.iter().zip(solved.lengths) {
            lengths[row] = length;
        }
    }
    let differences: Vec<f64> =
        given.iter().zip(&lengths).map(|(scenario, &length)| difference(length, scenario.length)).collect();
    let wrong: Vec<usize> = (0..given.len()).filter(|&row| differences[row] > SLACK).collect();
    let worst = differences.iter().copied().fold(0.0, f64::max);
    let matched_count = given.len() - wrong.len();
    if as_json {
        let [started, solve_start] = starts;
        let counts = [
            ("scenarios", given.len() as u64),
            ("fields", groups.len() as u64),
            ("matched", matched_count as u64),
            ("wrong", wrong.len() as u64),
            ("cells", flow.grid().cell_count() as u64),
            ("obstacles", flow.grid().obstacle_count() as u64),
            ("rounds", round_count),
            ("reached", reached_count),
        ];
        let stages =
            [("read", (solve_start - started).as_secs_f64() * 1e3), ("solve", milliseconds(solve_start))];
        let mut value = common_json(Some(flow.engine()), started, stages, counts);
        let worst = worst.is_finite().then_some(worst);
        extend(&mut value, json!({ "wrong": wrong, "worst_difference": worst }));
        print_json(&value)?;
    } else {
        let mut table = Table::new(&["scenarios", "fields", "lengths match", "worst relative difference"]);
        table.row(vec![
            given.len().to_string(),
            groups.len().to_string(),
            matched_count.to_string(),
            format!("{worst:.1e}"),
        ]);
        to_stdout(|writer| table.write(writer))?;
    }
    match wrong.first() {
        None => Ok(()),
        Some(&first) => Err(Failure::Failed(format!(
            "{} of {} lengths differ from their scenarios', the first in line {}: {} instead of {}",
            wrong.len(),
            given.len(),
            given[first].line,
            lengths[first],
            given[first].length,
        ))),
    }
}

/// Solves a field for each goal, until all of its starts are reached. A length is infinite where there is no path.
fn solve_groups(
    flow: &Flow,
    groups: &[(Cell, Vec<usize>)],
    given: &[CellScenario],
) -> hullfield::Result<Vec<GroupResult>> {
    let starts = |rows: &[usize]| rows.iter().map(|&row| given[row].start).collect::<Vec<_>>();
    let goals: Vec<[Cell; 1]> = groups.iter().map(|(goal, _)| [*goal]).collect();
    let until_each = groups.iter().map(|(_, rows)| starts(rows)).collect();
    let fields = flow.fields(&goals, &FieldOptions { until_each, ..FieldOptions::default() })?.wait()?;
    let unit = f64::from(flow.grid().connectivity().unit());
    let length = |distance: u32| match distance {
        UNREACHABLE => f64::INFINITY,
        distance => f64::from(distance) / unit,
    };
    let solved = |(field, (_, rows)): (&Field, &(Cell, Vec<usize>))| {
        let distances = field.distances_at(&starts(rows))?.wait()?;
        Ok(GroupResult {
            lengths: distances.into_iter().map(length).collect(),
            round_count: field.stats().rounds.into(),
            reached_count: field.stats().reached_count as u64,
        })
    };
    fields.rows.iter().zip(groups).map(solved).collect()
}

/// The index of the field that an error is about, and the error without it: the caller names the line of the file instead.
fn group_and_cause(mut error: Error) -> (usize, Error) {
    let mut group = 0;
    if let Error::Value { at, .. } | Error::NoGoals { at, .. } | Error::DistanceOverflow { at, .. } =
        &mut error
        && let Location::Query(row) = *at
    {
        (group, *at) = (row, Location::Argument);
    }
    (group, error)
}

/// The relative difference of a length from the given one.
fn difference(length: f64, given: f64) -> f64 {
    if length == given { 0.0 } else { (length - given).abs() / given.abs() }
}
