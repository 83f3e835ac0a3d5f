//! A raster of any format.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use hullfield::flow::{Cell, RasterWindow};
use hullfield::{Error, Location};

use super::flat::{FlatCells, Segment};
use super::georeference::Georeference;
use super::geotiff::{self, TiffCells};
use super::kind::{Kind, NoData};
use super::metadata::{self, Metadata};
use super::opened::Opened;
use super::{ascii_grid, header};
use crate::failure::{Failure, Result};
use crate::output::warn;
use crate::read::input::{check_kind, file_format, is_dash};
use crate::read::map::{NPY_HEADER_ROOM, NpyHeader, check_size, npy_shape_text, parse_npy_header};
use crate::read::text::excerpt;

/// The formats of rasters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Tiff,
    Raw,
    AsciiGrid,
    Virtual,
}

/// The format of a file, by its extension.
fn format(path: &Path) -> Option<Format> {
    if is_dash(path) {
        return file_format(path).is_ok_and(|format| format == "asc").then_some(Format::AsciiGrid);
    }
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "npy" => Some(Format::Npy),
        "tif" | "tiff" | "gtiff" => Some(Format::Tiff),
        "raw" | "img" | "bil" | "bsq" | "bip" | "dat" | "bin" | "flt" => Some(Format::Raw),
        "asc" => Some(Format::AsciiGrid),
        "vrt" => Some(Format::Virtual),
        _ => None,
    }
}

/// Whether a file is a virtual raster.
pub(super) fn is_virtual(path: &Path) -> bool {
    format(path) == Some(Format::Virtual)
}

/// Whether a file is a raster whose cells are numbers by nature; a `.npy` may also be a map.
pub(crate) fn is_raster(path: &Path) -> bool {
    format(path).is_some_and(|format| format != Format::Npy)
}

/// Writes a warning once, however often the file that it is about is opened.
pub(crate) fn warn_once(text: String) {
    static SAID: Mutex<Option<HashSet<String>>> = Mutex::new(None);
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    // Tests of readers print nothing.
    if said.get_or_insert_default().insert(text.clone()) && !cfg!(test) {
        warn(text);
    }
}

#[derive(Debug)]
enum Cells {
    Flat(FlatCells),
    Tiff(Box<TiffCells>),
    /// All of them, in this machine's order.
    Memory(Vec<u8>),
    /// A part of another raster: its first column and row there.
    Part(Box<RasterFile>, [u32; 2]),
}

/// What is said of cells beside their numbers.
#[derive(Debug, Default)]
struct Meaning {
    no_data: Option<NoData>,
    /// Where data is: what is 0 has none. Says all of it, whatever the number of no data is.
    mask: Option<TiffCells>,
    /// What numbers are multiplied by, and what is added then.
    scaling: Option<[f64; 2]>,
}

/// A raster in a file, open to be read.
#[derive(Debug)]
pub(crate) struct RasterFile {
    pub(crate) path: PathBuf,
    /// Columns and rows.
    pub(crate) size: [u32; 2],
    pub(crate) kind: Kind,
    pub(crate) georeference: Option<Georeference>,
    /// Path, type and length of the file, and when it was changed.
    pub(crate) version: String,
    meaning: Meaning,
    cells: Cells,
}

/// Takes the values of some cells of a row of a window, and the place of the first of them in the window.
pub(crate) type Values<'a, T> = dyn FnMut(usize, &[T]) -> Result<(), Error> + 'a;

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Lengths and times of change of the files beside a raster that say what its numbers are.
fn versions_beside(path: &Path) -> String {
    let header = [path.with_extension("hdr")];
    let behind = [".hdr", ".aux.xml", ".msk"].map(|end| metadata::behind(path, end));
    let mut text = String::new();
    for file in header.iter().chain(&behind) {
        let Ok(metadata) = std::fs::metadata(file) else { continue };
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let changed = changed.map_or(0, |time| time.as_nanos());
        text.push_str(&format!(", {} of {} bytes, {changed} ns", file.display(), metadata.len()));
    }
    text
}

