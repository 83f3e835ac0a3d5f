//! Reads and writes NumPy's `.npy` arrays of whole numbers.
//!
//! The format is a header, a Python dictionary literal, and the raw cells (NEP 1). The crates for it bring a grammar of all
//! Python literals, and with it a C compiler. Here three fields of known types are read.

use std::io::{self, Write};
use std::path::Path;

use hullfield::flow::GridFrame;

use super::occupancy::{Map, check_size};
use crate::failure::{Failure, Result};
use crate::read::input;
use crate::read::text::excerpt;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest allowed header, in bytes. The three fields need about a hundred.
const MAX_HEADER_BYTES: usize = 1 << 16;

/// An array as it is stored in a file.
#[derive(Debug)]
struct Array<'a> {
    /// The type in NumPy's notation: `|u1`, `<u2`.
    descr: String,
    /// Whether the first axis varies fastest.
    is_fortran: bool,
    shape: Vec<usize>,
    cells: &'a [u8],
}

impl Array<'_> {
    /// Columns, rows and layers, and whether the shape has an axis for layers.
    fn size(&self) -> Result<([usize; 3], bool), String> {
        match *self.shape.as_slice() {
            [height, width] => Ok(([width, height, 1], false)),
            [depth, height, width] => Ok(([width, height, depth], true)),
            _ => {
                let shape = shape_text(&self.shape);
                Err(format!("its shape is {shape}, [height, width] or [depth, height, width] expected"))
            }
        }
    }

    /// The cells in row-major order, each made from its bits as an unsigned number of `bytes` bytes, eight at most.
    fn cells<T>(&self, bytes: usize, convert: impl Fn(u64) -> T) -> Result<Vec<T>, String> {
        let ([width, height, depth], _) = self.size()?;
        let needed = [height, depth, bytes].iter().try_fold(width, |product, &n| product.checked_mul(n));
        if needed != Some(self.cells.len()) {
            let (found, shape) = (self.cells.len(), shape_text(&self.shape));
            return Err(format!("it has {found} bytes of cells, which do not fit its shape {shape}"));
        }
        let is_big = self.descr.starts_with('>');
        let cell = |cell: usize| {
            let cell = &self.cells[cell * bytes..][..bytes];
            let push = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
            convert(if is_big { cell.iter().fold(0, push) } else { cell.iter().rev().fold(0, push) })
        };
        if !self.is_fortran {
            return Ok((0..width * height * depth).map(cell).collect());
        }
        let mut cells = Vec::with_capacity(width * height * depth);
        for z in 0..depth {
            for y in 0..height {
                cells.extend((0..width).map(|x| cell(z + depth * (y + height * x))));
            }
        }
        Ok(cells)
    }
}

/// The bytes of a number and whether it is signed, for types of bool or whole numbers.
fn whole_number(descr: &str) -> Option<(usize, bool)> {
    match descr {
        "|b1" | "|u1" => return Some((1, false)),
        "|i1" => return Some((1, true)),
        _ => {}
    }
    let kind = descr.strip_prefix(['<', '>'])?;
    let is_signed = kind.starts_with('i');
    match kind {
        "u2" | "i2" => Some((2, is_signed)),
        "u4" | "i4" => Some((4, is_signed)),
        "u8" | "i8" => Some((8, is_signed)),
        _ => None,
    }
}

/// The bits of a number of `bytes` bytes as decimal text.
fn number_text(bits: u64, bytes: usize, is_signed: bool) -> String {
    let unused = 64 - 8 * bytes as u32;
    if is_signed { ((bits << unused) as i64 >> unused).to_string() } else { bits.to_string() }
}

pub(crate) fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", lengths.join(", "))
}

/// Reads a map of two or three axes, of bool or whole numbers: 0 road, 1 obstacle.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Map> {
    let invalid = |message: String| Failure::file(path, message);
    let array = array(bytes).map_err(invalid)?;
    let (size, is_volume) = array.size().map_err(invalid)?;
    let Some((width, is_signed)) = whole_number(&array.descr) else {
        let descr = excerpt(&array.descr);
        return Err(invalid(format!(
            "its cells are {descr}, bool or whole numbers expected (|b1, |u1, <i8)"
        )));
    };
    check_size(path, size)?;
    let obstacles = array.cells(width, |bits| bits == 1).map_err(invalid)?;
    let bad = array.cells(width, |bits| bits > 1).map_err(invalid)?.into_iter().position(|is_bad| is_bad);
    if let Some(index) = bad {
        let found = array.cells(width, |bits| bits).map_err(invalid)?[index];
        let (cell, found) = (cell_text(index, size, is_volume), number_text(found, width, is_signed));
        return Err(invalid(format!("cell {cell} is {found}, it must be 0 (road) or 1 (obstacle)")));
    }
    Ok(Map {
        size: size.map(|length| length as u32),
        is_volume,
        obstacles,
        unknown_count: 0,
        frame: GridFrame::default(),
    })
}

