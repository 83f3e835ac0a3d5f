//! GeoTIFF: a window is read from the strips or tiles that it meets. Stored as they are, their rows are read in part; packed ones are unpacked
//! whole, and kept in a cache.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hullfield::flow::RasterWindow;
use hullfield::{Error, Location};
use tiff::decoder::{Decoder, Limits};
use tiff::tags::{ByteOrder, CompressionMethod, PhotometricInterpretation, SampleFormat, Tag};
use tiff::{TiffError, TiffResult};

use super::cache::ChunkCache;
use super::flat::{Segment, swap};
use super::georeference::{GEO_TAGS, GeoValue, Georeference};
use super::kind::{Class, Kind, NoData};
use super::unpack::{Differences, Method, Unpacking};
use crate::failure::{Failure, Result};

/// The most bytes of a tag while it is read, 32 a number: of the places of 8 million strips or tiles.
const MAX_TAG_BYTES: usize = 1 << 28;
/// The most bytes that are read at once from an uncompressed chunk.
const MAX_READ_BYTES: usize = 1 << 22;

type TiffDecoder = Decoder<BufReader<File>>;

/// What a file says of its raster.
#[derive(Debug)]
pub(super) struct TiffRaster {
    pub(super) cells: TiffCells,
    pub(super) size: [usize; 2],
    pub(super) kind: Kind,
    pub(super) no_data: Option<NoData>,
    pub(super) georeference: Georeference,
}

/// The chunks of a file: strips or tiles.
#[derive(Debug)]
pub(super) struct TiffCells {
    path: PathBuf,
    name: &'static str,
    /// Columns and rows.
    size: [u32; 2],
    /// Columns and rows of a chunk.
    chunk: [u32; 2],
    bytes_each: usize,
    offsets: Vec<u64>,
    byte_counts: Vec<u64>,
    /// The bytes of a cell of a chunk that is not stored.
    fill: Vec<u8>,
    file: Mutex<File>,
    access: Access,
}

#[derive(Debug)]
enum Access {
    /// Cells are stored as they are, but for the order of their bytes.
    Plain { is_swapped: bool },
    /// A chunk has its lock by its number, so no two threads unpack the same one.
    Packed { unpacking: Unpacking, locks: Vec<Mutex<()>>, cache: ChunkCache },
}

fn decoder(path: &Path) -> TiffResult<TiffDecoder> {
    let file = File::open(path).map_err(TiffError::IoError)?;
    let mut limits = Limits::unlimited();
    // The crate holds the numbers of a tag under the limit of pictures.
    limits.decoding_buffer_size = MAX_TAG_BYTES;
    limits.ifd_value_size = MAX_TAG_BYTES;
    Ok(Decoder::new(BufReader::with_capacity(1 << 16, file))?.with_limits(limits))
}