impl RasterFile {
    /// Opens a file that is no virtual raster; one without an extension that is known is taken for `.npy`.
    ///
    /// # Errors
    /// Those of [`Self::open`].
    pub(super) fn open_plain(path: &Path, band: Option<usize>, cache_bytes: u64) -> Result<Self> {
        let format = format(path);
        if is_dash(path) && format == Some(Format::AsciiGrid) {
            return Self::open_stdin(path, band);
        }
        if !matches!(format, Some(Format::Npy) | None) {
            return Self::open_with_metadata(path, band, cache_bytes, format);
        }
        if band.is_some_and(|band| band != 1) {
            return Err(Failure::file(path, geotiff::no_such_band(1, band.unwrap_or(1))));
        }
        let (cells, size, kind) = open_npy(path)?;
        Self::new(path, size, kind, Meaning::default(), None, Cells::Flat(cells))
    }

    /// Reads a grid in text from stdin, which has nothing beside it.
    fn open_stdin(path: &Path, band: Option<usize>) -> Result<Self> {
        only_band(path, band)?;
        let (cells, Opened { size, kind, no_data, georeference, .. }) = ascii_grid::read(path)?;
        let no_data = no_data.and_then(|text| read_no_data(path, &text, kind));
        let meaning = Meaning { no_data, ..Meaning::default() };
        Self::new(path, size, kind, meaning, Some(georeference), Cells::Memory(cells))
    }

    /// Opens a file of a format that GDAL reads, with what is said beside it.
    fn open_with_metadata(
        path: &Path,
        band: Option<usize>,
        cache_bytes: u64,
        format: Option<Format>,
    ) -> Result<Self> {
        let number = band.unwrap_or(1);
        let beside = metadata::beside(path, number)?;
        let mask_path = metadata::behind(path, ".msk");
        let has_mask_file = mask_path.is_file();
        let cache_bytes = if has_mask_file { cache_bytes / 2 } else { cache_bytes };
        let (cells, opened, [mask, alpha]) = match format {
            Some(Format::Tiff) => {
                let tiff = geotiff::open(path, band, beside.no_data.as_deref(), cache_bytes)?;
                if tiff.more_pages > 0 {
                    let count = tiff.more_pages + 1;
                    warn_once(format!("{}: it has {count} pictures, the first is read", path.display()));
                }
                let own = tiff.metadata;
                joint_no_data(path, &own)?;
                let opened = Opened {
                    size: tiff.size,
                    kind: tiff.kind,
                    no_data: own.no_data,
                    scaling: [own.scale, own.offset],
                    georeference: tiff.georeference,
                };
                (Cells::Tiff(Box::new(tiff.cells)), opened, [tiff.mask, tiff.alpha])
            }
            Some(Format::AsciiGrid) => {
                only_band(path, band)?;
                let (cells, opened) = ascii_grid::read(path)?;
                (Cells::Memory(cells), opened, [None, None])
            }
            _ => {
                let header = header::read(path, band)?;
                let cells = flat(path, &header)?;
                (Cells::Flat(cells), header.opened, [None, None])
            }
        };
        joint_no_data(path, &beside)?;
        let Opened { size, kind, no_data, scaling, georeference } = opened;
        let georeference = place(path, &beside, georeference)?;
        let size_32 = size.map(|length| length as u32);
        let mask = match has_mask_file {
            true => Some(geotiff::open_mask_file(&mask_path, number, size_32, cache_bytes)?),
            false => mask,
        };
        let no_data = beside.no_data.or(no_data);
        // A scale beside the file replaces the pair of both.
        let scaling = match [beside.scale, beside.offset] {
            [None, None] => scaling,
            pair => pair,
        };
        let no_data = no_data.and_then(|text| read_no_data(path, &text, kind));
        let mask = if no_data.is_none() { mask.or(alpha) } else { mask };
        let meaning = Meaning { no_data, mask, scaling: scaling_of(scaling) };
        let said =
            format!(", band {number}, {:?}, {:?}{}", meaning.no_data, meaning.scaling, versions_beside(path));
        let mut file = Self::new(path, size, kind, meaning, Some(georeference), cells)?;
        file.version.push_str(&said);
        Ok(file)
    }

