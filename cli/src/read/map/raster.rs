//! A flat `.npy` map, with or without costs, read a window at a time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use hullfield::flow::{Cell, Raster, RasterWindow};
use hullfield::{Error, Location};

use super::npy::{HEADER_ROOM, Header, header, number_text, shape_text, whole_number};
use super::occupancy::check_size;
use crate::failure::{Failure, Result};
use crate::read::text::excerpt;

/// An array of whole numbers in a file, of two axes.
#[derive(Debug)]
struct ArrayFile {
    path: PathBuf,
    file: Mutex<File>,
    /// Columns and rows.
    size: [u32; 2],
    /// The byte at which the cells begin, and the bytes of each.
    start: u64,
    bytes_each: usize,
    is_signed: bool,
    is_big: bool,
    /// Length of the file, and when it was changed.
    version: String,
}

impl ArrayFile {
    fn open(path: &Path) -> Result<Self> {
        let invalid = |message: String| Failure::file(path, message);
        let unreadable = |error: &std::io::Error| Failure::unreadable(path, error);
        let mut file = File::open(path).map_err(|error| unreadable(&error))?;
        let metadata = file.metadata().map_err(|error| unreadable(&error))?;
        let mut first = Vec::new();
        (&mut file).take(HEADER_ROOM as u64).read_to_end(&mut first).map_err(|error| unreadable(&error))?;
        let Header { descr, is_fortran, shape, start } = header(&first).map_err(invalid)?;
        let [height, width] = *shape.as_slice() else {
            let shape = shape_text(&shape);
            return Err(invalid(format!(
                "its shape is {shape}; in tiles a map of [height, width] is solved"
            )));
        };
        check_size(path, [width, height, 1])?;
        if is_fortran {
            return Err(invalid(
                "its first axis varies fastest (fortran_order); in tiles the last must".into(),
            ));
        }
        let Some((bytes_each, is_signed)) = whole_number(&descr) else {
            return Err(invalid(format!(
                "its cells are {}, bool or whole numbers expected (|b1, |u1, <i8)",
                excerpt(&descr)
            )));
        };
        let found = metadata.len().saturating_sub(start as u64);
        let needed =
            (width as u64).checked_mul(height as u64).and_then(|count| count.checked_mul(bytes_each as u64));
        if needed != Some(found) {
            let shape = shape_text(&shape);
            return Err(invalid(format!(
                "it has {found} bytes of cells, which do not fit its shape {shape}"
            )));
        }
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let version = format!(
            "{} of {} bytes, {} ns",
            path.display(),
            metadata.len(),
            changed.map_or(0, |time| time.as_nanos())
        );
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
            size: [width as u32, height as u32],
            start: start as u64,
            bytes_each,
            is_signed,
            is_big: descr.starts_with('>'),
            version,
        })
    }

    /// Reads a window, row by row, and gives each cell's place in it and its bits as an unsigned number.
    fn read(
        &self,
        window: RasterWindow,
        mut cell: impl FnMut(usize, u64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |error: std::io::Error| {
            let message = match error.kind() {
                std::io::ErrorKind::UnexpectedEof => "it became shorter while it was read".to_owned(),
                _ => format!("cannot be read: {error}"),
            };
            Error::Io { what: self.path.display().to_string(), message }
        };
        let mut row = vec![0; window.width as usize * self.bytes_each];
        for y in 0..window.height {
            let first = u64::from(window.y + y) * u64::from(self.size[0]) + u64::from(window.x);
            {
                let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(self.start + first * self.bytes_each as u64)).map_err(failed)?;
                file.read_exact(&mut row).map_err(failed)?;
            }
            let place = y as usize * window.width as usize;
            for (x, bytes) in row.chunks_exact(self.bytes_each).enumerate() {
                let push = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
                let bits =
                    if self.is_big { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) };
                cell(place + x, bits)?;
            }
        }
        Ok(())
    }

    /// An error of a cell of a window.
    fn cell_error(
        &self,
        window: RasterWindow,
        place: usize,
        field: &'static str,
        bits: u64,
        allowed: &str,
    ) -> Error {
        let (x, y) = (place % window.width as usize, place / window.width as usize);
        let cell = Cell::from([window.x as i32 + x as i32, window.y as i32 + y as i32]);
        let value = number_text(bits, self.bytes_each, self.is_signed);
        let allowed = format!("{allowed} ({})", self.path.display());
        Error::Value { at: Location::Cell(cell), field, value, allowed }
    }
}

/// A flat `.npy` map, 0 road and 1 obstacle, and what entering each cell costs.
#[derive(Debug)]
pub(crate) struct MapRaster {
    map: ArrayFile,
    costs: Option<ArrayFile>,
}

impl MapRaster {
    pub(crate) fn open(map: &Path, costs: Option<&Path>) -> Result<Self> {
        let opened = ArrayFile::open(map)?;
        let costs = costs.map(ArrayFile::open).transpose()?;
        if let Some(costs) = &costs {
            let invalid = |message: String| Failure::file(&costs.path, message);
            if costs.is_signed || !matches!(costs.bytes_each, 2 | 4) {
                return Err(invalid("u16 or u32 expected".into()));
            }
            if costs.size != opened.size {
                let [[width, height], [other_width, other_height]] = [costs.size, opened.size];
                return Err(invalid(format!(
                    "its shape is [{height}, {width}], the map's is [{other_height}, {other_width}]"
                )));
            }
        }
        Ok(Self { map: opened, costs })
    }
}

impl Raster for MapRaster {
    fn size(&self) -> [u32; 2] {
        self.map.size
    }

    fn identity(&self) -> String {
        match &self.costs {
            Some(costs) => format!("{}; {}", self.map.version, costs.version),
            None => self.map.version.clone(),
        }
    }

    fn read(&self, window: RasterWindow, costs: &mut [u32]) -> Result<(), Error> {
        if let Some(file) = &self.costs {
            file.read(window, |place, bits| {
                if bits == 0 {
                    return Err(file.cell_error(window, place, "cost", bits, "it must be 1 or more"));
                }
                costs[place] = bits as u32;
                Ok(())
            })?;
        } else {
            costs.fill(1);
        }
        self.map.read(window, |place, bits| {
            match bits {
                0 => {}
                1 => costs[place] = 0,
                _ => {
                    let allowed = "it must be 0 (road) or 1 (obstacle)";
                    return Err(self.map.cell_error(window, place, "cell", bits, allowed));
                }
            }
            Ok(())
        })
    }
}

/// Columns and rows of a `.npy` map; none where it is another file, or no flat map.
pub(crate) fn flat_size(path: &Path) -> Option<[u64; 2]> {
    let mut first = Vec::new();
    File::open(path).ok()?.take(HEADER_ROOM as u64).read_to_end(&mut first).ok()?;
    match *header(&first).ok()?.shape.as_slice() {
        [height, width] => Some([width as u64, height as u64]),
        _ => None,
    }
}
