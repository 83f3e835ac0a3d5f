//! Readers: mesh and point files into named point sets or models with faces, and tables.
//!
//! Each object of a file is one point set, called by its name; a file that has no objects is one, called by the file's
//! name without its extension. Of several that are called alike the later ones get a number: `Wheels`, `Wheels.1`. The points
//! of an object are those that its faces, lines or points use, or all of its points where it has none of these; an object
//! without any is left out, and said to be. A model is all the faces of a file. Every fault names the file, and the line and the
//! field where there are lines.

mod bodies;
mod cells;
mod gltf;
mod input;
mod map;
mod mesh;
mod obj;
mod ply;
mod points;
mod room;
mod stl;
mod surface;
mod table;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

pub(crate) use bodies::{Bodies, bodies, pairs};
pub(crate) use cells::{CellScenario, cell, cell_scenarios, edits};
pub(crate) use input::{is_dash, kind, one_stdin};
pub(crate) use map::{Map, costs, map, write_npy};
use mesh::{Mesh, Real};
pub(crate) use room::{Query as RoomQuery, Scenario, point as room_point, queries, room, scenarios};
pub(crate) use surface::{
    Query as SurfaceQuery, QueryEnd as SurfaceQueryEnd, face as surface_face, faces as surface_faces,
    goals as surface_goals, links as surface_links, named_face as surface_named_face, point as surface_point,
    queries as surface_queries,
};

use crate::failure::{Failure, Result};
use hullfield::Model;

/// The points of one object of one file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PointSet {
    /// The object's name, or the file's where it has none.
    pub(crate) name: String,
    /// The points in the file's order, world transforms of the file applied, in the file's units.
    pub(crate) points: Vec<[f64; 3]>,
    /// Where it was read.
    pub(crate) file: PathBuf,
    /// The line it begins on, where the file has lines.
    pub(crate) line: Option<u64>,
}

/// The point sets of files, and what there is to say of them, a line each.
#[derive(Debug)]
pub(crate) struct PointSets {
    /// Each with some points and a name of its own.
    pub(crate) sets: Vec<PointSet>,
    /// The objects that have no points.
    pub(crate) left_out: Vec<String>,
    /// The names that were given.
    pub(crate) renamed: Vec<String>,
}

