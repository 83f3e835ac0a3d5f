//! Files of meshes and of points, read as named point sets or as models.

use std::path::{Path, PathBuf};

use hullfield::navigate::surface::Model;

use super::input::{bytes, file_format, is_dash, unknown_format};
use super::mesh::Mesh;
use super::point_set::{PointSet, PointSets, number_equal_names};
use super::text::excerpt;
use super::{gltf, obj, ply, points, stl};
use crate::failure::{Failure, Result};

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
    match MeshFormat::of(file)? {
        Some(format) => Ok(format.read(file)?.point_sets(file)),
        None if file_format(file)? == "csv" => points::read(file),
        None => Err(unknown_format(file, "obj, stl, ply, gltf, glb or csv is read")),
    }
}

/// Reads each file as a model of all its faces, in f64.
pub(crate) fn models(files: &[PathBuf]) -> Result<Vec<Model>> {
    let model = |file: &PathBuf| match MeshFormat::of(file)? {
        Some(format) => format.read(file)?.model(file),
        None => Err(unknown_format(file, "obj, stl, ply, gltf, glb or a saved bin is read as a surface")),
    };
    files.iter().map(model).collect()
}

/// The formats of mesh files.
#[derive(Debug, Clone, Copy)]
enum MeshFormat {
    Obj,
    Stl,
    Ply,
    Gltf,
}

impl MeshFormat {
    /// The format by extension; of stdin, by its first bytes.
    fn of(file: &Path) -> Result<Option<Self>> {
        Ok(match file_format(file)?.as_str() {
            "obj" => Some(Self::Obj),
            "stl" => Some(Self::Stl),
            "ply" => Some(Self::Ply),
            "gltf" | "glb" => Some(Self::Gltf),
            "json" if is_dash(file) => Some(Self::Gltf),
            _ => None,
        })
    }

    fn read(self, file: &Path) -> Result<Mesh> {
        let bytes = bytes(file)?;
        match self {
            Self::Obj => obj::read(file, &bytes),
            Self::Stl => stl::read(file, &bytes),
            Self::Ply => ply::read(file, &bytes),
            Self::Gltf => gltf::read(file, &bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reading any file ends in a mesh or in an error of one line.
    #[test]
    fn corrupt_files_never_panic() {
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
        for (name, read, sample) in samples {
            assert!(read(Path::new("good"), &sample).is_ok(), "{name}");
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
                match read(Path::new("corrupt"), &bytes) {
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
}
