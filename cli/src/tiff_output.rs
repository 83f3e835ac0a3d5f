//! Writes a GeoTIFF in tiles, as they come.
//!
//! Source: TIFF 6.0, section 15 (tiled images); BigTIFF where the file may need more than 32 bits for a place in it.

use std::io::{self, Seek, Write};

use tiff::encoder::compression::{CompressionAlgorithm, Deflate, DeflateLevel, Lzw};
use tiff::encoder::{DirectoryEncoder, TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard};
use tiff::tags::{
    CompressionMethod, PhotometricInterpretation, PlanarConfiguration, Predictor, SampleFormat, Tag,
};
use tiff::{TiffError, TiffResult};

use crate::failure::{Failure, Result};
use crate::read::{GeoValue, Georeference};

/// The most bytes of cells of a plain TIFF: the rest of 32 bits is left for the lists of tiles.
const MOST_PLAIN_BYTES: u64 = (1 << 32) - (1 << 27);

/// How tiles are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Packing {
    #[default]
    None,
    Lzw,
    Deflate,
}

/// What the file says of its cells.
#[derive(Debug, Clone)]
pub(crate) struct TiffLayout<'a> {
    /// Columns and rows.
    pub(crate) size: [u32; 2],
    /// Cells along the edge of a tile, a multiple of 16.
    pub(crate) tile_edge: u32,
    pub(crate) bytes_each: usize,
    pub(crate) is_float: bool,
    /// The number of cells without data.
    pub(crate) no_data: String,
    pub(crate) packing: Packing,
    pub(crate) georeference: Option<&'a Georeference>,
}

/// Takes a tile by its column and row: all its cells, also those beyond the raster, packed by [`TiffLayout::pack`].
pub(crate) type PutTile<'a> = dyn FnMut([u32; 2], &[u8]) -> Result<()> + 'a;

