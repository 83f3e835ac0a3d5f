//! Cells, connectivities and statistics as plain values.

use hullfield::flow::{Border, Cell, Connectivity, Corners, GoalReport, Stats};
use numpy::PyReadonlyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{matrix, rows};
use crate::error::invalid;

/// Cells of rows x, y, z.
pub(crate) fn cells(py: Python<'_>, name: &str, array: &PyReadonlyArrayDyn<'_, i32>) -> PyResult<Vec<Cell>> {
    Ok(rows(py, name, array)?.iter().map(|&[x, y, z]: &[i32; 3]| Cell { x, y, z }).collect())
}

/// Lists of cells: all cells, and where each list begins and the last one ends. Python code has checked the offsets.
pub(crate) fn lists(cells: Vec<Cell>, offsets: &[i64]) -> Vec<Vec<Cell>> {
    let list = |ends: &[i64]| {
        let [from, to] = [ends[0], ends[1]].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        cells.get(from..to).unwrap_or_default().to_vec()
    };
    offsets.windows(2).map(list).collect()
}

/// Rows x, y, z of cells.
pub(crate) fn coordinates(py: Python<'_>, cells: &[Cell]) -> PyResult<Py<PyAny>> {
    matrix(py, cells.iter().map(|cell| [cell.x, cell.y, cell.z]).collect())
}

/// A connectivity by its name and that of its corner rule.
pub(crate) fn connectivity(py: Python<'_>, name: &str, corners: &str) -> PyResult<Connectivity> {
    let corners = match corners {
        "both_free" => Corners::BothFree,
        "one_free" => Corners::OneFree,
        "any" => Corners::Any,
        other => {
            let message = format!("corners is '{other}', it must be 'both_free', 'one_free' or 'any'");
            return Err(invalid(py, &message));
        }
    };
    match name {
        "four" => Ok(Connectivity::Four),
        "eight" => Ok(Connectivity::Eight(corners)),
        "six" => Ok(Connectivity::Six),
        "twenty_six" => Ok(Connectivity::TwentySix(corners)),
        other => {
            let message =
                format!("connectivity is '{other}', it must be 'four', 'eight', 'six' or 'twenty_six'");
            Err(invalid(py, &message))
        }
    }
}

/// The names of a connectivity and of its corner rule.
pub(crate) fn names(connectivity: Connectivity) -> [&'static str; 2] {
    let rule = |corners: Corners| match corners {
        Corners::BothFree => "both_free",
        Corners::OneFree => "one_free",
        Corners::Any => "any",
    };
    match connectivity {
        Connectivity::Four => ["four", "both_free"],
        Connectivity::Eight(corners) => ["eight", rule(corners)],
        Connectivity::Six => ["six", "both_free"],
        Connectivity::TwentySix(corners) => ["twenty_six", rule(corners)],
        _ => ["other", "both_free"],
    }
}

/// A border by its name.
pub(crate) fn border(py: Python<'_>, name: &str) -> PyResult<Border> {
    match name {
        "open" => Ok(Border::Open),
        "wall" => Ok(Border::Wall),
        other => Err(invalid(py, &format!("border is '{other}', it must be 'open' or 'wall'"))),
    }
}

/// The fields of `hullfield.flow.Stats`.
pub(crate) fn statistics<'py>(py: Python<'py>, stats: &Stats) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("reached_count", stats.reached_count)?;
    all.set_item("levels", stats.levels)?;
    all.set_item("rounds", stats.rounds)?;
    all.set_item("total_ms", stats.total_ms)?;
    all.set_item("kernels_ms", stats.kernels_ms)?;
    all.set_item("compile_ms", stats.compile_ms)?;
    Ok(all)
}

/// The fields of `hullfield.flow.GoalReport`.
pub(crate) fn goal_report<'py>(py: Python<'py>, goals: &GoalReport) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("used_count", goals.used_count)?;
    all.set_item("blocked", coordinates(py, &goals.blocked)?)?;
    all.set_item("outside", coordinates(py, &goals.outside)?)?;
    Ok(all)
}