/// Reads the cost of entering each cell: u16 or u32, of the map's shape.
pub(crate) fn costs(path: &Path, map: &Map) -> Result<Vec<u32>> {
    let bytes = input::checked_bytes(path)?;
    let invalid = |message: String| Failure::file(path, message);
    let array = array(&bytes).map_err(invalid)?;
    let (size, is_volume) = array.size().map_err(invalid)?;
    let bytes_each = match array.descr.as_str() {
        "<u2" | ">u2" => 2,
        "<u4" | ">u4" => 4,
        other => return Err(invalid(format!("its cells are {}, u16 or u32 expected", excerpt(other)))),
    };
    if array.shape != map.shape() {
        let (shape, expected) = (shape_text(&array.shape), shape_text(&map.shape()));
        return Err(invalid(format!("its shape is {shape}, the map's is {expected}")));
    }
    let numbers = array.cells(bytes_each, |bits| bits as u32).map_err(invalid)?;
    if let Some(index) = numbers.iter().position(|&number| number == 0) {
        let cell = cell_text(index, size, is_volume);
        return Err(invalid(format!("cell {cell}: the cost is 0, it must be 1 or more")));
    }
    Ok(numbers)
}

/// The coordinates of a cell, x first.
fn cell_text(index: usize, [width, height, _]: [usize; 3], is_volume: bool) -> String {
    let (x, y, z) = (index % width, index / width % height, index / width / height);
    if is_volume { format!("({x}, {y}, {z})") } else { format!("({x}, {y})") }
}

/// What the header of a file says, and where its cells begin.
#[derive(Debug)]
pub(crate) struct Header {
    /// The type in NumPy's notation: `|u1`, `<u2`.
    pub(crate) descr: String,
    /// Whether the first axis varies fastest.
    pub(crate) is_fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// The byte at which the cells begin.
    pub(crate) start: usize,
}

/// The bytes of a file within which its header ends.
pub(crate) const HEADER_ROOM: usize = MAX_HEADER_BYTES + 12;

/// Parses a file.
fn array(bytes: &[u8]) -> Result<Array<'_>, String> {
    let Header { descr, is_fortran, shape, start } = header(bytes)?;
    Ok(Array { descr, is_fortran, shape, cells: bytes.get(start..).unwrap_or_default() })
}

/// Parses the header of a file, from its first bytes.
pub(crate) fn header(bytes: &[u8]) -> Result<Header, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is not a .npy file")?;
    let (length, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (u32::from(u16::from_le_bytes([a, b])), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]), rest),
        [version, ..] if version > 3 => return Err(format!("version {version} of .npy is not supported")),
        _ => return Err("its header is cut short".into()),
    };
    let length = length as usize;
    if length > MAX_HEADER_BYTES {
        return Err(format!("its header is {length} bytes long, at most {MAX_HEADER_BYTES} are allowed"));
    }
    let start = bytes.len() - rest.len() + length;
    let Some(header) = rest.get(..length) else {
        return Err("its header is cut short".into());
    };
    let header = std::str::from_utf8(header).map_err(|_| "its header is not valid UTF-8")?;
    let descr = text_of(header, "descr")?.to_owned();
    let is_fortran = match value_of(header, "fortran_order")? {
        value if value.starts_with("True") => true,
        value if value.starts_with("False") => false,
        _ => return Err("fortran_order in its header is neither True nor False".into()),
    };
    let shape = value_of(header, "shape")?;
    let inner = shape.strip_prefix('(').and_then(|shape| shape.split_once(')')).map(|(inner, _)| inner);
    let inner = inner.ok_or("shape in its header is not a tuple")?;
    let lengths = inner.split(',').map(str::trim).filter(|length| !length.is_empty());
    let shape: Result<Vec<usize>, _> = lengths.map(str::parse).collect();
    let shape = shape.map_err(|_| format!("shape in its header is ({})", excerpt(inner)))?;
    Ok(Header { descr, is_fortran, shape, start })
}

/// The text after a key of the header.
fn value_of<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let after = ['\'', '"'].iter().find_map(|quote| {
        let quoted = format!("{quote}{key}{quote}");
        header.find(&quoted).map(|at| header[at + quoted.len()..].trim_start())
    });
    let value = after.and_then(|after| after.strip_prefix(':')).map(str::trim_start);
    value.ok_or_else(|| format!("its header has no {key}"))
}

/// The quoted text after a key.
fn text_of<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let value = value_of(header, key)?;
    let text = ['\'', '"'].iter().find_map(|&quote| value.strip_prefix(quote)?.split_once(quote));
    text.map(|(text, _)| text).ok_or_else(|| format!("{key} in its header is not a plain type"))
}

/// Writes an array of little-endian numbers: type in NumPy's notation, shape and bytes.
pub(crate) fn write(writer: &mut dyn Write, descr: &str, shape: &[usize], bytes: &[u8]) -> io::Result<()> {
    writer.write_all(&header_bytes(descr, shape))?;
    writer.write_all(bytes)
}