impl TiffLayout<'_> {
    fn counts(&self) -> [u32; 2] {
        self.size.map(|length| length.div_ceil(self.tile_edge))
    }

    /// Whether places in the file may need more than 32 bits.
    fn is_big(&self) -> bool {
        let [across, down] = self.counts().map(u64::from);
        let tile_bytes = u64::from(self.tile_edge).pow(2) * self.bytes_each as u64;
        across.saturating_mul(down).saturating_mul(tile_bytes) > MOST_PLAIN_BYTES
    }

    /// Differences between neighbours pack better.
    fn has_predictor(&self) -> bool {
        self.packing != Packing::None && !self.is_float && self.bytes_each == 4
    }

    /// Packs the cells of a tile, which are in this machine's order.
    pub(crate) fn pack(&self, mut cells: Vec<u8>) -> io::Result<Vec<u8>> {
        if self.has_predictor() {
            for row in cells.chunks_mut(self.tile_edge as usize * 4) {
                let mut before = 0_u32;
                for bytes in row.as_chunks_mut().0 {
                    let cell = u32::from_ne_bytes(*bytes);
                    *bytes = cell.wrapping_sub(before).to_ne_bytes();
                    before = cell;
                }
            }
        }
        let mut packed = Vec::new();
        match self.packing {
            Packing::None => return Ok(cells),
            Packing::Lzw => Lzw.write_to(&mut packed, &cells)?,
            Packing::Deflate => Deflate::with_level(DeflateLevel::Fast).write_to(&mut packed, &cells)?,
        };
        Ok(packed)
    }

    /// Writes a file; `write` gives its tiles in any order, each once.
    ///
    /// # Errors
    /// Those of `write`, and what `failed` makes of an error of `output`.
    pub(crate) fn write(
        &self,
        output: impl Write + Seek,
        failed: impl Fn(&io::Error) -> Failure,
        write: impl FnOnce(&mut PutTile<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.is_big() {
            self.write_as::<_, TiffKindBig>(output, failed, write)
        } else {
            self.write_as::<_, TiffKindStandard>(output, failed, write)
        }
    }

    fn write_as<W: Write + Seek, K: TiffKind>(
        &self,
        output: W,
        failed: impl Fn(&io::Error) -> Failure,
        write: impl FnOnce(&mut PutTile<'_>) -> Result<()>,
    ) -> Result<()> {
        let failed = |error: TiffError| match error {
            TiffError::IoError(error) => failed(&error),
            error => Failure::Failed(format!("the TIFF cannot be written: {error}")),
        };
        let mut encoder = TiffEncoder::<W, K>::new_generic(output).map_err(failed)?;
        let mut directory = encoder.image_directory().map_err(failed)?;
        let [across, down] = self.counts();
        let mut offsets = vec![0_u64; across as usize * down as usize];
        let mut byte_counts = offsets.clone();
        write(&mut |[x, y], bytes| {
            let number = y as usize * across as usize + x as usize;
            byte_counts[number] = bytes.len() as u64;
            offsets[number] = directory.write_data(bytes).map_err(failed)?;
            Ok(())
        })?;
        self.describe(&mut directory, &offsets, &byte_counts).map_err(failed)?;
        directory.finish().map_err(failed)
    }

    fn describe<W: Write + Seek, K: TiffKind>(
        &self,
        directory: &mut DirectoryEncoder<'_, W, K>,
        offsets: &[u64],
        byte_counts: &[u64],
    ) -> TiffResult<()> {
        let method = match self.packing {
            Packing::None => CompressionMethod::None,
            Packing::Lzw => CompressionMethod::LZW,
            Packing::Deflate => CompressionMethod::Deflate,
        };
        let format = if self.is_float { SampleFormat::IEEEFP } else { SampleFormat::Uint };
        directory.write_tag(Tag::ImageWidth, self.size[0])?;
        directory.write_tag(Tag::ImageLength, self.size[1])?;
        directory.write_tag(Tag::BitsPerSample, 8 * self.bytes_each as u16)?;
        directory.write_tag(Tag::Compression, method)?;
        directory.write_tag(Tag::PhotometricInterpretation, PhotometricInterpretation::BlackIsZero)?;
        directory.write_tag(Tag::SamplesPerPixel, 1_u16)?;
        directory.write_tag(Tag::PlanarConfiguration, PlanarConfiguration::Chunky)?;
        if self.has_predictor() {
            directory.write_tag(Tag::Predictor, Predictor::Horizontal)?;
        }
        directory.write_tag(Tag::TileWidth, self.tile_edge)?;
        directory.write_tag(Tag::TileLength, self.tile_edge)?;
        if self.is_big() {
            directory.write_tag(Tag::TileOffsets, offsets)?;
            directory.write_tag(Tag::TileByteCounts, byte_counts)?;
        } else {
            let narrow = |all: &[u64]| all.iter().map(|&number| number as u32).collect::<Vec<_>>();
            directory.write_tag(Tag::TileOffsets, narrow(offsets).as_slice())?;
            directory.write_tag(Tag::TileByteCounts, narrow(byte_counts).as_slice())?;
        }
        directory.write_tag(Tag::SampleFormat, format.to_u16())?;
        for (tag, value) in self.georeference.iter().flat_map(|place| &place.tags) {
            match value {
                GeoValue::Doubles(values) => directory.write_tag(*tag, values.as_slice())?,
                GeoValue::Shorts(values) => directory.write_tag(*tag, values.as_slice())?,
                GeoValue::Text(text) => directory.write_tag(*tag, text.as_str())?,
            }
        }
        directory.write_tag(Tag::GdalNodata, self.no_data.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use tiff::decoder::Decoder;

    /// Both kinds of files, with every packing, read back.
    #[test]
    fn tiles_read_back() {
        let cell = |x: u32, y: u32| if (x + y).is_multiple_of(11) { u32::MAX } else { 408 * x + 577 * y * y };
        for packing in [Packing::None, Packing::Lzw, Packing::Deflate] {
            let layout = TiffLayout {
                size: [70, 41],
                tile_edge: 32,
                bytes_each: 4,
                is_float: false,
                no_data: u32::MAX.to_string(),
                packing,
                georeference: None,
            };
            let fill = |put: &mut PutTile<'_>| {
                for [x, y] in [[2, 1], [0, 0], [1, 0], [2, 0], [1, 1], [0, 1]] {
                    let cells = (0..32 * 32).map(|at| cell(32 * x + at % 32, 32 * y + at / 32));
                    let cells = cells.flat_map(u32::to_ne_bytes).collect();
                    put([x, y], &layout.pack(cells).unwrap())?;
                }
                Ok(())
            };
            let failed = |error: &io::Error| Failure::input(error.to_string());
            let [mut plain, mut big] = [Cursor::new(Vec::new()), Cursor::new(Vec::new())];
            layout.write_as::<_, TiffKindStandard>(&mut plain, failed, fill).unwrap();
            layout.write_as::<_, TiffKindBig>(&mut big, failed, fill).unwrap();
            for file in [plain, big] {
                let mut decoder = Decoder::new(Cursor::new(file.into_inner())).unwrap();
                let image = decoder.read_image().unwrap();
                let tiff::decoder::DecodingResult::U32(cells) = image else { panic!("{image:?}") };
                let wanted: Vec<u32> = (0..70 * 41).map(|at| cell(at % 70, at / 70)).collect();
                assert!(cells == wanted, "{packing:?}");
                assert_eq!(decoder.get_tag_ascii_string(Tag::GdalNodata).unwrap(), "4294967295");
            }
        }
    }

    #[test]
    fn large_files_have_places_of_64_bits() {
        let layout = |side: u32, bytes_each: usize| TiffLayout {
            size: [side, side],
            tile_edge: 512,
            bytes_each,
            is_float: false,
            no_data: String::new(),
            packing: Packing::None,
            georeference: None,
        };
        assert!(!layout(30_000, 4).is_big() && layout(30_000, 8).is_big() && layout(32_768, 4).is_big());
    }
}
