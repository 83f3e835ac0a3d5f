//! Tiles as files in a folder: a field that outlives its process.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Location, Result};
use crate::flow::raster::source::RasterWindow;
use crate::flow::raster::store::{RASTER_UNREACHABLE, TileStore};

const MAGIC: [u8; 8] = *b"hulltile";
const VERSION: u32 = 1;
/// The file that names the job.
const JOB_FILE: &str = "hullfield-job.txt";
/// A file that is locked while the folder is in use. The system unlocks it when the process ends, however it ends.
const LOCK_FILE: &str = "hullfield-lock";
/// Magic, version, tile, window, bytes of a distance, and the distance that is taken off all of them.
const HEADER_BYTES: usize = 8 + 4 + 2 * 4 + 4 * 4 + 4 + 8;
const CHECKSUM_BYTES: usize = 4;
/// The bytes of a file that are in memory at once.
const PIECE_BYTES: usize = 1 << 16;

/// Tiles as files in a folder, one a tile, 4 bytes a cell, or 8 where the distances of a tile differ by 2³² or more.
///
/// A file is written under another name and then renamed, and ends with a checksum (CRC-32). So a process that ends in the middle of its
/// work, or a full disk, leaves whole tiles behind. Opened again for the same job, the folder gives them back, and the work goes on
/// from there. A file that was cut short or damaged counts as a tile that was never written. One process at a time uses a folder.
#[derive(Debug)]
pub struct TileFiles {
    folder: PathBuf,
    /// Locked where the system has locks; `None` for one that joined.
    lock: Option<File>,
}

impl TileFiles {
    /// Keeps tiles in a folder, which is made if there is none. It may hold the tiles of an earlier call for the same job.
    ///
    /// # Errors
    /// [`Error::Io`] where the folder can't be made or read; [`Error::Invalid`] where it holds files but no tiles of a job, and where it is in use. A folder that
    /// holds the tiles of another job is refused by the call that solves.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        fs::create_dir_all(&folder).map_err(|error| io_error(&folder, &error))?;
        let is_job = folder.join(JOB_FILE).exists();
        for entry in fs::read_dir(&folder).map_err(|error| io_error(&folder, &error))? {
            let name = entry.map_err(|error| io_error(&folder, &error))?.file_name();
            if !is_job && name != LOCK_FILE {
                let message =
                    format!("{}: the folder is not empty, and holds no tiles of hullfield", folder.display());
                return Err(Error::invalid(Location::Argument, message));
            }
        }
        let path = folder.join(LOCK_FILE);
        let lock = File::create(&path).map_err(|error| io_error(&path, &error))?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            let message = format!("{}: the folder is in use: take another, or wait", folder.display());
            return Err(Error::invalid(Location::Argument, message));
        }
        Ok(Self { folder, lock: Some(lock) })
    }

    /// Uses a folder that another process has open, to solve the [tasks](crate::flow::TileTask) that it gives out: no two processes then write one tile
    /// at once. A full solve that joins is an error.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the folder holds no tiles of a job.
    pub fn join(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        if !folder.join(JOB_FILE).exists() {
            let message = format!("{}: the folder holds no tiles of hullfield", folder.display());
            return Err(Error::invalid(Location::Argument, message));
        }
        Ok(Self { folder, lock: None })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes the files, and the folder if nothing else is in it.
    ///
    /// # Errors
    /// [`Error::Io`] where a file can't be removed.
    pub fn remove(self) -> Result<()> {
        let Self { folder, lock } = self;
        // Some systems remove no open file.
        drop(lock);
        let entries = fs::read_dir(&folder).map_err(|error| io_error(&folder, &error))?;
        for entry in entries {
            let path = entry.map_err(|error| io_error(&folder, &error))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name == JOB_FILE || name == LOCK_FILE || name.starts_with("tile-") {
                fs::remove_file(&path).map_err(|error| io_error(&path, &error))?;
            }
        }
        match fs::remove_dir(&folder) {
            Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => Err(io_error(&folder, &error)),
            _ => Ok(()),
        }
    }

    fn path(&self, [x, y]: [u32; 2]) -> PathBuf {
        self.folder.join(format!("tile-{y}-{x}.bin"))
    }

    /// Writes a file whole or not at all.
    fn write_file(&self, path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
        let unfinished = path.with_extension(format!("unfinished-{}", std::process::id()));
        let written = File::create(&unfinished)
            .and_then(|mut file| write(&mut file))
            .and_then(|()| fs::rename(&unfinished, path));
        written.map_err(|error| {
            // What is left of it would only take room.
            let _ = fs::remove_file(&unfinished);
            io_error(path, &error)
        })
    }
}

