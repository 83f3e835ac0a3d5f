//! A raster of any format.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

use hullfield::flow::{Cell, RasterWindow};
use hullfield::{Error, Location};

use super::flat::{FlatCells, Segment};
use super::georeference::Georeference;
use super::geotiff::{self, TiffCells};
use super::header;
use super::kind::{Kind, NoData};
use crate::failure::{Failure, Result};
use crate::read::map::{NPY_HEADER_ROOM, NpyHeader, check_size, npy_shape_text, parse_npy_header};
use crate::read::text::excerpt;

/// The formats of rasters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Tiff,
    Raw,
}

/// The format of a file, by its extension.
fn format(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "npy" => Some(Format::Npy),
        "tif" | "tiff" | "gtiff" => Some(Format::Tiff),
        "raw" | "img" | "bil" | "bsq" | "bip" | "dat" | "bin" | "flt" => Some(Format::Raw),
        _ => None,
    }
}

/// Whether a file is a raster whose cells are numbers by nature, GeoTIFF or raw; a `.npy` may also be a map.
pub(crate) fn is_raster(path: &Path) -> bool {
    matches!(format(path), Some(Format::Tiff | Format::Raw))
}

#[derive(Debug)]
enum Cells {
    Flat(FlatCells),
    Tiff(Box<TiffCells>),
}

/// A raster in a file, open to be read.
#[derive(Debug)]
pub(crate) struct RasterFile {
    pub(crate) path: PathBuf,
    /// Columns and rows.
    pub(crate) size: [u32; 2],
    pub(crate) kind: Kind,
    pub(crate) no_data: Option<NoData>,
    pub(crate) georeference: Option<Georeference>,
    /// Path, type and length of the file, and when it was changed.
    pub(crate) version: String,
    cells: Cells,
}

impl RasterFile {
    /// Opens a file; one without an extension that is known is taken for `.npy`. `cache_bytes` is what decoded strips or tiles may take.
    ///
    /// # Errors
    /// What is no raster of one band of numbers, and what is cut short.
    pub(crate) fn open(path: &Path, cache_bytes: u64) -> Result<Self> {
        let invalid = |message: String| Failure::file(path, message);
        let (cells, size, kind, no_data, georeference) = match format(path) {
            Some(Format::Tiff) => {
                let raster = geotiff::open(path, cache_bytes)?;
                let place = Some(raster.georeference);
                (Cells::Tiff(Box::new(raster.cells)), raster.size, raster.kind, raster.no_data, place)
            }
            Some(Format::Raw) => {
                let header = header::read(path)?;
                let no_data = header.no_data.and_then(|text| NoData::parse(&text, header.kind));
                let cells = flat(path, header.size, header.kind, header.start, header.is_big)?;
                (Cells::Flat(cells), header.size, header.kind, no_data, header.georeference)
            }
            Some(Format::Npy) | None => {
                let NpyHeader { descr, is_fortran, shape, start } = npy_header_of(path)?;
                let [height, width] = *shape.as_slice() else {
                    let shape = npy_shape_text(&shape);
                    return Err(invalid(format!(
                        "its shape is {shape}; in tiles a map of [height, width] is solved"
                    )));
                };
                if is_fortran {
                    return Err(invalid(
                        "its first axis varies fastest (fortran_order); in tiles the last must".into(),
                    ));
                }
                let kind = Kind::from_descr(&descr).ok_or_else(|| {
                    let descr = excerpt(&descr);
                    invalid(format!(
                        "its cells are {descr}, bool, whole numbers or floats expected (|b1, |u1, <i8, <f4)"
                    ))
                })?;
                let cells = flat(path, [width, height], kind, start as u64, descr.starts_with('>'))?;
                (Cells::Flat(cells), [width, height], kind, None, None)
            }
        };
        check_size(path, [size[0], size[1], 1])?;
        let metadata = std::fs::metadata(path).map_err(|error| Failure::unreadable(path, &error))?;
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let version = format!(
            "{} of {} bytes, {} ns, {} x {} {}",
            path.display(),
            metadata.len(),
            changed.map_or(0, |time| time.as_nanos()),
            size[0],
            size[1],
            kind.name()
        );
        Ok(Self {
            path: path.to_owned(),
            size: size.map(|length| length as u32),
            kind,
            no_data,
            georeference,
            version,
            cells,
        })
    }

    /// Whether reading takes memory for decoded strips or tiles.
    pub(crate) fn is_packed(&self) -> bool {
        matches!(&self.cells, Cells::Tiff(cells) if cells.is_packed())
    }

    /// Reads a window: gives the place in it of the first of some cells of a row, and their bytes in this machine's order.
    ///
    /// # Errors
    /// A file that became shorter, or is damaged, and those of `segment`.
    pub(crate) fn read(&self, window: RasterWindow, segment: &mut Segment<'_>) -> Result<(), Error> {
        match &self.cells {
            Cells::Tiff(cells) => cells.read(window, segment),
            Cells::Flat(cells) => {
                let failed = |error: std::io::Error| {
                    let path = self.path.display();
                    let message = match error.kind() {
                        std::io::ErrorKind::UnexpectedEof => {
                            format!("{path}: it became shorter while it was read")
                        }
                        _ => format!("{path}: cannot be read: {error}"),
                    };
                    Error::Invalid { at: Location::Argument, message }
                };
                cells.read(window, failed, segment)
            }
        }
    }

