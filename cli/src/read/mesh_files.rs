//! Files of meshes and of points, read as named point sets or as models.

use std::path::{Path, PathBuf};

use hullfield::navigate::surface::Model;
use hullfield_mesh_files::{Error, Format, Mesh, ObjectPoints};

use super::input::{bytes, file_format, is_dash, unknown_format};
use super::point_set::{PointSet, PointSets, number_equal_names};
use super::points;
use super::text::excerpt;
use crate::failure::{Failure, Result, input_name};

/// Reads the point sets of all files.
pub(crate) fn point_sets(files: &[PathBuf]) -> Result<PointSets> {
    let (mut sets, mut left_out) = (Vec::new(), Vec::new());
    for file in files {
        let (found, empty): (Vec<_>, Vec<_>) =
            point_sets_of(file)?.into_iter().partition(|set| !set.points.is_empty());
        let mut messages = empty.into_iter().map(|set| {
            let message = format!("object \"{}\" has no points", excerpt(&set.name));
            match set.line {
                Some(line) => Failure::line(file, line, message),
                None => Failure::file(file, message),
            }
        });
        if found.is_empty() {
            return Err(messages.next().unwrap_or_else(|| Failure::file(file, "it has no objects")));
        }
        left_out.extend(messages.map(|message| format!("{message}, it is left out")));
        sets.extend(found);
    }
    let renamed = number_equal_names(&mut sets);
    Ok(PointSets { sets, left_out, renamed })
}

fn point_sets_of(file: &Path) -> Result<Vec<PointSet>> {
    let set = |ObjectPoints { name, line, points }| PointSet { name, points, file: file.to_owned(), line };
    match format_of(file)? {
        Some(format) => Ok(read(file, format)?.point_sets().into_iter().map(set).collect()),
        None if file_format(file)? == "csv" => points::read(file),
        None => Err(unknown_format(file, "obj, stl, ply, gltf, glb or csv is read")),
    }
}

/// Reads each file as a model of all its faces, in f64.
pub(crate) fn models(files: &[PathBuf]) -> Result<Vec<Model>> {
    let model = |file: &PathBuf| match format_of(file)? {
        Some(format) => Ok(read(file, format)?.faces(&input_name(file).to_string())?.model()),
        None => Err(unknown_format(file, "obj, stl, ply, gltf, glb or a saved bin is read as a surface")),
    };
    files.iter().map(model).collect()
}

/// The format of a mesh file by its extension; of stdin, by its first bytes.
fn format_of(file: &Path) -> Result<Option<Format>> {
    Ok(match file_format(file)?.as_str() {
        "json" if is_dash(file) => Some(Format::Gltf),
        extension => Format::of_extension(extension),
    })
}

fn read(file: &Path, format: Format) -> Result<Mesh> {
    let beside = |name: &str| {
        let path = file.with_file_name(name);
        std::fs::read(&path).map_err(|error| Error::new(Failure::unreadable(&path, &error).to_string()))
    };
    Ok(format.read(&input_name(file).to_string(), &bytes(file)?, &beside)?)
}
