//! Scenarios: the lengths of all of them, against those that are given.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hullfield::{Backend, Cell, Field, FieldOptions, Flow, UNREACHABLE};
use rayon::prelude::*;
use serde_json::json;

use crate::command::{engine_json, print_json};
use crate::failure::{Failure, Result};
use crate::output::to_stdout;
use crate::progress::Bar;
use crate::read::{CellScenario, cell_scenarios};
use crate::table::Table;

/// How much a length may differ from the one given, relative to it.
const SLACK: f64 = 1e-5;

/// Cells of the fields that a GPU solves at once: five bytes each.
const BATCH_CELLS: usize = 1 << 25;

pub(super) fn run(file: &Path, flow: &Flow, as_json: bool) -> Result<()> {
    let given = cell_scenarios(file, flow.grid().size())?;
    // One field for all scenarios that have a goal in common.
    let mut groups: BTreeMap<Cell, Vec<usize>> = BTreeMap::new();
    for (row, scenario) in given.iter().enumerate() {
        groups.entry(scenario.goal).or_default().push(row);
    }
    let groups: Vec<(Cell, Vec<usize>)> = groups.into_iter().collect();
    let bar = Mutex::new(Bar::new("fields", groups.len() as u64));
    // A GPU solves fields side by side, the CPU one a thread.
    let batch_len = match flow.engine().backend() {
        Backend::Gpu => (BATCH_CELLS / flow.grid().cell_count()).clamp(1, groups.len().max(1)),
        _ => 1,
    };
    let solve_one = |batch: &[(Cell, Vec<usize>)]| -> Result<Vec<Vec<f64>>> {
        let solved = lengths(flow, batch, &given)
            .map_err(|error| Failure::line(file, given[batch[0].1[0]].line, error))?;
        bar.lock().unwrap_or_else(PoisonError::into_inner).step(batch.len() as u64);
        Ok(solved)
    };
    let solve = |batch: &[(Cell, Vec<usize>)]| match solve_one(batch) {
        // One by one, to tell which of them it was.
        Err(_) if batch.len() > 1 => {
            let each = batch.chunks(1).map(solve_one).collect::<Result<Vec<_>>>()?;
            Ok(each.into_iter().flatten().collect())
        }
        solved => solved,
    };
    let solved: Vec<Vec<Vec<f64>>> = if batch_len == 1 {
        groups.par_chunks(1).map(solve).collect::<Result<_>>()?
    } else {
        groups.chunks(batch_len).map(solve).collect::<Result<_>>()?
    };
    drop(bar);
    let mut lengths = vec![0.0; given.len()];
    for ((_, rows), solved) in groups.iter().zip(solved.into_iter().flatten()) {
        for (&row, length) in rows.iter().zip(solved) {
            lengths[row] = length;
        }
    }
    let differences: Vec<f64> =
        given.iter().zip(&lengths).map(|(scenario, &length)| difference(length, scenario.length)).collect();
    let wrong: Vec<usize> = (0..given.len()).filter(|&row| differences[row] > SLACK).collect();
    let worst = differences.iter().copied().fold(0.0, f64::max);
    let matched_count = given.len() - wrong.len();
    if as_json {
        print_json(&json!({
            "engine": engine_json(flow.engine()),
            "scenarios": given.len(),
            "fields": groups.len(),
            "matched": matched_count,
            "wrong": wrong,
            "worst_difference": worst.is_finite().then_some(worst),
        }))?;
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

/// The lengths in cells of the scenarios of some goals; infinite where there is no way.
fn lengths(
    flow: &Flow,
    groups: &[(Cell, Vec<usize>)],
    given: &[CellScenario],
) -> hullfield::Result<Vec<Vec<f64>>> {
    let starts = |rows: &[usize]| rows.iter().map(|&row| given[row].start).collect::<Vec<_>>();
    let goals: Vec<[Cell; 1]> = groups.iter().map(|(goal, _)| [*goal]).collect();
    let goals: Vec<&[Cell]> = goals.iter().map(|goals| &goals[..]).collect();
    // A single field ends where its own starts are reached.
    let until = if let [(_, rows)] = groups { starts(rows) } else { Vec::new() };
    let fields = flow.solve_batch(&goals, &FieldOptions { until, ..FieldOptions::default() })?.wait()?;
    let unit = f64::from(flow.grid().connectivity().unit());
    let length = |distance: u32| match distance {
        UNREACHABLE => f64::INFINITY,
        distance => f64::from(distance) / unit,
    };
    let of = |(field, (_, rows)): (&Field, &(Cell, Vec<usize>))| {
        let distances = field.distances_at(&starts(rows))?.wait()?;
        Ok(distances.into_iter().map(length).collect())
    };
    fields.iter().zip(groups).map(of).collect()
}

/// How much a length differs from the one given, relative to it.
fn difference(length: f64, given: f64) -> f64 {
    if length == given { 0.0 } else { (length - given).abs() / given.abs() }
}