impl TileStore for TileFiles {
    fn begin(&self, job: &str) -> Result<()> {
        if self.lock.is_none() {
            let message = "tiles that were joined solve tasks only: open the folder for a solve of its own";
            return Err(Error::invalid(Location::Argument, format!("{}: {message}", self.folder.display())));
        }
        let path = self.folder.join(JOB_FILE);
        match fs::read_to_string(&path) {
            Ok(stored) if stored == job => Ok(()),
            Ok(stored) => {
                let differs = |(stored, job): &(&str, &str)| stored != job;
                let (stored, job) = stored.lines().zip(job.lines()).find(differs).unwrap_or_default();
                let message = format!(
                    "{}: the folder holds tiles of another job (\"{stored}\", not \"{job}\"): remove it or take another",
                    self.folder.display()
                );
                Err(Error::invalid(Location::Argument, message))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.write_file(&path, |file| file.write_all(job.as_bytes()))
            }
            Err(error) => Err(io_error(&path, &error)),
        }
    }

    fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool> {
        let path = self.path(tile);
        match File::open(&path).and_then(|mut file| decode(&mut file, tile, window, distances)) {
            Ok(is_sound) => Ok(is_sound),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io_error(&path, &error)),
        }
    }

    fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()> {
        self.write_file(&self.path(tile), |file| encode(file, tile, window, distances))
    }
}

fn io_error(path: &Path, error: &std::io::Error) -> Error {
    Error::Io { what: path.display().to_string(), message: error.to_string() }
}

