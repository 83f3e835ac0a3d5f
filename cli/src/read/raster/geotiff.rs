//! GeoTIFF: a window is read from the strips or tiles that it meets. Stored as they are, their rows are read in part; packed ones are unpacked
//! whole, and kept in a cache.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hullfield::flow::RasterWindow;
use hullfield::{Error, Location};
use tiff::tags::{CompressionMethod, PhotometricInterpretation, SampleFormat, Tag};

use super::cache::ChunkCache;
use super::flat::{Segment, gather, swap};
use super::georeference::{GEO_TAGS, GeoValue, Georeference};
use super::ifd::{Directory, TiffFile};
use super::kind::{Class, Kind, NoData};
use super::metadata::{self, Metadata};
use super::unpack::{Differences, Method, Unpacking};
use crate::failure::{Failure, Result};
use crate::read::map::check_size;

/// The most bytes that are read at once from an uncompressed chunk.
const MAX_READ_BYTES: usize = 1 << 22;
/// Bits of the tag that says what a picture is for: a smaller copy, and a mask.
const SMALLER: u64 = 1;
const MASK: u64 = 4;
/// Values of the tag of extra samples that say opacity.
const ALPHA: [u64; 2] = [1, 2];
const FILL_ORDER: u16 = 266;
const GDAL_METADATA: u16 = 42112;

/// What a file says of a band of its raster.
#[derive(Debug)]
pub(super) struct TiffRaster {
    pub(super) cells: TiffCells,
    pub(super) size: [usize; 2],
    pub(super) kind: Kind,
    /// What its own tags say: no data as text, scale and offset.
    pub(super) metadata: Metadata,
    pub(super) georeference: Georeference,
    /// Where data is: the mask among its pictures. It says all about no data.
    pub(super) mask: Option<TiffCells>,
    /// Where data is, if nothing else says it: its band of opacity.
    pub(super) alpha: Option<TiffCells>,
    /// The number of images after the first. Masks and overviews do not count.
    pub(super) more_pages: usize,
}

/// The chunks of a file: strips or tiles. They hold one sample of each cell, or several side by side.
#[derive(Debug)]
pub(super) struct TiffCells {
    path: PathBuf,
    name: &'static str,
    /// Columns and rows.
    pub(super) size: [u32; 2],
    /// Columns and rows of a chunk.
    chunk: [u32; 2],
    bytes_each: usize,
    offsets: Vec<u64>,
    byte_counts: Vec<u64>,
    /// The bytes of a cell of a chunk that is not stored.
    fill: Vec<u8>,
    file: Mutex<File>,
    access: Access,
    unpacking: Unpacking,
}

#[derive(Debug)]
enum Access {
    /// Cells are stored as they are, but for the order of their bytes.
    Plain,
    /// A chunk has its lock by its number, so no two threads unpack the same one.
    Packed { locks: Vec<Mutex<()>>, cache: ChunkCache },
}

/// What a picture holds.
struct Layout {
    size: [u32; 2],
    bands: usize,
    /// Opacity, where the last band is that.
    alpha: Option<usize>,
    photometric: u64,
}

