//! The formats of mesh files.

use crate::error::Result;
use crate::mesh::Mesh;
use crate::{gltf, obj, ply, stl};

/// The formats of mesh files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// STL, binary and text.
    Stl,
    /// PLY, text and binary.
    Ply,
    /// glTF 2.0, text and binary.
    Gltf,
}

impl Format {
    /// The format of a file extension, in any case.
    pub fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_lowercase().as_str() {
            "obj" => Self::Obj,
            "stl" => Self::Stl,
            "ply" => Self::Ply,
            "gltf" | "glb" => Self::Gltf,
            _ => return None,
        })
    }

    /// The format of a file by the extension of its name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::of_extension(name.rsplit_once('.')?.1)
    }

    /// The format of bytes without a name, if it is certain. Text that begins with a brace may be glTF, and much else: it has none here.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"glTF") {
            return Some(Self::Gltf);
        }
        if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
            return Some(Self::Ply);
        }
        // "solid" and a zero byte: a truncated binary STL. Its reader reports what is missing.
        let is_cut = bytes.starts_with(b"solid") && bytes.contains(&0);
        if is_cut || stl::is_binary(bytes) {
            return Some(Self::Stl);
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
        let mut lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        match lines.next()?.split_whitespace().next()?.to_ascii_lowercase().as_str() {
            "solid" => Some(Self::Stl),
            "v" | "vn" | "vt" | "o" | "g" | "mtllib" | "usemtl" | "s" => Some(Self::Obj),
            _ => None,
        }
    }

    /// Reads a file's bytes. `name` is the file's name in messages. `buffer` gives the bytes of a file beside it, by its name: only text of
    /// glTF asks for some.
    ///
    /// # Errors
    /// What is wrong with the file, and the errors of `buffer`.
    pub fn read(self, name: &str, bytes: &[u8], buffer: &dyn Fn(&str) -> Result<Vec<u8>>) -> Result<Mesh> {
        match self {
            Self::Obj => obj::read(name, bytes),
            Self::Stl => stl::read(name, bytes),
            Self::Ply => ply::read(name, bytes),
            Self::Gltf => gltf::read(name, bytes, buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use hullfield_oracle::random::Random;

    use super::*;
    use crate::error::Error;

    #[test]
    fn a_format_is_known_by_extension_and_by_first_bytes() {
        let of = ["OBJ", "stl", "Ply", "gltf", "glb", "step", ""].map(Format::of_extension);
        let [obj, stl, ply, gltf] = [Format::Obj, Format::Stl, Format::Ply, Format::Gltf].map(Some);
        assert_eq!(of, [obj, stl, ply, gltf, gltf, None, None]);
        let mut binary = vec![b's'; 80];
        binary.extend([1, 0, 0, 0]);
        binary.extend([0; 50]);
        let cases: [(&[u8], Option<Format>); 10] = [
            (b"glTF\x02\0\0\0", gltf),
            (b"ply\r\n", ply),
            (&binary, stl),
            (b"solid a\0", stl),
            (b" solid a\nfacet", stl),
            (b"# made by hand\n\no box\n", obj),
            (b"{\"asset\": {}}", None),
            (b"x,y,z\n", None),
            (b"\n", None),
            (b"", None),
        ];
        for (bytes, format) in cases {
            assert_eq!(Format::of_bytes(bytes), format, "{}", String::from_utf8_lossy(bytes));
        }
    }

    /// Reading any file ends in a mesh or in an error of one line. Nothing is caught: where a panic aborts, it would end the program.
    #[test]
    fn corrupt_files_never_panic() {
        let mut random = Random::new(11);
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
        let gltf = gltf::tests::scene(54, [0, 1, 2]).into_bytes();
        let samples: [(&str, Format, Vec<u8>); 7] = [
            ("obj", Format::Obj, obj.into()),
            ("stl", Format::Stl, stl.into()),
            ("binary stl", Format::Stl, binary_stl),
            ("ply", Format::Ply, ply.into()),
            ("binary ply", Format::Ply, binary_ply),
            ("glb", Format::Gltf, gltf::tests::binary(&gltf)),
            ("gltf", Format::Gltf, gltf),
        ];
        let none = |name: &str| Err(Error::new(name));
        for (name, format, sample) in samples {
            assert!(format.read("good", &sample, &none).is_ok(), "{name}");
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
                match format.read("corrupt", &bytes, &none) {
                    Ok(mesh) => {
                        assert!(mesh.points.iter().flatten().all(|x| x.is_finite()));
                        assert!(mesh.corners.iter().all(|&corner| (corner as usize) < mesh.points.len()));
                        assert!(
                            mesh.faces.iter().all(|face| face.len() >= 3 && face.end <= mesh.corners.len())
                        );
                    }
                    Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
                }
            }
        }
    }
}
