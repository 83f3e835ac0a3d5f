//! Readers: mesh and point files into named point sets, and the tables of bodies and pairs.
//!
//! Each object of a file is one point set, called by its name; a file that has no objects is one, called by the file's
//! name without its extension. The points of an object are those that its faces, lines or points use, or all of its
//! points where it has none of these. Every fault names the file, and the line and the field where there are lines.

mod bodies;
mod gltf;
mod obj;
mod ply;
mod points;
mod stl;
mod table;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

pub(crate) use bodies::{bodies, pairs};

use crate::failure::{Failure, Result};

/// The points of one object of one file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PointSet {
    /// The object's name, or the file's where it has none.
    pub(crate) name: String,
    /// The points in the file's order, world transforms of the file applied, in the file's units.
    pub(crate) points: Vec<[f32; 3]>,
    /// Where it was read.
    pub(crate) file: PathBuf,
}

/// Reads every file; no two point sets may have one name.
pub(crate) fn point_sets(files: &[PathBuf]) -> Result<Vec<PointSet>> {
    let mut sets: Vec<PointSet> = Vec::new();
    for file in files {
        sets.extend(point_sets_of(file)?);
    }
    let mut seen: HashMap<&str, &Path> = HashMap::with_capacity(sets.len());
    for set in &sets {
        if set.points.is_empty() {
            return Err(Failure::file(&set.file, format!("object \"{}\" has no points", set.name)));
        }
        if let Some(first) = seen.insert(&set.name, &set.file) {
            return Err(Failure::file(
                &set.file,
                format!("the name \"{}\" is taken: an object of {} has it too", set.name, first.display()),
            ));
        }
    }
    Ok(sets)
}

fn point_sets_of(file: &Path) -> Result<Vec<PointSet>> {
    let extension =
        file.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "csv" => return points::read(file),
        "obj" | "stl" | "ply" | "gltf" | "glb" => {}
        _ => {
            return Err(Failure::file(
                file,
                "of no known kind: obj, stl, ply, gltf, glb or csv is read, by its extension",
            ));
        }
    }
    let bytes = std::fs::read(file).map_err(|error| Failure::unreadable(file, &error))?;
    match extension.as_str() {
        "obj" => obj::read(file, &bytes),
        "stl" => stl::read(file, &bytes),
        "ply" => ply::read(file, &bytes),
        _ => gltf::read(file, &bytes),
    }
}

/// The file's name without folder and extension: the name of what has no other.
fn stem(file: &Path) -> String {
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A finite number, or what is wrong with it.
fn number(text: &str) -> Result<f32, String> {
    let value: f32 = text.parse().map_err(|_| format!("\"{}\" is not a number", shown(text)))?;
    if value.is_finite() {
        return Ok(value);
    }
    // A decimal number that only overflowed is told apart from one that says so itself.
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        Err(format!("{} is too large for a 32-bit float", shown(text)))
    } else {
        Err(format!("\"{}\" is not finite", shown(text)))
    }
}

/// A text as it can stand in a message: not longer than a line, without control characters.
fn shown(text: &str) -> String {
    let mut short: String = text.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    short
}

/// The points that are used, each once, in their order; all of them where none is used.
fn used(points: &[[f32; 3]], indices: &[u32]) -> Vec<[f32; 3]> {
    if indices.is_empty() {
        return points.to_vec();
    }
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.iter().filter_map(|&index| points.get(index as usize).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_say_why() {
        assert_eq!(number("-1.5e3"), Ok(-1500.0));
        assert_eq!(number("x1").unwrap_err(), "\"x1\" is not a number");
        assert_eq!(number("").unwrap_err(), "\"\" is not a number");
        assert_eq!(number("nan").unwrap_err(), "\"nan\" is not finite");
        assert_eq!(number("-inf").unwrap_err(), "\"-inf\" is not finite");
        assert_eq!(number("1e39").unwrap_err(), "1e39 is too large for a 32-bit float");
    }
}