/// Opens a file. `band` is counted from 1; by default the file has one, and perhaps one of opacity behind it. `cache_bytes` is what decoded chunks may take. `no_data`
/// stands beside the file, and comes before what the file says.
///
/// # Errors
/// Files that are no TIFF, that are cut short, and those whose first picture holds no whole numbers or floats.
pub(super) fn open(
    path: &Path,
    band: Option<usize>,
    no_data: Option<&str>,
    cache_bytes: u64,
) -> Result<TiffRaster> {
    let invalid = |message: String| Failure::file(path, message);
    let (mut tiff, directories) = TiffFile::open(path)?;
    let main = &directories[0];
    let layout = layout(&mut tiff, path, main)?;
    check_photometric(layout.photometric).map_err(invalid)?;
    let band = chosen_band(&layout, band).map_err(invalid)?;
    let mut metadata = match tiff.text(main, Tag::Unknown(GDAL_METADATA))? {
        Some(text) => metadata::of_tag(&text, band).map_err(invalid)?,
        None => Metadata::default(),
    };
    metadata.no_data = tiff.text(main, Tag::GdalNodata)?;
    let others: Vec<(u64, &Directory)> = directories[1..]
        .iter()
        .map(|other| Ok((tiff.number(other, Tag::NewSubfileType, 0, 0)?, other)))
        .collect::<Result<_>>()?;
    let mask = others.iter().find(|(kind, _)| kind & MASK != 0 && kind & SMALLER == 0);
    let more_pages = others.iter().filter(|(kind, _)| kind & (MASK | SMALLER) == 0).count();
    let alpha = layout.alpha.filter(|&alpha| matches!(layout.bands, 2 | 4) && alpha != band - 1);
    // Chunks of the mask are kept too.
    let has_two = mask.is_some() || alpha.is_some();
    let cache_bytes = if has_two { cache_bytes / 2 } else { cache_bytes };
    let mask = match mask {
        Some((_, directory)) => Some(open_mask(&mut tiff, path, directory, band, layout.size, cache_bytes)?),
        None => None,
    };
    let (mut cells, kind) = cells(&mut tiff, path, main, band - 1, cache_bytes)?;
    let alpha = match alpha {
        Some(sample) => Some(self::cells(&mut tiff, path, main, sample, cache_bytes)?),
        None => None,
    };
    let alpha = alpha.filter(|(_, kind)| kind.class == Class::Unsigned && kind.bytes <= 2);
    let no_data = no_data.or(metadata.no_data.as_deref()).and_then(|text| NoData::parse(text, kind));
    cells.fill = fill(kind, no_data);
    let georeference = georeference(&mut tiff, main)?;
    let size = layout.size.map(|length| length as usize);
    let alpha = alpha.map(|(cells, _)| cells);
    Ok(TiffRaster { cells, size, kind, metadata, georeference, mask, alpha, more_pages })
}

/// Opens a file of masks beside a raster: of one band for all, or of one for each.
pub(super) fn open_mask_file(
    path: &Path,
    band: usize,
    size: [u32; 2],
    cache_bytes: u64,
) -> Result<TiffCells> {
    let (mut tiff, directories) = TiffFile::open(path)?;
    open_mask(&mut tiff, path, &directories[0], band, size, cache_bytes)
}

fn open_mask(
    tiff: &mut TiffFile<'_>,
    path: &Path,
    directory: &Directory,
    band: usize,
    size: [u32; 2],
    cache_bytes: u64,
) -> Result<TiffCells> {
    let layout = layout(tiff, path, directory)?;
    let [width, height] = layout.size;
    if layout.size != size {
        let message = format!("its mask is {width} x {height}, the raster {} x {}", size[0], size[1]);
        return Err(Failure::file(path, message));
    }
    let sample = match layout.bands {
        1 => 0,
        count if band <= count => band - 1,
        count => return Err(Failure::file(path, format!("it has {count} masks, none for band {band}"))),
    };
    let (cells, kind) = cells(tiff, path, directory, sample, cache_bytes)?;
    if kind.class != Class::Unsigned {
        return Err(Failure::file(path, format!("its mask is of {}, whole numbers expected", kind.name())));
    }
    Ok(cells)
}

/// The size and the bands of a picture.
fn layout(tiff: &mut TiffFile<'_>, path: &Path, directory: &Directory) -> Result<Layout> {
    let mut number = |tag: Tag, default: u64| tiff.number(directory, tag, 0, default);
    let size = [number(Tag::ImageWidth, 0)?, number(Tag::ImageLength, 0)?];
    let bands = number(Tag::SamplesPerPixel, 1)?;
    let photometric = number(Tag::PhotometricInterpretation, 1)?;
    if number(Tag::Unknown(FILL_ORDER), 1)? != 1 {
        return Err(Failure::file(path, "its bits are stored in reverse (FillOrder 2), which is not read"));
    }
    let [Ok(width), Ok(height)] = size.map(i32::try_from) else {
        let message = format!(
            "it is {} x {} cells, at most {} are allowed along each side",
            size[0],
            size[1],
            i32::MAX
        );
        return Err(Failure::file(path, message));
    };
    if !(1..=1 << 16).contains(&bands) {
        return Err(Failure::file(path, format!("it has {bands} bands")));
    }
    check_size(path, [width as usize, height as usize, 1])?;
    let bands = bands as usize;
    let extra = tiff.numbers(directory, Tag::ExtraSamples)?.unwrap_or_default();
    let alpha = extra.last().filter(|kind| ALPHA.contains(kind) && bands > 1).map(|_| bands - 1);
    Ok(Layout { size: [width as u32, height as u32], bands, alpha, photometric })
}