/// All that comes before the cells of an array.
pub(crate) fn header_bytes(descr: &str, shape: &[usize]) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(|length| format!("{length}, ")).collect();
    let lengths = lengths.concat();
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        if shape.len() == 1 { lengths.trim_end() } else { lengths.trim_end_matches(", ") },
    );
    // The cells begin at a multiple of 64 bytes. Magic, version and length take ten, the line end one.
    let padding = 63 - (MAGIC.len() + 4 + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

#[cfg(test)]
pub(in crate::read::map) mod tests {
    use super::*;

    /// A file with a header as NumPy writes it.
    pub(in crate::read::map) fn file(
        descr: &str,
        is_fortran: bool,
        shape: &[usize],
        cells: &[u8],
    ) -> Vec<u8> {
        let mut file = Vec::new();
        write(&mut file, descr, shape, cells).unwrap();
        if is_fortran {
            let at = file.windows(5).position(|window| window == b"False").unwrap();
            file[at..at + 5].copy_from_slice(b"True ");
        }
        file
    }

    #[test]
    fn arrays_read_back_as_written() {
        let path = Path::new("a.npy");
        let bytes = file("|u1", false, &[2, 3], &[0, 1, 0, 0, 0, 1]);
        assert_eq!((bytes.len() - 6) % 64, 0);
        let map = read(path, &bytes).unwrap();
        assert_eq!((map.size, map.is_volume), ([3, 2, 1], false));
        assert_eq!(map.obstacles, [false, true, false, false, false, true]);
        // The same map in column-major order.
        assert_eq!(read(path, &file("|u1", true, &[2, 3], &[0, 0, 1, 0, 0, 1])).unwrap(), map);
        let volume = read(path, &file("|u1", true, &[2, 1, 2], &[0, 1, 0, 0])).unwrap();
        assert_eq!((volume.size, volume.shape()), ([2, 1, 2], vec![2, 1, 2]));
        assert_eq!(volume.obstacles, [false, false, true, false]);
    }

    #[test]
    fn maps_of_bool_and_of_whole_numbers_of_any_width() {
        let path = Path::new("a.npy");
        let expected = [false, true, true, false];
        for (descr, bytes) in [
            ("|b1", 1),
            ("|u1", 1),
            ("|i1", 1),
            ("<u2", 2),
            (">i2", 2),
            ("<i4", 4),
            (">u4", 4),
            ("<u8", 8),
            ("<i8", 8),
            (">i8", 8),
        ] {
            let number = |value: u8| {
                let mut number = vec![0; bytes];
                number[if descr.starts_with('>') { bytes - 1 } else { 0 }] = value;
                number
            };
            let cells = |values: [u8; 4]| values.into_iter().flat_map(number).collect::<Vec<u8>>();
            let map = read(path, &file(descr, false, &[2, 2], &cells([0, 1, 1, 0]))).unwrap();
            assert_eq!(map.obstacles, expected, "{descr}");
            let map = read(path, &file(descr, true, &[2, 2], &cells([0, 1, 0, 1]))).unwrap();
            assert_eq!(map.obstacles, [false, false, true, true], "{descr}");
            let error_of = |bytes: Vec<u8>| read(path, &bytes).unwrap_err().to_string();
            let two = error_of(file(descr, false, &[2, 2], &cells([0, 1, 2, 0])));
            assert_eq!(two, "a.npy: cell (0, 1) is 2, it must be 0 (road) or 1 (obstacle)", "{descr}");
            // All bits set, in column-major order: -1 if signed.
            let mut corrupt = cells([0, 1, 0, 0]);
            corrupt[2 * bytes..3 * bytes].fill(255);
            let most = if descr.contains('i') { -1i128 } else { (1i128 << (8 * bytes)) - 1 };
            assert_eq!(
                error_of(file(descr, true, &[2, 2], &corrupt)),
                format!("a.npy: cell (1, 0) is {most}, it must be 0 (road) or 1 (obstacle)"),
                "{descr}"
            );
            let short = error_of(file(descr, false, &[2, 3], &cells([0; 4])));
            assert!(short.starts_with(&format!("a.npy: it has {} bytes of cells", 4 * bytes)), "{short}");
        }
        for descr in ["<f8", "<f4", "|S1", "<U1", "<i16", "=i8", "<c8", "|O", ">b1"] {
            let error = read(path, &file(descr, false, &[1, 1], &[0; 16])).unwrap_err().to_string();
            assert!(error.starts_with(&format!("a.npy: its cells are {descr}, bool or whole")), "{error}");
        }
    }

    #[test]
    fn numbers_of_either_byte_order() {
        let cells = [1, 0, 2, 0];
        let numbers =
            |descr| array(&file(descr, false, &[1, 2], &cells)).unwrap().cells(2, |bits| bits).unwrap();
        assert_eq!(numbers("<u2"), [1, 2]);
        assert_eq!(numbers(">u2"), [256, 512]);
    }
}
