//! Input from a file, or from stdin if the name is `-`.
//!
//! Stdin is read once and kept, because some errors need a second reading to find their line. Its format is detected from its
//! first bytes.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::OnceLock;

use hullfield_mesh_files::{Format, foreign_kind};

use crate::failure::{Failure, Result};

/// The bytes of stdin, or the error of reading it.
static STDIN: OnceLock<io::Result<Vec<u8>>> = OnceLock::new();

/// Whether a name stands for stdin (as an input) or stdout (as an output).
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Refuses two inputs from stdin. `inputs` are flags and their files.
pub(crate) fn one_stdin<'a>(inputs: impl IntoIterator<Item = (&'a str, &'a Path)>) -> Result<()> {
    let mut dashes = inputs.into_iter().filter(|(_, path)| is_dash(path)).map(|(flag, _)| flag);
    match (dashes.next(), dashes.next()) {
        (Some(first), Some(second)) => {
            Err(Failure::input(format!("{first} and {second}: stdin (-) can be read by one of them")))
        }
        _ => Ok(()),
    }
}

fn stdin() -> io::Result<&'static [u8]> {
    let read = || {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    match STDIN.get_or_init(read) {
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
    }
}

/// All bytes of a file or of stdin. An empty input is an error.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let read = if is_dash(path) { stdin().map(<[u8]>::to_vec) } else { std::fs::read(path) };
    let bytes = read.map_err(|error| Failure::unreadable(path, &error))?;
    if bytes.is_empty() { Err(Failure::empty(path)) } else { Ok(bytes) }
}

/// Fails where a file is not what its name says, but a pointer of Git LFS, packed, a page of HTML or the like: a sentence says what it is. `bytes` are
/// all, or the first of them.
pub(crate) fn check_kind(path: &Path, bytes: &[u8]) -> Result<()> {
    match foreign_kind(bytes) {
        Some(kind) => Err(Failure::file(path, format!("it is {kind}"))),
        None => Ok(()),
    }
}

/// All bytes of a file or of stdin that is no picture; see [`check_kind`].
pub(crate) fn checked_bytes(path: &Path) -> Result<Vec<u8>> {
    let bytes = bytes(path)?;
    check_kind(path, &bytes).map(|()| bytes)
}

