//! Files of distances and of allocations, written a window at a time: `.npy` or GeoTIFF.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use hullfield::flow::{NO_TARGET, RASTER_UNREACHABLE, RasterWindow};
use rayon::prelude::*;

use super::arguments::{PackingChoice, Units};
use crate::failure::{Failure, Result};
use crate::output::{Output, to_file};
use crate::read::{Georeference, npy_header, write_npy};
use crate::tiff_output::{Packing, PutTile, TiffLayout};

/// Cells along the edge of a TIFF's tile, where they can be chosen.
const TILE_EDGE: u32 = 256;
/// The longest and the shortest edge of a TIFF's tile that divides the edge of a field's.
const MAX_TILE_EDGE: u32 = 1024;
const GOOD_TILE_EDGE: std::ops::RangeInclusive<u32> = 256..=512;

/// The type of the distances in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DistanceType {
    U32,
    U64,
    F32,
}

impl DistanceType {
    /// For distances up to `farthest`.
    pub(super) fn new(units: Units, farthest: u64) -> Self {
        match units {
            Units::Cells | Units::Map | Units::Metres => Self::F32,
            Units::Steps if farthest < u64::from(u32::MAX) => Self::U32,
            Units::Steps => Self::U64,
        }
    }

    /// NumPy's notation.
    pub(super) fn descr(self) -> &'static str {
        match self {
            Self::U32 => "<u4",
            Self::U64 => "<u8",
            Self::F32 => "<f4",
        }
    }

    fn bytes(self) -> usize {
        if self == Self::U64 { 8 } else { 4 }
    }

    /// The number of cells from which no goal is reached.
    fn no_data(self) -> String {
        match self {
            Self::U32 => u32::MAX.to_string(),
            Self::U64 => u64::MAX.to_string(),
            Self::F32 => "inf".into(),
        }
    }
}

/// A number of a cell as it is in memory.
pub(super) trait CellNumber: Copy + Send + Sync + 'static {
    /// That of cells from which no goal is reached.
    const NONE: Self;

    /// Adds numbers in little-endian order.
    fn extend(bytes: &mut Vec<u8>, cells: &[Self], file: &DistanceFile<'_>);
}

/// Whole distances.
impl CellNumber for u64 {
    const NONE: Self = RASTER_UNREACHABLE;

    fn extend(bytes: &mut Vec<u8>, cells: &[Self], file: &DistanceFile<'_>) {
        match file.number {
            // What is unreachable in 64 bits is so in 32 too.
            DistanceType::U32 => bytes.extend(cells.iter().flat_map(|&steps| (steps as u32).to_le_bytes())),
            DistanceType::U64 => bytes.extend(cells.iter().flat_map(|steps| steps.to_le_bytes())),
            DistanceType::F32 => {
                bytes.extend(cells.iter().flat_map(|&steps| (file.unit.of(steps) as f32).to_le_bytes()))
            }
        }
    }
}

/// Distances in map units.
impl CellNumber for f32 {
    const NONE: Self = Self::INFINITY;

    fn extend(bytes: &mut Vec<u8>, cells: &[Self], _: &DistanceFile<'_>) {
        bytes.extend(cells.iter().flat_map(|distance| distance.to_le_bytes()));
    }
}

/// The goals of an allocation.
impl CellNumber for u32 {
    const NONE: Self = NO_TARGET;

    fn extend(bytes: &mut Vec<u8>, cells: &[Self], _: &DistanceFile<'_>) {
        bytes.extend(cells.iter().flat_map(|number| number.to_le_bytes()));
    }
}

/// What a whole distance is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    /// So many to the side of a cell.
    Cells(u32),
    /// So long each, in map units times friction.
    Map(f64),
}

impl Unit {
    /// A distance in cells or in map units; infinite where no goal is reached.
    pub(super) fn of(self, steps: u64) -> f64 {
        match self {
            _ if steps == RASTER_UNREACHABLE => f64::INFINITY,
            Self::Cells(count) => steps as f64 / f64::from(count),
            Self::Map(length) => steps as f64 * length,
        }
    }
}

/// Whether a file is written as TIFF.
pub(super) fn is_tiff(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| ["tif", "tiff"].iter().any(|tiff| extension.eq_ignore_ascii_case(tiff)))
}

/// A file of distances, or of an allocation.
#[derive(Debug, Clone, Copy)]
pub(super) struct DistanceFile<'a> {
    pub(super) path: &'a Path,
    /// Columns and rows.
    pub(super) size: [u32; 2],
    pub(super) number: DistanceType,
    /// What a whole distance is.
    pub(super) unit: Unit,
    pub(super) packing: PackingChoice,
    pub(super) georeference: Option<&'a Georeference>,
}

