//! The formats of mesh files.

use crate::error::{Error, Result};
use crate::mesh::Mesh;
use crate::text::without_mark;
use crate::{foreign, gltf, obj, off, ply, stl};

/// The formats of mesh files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// STL, binary and text.
    Stl,
    /// PLY, text and binary.
    Ply,
    /// OFF, text.
    Off,
    /// glTF 2.0, text and binary.
    Gltf,
}

impl Format {
    /// The name of the format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Obj => "OBJ",
            Self::Stl => "STL",
            Self::Ply => "PLY",
            Self::Off => "OFF",
            Self::Gltf => "glTF",
        }
    }

    /// The format of a file extension, in any case.
    pub fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension.to_lowercase().as_str() {
            "obj" => Self::Obj,
            "stl" => Self::Stl,
            "ply" => Self::Ply,
            "off" => Self::Off,
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
        let bytes = without_mark(bytes);
        let lines = bytes.split(|&byte| byte == b'\n' || byte == b'\r');
        let lines = lines.filter_map(|line| std::str::from_utf8(line).ok());
        let mut lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let word = lines.next()?.split_whitespace().next()?;
        match word.to_ascii_lowercase().as_str() {
            "solid" => Some(Self::Stl),
            "v" | "vn" | "vt" | "o" | "g" | "mtllib" | "usemtl" | "s" => Some(Self::Obj),
            _ => off::is_header(word).then_some(Self::Off),
        }
    }

    /// Reads a file's bytes. `name` is the file's name in messages. `buffer` gives the bytes of a file beside it, by its path from the
    /// folder of this file, and no more of them than the number says: only glTF asks for some. The path leads out of no folder.
    ///
    /// # Errors
    /// What is wrong with the file, and the errors of `buffer`.
    pub fn read(
        self,
        name: &str,
        bytes: &[u8],
        buffer: &dyn Fn(&str, u64) -> Result<Vec<u8>>,
    ) -> Result<Mesh> {
        // The header of a binary STL may begin with anything.
        if self != Self::Stl || !stl::may_be_binary(bytes) {
            if let Some(what) = foreign::foreign_kind(bytes) {
                return Err(Error::file(name, format!("it is {what}")));
            }
            if let Some(other) = Self::of_bytes(bytes).filter(|&other| other != self) {
                let (is, named) = (other.name(), self.name());
                return Err(Error::file(name, format!("by its first bytes it is {is}, by its name {named}")));
            }
        }
        match self {
            Self::Obj => obj::read(name, bytes),
            Self::Stl => stl::read(name, bytes),
            Self::Ply => ply::read(name, bytes),
            Self::Off => off::read(name, bytes),
            Self::Gltf => gltf::read(name, bytes, buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_extension_and_by_first_bytes() {
        let of = ["OBJ", "stl", "Ply", "oFF", "gltf", "glb", "step", ""].map(Format::of_extension);
        let [obj, stl, ply, off, gltf] =
            [Format::Obj, Format::Stl, Format::Ply, Format::Off, Format::Gltf].map(Some);
        assert_eq!(of, [obj, stl, ply, off, gltf, gltf, None, None]);
        let mut binary = vec![b's'; 80];
        binary.extend([1, 0, 0, 0]);
        binary.extend([0; 50]);
        let cases: [(&[u8], Option<Format>); 14] = [
            (b"glTF\x02\0\0\0", gltf),
            (b"ply\r\n", ply),
            (&binary, stl),
            (b"solid a\0", stl),
            (b" solid a\nfacet", stl),
            (b"# made by hand\n\no box\n", obj),
            (b"# made by hand\ro box\r", obj),
            (b"COFF\n3 1 0\n", off),
            (b"# x\n\nOFF8 6 12\n", off),
            (b"OFFICE\n", None),
            (b"{\"asset\": {}}", None),
            (b"x,y,z\n", None),
            (b"\n", None),
            (b"", None),
        ];
        for (bytes, format) in cases {
            assert_eq!(Format::of_bytes(bytes), format, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_file_that_is_something_else_is_named() {
        let none = |name: &str, _| Err(Error::new(name));
        let error_of = |format: Format, bytes: &[u8]| format.read("a", bytes, &none).unwrap_err().to_string();
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:77\nsize 3\n";
        let wide: Vec<u8> = "\u{feff}solid a\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for format in [Format::Obj, Format::Stl, Format::Ply, Format::Off, Format::Gltf] {
            let lfs = "a: it is a Git LFS pointer, not the file itself: \"git lfs pull\" fetches that";
            assert_eq!(error_of(format, pointer), lfs);
            assert_eq!(error_of(format, &wide), "a: it is text in UTF-16: save it as UTF-8");
            assert_eq!(error_of(format, b"\x1f\x8b\x08\0"), "a: it is compressed with gzip: unpack it");
        }
        assert_eq!(
            error_of(Format::Stl, b"ply\nformat ascii 1.0\n"),
            "a: by its first bytes it is PLY, by its name STL"
        );
        assert_eq!(
            error_of(Format::Gltf, b"# x\rv 0 0 0\r"),
            "a: by its first bytes it is OBJ, by its name glTF"
        );
    }

    #[test]
    fn the_header_of_a_binary_stl_may_begin_with_anything() {
        for begin in ["v 1 2", "version https://git-lfs.github.com/spec/v1", "PK\x03\x04", "ply\n"] {
            let mut bytes = begin.as_bytes().to_vec();
            bytes.resize(80, b' ');
            bytes.extend([1, 0, 0, 0]);
            bytes.extend([0; 50]);
            for more in [0, 1, 50] {
                bytes.resize(134 + more, 7);
                let mesh = Format::Stl.read("a", &bytes, &|name, _| Err(Error::new(name))).unwrap();
                assert_eq!((mesh.faces.len(), mesh.notes().len()), (1, usize::from(more > 0)), "{begin}");
            }
        }
    }
}