    /// An error of a cell of a window.
    pub(crate) fn cell_error(
        &self,
        window: RasterWindow,
        place: usize,
        field: &'static str,
        value: impl std::fmt::Display,
        allowed: &str,
    ) -> Error {
        let (x, y) = (place % window.width as usize, place / window.width as usize);
        let cell = Cell::from([window.x as i32 + x as i32, window.y as i32 + y as i32]);
        let allowed = format!("{allowed} ({})", self.path.display());
        Error::Value { at: Location::Cell(cell), field, value: value.to_string(), allowed }
    }
}

/// The header of a `.npy` file.
fn npy_header_of(path: &Path) -> Result<NpyHeader> {
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    let mut first = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(NPY_HEADER_ROOM as u64).read_to_end(&mut first).map_err(unreadable)?;
    parse_npy_header(&first).map_err(|message| Failure::file(path, message))
}

/// The cells of a file that lie row by row; as many as the file has.
fn flat(path: &Path, [width, height]: [usize; 2], kind: Kind, start: u64, is_big: bool) -> Result<FlatCells> {
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?.len().saturating_sub(start);
    let needed =
        (width as u64).checked_mul(height as u64).and_then(|count| count.checked_mul(kind.bytes as u64));
    if needed != Some(found) {
        let shape = npy_shape_text(&[height, width]);
        return Err(Failure::file(
            path,
            format!("it has {found} bytes of cells, which do not fit its shape {shape}"),
        ));
    }
    Ok(FlatCells {
        file: Mutex::new(file),
        width: width as u32,
        start,
        bytes_each: kind.bytes,
        is_swapped: is_big != cfg!(target_endian = "big"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::tiff_output::{Packing, PutTile, TiffLayout};

    /// Opening and reading any file ends in a raster or in an error of one line.
    #[test]
    fn corrupt_files_never_panic() {
        let folder = std::env::temp_dir().join(format!("hullfield-rasters-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut samples = Vec::new();
        for packing in [Packing::None, Packing::Lzw, Packing::Deflate] {
            let layout = TiffLayout {
                size: [20, 18],
                tile_edge: 16,
                bytes_each: 4,
                is_float: false,
                no_data: "7".into(),
                packing,
                georeference: Some(&Georeference::north_up([3.0, 4.0], [1.0, 1.0])),
            };
            let mut file = std::io::Cursor::new(Vec::new());
            let tiles = |put: &mut PutTile<'_>| {
                [[0, 0], [1, 0], [0, 1], [1, 1]].into_iter().try_for_each(|tile| {
                    let cells = (0..256_u32).flat_map(|at| (at / 5).to_ne_bytes()).collect();
                    put(tile, &layout.pack(cells).unwrap())
                })
            };
            layout.write(&mut file, |error| Failure::input(error.to_string()), tiles).unwrap();
            samples.push(("a.tif", file.into_inner()));
        }
        samples.push(("a.hdr", b"ENVI\nsamples = 3\nlines = 2\ndata type = 12\nbyte order = 1\n".to_vec()));
        samples.push(("a.hdr", b"ncols 3\nnrows 2\nnbits 16\nnodata 5\n".to_vec()));
        std::fs::write(folder.join("a.raw"), [0; 12]).unwrap();
        let mut random = Random::new(31);
        let [mut good, mut bad] = [0, 0];
        for (name, sample) in samples {
            for round in 0..1500 {
                let mut bytes = sample.clone();
                for _ in 0..(round + 2) % 3 {
                    let at = random.below(bytes.len());
                    match random.below(4) {
                        0 => bytes[at] = random.bits() as u8,
                        1 => bytes[at] ^= 1 << random.below(8),
                        2 => bytes[at] = b"\0\x01\xff0123456789 =\n"[random.below(16)],
                        _ if round % 7 == 0 => bytes.truncate(at + 1),
                        _ => {}
                    }
                }
                std::fs::write(folder.join(name), bytes).unwrap();
                let path = folder.join(if name == "a.hdr" { "a.raw" } else { name });
                let read = RasterFile::open(&path, 1 << 20).and_then(|file| {
                    let [width, height] = file.size.map(|length| length.min(50));
                    let window =
                        RasterWindow { x: file.size[0] - width, y: file.size[1] - height, width, height };
                    let mut count = 0;
                    file.read(window, &mut |_, cells| {
                        count += cells.len() / file.kind.bytes;
                        Ok(())
                    })?;
                    assert_eq!(count, window.cell_count());
                    Ok(())
                });
                match read {
                    Ok(()) => good += 1,
                    Err(failure) => {
                        assert_eq!(failure.code(), 2, "{failure}");
                        bad += 1;
                    }
                }
            }
        }
        assert!(good > 500 && bad > 500, "{good} {bad}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
