//! NumPy's `.npy` arrays of whole numbers, in and out.
//!
//! The format is a header, the literal of a Python dictionary, before the bare cells (NEP 1). The libraries that read it bring
//! a grammar of all Python literals and with it a C compiler; three fields of known types are read here.

use std::io::{self, Write};
use std::path::Path;

use hullfield::GridFrame;

use super::{Map, check_size};
use crate::failure::{Failure, Result};
use crate::read::{input, shown};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that makes sense: the three fields take a hundred bytes.
const HEADER_LIMIT: usize = 1 << 16;

/// An array as it lies in a file.
#[derive(Debug)]
struct Array<'a> {
    /// The type as NumPy spells it: `|u1`, `<u2`.
    descr: String,
    /// Columns before rows: the first axis runs fastest.
    is_fortran: bool,
    shape: Vec<usize>,
    cells: &'a [u8],
}

impl Array<'_> {
    /// Columns, rows and layers, and whether it says how many layers.
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

    /// The cells row-major, as numbers of that many bytes.
    fn numbers(&self, bytes: usize) -> Result<Vec<u32>, String> {
        let ([width, height, depth], _) = self.size()?;
        let needed = [height, depth, bytes].iter().try_fold(width, |product, &n| product.checked_mul(n));
        if needed != Some(self.cells.len()) {
            let (found, shape) = (self.cells.len(), shape_text(&self.shape));
            return Err(format!("it has {found} bytes of cells, its shape {shape} needs another number"));
        }
        let is_big = self.descr.starts_with('>');
        let number = |cell: usize| {
            let cell = &self.cells[cell * bytes..][..bytes];
            let push = |value: u32, &byte: &u8| value << 8 | u32::from(byte);
            if is_big { cell.iter().fold(0, push) } else { cell.iter().rev().fold(0, push) }
        };
        if !self.is_fortran {
            return Ok((0..width * height * depth).map(number).collect());
        }
        let mut numbers = Vec::with_capacity(width * height * depth);
        for z in 0..depth {
            for y in 0..height {
                numbers.extend((0..width).map(|x| number(z + depth * (y + height * x))));
            }
        }
        Ok(numbers)
    }
}

fn shape_text(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", lengths.join(", "))
}

/// Reads a volume or a plane of u8: 0 road, 1 obstacle.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Map> {
    let wrong = |message: String| Failure::file(path, message);
    let array = array(bytes).map_err(wrong)?;
    let (size, is_volume) = array.size().map_err(wrong)?;
    if array.descr != "|u1" {
        return Err(wrong(format!("its cells are {}, u8 expected", shown(&array.descr))));
    }
    check_size(path, size)?;
    let numbers = array.numbers(1).map_err(wrong)?;
    if let Some(index) = numbers.iter().position(|&number| number > 1) {
        let cell = cell_text(index, size, is_volume);
        return Err(wrong(format!("cell {cell} is {}, it must be 0 (road) or 1 (obstacle)", numbers[index])));
    }
    Ok(Map {
        size: size.map(|length| length as u32),
        is_volume,
        obstacles: numbers.iter().map(|&number| number == 1).collect(),
        unknown_count: 0,
        frame: GridFrame::default(),
    })
}

/// Reads what entering each cell of a map costs: u16 or u32 of its shape.
pub(crate) fn costs(path: &Path, map: &Map) -> Result<Vec<u32>> {
    let bytes = input::bytes(path)?;
    let wrong = |message: String| Failure::file(path, message);
    let array = array(&bytes).map_err(wrong)?;
    let (size, is_volume) = array.size().map_err(wrong)?;
    let bytes_each = match array.descr.as_str() {
        "<u2" | ">u2" => 2,
        "<u4" | ">u4" => 4,
        other => return Err(wrong(format!("its cells are {}, u16 or u32 expected", shown(other)))),
    };
    if array.shape != map.shape() {
        let (shape, expected) = (shape_text(&array.shape), shape_text(&map.shape()));
        return Err(wrong(format!("its shape is {shape}, the map's is {expected}")));
    }
    let numbers = array.numbers(bytes_each).map_err(wrong)?;
    if let Some(index) = numbers.iter().position(|&number| number == 0) {
        let cell = cell_text(index, size, is_volume);
        return Err(wrong(format!("cell {cell}: the cost is 0, it must be 1 or more")));
    }
    Ok(numbers)
}

/// The coordinates of a cell, x first.
fn cell_text(index: usize, [width, height, _]: [usize; 3], is_volume: bool) -> String {
    let (x, y, z) = (index % width, index / width % height, index / width / height);
    if is_volume { format!("({x}, {y}, {z})") } else { format!("({x}, {y})") }
}