fn check_photometric(photometric: u64) -> Result<(), String> {
    use PhotometricInterpretation as Photometric;
    match Photometric::from_u16(photometric as u16) {
        // Numbers are read as they are, as GDAL does; where 0 is white too.
        Some(Photometric::BlackIsZero | Photometric::WhiteIsZero | Photometric::RGB | Photometric::CMYK) => Ok(()),
        Some(Photometric::RGBPalette) => Err(
            "its cells are colours of a palette, a raster of numbers is read (gdal_translate -expand, or reclassify it)".into(),
        ),
        Some(Photometric::TransparencyMask) => Err("its first picture is a mask, not a raster".into()),
        _ => Err(format!(
            "its photometric interpretation is {photometric}, which is for photographs; numbers (0 and 1) and colours (2 and 5) are read"
        )),
    }
}

/// The band that is read, counted from 1.
fn chosen_band(layout: &Layout, band: Option<usize>) -> Result<usize, String> {
    let count = layout.bands;
    match band {
        Some(band) if band <= count => Ok(band),
        // A file of one band has no choice to make.
        Some(band) => Err(no_such_band(count, band)),
        None if count == 1 || count == 2 && layout.alpha.is_some() => Ok(1),
        None => Err(several_bands(count)),
    }
}

/// What to say of several bands where none was named.
pub(super) fn several_bands(count: usize) -> String {
    format!("it has {count} bands, a raster of one is read: name it by --band")
}

pub(super) fn no_such_band(count: usize, band: usize) -> String {
    let bands = if count == 1 { "band" } else { "bands" };
    format!("there is no band {band}: it has {count} {bands}")
}

/// The chunks of a sample, counted from 0, and what its numbers are.
fn cells(
    tiff: &mut TiffFile<'_>,
    path: &Path,
    directory: &Directory,
    sample: usize,
    cache_bytes: u64,
) -> Result<(TiffCells, Kind)> {
    let invalid = |message: String| Failure::file(path, message);
    let Layout { size: [width, height], bands, .. } = layout(tiff, path, directory)?;
    let mut number = |tag: Tag, default: u64| tiff.number(directory, tag, sample, default);
    let (kind, bits) =
        kind_of(number(Tag::BitsPerSample, 1)?, number(Tag::SampleFormat, 1)?).map_err(invalid)?;
    let method = method_of(number(Tag::Compression, 1)?).map_err(invalid)?;
    let differences = match number(Tag::Predictor, 1)? {
        1 => Differences::None,
        2 if bits == 8 * kind.bytes => Differences::Numbers,
        3 if kind.is_float() => Differences::FloatBytes,
        other => {
            return Err(invalid(format!(
                "its predictor is {other} of {bits} bits; 1, 2 of whole bytes, and 3 of floats are read"
            )));
        }
    };
    // Without packing there is no predictor.
    let differences = if method == Method::Stored { Differences::None } else { differences };
    let is_planar = match number(Tag::PlanarConfiguration, 1)? {
        1 => false,
        2 => bands > 1,
        other => return Err(invalid(format!("its planar configuration is {other}, 1 and 2 are read"))),
    };
    let tile_width = number(Tag::TileWidth, 0)?;
    let (name, chunk, tags) = if tile_width > 0 {
        let chunk = [tile_width, number(Tag::TileLength, 0)?];
        ("tile", chunk, [Tag::TileOffsets, Tag::TileByteCounts])
    } else {
        let rows = number(Tag::RowsPerStrip, u64::from(height))?.min(u64::from(height));
        ("strip", [u64::from(width), rows], [Tag::StripOffsets, Tag::StripByteCounts])
    };
    if chunk.iter().any(|length| !(1..=1 << 31).contains(length)) {
        return Err(invalid(format!("its {name}s are {} x {}", chunk[0], chunk[1])));
    }
    let chunk = chunk.map(|length| length as u32);
    let all_bits = tiff.numbers(directory, Tag::BitsPerSample)?.unwrap_or_default();
    if !is_planar && all_bits.iter().any(|&other| other != bits as u64) {
        return Err(invalid("its bands have numbers of different bits".into()));
    }
    if !directory.has(tags[1]) {
        return Err(invalid(format!("its {name}s have no lengths")));
    }
    let [offsets, byte_counts] = tags.map(|tag| tiff.numbers(directory, tag));
    let (mut offsets, mut byte_counts) = (offsets?.unwrap_or_default(), byte_counts?.unwrap_or_default());
    let one = u64::from(width.div_ceil(chunk[0])) * u64::from(height.div_ceil(chunk[1]));
    let needed = one * if is_planar { bands as u64 } else { 1 };
    if offsets.len() as u64 != needed || byte_counts.len() as u64 != needed {
        let found = offsets.len().min(byte_counts.len());
        return Err(invalid(format!("it has {found} {name}s, {needed} expected")));
    }
    if is_planar {
        let first = sample * one as usize;
        for list in [&mut offsets, &mut byte_counts] {
            list.drain(..first);
            list.truncate(one as usize);
        }
    }
    for (number, (&offset, &count)) in offsets.iter().zip(&byte_counts).enumerate() {
        let end = offset.saturating_add(count);
        if end > tiff.length() {
            return Err(invalid(format!(
                "it is cut short: {name} {number} ends at byte {end}, the file has {}",
                tiff.length()
            )));
        }
    }
    let samples = if is_planar { 1 } else { bands };
    let sample = if is_planar { 0 } else { sample };
    let is_swapped = tiff.is_swapped();
    let unpacking = Unpacking { method, differences, kind, bits, samples, sample, is_swapped };
    let mut cells = TiffCells {
        path: path.to_owned(),
        name,
        size: [width, height],
        chunk,
        bytes_each: kind.bytes,
        offsets,
        byte_counts,
        fill: fill(kind, None),
        file: Mutex::new(File::open(path).map_err(|error| Failure::unreadable(path, &error))?),
        access: Access::Plain,
        unpacking,
    };
    if method == Method::Stored && bits == 8 * kind.bytes {
        cells.check_plain_sizes().map_err(invalid)?;
    } else {
        cells.access = cells.packed(cache_bytes).map_err(invalid)?;
    }
    Ok((cells, kind))
}

