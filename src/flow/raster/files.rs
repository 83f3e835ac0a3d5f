//! Tiles as files in a folder: a field that outlives its process.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
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

/// Tiles as files in a folder, one a tile, 4 bytes a cell, or 8 where the distances of a tile differ by 2³² or more.
///
/// A file is written under another name and then renamed, and ends with a checksum (CRC-32). So a process that ends in the middle of its
/// work, or a full disk, leaves whole tiles behind. Opened again for the same job, the folder gives them back, and the work goes on
/// from there. A file that was cut short or damaged counts as a tile that was never written. One process at a time uses a folder.
#[derive(Debug)]
pub struct TileFiles {
    folder: PathBuf,
    /// Locked where the system has locks.
    lock: File,
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
        Ok(Self { folder, lock })
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
    fn write_file(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let unfinished = path.with_extension("unfinished");
        let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
        written.map_err(|error| {
            // What is left of it would only take room.
            let _ = fs::remove_file(&unfinished);
            io_error(path, &error)
        })
    }
}

impl TileStore for TileFiles {
    fn begin(&self, job: &str) -> Result<()> {
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
            Err(error) if error.kind() == ErrorKind::NotFound => self.write_file(&path, job.as_bytes()),
            Err(error) => Err(io_error(&path, &error)),
        }
    }

    fn read(&self, tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Result<bool> {
        let path = self.path(tile);
        match fs::read(&path) {
            Ok(bytes) => Ok(decode(&bytes, tile, window, distances).is_some()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(io_error(&path, &error)),
        }
    }

    fn write(&self, tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Result<()> {
        self.write_file(&self.path(tile), &encode(tile, window, distances))
    }
}

fn io_error(path: &Path, error: &std::io::Error) -> Error {
    Error::Io { what: path.display().to_string(), message: error.to_string() }
}

/// A tile as a file.
fn encode(tile: [u32; 2], window: RasterWindow, distances: &[u64]) -> Vec<u8> {
    let reached = || distances.iter().copied().filter(|&distance| distance != RASTER_UNREACHABLE);
    let (base, most) = (reached().min().unwrap_or(0), reached().max().unwrap_or(0));
    let is_narrow = most - base < u64::from(u32::MAX);
    let width = if is_narrow { 4 } else { 8 };
    let mut bytes = Vec::with_capacity(HEADER_BYTES + distances.len() * width + CHECKSUM_BYTES);
    bytes.extend(header(tile, window, width as u32, base));
    if is_narrow {
        let above =
            |distance: u64| if distance == RASTER_UNREACHABLE { u32::MAX } else { (distance - base) as u32 };
        bytes.extend(distances.iter().flat_map(|&distance| above(distance).to_le_bytes()));
    } else {
        bytes.extend(distances.iter().flat_map(|distance| distance.to_le_bytes()));
    }
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
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

/// Reads a tile from the bytes of its file; `None` where they are not that tile, whole and sound.
fn decode(bytes: &[u8], tile: [u32; 2], window: RasterWindow, distances: &mut [u64]) -> Option<()> {
    let (content, checksum) = bytes.split_last_chunk::<CHECKSUM_BYTES>()?;
    let (given, cells) = content.split_first_chunk::<HEADER_BYTES>()?;
    let width = u32::from_le_bytes(*given[HEADER_BYTES - 12..].first_chunk()?);
    let base = u64::from_le_bytes(*given.last_chunk()?);
    let is_sound = matches!(width, 4 | 8)
        && *given == header(tile, window, width, base)
        && cells.len() == distances.len() * width as usize
        && crc32fast::hash(content) == u32::from_le_bytes(*checksum);
    if !is_sound {
        return None;
    }
    if width == 4 {
        for (distance, above) in distances.iter_mut().zip(cells.as_chunks().0) {
            let above = u32::from_le_bytes(*above);
            *distance = if above == u32::MAX { RASTER_UNREACHABLE } else { base + u64::from(above) };
        }
    } else {
        for (distance, bytes) in distances.iter_mut().zip(cells.as_chunks().0) {
            *distance = u64::from_le_bytes(*bytes);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_read_back_and_damaged_ones_do_not() {
        let window = RasterWindow { x: 3, y: 0, width: 3, height: 2 };
        for distances in [
            [RASTER_UNREACHABLE; 6],
            [0, 1, RASTER_UNREACHABLE, 3, 4, u64::from(u32::MAX) - 1],
            [7, RASTER_UNREACHABLE, 3, 1 << 40, 4, 5],
            [(1 << 50) + 1, 1 << 50, RASTER_UNREACHABLE, (1 << 50) + 9, 1 << 50, 1 << 50],
        ] {
            let bytes = encode([1, 0], window, &distances);
            let mut read = [9; 6];
            assert_eq!(decode(&bytes, [1, 0], window, &mut read), Some(()));
            assert_eq!(read, distances);
            let mut others = [9; 6];
            assert_eq!(decode(&bytes, [0, 1], window, &mut others), None);
            assert_eq!(decode(&bytes, [1, 0], RasterWindow { x: 2, ..window }, &mut others), None);
            for length in 0..bytes.len() {
                assert_eq!(decode(&bytes[..length], [1, 0], window, &mut others), None, "{length}");
            }
            for at in 0..bytes.len() {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << (at % 8);
                assert_eq!(decode(&damaged, [1, 0], window, &mut others), None, "{at}");
            }
            assert_eq!(others, [9; 6]);
        }
    }
}