/// Takes a file apart.
fn array(bytes: &[u8]) -> Result<Array<'_>, String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("it is no .npy file")?;
    let (length, rest) = match *rest {
        [1, _, a, b, ref rest @ ..] => (u32::from(u16::from_le_bytes([a, b])), rest),
        [2 | 3, _, a, b, c, d, ref rest @ ..] => (u32::from_le_bytes([a, b, c, d]), rest),
        [version, ..] if version > 3 => return Err(format!("version {version} of .npy is not known")),
        _ => return Err("its header ends too soon".into()),
    };
    let length = length as usize;
    if length > HEADER_LIMIT {
        return Err(format!("its header is {length} bytes long, {HEADER_LIMIT} are the most"));
    }
    let (Some(header), Some(cells)) = (rest.get(..length), rest.get(length..)) else {
        return Err("its header ends too soon".into());
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
    let inner = inner.ok_or("shape in its header is no tuple")?;
    let lengths = inner.split(',').map(str::trim).filter(|length| !length.is_empty());
    let shape: Result<Vec<usize>, _> = lengths.map(str::parse).collect();
    let shape = shape.map_err(|_| format!("shape in its header is ({})", shown(inner)))?;
    Ok(Array { descr, is_fortran, shape, cells })
}

/// What stands after a key of the header.
fn value_of<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let after = ['\'', '"'].iter().find_map(|quote| {
        let quoted = format!("{quote}{key}{quote}");
        header.find(&quoted).map(|at| header[at + quoted.len()..].trim_start())
    });
    let value = after.and_then(|after| after.strip_prefix(':')).map(str::trim_start);
    value.ok_or_else(|| format!("its header has no {key}"))
}

/// The text in quotes after a key.
fn text_of<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let value = value_of(header, key)?;
    let text = ['\'', '"'].iter().find_map(|&quote| value.strip_prefix(quote)?.split_once(quote));
    text.map(|(text, _)| text).ok_or_else(|| format!("{key} in its header is no plain type"))
}

/// Writes an array of little-endian numbers: its type as NumPy spells it, its shape, its bytes.
pub(crate) fn write(writer: &mut dyn Write, descr: &str, shape: &[usize], bytes: &[u8]) -> io::Result<()> {
    let lengths: Vec<String> = shape.iter().map(|length| format!("{length}, ")).collect();
    let lengths = lengths.concat();
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}",
        if shape.len() == 1 { lengths.trim_end() } else { lengths.trim_end_matches(", ") },
    );
    // The cells begin at a multiple of 64 bytes; the magic, the version and the length are ten.
    let padding = 63 - (MAGIC.len() + 4 + header.len()) % 64;
    header.push_str(&" ".repeat(padding));
    header.push('\n');
    writer.write_all(MAGIC)?;
    writer.write_all(&[1, 0])?;
    writer.write_all(&(header.len() as u16).to_le_bytes())?;
    writer.write_all(header.as_bytes())?;
    writer.write_all(bytes)
}

#[cfg(test)]
pub(in crate::read::map) mod tests {
    use super::*;

    /// A file, its header as NumPy writes it.
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
    fn arrays_come_back() {
        let path = Path::new("a.npy");
        let bytes = file("|u1", false, &[2, 3], &[0, 1, 0, 0, 0, 1]);
        assert_eq!((bytes.len() - 6) % 64, 0);
        let map = read(path, &bytes).unwrap();
        assert_eq!((map.size, map.is_volume), ([3, 2, 1], false));
        assert_eq!(map.obstacles, [false, true, false, false, false, true]);
        // The same from columns.
        assert_eq!(read(path, &file("|u1", true, &[2, 3], &[0, 0, 1, 0, 0, 1])).unwrap(), map);
        let volume = read(path, &file("|u1", true, &[2, 1, 2], &[0, 1, 0, 0])).unwrap();
        assert_eq!((volume.size, volume.shape()), ([2, 1, 2], vec![2, 1, 2]));
        assert_eq!(volume.obstacles, [false, false, true, false]);
    }

    #[test]
    fn numbers_of_either_end() {
        let cells = [1, 0, 2, 0];
        let numbers = |descr| array(&file(descr, false, &[1, 2], &cells)).unwrap().numbers(2).unwrap();
        assert_eq!(numbers("<u2"), [1, 2]);
        assert_eq!(numbers(">u2"), [256, 512]);
    }
}