impl DistanceFile<'_> {
    /// Writes the distances that `read` gives, window by window. Windows start at multiples of `edge`, a multiple of 16, and are as long but at the
    /// end of the raster.
    pub(super) fn write<N: CellNumber>(
        &self,
        edge: u32,
        windows: impl Iterator<Item = RasterWindow>,
        read: impl FnMut(RasterWindow, &mut Vec<N>) -> Result<()>,
    ) -> Result<()> {
        if is_tiff(self.path) { self.write_tiff(edge, windows, read) } else { self.write_npy(windows, read) }
    }

    /// Writes numbers that are in memory, row-major. The file's name may be `-`, for stdout.
    pub(super) fn write_whole<N: CellNumber>(&self, cells: &[N]) -> Result<()> {
        let [width, height] = self.size;
        if !is_tiff(self.path) {
            let mut bytes = Vec::with_capacity(cells.len() * self.number.bytes());
            N::extend(&mut bytes, cells, self);
            let shape = [height as usize, width as usize];
            return to_file(self.path, |writer| write_npy(writer, self.number.descr(), &shape, &bytes));
        }
        let rows = (0..height.div_ceil(TILE_EDGE)).map(|row| {
            let y = row * TILE_EDGE;
            RasterWindow { x: 0, y, width, height: TILE_EDGE.min(height - y) }
        });
        self.write(TILE_EDGE, rows, |window, found| {
            let first = window.y as usize * width as usize;
            found.clear();
            found.extend_from_slice(&cells[first..first + window.cell_count()]);
            Ok(())
        })
    }

    fn write_npy<N: CellNumber>(
        &self,
        windows: impl Iterator<Item = RasterWindow>,
        mut read: impl FnMut(RasterWindow, &mut Vec<N>) -> Result<()>,
    ) -> Result<()> {
        let [width, height] = self.size;
        let header = npy_header(self.number.descr(), &[height as usize, width as usize]);
        let mut output = Output::create(self.path)?;
        output.write_all(&header).map_err(|error| output.failed(&error))?;
        let (mut distances, mut bytes) = (Vec::new(), Vec::new());
        for window in windows {
            read(window, &mut distances)?;
            for (row, distances) in distances.chunks(window.width as usize).enumerate() {
                let first = (u64::from(window.y) + row as u64) * u64::from(width) + u64::from(window.x);
                bytes.clear();
                N::extend(&mut bytes, distances, self);
                let to = SeekFrom::Start(header.len() as u64 + first * self.number.bytes() as u64);
                let written = output.seek(to).and_then(|_| output.write_all(&bytes));
                written.map_err(|error| output.failed(&error))?;
            }
        }
        output.finish()
    }

    fn write_tiff<N: CellNumber>(
        &self,
        edge: u32,
        windows: impl Iterator<Item = RasterWindow>,
        mut read: impl FnMut(RasterWindow, &mut Vec<N>) -> Result<()>,
    ) -> Result<()> {
        let layout = TiffLayout {
            size: self.size,
            tile_edge: tile_edge(edge),
            bytes_each: self.number.bytes(),
            is_float: self.number == DistanceType::F32,
            no_data: self.number.no_data(),
            packing: match self.packing {
                PackingChoice::None => Packing::None,
                PackingChoice::Lzw => Packing::Lzw,
                PackingChoice::Deflate => Packing::Deflate,
            },
            georeference: self.georeference,
        };
        let mut output = Output::create(self.path)?;
        let path = self.path;
        layout.write(
            &mut output,
            |error| Failure::unwritable(path, error),
            |put| {
                let mut distances = Vec::new();
                for window in windows {
                    read(window, &mut distances)?;
                    self.put_window(&layout, window, &distances, put)?;
                }
                Ok(())
            },
        )?;
        output.finish()
    }

    /// Writes the tiles of a window, a row of them at a time.
    fn put_window<N: CellNumber>(
        &self,
        layout: &TiffLayout<'_>,
        window: RasterWindow,
        distances: &[N],
        put: &mut PutTile<'_>,
    ) -> Result<()> {
        let edge = layout.tile_edge as usize;
        let width = window.width as usize;
        for (down, band) in distances.chunks(width * edge).enumerate() {
            let packed = |across: usize| {
                let columns = across * edge..((across + 1) * edge).min(width);
                let mut cells = Vec::with_capacity(edge * edge * layout.bytes_each);
                let beyond = vec![N::NONE; edge];
                for row in 0..edge {
                    let inside =
                        band.get(row * width..(row + 1) * width).map_or(&[][..], |row| &row[columns.clone()]);
                    N::extend(&mut cells, inside, self);
                    N::extend(&mut cells, &beyond[inside.len()..], self);
                }
                if cfg!(target_endian = "big") {
                    cells.chunks_mut(layout.bytes_each).for_each(<[u8]>::reverse);
                }
                layout.pack(cells)
            };
            let tiles: Vec<_> = (0..width.div_ceil(edge)).into_par_iter().map(packed).collect();
            let [x, y] = [window.x, window.y].map(|at| at / layout.tile_edge);
            for (across, tile) in tiles.into_iter().enumerate() {
                let tile = tile.map_err(|error| Failure::unwritable(self.path, &error))?;
                put([x + across as u32, y + down as u32], &tile)?;
            }
        }
        Ok(())
    }
}

/// The edge of a TIFF's tiles, a multiple of 16 that divides the edge of a field's.
fn tile_edge(edge: u32) -> u32 {
    let fitting = (1..=MAX_TILE_EDGE / 16)
        .rev()
        .map(|sixteenth| 16 * sixteenth)
        .filter(|&tile| edge.is_multiple_of(tile));
    let good = fitting.clone().find(|tile| GOOD_TILE_EDGE.contains(tile));
    good.or_else(|| fitting.clone().next()).unwrap_or(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_a_file_fit_into_those_of_a_field() {
        for edge in (64..=4096).step_by(64) {
            let tile = tile_edge(edge);
            let fits = edge.is_multiple_of(tile) && tile.is_multiple_of(16);
            assert!(fits && (64..=1024).contains(&tile), "{edge} {tile}");
        }
        assert_eq!([4096, 2688, 256, 64].map(tile_edge), [512, 448, 256, 64]);
    }
}
