//! Files of meshes and of points, read as named point sets or as models.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hullfield::navigate::surface::Model;
use hullfield_mesh_files::{EmptyObject, Error, Format, Mesh, ObjectPoints};

use super::input::{bytes, file_format, is_dash, unknown_format};
use super::point_set::{PointSet, PointSets, number_equal_names};
use super::points;
use super::text::excerpt;
use crate::failure::{Failure, Result, input_name};
use crate::output::warn;

/// Reads the point sets of all files.
pub(crate) fn point_sets(files: &[PathBuf]) -> Result<PointSets> {
    let (mut sets, mut left_out) = (Vec::new(), Vec::new());
    for file in files {
        let Objects { sets: found, empty, more_empty } = point_sets_of(file)?;
        let mut messages = empty.into_iter().map(|EmptyObject { name, line }| {
            let message = format!("object \"{}\" has no points", excerpt(&name));
            match line {
                Some(line) => Failure::line(file, line, message),
                None => Failure::file(file, message),
            }
        });
        if found.is_empty() {
            return Err(messages.next().unwrap_or_else(|| Failure::file(file, "it has no objects")));
        }
        left_out.extend(messages.map(|message| format!("{message}, it is left out")));
        if more_empty > 0 {
            let message = format!("{more_empty} more objects have no points, they are left out");
            left_out.push(Failure::file(file, message).to_string());
        }
        sets.extend(found);
    }
    let renamed = number_equal_names(&mut sets);
    Ok(PointSets { sets, left_out, renamed })
}

/// The objects of a file.
struct Objects {
    sets: Vec<PointSet>,
    /// The first objects without points, and how many more there are.
    empty: Vec<EmptyObject>,
    more_empty: u64,
}

fn point_sets_of(file: &Path) -> Result<Objects> {
    let set = |ObjectPoints { name, line, points }| PointSet { name, points, file: file.to_owned(), line };
    match format_of(file)? {
        Some(format) => {
            let mesh = read(file, format)?;
            let empty = mesh.empty_objects().to_vec();
            let more_empty = mesh.empty_object_count() - empty.len() as u64;
            Ok(Objects { sets: mesh.point_sets().into_iter().map(set).collect(), empty, more_empty })
        }
        None if file_format(file)? == "csv" => {
            Ok(Objects { sets: points::read(file)?, empty: Vec::new(), more_empty: 0 })
        }
        None => Err(unknown_format(file, "obj, stl, ply, off, gltf, glb or csv is read")),
    }
}

/// Reads each file as a model of all its faces, in f64.
pub(crate) fn models(files: &[PathBuf]) -> Result<Vec<Model>> {
    let model = |file: &PathBuf| match format_of(file)? {
        Some(format) => Ok(read(file, format)?.faces(&input_name(file).to_string())?.model()),
        None => {
            Err(unknown_format(file, "obj, stl, ply, off, gltf, glb or a saved bin is read as a surface"))
        }
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

/// Reads a mesh file. What of it was not read is a warning.
fn read(file: &Path, format: Format) -> Result<Mesh> {
    let beside = |name: &str, most: u64| {
        let path = file.with_file_name(name);
        read_beside(&path, most).map_err(|error| Error::new(Failure::unreadable(&path, &error).to_string()))
    };
    let mesh = format.read(&input_name(file).to_string(), &bytes(file)?, &beside)?;
    mesh.notes().iter().for_each(warn);
    Ok(mesh)
}

/// The first bytes of a file that another one names, at most this many. A device or a pipe is refused: it may have no end.
fn read_beside(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_is_asked_for() {
        let folder = std::env::temp_dir().join(format!("hullfield-beside-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.bin");
        std::fs::write(&path, [7; 100]).unwrap();
        assert_eq!(read_beside(&path, 60).unwrap(), [7; 60]);
        assert_eq!(read_beside(&path, u64::MAX).unwrap(), [7; 100]);
        assert!(read_beside(&folder, 1).is_err() && read_beside(&folder.join("none"), 1).is_err());
        #[cfg(unix)]
        assert_eq!(read_beside(Path::new("/dev/zero"), 9).unwrap_err().to_string(), "it is no regular file");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