/// Writes a tile as a file.
fn encode(file: &mut impl Write, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> io::Result<()> {
    let (mut least, mut most) = (RASTER_UNREACHABLE, 0);
    for &distance in distances.iter().filter(|&&distance| distance != RASTER_UNREACHABLE) {
        (least, most) = (least.min(distance), most.max(distance));
    }
    let base = if most < least { 0 } else { least };
    let is_narrow = most.max(base) - base < u64::from(u32::MAX);
    let width = if is_narrow { 4 } else { 8 };
    let mut checksum = crc32fast::Hasher::new();
    let mut put = |bytes: &[u8]| {
        checksum.update(bytes);
        file.write_all(bytes)
    };
    put(&header(tile, window, width as u32, base))?;
    let mut piece = vec![0; PIECE_BYTES];
    for distances in distances.chunks(PIECE_BYTES / width) {
        let bytes = &mut piece[..distances.len() * width];
        if is_narrow {
            for (bytes, &distance) in bytes.as_chunks_mut().0.iter_mut().zip(distances) {
                let above = if distance == RASTER_UNREACHABLE { u32::MAX } else { (distance - base) as u32 };
                *bytes = above.to_le_bytes();
            }
        } else {
            for (bytes, &distance) in bytes.as_chunks_mut().0.iter_mut().zip(distances) {
                *bytes = distance.to_le_bytes();
            }
        }
        put(bytes)?;
    }
    file.write_all(&checksum.finalize().to_le_bytes())
}

fn header(tile: [u32; 2], window: RasterWindow, width: u32, base: u64) -> [u8; HEADER_BYTES] {
    let RasterWindow { x, y, width: columns, height: rows } = window;
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    let numbers = [VERSION, tile[0], tile[1], x, y, columns, rows, width];
    for (bytes, number) in header[8..].chunks_mut(4).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    header[HEADER_BYTES - 8..].copy_from_slice(&base.to_le_bytes());
    header
}

/// Reads a tile from its file. Returns false, and leaves `distances` as they are, where the file is not that tile, whole and sound.
fn decode(
    file: &mut (impl Read + Seek),
    tile: [u32; 2],
    window: RasterWindow,
    distances: &mut [u64],
) -> io::Result<bool> {
    let length = file.seek(SeekFrom::End(0))?;
    file.rewind()?;
    let mut given = [0; HEADER_BYTES];
    if length < (HEADER_BYTES + CHECKSUM_BYTES) as u64 {
        return Ok(false);
    }
    file.read_exact(&mut given)?;
    let (mut width, mut base) = ([0; 4], [0; 8]);
    width.copy_from_slice(&given[HEADER_BYTES - 12..HEADER_BYTES - 8]);
    base.copy_from_slice(&given[HEADER_BYTES - 8..]);
    let (width, base) = (u64::from(u32::from_le_bytes(width)), u64::from_le_bytes(base));
    let cells_bytes = distances.len() as u64 * width;
    if !matches!(width, 4 | 8)
        || given != header(tile, window, width as u32, base)
        || length != (HEADER_BYTES + CHECKSUM_BYTES) as u64 + cells_bytes
    {
        return Ok(false);
    }
    let mut piece = vec![0; PIECE_BYTES];
    // Once to prove that it is sound, and once to take it over: the whole file is not held.
    if !is_sound(file, &given, cells_bytes, &mut piece)? {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(HEADER_BYTES as u64))?;
    let width = width as usize;
    for distances in distances.chunks_mut(PIECE_BYTES / width) {
        let bytes = &mut piece[..distances.len() * width];
        file.read_exact(bytes)?;
        if width == 4 {
            for (distance, above) in distances.iter_mut().zip(bytes.as_chunks().0) {
                let above = u32::from_le_bytes(*above);
                *distance =
                    if above == u32::MAX { RASTER_UNREACHABLE } else { base.saturating_add(above.into()) };
            }
        } else {
            for (distance, bytes) in distances.iter_mut().zip(bytes.as_chunks().0) {
                *distance = u64::from_le_bytes(*bytes);
            }
        }
    }
    Ok(true)
}

/// Whether the checksum at the end of a file is that of all before it.
fn is_sound(file: &mut impl Read, header: &[u8], cells_bytes: u64, piece: &mut [u8]) -> io::Result<bool> {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(header);
    let mut left = cells_bytes;
    while left > 0 {
        let bytes = &mut piece[..left.min(PIECE_BYTES as u64) as usize];
        file.read_exact(bytes)?;
        checksum.update(bytes);
        left -= bytes.len() as u64;
    }
    let mut given = [0; CHECKSUM_BYTES];
    file.read_exact(&mut given)?;
    Ok(checksum.finalize() == u32::from_le_bytes(given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Tiles of several pieces.
    #[test]
    fn large_tiles_read_back() {
        let window = RasterWindow { x: 0, y: 7, width: 301, height: 203 };
        for shift in [0, 20] {
            let distances: Vec<u64> = (0..window.cell_count() as u64)
                .map(|at| if at % 7 == 3 { RASTER_UNREACHABLE } else { (at * at) << shift })
                .collect();
            let mut bytes = Vec::new();
            encode(&mut bytes, [2, 1], window, &distances).unwrap();
            let mut found = vec![5; distances.len()];
            assert!(decode(&mut Cursor::new(&bytes), [2, 1], window, &mut found).unwrap());
            assert!(found == distances);
        }
    }

    #[test]
    fn tiles_read_back_and_damaged_ones_do_not() {
        let window = RasterWindow { x: 3, y: 0, width: 3, height: 2 };
        for distances in [
            [RASTER_UNREACHABLE; 6],
            [0, 1, RASTER_UNREACHABLE, 3, 4, u64::from(u32::MAX) - 1],
            [7, RASTER_UNREACHABLE, 3, 1 << 40, 4, 5],
            [(1 << 50) + 1, 1 << 50, RASTER_UNREACHABLE, (1 << 50) + 9, 1 << 50, 1 << 50],
        ] {
            let mut bytes = Vec::new();
            encode(&mut bytes, [1, 0], window, &distances).unwrap();
            let read = |bytes: &[u8], tile, window, distances: &mut [u64]| {
                decode(&mut Cursor::new(bytes), tile, window, distances).unwrap()
            };
            let mut found = [9; 6];
            assert!(read(&bytes, [1, 0], window, &mut found));
            assert_eq!(found, distances);
            let mut others = [9; 6];
            assert!(!read(&bytes, [0, 1], window, &mut others));
            assert!(!read(&bytes, [1, 0], RasterWindow { x: 2, ..window }, &mut others));
            for length in 0..bytes.len() {
                assert!(!read(&bytes[..length], [1, 0], window, &mut others), "{length}");
            }
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << (at % 8);
                assert!(!read(&damaged, [1, 0], window, &mut others), "{at}");
            }
            assert_eq!(others, [9; 6]);
        }
    }
}