    fn new(
        path: &Path,
        size: [usize; 2],
        kind: Kind,
        meaning: Meaning,
        georeference: Option<Georeference>,
        cells: Cells,
    ) -> Result<Self> {
        check_size(path, [size[0], size[1], 1])?;
        let told = match &cells {
            // Nothing but its cells tells one stdin from another.
            Cells::Memory(cells) if is_dash(path) => format!("{:016x}", hash_of(cells)),
            _ => {
                let metadata = std::fs::metadata(path).map_err(|error| Failure::unreadable(path, &error))?;
                let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let changed = changed.map_or(0, |time| time.as_nanos());
                format!("of {} bytes, {changed} ns", metadata.len())
            }
        };
        let version = format!("{} {told}, {} x {} {}", path.display(), size[0], size[1], kind.name());
        let size = size.map(|length| length as u32);
        Ok(Self { path: path.to_owned(), size, kind, georeference, version, meaning, cells })
    }

    /// A part of another raster, as a file of its own says it: its first column and row there, and what is said in place of the other's.
    pub(super) fn part(path: &Path, source: Self, first: [u32; 2], opened: Opened) -> Result<Self> {
        let Opened { size, kind, no_data, scaling, georeference } = opened;
        let meaning = Meaning {
            no_data: no_data.and_then(|text| read_no_data(path, &text, kind)),
            mask: None,
            scaling: scaling_of(scaling),
        };
        let version =
            format!("{}, from {first:?}, {:?}, {:?}", source.version, meaning.no_data, meaning.scaling);
        let cells = Cells::Part(Box::new(source), first);
        let mut file = Self::new(path, size, kind, meaning, Some(georeference), cells)?;
        file.version = format!("{}; {version}", file.version);
        Ok(file)
    }

    /// Whether values are floats: numbers of cells are, or they are scaled.
    pub(crate) fn has_floats(&self) -> bool {
        self.kind.is_float() || self.meaning.scaling.is_some()
    }

    /// Whether f32 holds all values.
    pub(crate) fn has_singles(&self) -> bool {
        self.kind.is_single() && self.meaning.scaling.is_none()
    }

    /// Whether reading takes memory for decoded strips or tiles.
    pub(crate) fn is_packed(&self) -> bool {
        let cells_are = match &self.cells {
            Cells::Tiff(cells) => cells.is_packed(),
            Cells::Part(source, _) => source.is_packed(),
            Cells::Flat(_) | Cells::Memory(_) => false,
        };
        cells_are || self.meaning.mask.as_ref().is_some_and(TiffCells::is_packed)
    }

    /// Reads the whole numbers of a window: gives the place in it of the first of some cells of a row, and their values; `None` for no data. Numbers
    /// beyond 63 bits become the largest that there is.
    ///
    /// # Errors
    /// A file that became shorter, or is damaged, and those of `segment`.
    pub(crate) fn read_whole(
        &self,
        window: RasterWindow,
        segment: &mut Values<'_, Option<i64>>,
    ) -> Result<(), Error> {
        let valid = self.valid(window)?;
        let no_data = self.meaning.no_data.filter(|_| valid.is_none()).and_then(|number| number.whole);
        let mut values = Vec::new();
        self.read(window, &mut |first, cells| {
            values.clear();
            self.kind.each_whole(cells, no_data, |_, value| values.push(value));
            hide(&mut values, &valid, first, || None);
            segment(first, &values)
        })
    }

    /// [`Self::read_whole`] for floats and for whole numbers alike: NaN for no data.
    ///
    /// # Errors
    /// As for [`Self::read_whole`].
    pub(crate) fn read_floats(
        &self,
        window: RasterWindow,
        segment: &mut Values<'_, f64>,
    ) -> Result<(), Error> {
        if !self.kind.is_float() && self.meaning.scaling.is_none() {
            let mut values = Vec::new();
            return self.read_whole(window, &mut |first, whole| {
                values.clear();
                values.extend(whole.iter().map(|value| value.map_or(f64::NAN, |value| value as f64)));
                segment(first, &values)
            });
        }
        let [scale, offset] = self.meaning.scaling.unwrap_or([1.0, 0.0]);
        let valid = self.valid(window)?;
        let no_data = self.meaning.no_data.filter(|_| valid.is_none());
        let mut values = Vec::new();
        self.read(window, &mut |first, cells| {
            values.clear();
            if self.kind.is_float() {
                let is_missing = |value| no_data.is_some_and(|number| number.is_float(value));
                self.kind.each_float(cells, |_, value| {
                    values.push(if is_missing(value) { f64::NAN } else { value * scale + offset });
                });
            } else {
                self.kind.each_whole(cells, no_data.and_then(|number| number.whole), |_, value| {
                    values.push(value.map_or(f64::NAN, |value| value as f64 * scale + offset));
                });
            }
            hide(&mut values, &valid, first, || f64::NAN);
            segment(first, &values)
        })
    }

