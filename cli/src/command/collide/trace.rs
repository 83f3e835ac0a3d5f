//! `--trace`: the simplices of GJK for one pair, as a table, as JSON and as OBJ lines.

use std::io::{self, Write};
use std::path::Path;

use hullfield::collide::Trace;
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::output::to_file;
use crate::table::Table;

/// Reads `a,b`: two different body numbers.
pub(super) fn parse_pair(text: &str) -> Result<[u32; 2]> {
    let pair = text.split_once(',').and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
    match pair {
        None => Err(Failure::input(format!("--trace: \"{text}\" is not two body numbers a,b"))),
        Some([a, b]) if a == b => Err(Failure::input(format!("--trace: body {a} is paired with itself"))),
        Some(pair) => Ok(pair),
    }
}

/// The trace of GJK for one pair of bodies.
pub(super) struct PairTrace {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) trace: Trace,
}

impl PairTrace {
    pub(super) fn json(&self) -> Value {
        let steps: Vec<Value> = self
            .trace
            .steps
            .iter()
            .map(|step| json!({ "simplex": step.simplex, "closest": step.closest, "distance": length(step.closest) }))
            .collect();
        json!({
            "a": self.a,
            "b": self.b,
            "status": self.trace.status.name(),
            "axis": self.trace.axis,
            "steps": steps,
        })
    }

    /// A row for each corner: the step, the number of its simplex's corners, the corner's index and its position on the
    /// Minkowski difference, and the distance of the simplex from the origin.
    pub(super) fn write_table(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut table = Table::new(&["step", "corners", "corner", "x", "y", "z", "distance"]);
        for (number, step) in self.trace.steps.iter().enumerate() {
            let distance = format!("{:.6e}", length(step.closest));
            for (corner, point) in step.simplex.iter().enumerate() {
                let mut cells = vec![number.to_string(), step.simplex.len().to_string(), corner.to_string()];
                cells.extend(point.iter().map(|value| format!("{value:.6}")));
                cells.push(distance.clone());
                table.row(cells);
            }
        }
        table.write(writer)?;
        write!(writer, "bodies {} and {}: {}", self.a, self.b, self.trace.status.name())?;
        if let Some([x, y, z]) = self.trace.axis {
            write!(writer, " along {x:.6} {y:.6} {z:.6}")?;
        }
        if self.trace.steps.is_empty() {
            write!(writer, ", before a simplex was needed")?;
        }
        writeln!(writer)
    }

    pub(super) fn write_obj_to(&self, path: Option<&Path>) -> Result<()> {
        path.map_or(Ok(()), |path| to_file(path, |writer| self.write_obj(writer)))
    }

    /// An object for each step: the edges of its simplex, and a line from the origin to the simplex's closest point.
    fn write_obj(&self, writer: &mut dyn Write) -> io::Result<()> {
        writeln!(
            writer,
            "# GJK on the Minkowski difference of bodies {} and {}: {}",
            self.a,
            self.b,
            self.trace.status.name()
        )?;
        writeln!(writer, "o origin\nv 0 0 0\np 1")?;
        let mut base = 2;
        for (number, step) in self.trace.steps.iter().enumerate() {
            writeln!(writer, "o step_{number}")?;
            for [x, y, z] in step.simplex.iter().chain([&step.closest]) {
                writeln!(writer, "v {x} {y} {z}")?;
            }
            let count = step.simplex.len();
            for i in 0..count {
                for j in i + 1..count {
                    writeln!(writer, "l {} {}", base + i, base + j)?;
                }
            }
            writeln!(writer, "l 1 {}", base + count)?;
            base += count + 1;
        }
        Ok(())
    }
}

fn length(point: [f64; 3]) -> f64 {
    glam::DVec3::from_array(point).length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_to_trace_are_two_numbers() {
        assert_eq!(parse_pair("3, 12").unwrap(), [3, 12]);
        assert!(parse_pair("3").is_err());
        assert!(parse_pair("3,3").is_err());
        assert!(parse_pair("-1,3").is_err());
    }
}