/// All text of a file or of stdin.
pub(super) fn text(path: &Path) -> Result<String> {
    let bytes = checked_bytes(path)?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::file(path, "not valid UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// A file or stdin, as a reader.
#[derive(Debug)]
pub(super) enum Source {
    File(File),
    Stdin(Cursor<&'static [u8]>),
}

impl Source {
    /// Opens an input. The number of its bytes is 0 if it is not known.
    pub(super) fn open(path: &Path) -> io::Result<(Self, u64)> {
        if is_dash(path) {
            let bytes = stdin()?;
            return Ok((Self::Stdin(Cursor::new(bytes)), bytes.len() as u64));
        }
        let file = File::open(path)?;
        let size = file.metadata().map(|data| data.len()).unwrap_or(0);
        Ok((Self::File(file), size))
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Stdin(bytes) => bytes.read(buffer),
        }
    }
}

/// The format of an input as a file extension in lower case: of a file, its extension; of stdin, detected from its first bytes,
/// or empty.
pub(crate) fn file_format(path: &Path) -> Result<String> {
    if !is_dash(path) {
        return Ok(path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default());
    }
    let bytes = stdin().map_err(|error| Failure::unreadable(path, &error))?;
    if bytes.is_empty() {
        return Err(Failure::empty(path));
    }
    Ok(detect_format(bytes).unwrap_or_default().to_owned())
}

/// The file extension for bytes that begin like this, if it is certain.
fn detect_format(bytes: &[u8]) -> Option<&'static str> {
    let magics: [(&[u8], &str); 5] =
        [(b"\x89PNG", "png"), (b"\x93NUMPY", "npy"), (b"hullsurf", "bin"), (b"P2", "pgm"), (b"P5", "pgm")];
    if let Some((_, format)) = magics.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(format);
    }
    if let Some(format) = Format::of_bytes(bytes) {
        return Some(match format {
            Format::Obj => "obj",
            Format::Stl => "stl",
            Format::Ply => "ply",
            Format::Off => "off",
            Format::Gltf => "glb",
        });
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let mut lines = lines.map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let first = lines.next()?;
    let word = first.split_whitespace().next()?;
    if first.starts_with('{') {
        // A model or a room: the caller knows which.
        return Some("json");
    }
    let is_field = |line: &str| {
        let fields = ["image", "resolution", "origin", "negate", "occupied_thresh", "free_thresh", "mode"];
        fields.iter().any(|name| line.starts_with(&format!("{name}:")))
    };
    match word.to_ascii_lowercase().as_str() {
        "mesh" => Some("mesh"),
        "type" => Some("map"),
        "ncols" | "nrows" | "xllcorner" | "yllcorner" | "xllcenter" | "yllcenter" => Some("asc"),
        _ if first.split(',').any(|name| name.trim().trim_matches('"') == "hull") => Some("csv"),
        _ if is_field(first) || first == "---" => Some("yaml"),
        _ => None,
    }
}

/// The error for a file of an unknown format. `read` lists the known ones.
pub(super) fn unknown_format(file: &Path, read: &str) -> Failure {
    if is_dash(file)
        && let Some(kind) = stdin().ok().and_then(foreign_kind)
    {
        return Failure::file(file, format!("it is {kind}"));
    }
    let by = if is_dash(file) { "by its first bytes" } else { "by its extension" };
    Failure::file(file, format!("unknown format {by}: {read}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_of_stdin_is_detected_from_its_first_bytes() {
        let mut stl = vec![b's'; 80];
        stl.extend([1, 0, 0, 0]);
        stl.extend([0; 50]);
        let mut cut = b"solid a".to_vec();
        cut.resize(80, b' ');
        cut.extend([9, 0, 0, 0, 0x80, 0xff]);
        let cases: [(&[u8], Option<&str>); 22] = [
            (b"\x89PNG\r\n", Some("png")),
            (b"\x93NUMPY\x01\0", Some("npy")),
            (b"glTF\x02\0\0\0", Some("glb")),
            (b"ply\nformat ascii 1.0\n", Some("ply")),
            (b"P5 3 2 255\n", Some("pgm")),
            (b"# x\nOFF\n3 1 0\n", Some("off")),
            (&stl, Some("stl")),
            (&cut, Some("stl")),
            (b" solid a\nfacet", Some("stl")),
            (b"# made by hand\n\no box\nv 0 0 0\n", Some("obj")),
            (b"{ \"asset\": {} }", Some("json")),
            (b"mesh\n2\n", Some("mesh")),
            (b"type octile\nheight 1\n", Some("map")),
            (b"\xef\xbb\xbfx, \"hull\" ,y,z\n", Some("csv")),
            (b"image: a.pgm\n", Some("yaml")),
            (b"resolution: 0.5\n", Some("yaml")),
            (b"ncols 4\nnrows 2\n", Some("asc")),
            (b"\nNROWS 2\r\n", Some("asc")),
            (b"", None),
            (b"\n\n", None),
            (b"x,y,z\n", None),
            (b"\0\0\0\0", None),
        ];
        for (bytes, format) in cases {
            assert_eq!(detect_format(bytes), format, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn only_one_input_is_stdin() {
        let [dash, file] = [Path::new("-"), Path::new("a.csv")];
        assert!(one_stdin([("--hulls", dash), ("--bodies", file)]).is_ok());
        let error = one_stdin([("--hulls", dash), ("--bodies", file), ("--pairs", dash)]).unwrap_err();
        assert_eq!(error.to_string(), "--hulls and --pairs: stdin (-) can be read by one of them");
    }
}
