//! Scenarios: the lengths of all of them, against those that are given.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use hullfield::{Cell, FieldOptions, Flow, UNREACHABLE};
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

pub(super) fn run(file: &Path, flow: &Flow, as_json: bool) -> Result<()> {
    let given = cell_scenarios(file, flow.grid().size())?;
    // One field for all scenarios that have a goal in common.
    let mut groups: BTreeMap<Cell, Vec<usize>> = BTreeMap::new();
    for (row, scenario) in given.iter().enumerate() {
        groups.entry(scenario.goal).or_default().push(row);
    }
    let groups: Vec<(Cell, Vec<usize>)> = groups.into_iter().collect();
    let bar = Mutex::new(Bar::new("fields", groups.len() as u64));
    let solved: Vec<Vec<f64>> = groups
        .par_iter()
        .map(|(goal, rows)| {
            let lengths = lengths(flow, *goal, &given, rows)
                .map_err(|error| Failure::line(file, given[rows[0]].line, error))?;
            bar.lock().unwrap_or_else(PoisonError::into_inner).step(1);
            Ok(lengths)
        })
        .collect::<Result<_>>()?;
    drop(bar);
    let mut lengths = vec![0.0; given.len()];
    for ((_, rows), solved) in groups.iter().zip(solved) {
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

/// The lengths in cells of the scenarios of one goal; infinite where there is no way.
fn lengths(flow: &Flow, goal: Cell, given: &[CellScenario], rows: &[usize]) -> hullfield::Result<Vec<f64>> {
    let starts: Vec<Cell> = rows.iter().map(|&row| given[row].start).collect();
    let field =
        flow.solve(&[goal], &FieldOptions { until: starts.clone(), ..FieldOptions::default() })?.wait()?;
    let copy;
    let distances = match field.host() {
        Some((distances, _)) => distances,
        None => {
            copy = field.distances()?.wait()?;
            &copy
        }
    };
    let unit = f64::from(flow.grid().connectivity().unit());
    let length = |start: &Cell| match flow.grid().index(*start).map(|index| distances[index]) {
        None | Some(UNREACHABLE) => f64::INFINITY,
        Some(distance) => f64::from(distance) / unit,
    };
    Ok(starts.iter().map(length).collect())
}

/// How much a length differs from the one given, relative to it.
fn difference(length: f64, given: f64) -> f64 {
    if length == given { 0.0 } else { (length - given).abs() / given.abs() }
}