/// What numbers of so many bits and of a format of TIFF are read as, and the bits.
fn kind_of(bits: u64, format: u64) -> Result<(Kind, usize), String> {
    let class = match SampleFormat::from_u16_exhaustive(format as u16) {
        SampleFormat::Uint | SampleFormat::Void => Some(Class::Unsigned),
        SampleFormat::Int => Some(Class::Signed),
        SampleFormat::IEEEFP => Some(Class::Float),
        _ => None,
    };
    let kind = match (class, bits) {
        (Some(class), 8 | 16 | 32 | 64) => Kind::new(class, bits as usize / 8),
        (Some(Class::Unsigned), 1..8) => Kind::new(Class::Unsigned, 1),
        (Some(Class::Unsigned), 9..16) => Kind::new(Class::Unsigned, 2),
        _ => None,
    };
    let kind = kind.ok_or_else(|| {
        let what = match format {
            5 | 6 => " (complex numbers)",
            _ => "",
        };
        format!(
            "its cells have {bits} bits of sample format {format}{what}; whole numbers of 1 to 16, 32 and 64 bits (signed ones of whole bytes) and floats of \
             16, 32 and 64 are read"
        )
    })?;
    Ok((kind, bits as usize))
}

fn method_of(compression: u64) -> Result<Method, String> {
    Ok(match CompressionMethod::from_u16_exhaustive(compression as u16) {
        CompressionMethod::None => Method::Stored,
        CompressionMethod::LZW => Method::Lzw,
        CompressionMethod::Deflate | CompressionMethod::OldDeflate => Method::Deflate,
        CompressionMethod::PackBits => Method::PackBits,
        CompressionMethod::ZSTD => Method::Zstandard,
        _ => {
            let name = match compression {
                2..=4 => "that of fax machines",
                6 | 7 => "JPEG",
                34_887 => "LERC",
                34_925 => "LZMA",
                34_712 => "JPEG 2000",
                50_001 => "WebP",
                50_002 | 52_546 => "JPEG XL",
                _ => "one that is not known",
            };
            return Err(format!(
                "its compression is {name} ({compression}); none, LZW, Deflate, PackBits and Zstandard are read (gdal_translate -co COMPRESS=DEFLATE)"
            ));
        }
    })
}

/// The bytes of a cell without data; of 0 where no number stands for that.
fn fill(kind: Kind, no_data: Option<NoData>) -> Vec<u8> {
    let Some(no_data) = no_data else { return vec![0; kind.bytes] };
    match (kind.class, kind.bytes) {
        (Class::Float, 2) => half::f16::from_f64(no_data.float).to_ne_bytes().to_vec(),
        (Class::Float, 4) => (no_data.float as f32).to_ne_bytes().to_vec(),
        (Class::Float, _) => no_data.float.to_ne_bytes().to_vec(),
        (_, bytes) => {
            let all = no_data.whole.unwrap_or(0).to_le_bytes();
            let mut cell = all[..bytes].to_vec();
            if cfg!(target_endian = "big") {
                cell.reverse();
            }
            cell
        }
    }
}