    /// Where the mask says that there is data; `None` without one.
    fn valid(&self, window: RasterWindow) -> Result<Option<Vec<bool>>, Error> {
        let Some(mask) = &self.meaning.mask else { return Ok(None) };
        let mut valid = vec![false; window.cell_count()];
        let bytes_each = mask.bytes_each();
        mask.read(window, &mut |first, cells| {
            let cells = cells.chunks_exact(bytes_each).map(|cell| cell.iter().any(|&byte| byte != 0));
            valid[first..].iter_mut().zip(cells).for_each(|(valid, is_valid)| *valid = is_valid);
            Ok(())
        })?;
        Ok(Some(valid))
    }

    /// Reads the numbers of a window as they are stored: gives the place in it of the first of some cells of a row, and their bytes in this machine's
    /// order.
    ///
    /// # Errors
    /// A file that became shorter, or is damaged, and those of `segment`.
    pub(crate) fn read(&self, window: RasterWindow, segment: &mut Segment<'_>) -> Result<(), Error> {
        match &self.cells {
            Cells::Tiff(cells) => cells.read(window, segment),
            Cells::Part(source, [x, y]) => {
                source.read(RasterWindow { x: window.x + x, y: window.y + y, ..window }, segment)
            }
            Cells::Memory(bytes) => {
                let (width, each) = (self.size[0] as usize, self.kind.bytes);
                (0..window.height as usize).try_for_each(|row| {
                    let from = (window.y as usize + row) * width + window.x as usize;
                    let cells = &bytes[from * each..(from + window.width as usize) * each];
                    segment(row * window.width as usize, cells)
                })
            }
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

    /// Whether the raster's own mask or alpha says where data is, and not a number.
    pub(super) fn has_mask(&self) -> bool {
        self.meaning.mask.is_some()
    }

    /// The stored number of cells without data.
    pub(super) fn no_data(&self) -> Option<NoData> {
        self.meaning.no_data
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

/// Puts a value where a mask has no data; values begin at a place of the mask.
fn hide<T>(values: &mut [T], valid: &Option<Vec<bool>>, first: usize, none: impl Fn() -> T) {
    let valid = valid.iter().flat_map(|valid| &valid[first..]);
    values.iter_mut().zip(valid).filter(|(_, valid)| !**valid).for_each(|(value, _)| *value = none());
}

/// Scale and offset, where they change anything.
fn scaling_of([scale, offset]: [Option<f64>; 2]) -> Option<[f64; 2]> {
    let pair = [scale.unwrap_or(1.0), offset.unwrap_or(0.0)];
    (pair != [1.0, 0.0]).then_some(pair)
}

/// The number of no data from a text. Warns where no cell can have it for its fraction.
fn read_no_data(path: &Path, text: &str, kind: Kind) -> Option<NoData> {
    let number = NoData::parse(text, kind);
    let is_useless = match number {
        None => !text.trim_matches(['\0', ' ']).is_empty(),
        Some(number) => !kind.is_float() && !number.is_whole() && number.float.is_finite(),
    };
    if is_useless {
        warn_once(format!(
            "{}: its number of no data is \"{}\", which no cell of {} has",
            path.display(),
            excerpt(text.trim()),
            kind.name()
        ));
    }
    number
}

/// Refuses no data that is said of several bands together.
fn joint_no_data(path: &Path, metadata: &Metadata) -> Result<()> {
    match metadata.has_joint_no_data {
        true => {
            Err(Failure::file(path, "its bands have no data together (NODATA_VALUES), which is not read"))
        }
        false => Ok(()),
    }
}

/// Refuses a band of a file that has one.
fn only_band(path: &Path, band: Option<usize>) -> Result<()> {
    match band {
        None | Some(1) => Ok(()),
        Some(band) => Err(Failure::file(path, geotiff::no_such_band(1, band))),
    }
}

/// The place of a raster: what is said beside it comes first, as in GDAL, then its own, then a world file, and a `.prj` for the reference system.
fn place(path: &Path, beside: &Metadata, own: Georeference) -> Result<Georeference> {
    let mut place = beside.place(own);
    if !place.has_place()
        && let Some(transform) = metadata::world_file(path)?
    {
        place = place.with_transform(transform);
    }
    if place.system.is_none()
        && let Some(system) = metadata::projection_beside(path)?
    {
        place = place.with_system(system);
    }
    Ok(place)
}

/// The cells of a `.npy` file, their size and their type.
fn open_npy(path: &Path) -> Result<(FlatCells, [usize; 2], Kind)> {
    let invalid = |message: String| Failure::file(path, message);
    let NpyHeader { descr, is_fortran, shape, start } = npy_header_of(path)?;
    let [height, width] = *shape.as_slice() else {
        let shape = npy_shape_text(&shape);
        return Err(invalid(format!("its shape is {shape}; in tiles a map of [height, width] is solved")));
    };
    if is_fortran {
        return Err(invalid("its first axis varies fastest (fortran_order); in tiles the last must".into()));
    }
    let kind = Kind::from_descr(&descr).ok_or_else(|| {
        let descr = excerpt(&descr);
        invalid(format!("its cells are {descr}, bool, whole numbers or floats expected (|b1, |u1, <i8, <f4)"))
    })?;
    let opened = Opened {
        size: [width, height],
        kind,
        no_data: None,
        scaling: [None; 2],
        georeference: Georeference::default(),
    };
    let header = header::RawHeader::packed(opened, start as u64, descr.starts_with('>'));
    Ok((flat(path, &header)?, [width, height], kind))
}

/// The header of a `.npy` file.
fn npy_header_of(path: &Path) -> Result<NpyHeader> {
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    let mut first = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(NPY_HEADER_ROOM as u64).read_to_end(&mut first).map_err(unreadable)?;
    check_kind(path, &first)?;
    parse_npy_header(&first).map_err(|message| Failure::file(path, message))
}

/// The cells of a file that lie row by row; as many as the file has.
fn flat(path: &Path, header: &header::RawHeader) -> Result<FlatCells> {
    let unreadable = |error: std::io::Error| Failure::unreadable(path, &error);
    let file = File::open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?.len().saturating_sub(header.start);
    if header.all_bytes() != Some(found) {
        let [width, height] = header.opened.size;
        let shape = match header.bands {
            1 => npy_shape_text(&[height, width]),
            bands => npy_shape_text(&[bands, height, width]),
        };
        return Err(Failure::file(
            path,
            format!("it has {found} bytes of cells, which do not fit its shape {shape}"),
        ));
    }
    Ok(FlatCells {
        file: Mutex::new(file),
        start: header.start.saturating_add(header.band_start),
        bytes_each: header.opened.kind.bytes,
        cell_step: header.cell_step,
        row_step: header.row_step,
        is_swapped: header.is_big != cfg!(target_endian = "big"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is solved over one band, or by one header, is not what is solved over another.
    #[test]
    fn versions_differ_with_bands_and_with_what_lies_beside() {
        let folder = std::env::temp_dir().join(format!("hullfield-versions-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.bil");
        std::fs::write(&file, [1; 16]).unwrap();
        let header = |more: &str| {
            let text = format!("nrows 2\nncols 2\nnbits 16\nlayout bsq\nnbands 2\n{more}");
            std::fs::write(folder.join("a.hdr"), text).unwrap();
        };
        let version = |band: usize| RasterFile::open(&file, Some(band), u64::MAX).unwrap().version;
        header("");
        let mut versions = vec![version(1), version(2)];
        assert_eq!(version(1), versions[0]);
        header("byteorder M\n");
        versions.push(version(1));
        header("nodata 257\n");
        versions.push(version(1));
        std::fs::write(folder.join("a.bil.msk"), [0]).unwrap();
        let masked = versions_beside(&file);
        assert!(masked.contains("a.bil.msk of 1 bytes"), "{masked}");
        versions.sort();
        versions.dedup();
        assert_eq!(versions.len(), 4, "{versions:?}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