/// Opens a file. `cache_bytes` is what decoded chunks may take.
///
/// # Errors
/// Files that are no TIFF, that are cut short, and those whose first picture is not one band of whole numbers or floats.
pub(super) fn open(path: &Path, cache_bytes: u64) -> Result<TiffRaster> {
    let invalid = |message: String| Failure::file(path, message);
    let broken = |error: TiffError| match error {
        TiffError::IoError(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            Failure::unreadable(path, &error)
        }
        TiffError::IoError(_) => invalid("it is no TIFF, or cut short".into()),
        error => invalid(format!("it is no TIFF that is read here: {error}")),
    };
    let file = File::open(path).map_err(|error| Failure::unreadable(path, &error))?;
    let file_bytes = file.metadata().map_err(|error| Failure::unreadable(path, &error))?.len();
    let mut decoder = decoder(path).map_err(broken)?;
    let (width, height) = decoder.dimensions().map_err(broken)?;
    let mut number = |tag: Tag, default: u64| {
        decoder.find_tag_unsigned::<u64>(tag).map(|value| value.unwrap_or(default)).map_err(broken)
    };
    let bands = number(Tag::SamplesPerPixel, 1)?;
    let photometric = number(Tag::PhotometricInterpretation, 1)?;
    let compression = number(Tag::Compression, 1)?;
    let bits = number(Tag::BitsPerSample, 1).or_else(|error| if bands > 1 { Ok(8) } else { Err(error) })?;
    let format = number(Tag::SampleFormat, 1).or_else(|error| if bands > 1 { Ok(1) } else { Err(error) })?;
    if PhotometricInterpretation::from_u16(photometric as u16) == Some(PhotometricInterpretation::RGBPalette)
    {
        return Err(invalid(
            "its cells are colours of a palette, a raster of numbers is read (gdal_translate -expand, or reclassify it)"
                .into(),
        ));
    }
    if bands != 1 {
        return Err(invalid(format!("it has {bands} bands, a raster of one is read (gdal_translate -b 1)")));
    }
    if photometric != u64::from(PhotometricInterpretation::BlackIsZero.to_u16()) {
        return Err(invalid(format!(
            "its photometric interpretation is {photometric}, 1 (numbers as they are) is read"
        )));
    }
    let class = match SampleFormat::from_u16_exhaustive(format as u16) {
        SampleFormat::Uint => Some(Class::Unsigned),
        SampleFormat::Int => Some(Class::Signed),
        SampleFormat::IEEEFP => Some(Class::Float),
        _ => None,
    };
    let kind = class.and_then(|class| Kind::new(class, bits as usize / 8)).filter(|_| bits % 8 == 0);
    let kind = kind.ok_or_else(|| {
        invalid(format!(
            "its cells have {bits} bits of sample format {format}; whole numbers of 8 to 64 bits and floats of 32 and 64 are read"
        ))
    })?;
    let method = match CompressionMethod::from_u16_exhaustive(compression as u16) {
        CompressionMethod::None => None,
        CompressionMethod::LZW => Some(Method::Lzw),
        CompressionMethod::Deflate | CompressionMethod::OldDeflate => Some(Method::Deflate),
        CompressionMethod::PackBits => Some(Method::PackBits),
        other => {
            return Err(invalid(format!(
                "its compression is {other:?} ({compression}); none, LZW, Deflate and PackBits are read \
                (gdal_translate -co COMPRESS=DEFLATE)"
            )));
        }
    };
    let differences = match number(Tag::Predictor, 1)? {
        1 => Differences::None,
        2 => Differences::Numbers,
        3 if kind.is_float() => Differences::FloatBytes,
        other => return Err(invalid(format!("its predictor is {other}; 1, 2, and 3 of floats are read"))),
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
    let [offsets, byte_counts] = tags.map(|tag| decoder.get_tag_u64_vec(tag));
    let (offsets, byte_counts) = (offsets.map_err(broken)?, byte_counts.map_err(broken)?);
    let needed = u64::from(width.div_ceil(chunk[0])) * u64::from(height.div_ceil(chunk[1]));
    if offsets.len() as u64 != needed || byte_counts.len() as u64 != needed {
        let found = offsets.len().min(byte_counts.len());
        return Err(invalid(format!("it has {found} {name}s, {needed} expected")));
    }
    for (number, (&offset, &count)) in offsets.iter().zip(&byte_counts).enumerate() {
        let end = offset.saturating_add(count);
        if end > file_bytes {
            return Err(invalid(format!(
                "it is cut short: {name} {number} ends at byte {end}, the file has {file_bytes}"
            )));
        }
    }
    let text = |value: TiffResult<String>| value.ok();
    let no_data = text(decoder.get_tag_ascii_string(Tag::GdalNodata));
    let no_data = no_data.and_then(|text| NoData::parse(&text, kind));
    let georeference = georeference(&mut decoder);
    let is_swapped = decoder.byte_order() != native();
    let mut cells = TiffCells {
        path: path.to_owned(),
        name,
        size: [width, height],
        chunk,
        bytes_each: kind.bytes,
        offsets,
        byte_counts,
        fill: fill(kind, no_data),
        file: Mutex::new(file),
        access: Access::Plain { is_swapped },
    };
    if let Some(method) = method {
        let rows = if name == "tile" { chunk[1] } else { chunk[1].min(height) };
        let chunk_bytes = u64::from(chunk[0]) * u64::from(rows) * kind.bytes as u64;
        // Its bytes as they are stored, and as numbers.
        let busy_bytes = chunk_bytes.saturating_mul(2);
        if busy_bytes > cache_bytes {
            return Err(invalid(format!(
                "its {name}s of {} x {} cells take {chunk_bytes} bytes each when they are unpacked, too many for the {cache_bytes} that --memory-limit \
                leaves: rewrite it in small tiles (gdal_translate -co TILED=YES)",
                chunk[0], chunk[1]
            )));
        }
        // Half of the memory at most is for chunks that are being unpacked.
        let threads = rayon::current_num_threads() as u64;
        let at_once = (cache_bytes / 2 / busy_bytes).clamp(1, threads);
        let mut locks = Vec::new();
        locks.resize_with(at_once as usize, Mutex::default);
        let cache = ChunkCache::new(cache_bytes - at_once * busy_bytes);
        let unpacking = Unpacking { method, differences, kind, is_swapped };
        cells.access = Access::Packed { unpacking, locks, cache };
    } else {
        cells.check_plain_sizes().map_err(invalid)?;
    }
    Ok(TiffRaster { cells, size: [width as usize, height as usize], kind, no_data, georeference })
}

fn native() -> ByteOrder {
    if cfg!(target_endian = "big") { ByteOrder::BigEndian } else { ByteOrder::LittleEndian }
}

/// The bytes of a cell without data; of 0 where no number stands for that.
fn fill(kind: Kind, no_data: Option<NoData>) -> Vec<u8> {
    let Some(NoData { whole, float }) = no_data else { return vec![0; kind.bytes] };
    match (kind.class, kind.bytes) {
        (Class::Float, 4) => (float as f32).to_ne_bytes().to_vec(),
        (Class::Float, _) => float.to_ne_bytes().to_vec(),
        (_, bytes) => {
            let all = whole.unwrap_or(0).to_le_bytes();
            let mut cell = all[..bytes].to_vec();
            if native() == ByteOrder::BigEndian {
                cell.reverse();
            }
            cell
        }
    }
}

/// The tags of the raster's place. What a file has wrongly is left out.
fn georeference(decoder: &mut TiffDecoder) -> Georeference {
    let mut place = Georeference::default();
    for tag in GEO_TAGS {
        let value = match tag {
            Tag::GeoKeyDirectoryTag => decoder.get_tag_u16_vec(tag).map(GeoValue::Shorts),
            Tag::GeoAsciiParamsTag => decoder.get_tag_ascii_string(tag).map(GeoValue::Text),
            _ => decoder.get_tag_f64_vec(tag).map(GeoValue::Doubles),
        };
        place.tags.extend(value.ok().map(|value| (tag, value)));
    }
    place
}

impl TiffCells {
    /// Whether reading takes memory for decoded chunks.
    pub(super) fn is_packed(&self) -> bool {
        matches!(self.access, Access::Packed { .. })
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
            let needed = u64::from(self.chunk[0]) * u64::from(rows) * self.bytes_each as u64;
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
                    Access::Plain { is_swapped } => {
                        self.read_plain(*is_swapped, number, part, &mut |row, bytes| {
                            segment(place(part.y) + row * window.width as usize, bytes)
                        })?;
                    }
                    Access::Packed { unpacking, locks, cache } => {
                        let bytes = match cache.find(number) {
                            Some(bytes) => bytes,
                            None => self.unpack(unpacking, locks, cache, number)?,
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
    fn read_plain(
        &self,
        is_swapped: bool,
        number: u32,
        part: RasterWindow,
        segment: &mut Segment<'_>,
    ) -> Result<(), Error> {
        let chunk = self.window(number);
        let pitch = self.chunk[0] as usize * self.bytes_each;
        let start = (part.x - chunk.x) as usize * self.bytes_each;
        let length = part.width as usize * self.bytes_each;
        let is_wide = 2 * length > pitch;
        let rows_at_once = if is_wide { (MAX_READ_BYTES / pitch).clamp(1, part.height as usize) } else { 1 };
        let mut rows = vec![0; (rows_at_once - 1) * pitch + length];
        let mut y = part.y;
        while y < part.y + part.height {
            let count = rows_at_once.min((part.y + part.height - y) as usize);
            let bytes = &mut rows[..(count - 1) * pitch + length];
            let from = self.offsets[number as usize] + (u64::from(y - chunk.y) * pitch as u64) + start as u64;
            self.read_at(from, bytes).map_err(|error| self.failed(number, &error))?;
            if is_swapped {
                swap(bytes, self.bytes_each);
            }
            for row in bytes.chunks(pitch) {
                segment((y - part.y) as usize, &row[..length])?;
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
    fn unpack(
        &self,
        unpacking: &Unpacking,
        locks: &[Mutex<()>],
        cache: &ChunkCache,
        number: u32,
    ) -> Result<Arc<Vec<u8>>, Error> {
        let _lock = locks[number as usize % locks.len()].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = cache.find(number) {
            return Ok(bytes);
        }
        let failed = |error: io::Error| self.failed(number, &error);
        let width = self.chunk[0] as usize;
        let rows = if self.name == "tile" { self.chunk[1] } else { self.window(number).height };
        let length = width.saturating_mul(rows as usize).saturating_mul(self.bytes_each);
        let [mut packed, mut cells] = [Vec::new(), Vec::new()];
        let packed_length = self.byte_counts[number as usize] as usize;
        for (bytes, length) in [(&mut packed, packed_length), (&mut cells, length)] {
            bytes.try_reserve_exact(length).map_err(|_| failed(io::ErrorKind::OutOfMemory.into()))?;
            bytes.resize(length, 0);
        }
        self.read_at(self.offsets[number as usize], &mut packed).map_err(failed)?;
        unpacking.unpack(&packed, width, &mut cells).map_err(failed)?;
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