/// The tags of the raster's place.
fn georeference(tiff: &mut TiffFile<'_>, directory: &Directory) -> Result<Georeference> {
    let mut tags = Vec::new();
    for tag in GEO_TAGS {
        let value = match tag {
            Tag::GeoKeyDirectoryTag => {
                let shorts = |numbers: Vec<u64>| numbers.into_iter().map(|number| number as u16).collect();
                tiff.numbers(directory, tag)?.map(|numbers| GeoValue::Shorts(shorts(numbers)))
            }
            Tag::GeoAsciiParamsTag => tiff.text(directory, tag)?.map(GeoValue::Text),
            _ => tiff.doubles(directory, tag)?.map(GeoValue::Doubles),
        };
        tags.extend(value.map(|value| (tag, value)));
    }
    Ok(Georeference::from_tags(tags))
}

impl TiffCells {
    /// Whether reading takes memory for decoded chunks.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self.access, Access::Packed { .. })
    }

    /// Locks and a cache for chunks that are unpacked.
    ///
    /// # Errors
    /// Chunks that take more than `cache_bytes`.
    fn packed(&self, cache_bytes: u64) -> Result<Access, String> {
        let [width, height] = self.chunk;
        let rows = if self.name == "tile" { height } else { height.min(self.size[1]) };
        let row_bytes = u64::from(width) * (self.unpacking.samples * self.bytes_each) as u64;
        let chunk_bytes = row_bytes.saturating_mul(rows.into());
        // Its bytes as they are stored, and as numbers.
        let busy_bytes = chunk_bytes.saturating_mul(2);
        if busy_bytes > cache_bytes {
            return Err(format!(
                "its {}s of {width} x {height} cells take {chunk_bytes} bytes each when they are unpacked, too many for the {cache_bytes} that --memory-limit \
                leaves: rewrite it in small tiles (gdal_translate -co TILED=YES)",
                self.name
            ));
        }
        // Half of the memory at most is for chunks that are being unpacked.
        let threads = rayon::current_num_threads() as u64;
        let at_once = (cache_bytes / 2 / busy_bytes).clamp(1, threads);
        let mut locks = Vec::new();
        locks.resize_with(at_once as usize, Mutex::default);
        Ok(Access::Packed { locks, cache: ChunkCache::new(cache_bytes - at_once * busy_bytes) })
    }

    /// The bytes of a cell.
    pub(super) fn bytes_each(&self) -> usize {
        self.bytes_each
    }

    fn chunks_across(&self) -> u32 {
        self.size[0].div_ceil(self.chunk[0])
    }

    /// The cells of a chunk that lie in the raster.
    fn window(&self, number: u32) -> RasterWindow {
        let across = self.chunks_across();
        let [x, y] = [number % across * self.chunk[0], number / across * self.chunk[1]];
        let [width, height] = self.chunk;
        RasterWindow { x, y, width: width.min(self.size[0] - x), height: height.min(self.size[1] - y) }
    }

    /// Checks that chunks have the bytes of their cells, where they are stored as they are.
    fn check_plain_sizes(&self) -> Result<(), String> {
        for (number, &count) in self.byte_counts.iter().enumerate() {
            let window = self.window(number as u32);
            let rows = if self.name == "tile" { self.chunk[1] } else { window.height };
            let row_bytes = u64::from(self.chunk[0]) * (self.unpacking.samples * self.bytes_each) as u64;
            let needed = row_bytes.saturating_mul(rows.into());
            if count < needed && count > 0 {
                return Err(format!("its {} {number} has {count} bytes, {needed} expected", self.name));
            }
        }
        Ok(())
    }

    /// Reads a window chunk by chunk.
    pub(super) fn read(&self, window: RasterWindow, segment: &mut Segment<'_>) -> Result<(), Error> {
        let [width, height] = self.chunk;
        let columns = window.x / width..=(window.x + window.width - 1) / width;
        for row in window.y / height..=(window.y + window.height - 1) / height {
            for column in columns.clone() {
                let number = row * self.chunks_across() + column;
                let chunk = self.window(number);
                let x = chunk.x.max(window.x);
                let y = chunk.y.max(window.y);
                let part = RasterWindow {
                    x,
                    y,
                    width: (chunk.x + chunk.width).min(window.x + window.width) - x,
                    height: (chunk.y + chunk.height).min(window.y + window.height) - y,
                };
                let place =
                    |y: u32| (y - window.y) as usize * window.width as usize + (part.x - window.x) as usize;
                if self.byte_counts[number as usize] == 0 {
                    let bytes = self.fill.repeat(part.width as usize);
                    (part.y..part.y + part.height).try_for_each(|y| segment(place(y), &bytes))?;
                    continue;
                }
                match &self.access {
                    Access::Plain => {
                        self.read_plain(number, part, &mut |row, bytes| {
                            segment(place(part.y) + row * window.width as usize, bytes)
                        })?;
                    }
                    Access::Packed { locks, cache } => {
                        let bytes = match cache.find(number) {
                            Some(bytes) => bytes,
                            None => self.unpack(locks, cache, number)?,
                        };
                        let pitch = width as usize * self.bytes_each;
                        let start = (part.x - chunk.x) as usize * self.bytes_each;
                        let length = part.width as usize * self.bytes_each;
                        for y in part.y..part.y + part.height {
                            let from = (y - chunk.y) as usize * pitch + start;
                            segment(place(y), &bytes[from..from + length])?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads a part of a chunk that is stored as it is: all rows at once where they are whole and few, else one by one. `segment` takes the number
    /// of a row in the part.
    fn read_plain(&self, number: u32, part: RasterWindow, segment: &mut Segment<'_>) -> Result<(), Error> {
        let chunk = self.window(number);
        let step = self.unpacking.samples * self.bytes_each;
        let pitch = self.chunk[0] as usize * step;
        let start = (part.x - chunk.x) as usize * step + self.unpacking.sample * self.bytes_each;
        let length = (part.width as usize - 1) * step + self.bytes_each;
        let is_wide = 2 * length > pitch;
        let rows_at_once = if is_wide { (MAX_READ_BYTES / pitch).clamp(1, part.height as usize) } else { 1 };
        let mut rows = vec![0; (rows_at_once - 1) * pitch + length];
        let mut y = part.y;
        while y < part.y + part.height {
            let count = rows_at_once.min((part.y + part.height - y) as usize);
            let bytes = &mut rows[..(count - 1) * pitch + length];
            let from = self.offsets[number as usize] + (u64::from(y - chunk.y) * pitch as u64) + start as u64;
            self.read_at(from, bytes).map_err(|error| self.failed(number, &error))?;
            for row in bytes.chunks_mut(pitch) {
                let cells = gather(&mut row[..length], step, self.bytes_each);
                if self.unpacking.is_swapped {
                    swap(cells, self.bytes_each);
                }
                segment((y - part.y) as usize, cells)?;
                y += 1;
            }
        }
        Ok(())
    }

    fn read_at(&self, from: u64, bytes: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(bytes)
    }

    /// Unpacks a chunk, unless another thread has done so meanwhile.
    fn unpack(&self, locks: &[Mutex<()>], cache: &ChunkCache, number: u32) -> Result<Arc<Vec<u8>>, Error> {
        let _lock = locks[number as usize % locks.len()].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = cache.find(number) {
            return Ok(bytes);
        }
        let failed = |error: io::Error| self.failed(number, &error);
        let rows = if self.name == "tile" { self.chunk[1] } else { self.window(number).height };
        // No more than the file has, as that was checked when it was opened.
        let mut packed = vec![0; self.byte_counts[number as usize] as usize];
        self.read_at(self.offsets[number as usize], &mut packed).map_err(failed)?;
        let cells =
            self.unpacking.unpack(&packed, [self.chunk[0] as usize, rows as usize]).map_err(failed)?;
        let cells = Arc::new(cells);
        cache.keep(number, &cells);
        Ok(cells)
    }

    /// The error of reading a chunk.
    fn failed(&self, number: u32, error: &io::Error) -> Error {
        let end = self.offsets[number as usize].saturating_add(self.byte_counts[number as usize]);
        let is_shorter = std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() < end);
        let path = self.path.display();
        let message = if is_shorter {
            format!("{path}: it became shorter while it was read")
        } else {
            format!("{path}: {} {number} can't be read: {error}", self.name)
        };
        Error::Invalid { at: Location::Argument, message }
    }
}