/// Reads every file.
pub(crate) fn point_sets(files: &[PathBuf]) -> Result<PointSets> {
    let (mut sets, mut left_out) = (Vec::new(), Vec::new());
    for file in files {
        let (found, empty): (Vec<_>, Vec<_>) =
            point_sets_of(file)?.into_iter().partition(|set| !set.points.is_empty());
        let mut messages = empty.into_iter().map(|set| {
            let message = format!("object \"{}\" has no points", shown(&set.name));
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
    let renamed = make_unique(&mut sets);
    Ok(PointSets { sets, left_out, renamed })
}

/// Numbers the later ones of those that are called alike, so that all names differ; a line for each file and name where
/// there are such.
fn make_unique(sets: &mut [PointSet]) -> Vec<String> {
    // A name that stands in a file is nobody else's, wherever it stands.
    let given: HashSet<String> = sets.iter().map(|set| set.name.clone()).collect();
    let mut counts: HashMap<String, u64> = HashMap::with_capacity(sets.len());
    let mut renamed: Vec<(PathBuf, String, String, u64)> = Vec::new();
    for set in sets {
        let Some(count) = counts.get_mut(&set.name) else {
            counts.insert(set.name.clone(), 0);
            continue;
        };
        let name = loop {
            *count += 1;
            let name = format!("{}.{count}", set.name);
            if !given.contains(&name) {
                break name;
            }
        };
        match renamed.last_mut() {
            Some((file, of, _, more)) if *file == set.file && *of == set.name => *more += 1,
            _ => renamed.push((set.file.clone(), set.name.clone(), name.clone(), 0)),
        }
        set.name = name;
    }
    let line = |(file, of, name, more): (PathBuf, String, String, u64)| {
        let more = if more > 0 { format!(" (and {more} more are numbered on)") } else { String::new() };
        let (of, name) = (shown(&of), shown(&name));
        Failure::file(&file, format!("the name \"{of}\" is taken, this one is called \"{name}\"{more}"))
            .to_string()
    };
    renamed.into_iter().map(line).collect()
}

fn point_sets_of(file: &Path) -> Result<Vec<PointSet>> {
    match Kind::of(file)? {
        Some(kind) => Ok(kind.read(file)?.point_sets(file)),
        None if kind(file)? == "csv" => points::read(file),
        None => Err(unknown_kind(file, "obj, stl, ply, gltf, glb or csv is read")),
    }
}

/// Reads every file as one model of all its faces, in f64.
pub(crate) fn models(files: &[PathBuf]) -> Result<Vec<Model>> {
    let model = |file: &PathBuf| match Kind::of(file)? {
        Some(kind) => kind.read(file)?.model(file),
        None => Err(unknown_kind(file, "obj, stl, ply, gltf or glb is read as a mesh")),
    };
    files.iter().map(model).collect()
}

/// The kinds of mesh files.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Obj,
    Stl,
    Ply,
    Gltf,
}

impl Kind {
    /// By the extension; of stdin, by its first bytes.
    fn of(file: &Path) -> Result<Option<Self>> {
        Ok(match kind(file)?.as_str() {
            "obj" => Some(Self::Obj),
            "stl" => Some(Self::Stl),
            "ply" => Some(Self::Ply),
            "gltf" | "glb" => Some(Self::Gltf),
            "json" if is_dash(file) => Some(Self::Gltf),
            _ => None,
        })
    }

    fn read(self, file: &Path) -> Result<Mesh> {
        let bytes = input::bytes(file)?;
        match self {
            Self::Obj => obj::read(file, &bytes),
            Self::Stl => stl::read(file, &bytes),
            Self::Ply => ply::read(file, &bytes),
            Self::Gltf => gltf::read(file, &bytes),
        }
    }
}

/// A file that is none of those that are read.
fn unknown_kind(file: &Path, read: &str) -> Failure {
    let by = if is_dash(file) { "told by its first bytes" } else { "by its extension" };
    Failure::file(file, format!("of no known kind: {read}, {by}"))
}

/// The whole of a file or of stdin.
pub(crate) fn file_bytes(file: &Path) -> Result<Vec<u8>> {
    input::bytes(file)
}

/// The file's name without folder and extension: the name of what has no other.
fn stem(file: &Path) -> String {
    if is_dash(file) {
        return "stdin".to_owned();
    }
    file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A finite number, or what is wrong with it.
pub(crate) fn number<T: Real>(text: &str) -> Result<T, String> {
    let value: T = text.parse().map_err(|_| format!("\"{}\" is not a number", shown(text)))?;
    if value.is_real() {
        return Ok(value);
    }
    // A decimal number that only overflowed is told apart from one that says so itself.
    if text.bytes().any(|byte| byte.is_ascii_digit()) {
        Err(format!("{} is too large for a {}-bit float", shown(text), T::BITS))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a file holds, reading it ends in point sets or in a failure of one line.
    #[test]
    fn spoiled_files_never_panic() {
        let mut random = crate::random::Random::new(11);
        let obj = "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0 # c\nf 1/1/1 -2//3 \\\n 3\nl 1 2\np 1\n";
        let stl = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
        let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
            element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
        let mut binary_ply =
            ply.replace("ascii", "binary_little_endian").split("0 0 0").next().unwrap().as_bytes().to_vec();
        binary_ply.extend([0; 36]);
        binary_ply.extend([3, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]);
        let mut binary_stl = vec![b' '; 80];
        binary_stl.extend([1, 0, 0, 0]);
        binary_stl.extend([0; 50]);
        let gltf = gltf::tests::scene(54, [0, 1, 2]);
        type Read = fn(&Path, &[u8]) -> Result<Mesh>;
        let samples: [(&str, Read, Vec<u8>); 6] = [
            ("obj", obj::read, obj.into()),
            ("stl", stl::read, stl.into()),
            ("stl", stl::read, binary_stl),
            ("ply", ply::read, ply.into()),
            ("ply", ply::read, binary_ply),
            ("gltf", gltf::read, gltf.into_bytes()),
        ];
        for (kind, read, sample) in samples {
            assert!(read(Path::new("good"), &sample).is_ok(), "{kind}");
            for _ in 0..5000 {
                let mut bytes = sample.clone();
                for _ in 0..1 + random.below(3) {
                    let at = random.below(bytes.len().max(1));
                    if bytes.is_empty() {
                        break;
                    }
                    match random.below(4) {
                        0 => bytes[at] = random.bits() as u8,
                        1 => bytes[at] = b"0123456789-. \n/"[random.below(15)],
                        2 => drop(bytes.remove(at)),
                        _ => bytes.truncate(at.max(1)),
                    }
                }
                match read(Path::new("spoiled"), &bytes) {
                    Ok(mesh) => {
                        assert!(mesh.points.iter().flatten().all(|x| x.is_finite()));
                        assert!(mesh.corners.iter().all(|&corner| (corner as usize) < mesh.points.len()));
                        assert!(
                            mesh.faces.iter().all(|face| face.len() >= 3 && face.end <= mesh.corners.len())
                        );
                    }
                    Err(failure) => assert_eq!(failure.code(), 2),
                }
            }
        }
    }

    #[test]
    fn names_that_stand_twice_are_numbered() {
        let set = |name: &str, file: &str| PointSet {
            name: name.to_owned(),
            points: Vec::new(),
            file: file.into(),
            line: None,
        };
        let mut sets = [
            set("Wheels", "a"),
            set("Wheels", "a"),
            set("Wheels", "a"),
            set("Wheels.2", "a"),
            set("Wheels", "b"),
            set("Wheels.2", "b"),
            set("body", "b"),
        ];
        let lines = make_unique(&mut sets);
        let names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).collect();
        assert_eq!(names, ["Wheels", "Wheels.1", "Wheels.3", "Wheels.2", "Wheels.4", "Wheels.2.1", "body"]);
        assert_eq!(
            lines,
            [
                "a: the name \"Wheels\" is taken, this one is called \"Wheels.1\" (and 1 more are numbered on)",
                "b: the name \"Wheels\" is taken, this one is called \"Wheels.4\"",
                "b: the name \"Wheels.2\" is taken, this one is called \"Wheels.2.1\"",
            ]
        );
    }

    #[test]
    fn numbers_that_are_none_say_why() {
        assert_eq!(number("-1.5e3"), Ok(-1500.0_f32));
        assert_eq!(number("0.1"), Ok(0.1_f64));
        let fault = |text| number::<f32>(text).unwrap_err();
        assert_eq!(fault("x1"), "\"x1\" is not a number");
        assert_eq!(fault(""), "\"\" is not a number");
        assert_eq!(fault("nan"), "\"nan\" is not finite");
        assert_eq!(fault("-inf"), "\"-inf\" is not finite");
        assert_eq!(fault("1e39"), "1e39 is too large for a 32-bit float");
        assert_eq!(number("1e39"), Ok(1e39_f64));
        assert_eq!(number::<f64>("1e309").unwrap_err(), "1e309 is too large for a 64-bit float");
    }
}
