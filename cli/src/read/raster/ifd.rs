//! The directories of a TIFF: their tags, and the numbers and texts that these hold.
//!
//! The crate tiff decodes the picture of a directory as it opens it, and refuses masks and types of cells that are read here. All counts are bounded by
//! the bytes of the file.
//!
//! Sources: TIFF 6.0, section 2; BigTIFF (libtiff's "The BigTIFF File Format").

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use hullfield_mesh_files::foreign_kind;
use tiff::tags::Tag;

use crate::failure::{Failure, Result};

/// The most bytes of a tag's numbers, and of a tag's text.
const MAX_NUMBER_BYTES: u64 = 1 << 28;
const MAX_TEXT_BYTES: u64 = 1 << 24;
/// What directories may take beyond the bytes of the file, before the file is refused.
const MORE_DIRECTORY_BYTES: u64 = 1 << 16;

/// The bytes that say what a file is.
const HEAD_BYTES: u64 = 4096;

/// A file that begins as a TIFF.
#[derive(Debug)]
pub(super) struct TiffFile<'a> {
    path: &'a Path,
    file: File,
    length: u64,
    is_big_endian: bool,
    /// Whether places in the file have 64 bits.
    has_long_places: bool,
}

/// The tags of a picture.
#[derive(Debug, Default)]
pub(super) struct Directory {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    tag: u16,
    /// TIFF's number of the type.
    kind: u16,
    count: u64,
    /// The bytes of the values if they fit, else of their place.
    inline: [u8; 8],
}

impl Entry {
    fn bytes_each(&self) -> Option<u64> {
        Some(match self.kind {
            1 | 2 | 6 | 7 => 1,
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 | 16..=18 => 8,
            _ => return None,
        })
    }
}

impl Directory {
    fn entry(&self, tag: Tag) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.tag == tag.to_u16())
    }

    pub(super) fn has(&self, tag: Tag) -> bool {
        self.entry(tag).is_some()
    }
}

impl<'a> TiffFile<'a> {
    /// Opens a file, and reads the tags of its pictures.
    ///
    /// # Errors
    /// Files that are no TIFF, and those whose directories are cut short, form a ring or overlap.
    pub(super) fn open(path: &'a Path) -> Result<(Self, Vec<Directory>)> {
        let unreadable = |error: io::Error| Failure::unreadable(path, &error);
        let mut file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(Failure::file(path, "it is no regular file"));
        }
        let mut head = Vec::new();
        (&mut file).take(HEAD_BYTES).read_to_end(&mut head).map_err(unreadable)?;
        let no_tiff = || Failure::file(path, no_tiff(&head));
        let is_big_endian = match head.get(..2) {
            Some(b"II") => false,
            Some(b"MM") => true,
            _ => return Err(no_tiff()),
        };
        let mut tiff = Self { path, file, length: metadata.len(), is_big_endian, has_long_places: false };
        let first = match head.get(2..4).map(|bytes| tiff.unsigned(bytes)) {
            Some(42) if head.len() >= 8 => tiff.unsigned(&head[4..8]),
            Some(43) if head.len() >= 16 && tiff.unsigned(&head[4..6]) == 8 => {
                tiff.has_long_places = true;
                tiff.unsigned(&head[8..16])
            }
            _ => return Err(no_tiff()),
        };
        let directories = tiff.directories(first)?;
        Ok((tiff, directories))
    }

    /// The bytes of the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Whether numbers have the other order of bytes than this machine's.
    pub(super) fn is_swapped(&self) -> bool {
        self.is_big_endian != cfg!(target_endian = "big")
    }

    fn unsigned(&self, bytes: &[u8]) -> u64 {
        let push = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        if self.is_big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
    }

    fn read_at(&mut self, from: u64, count: u64) -> Result<Vec<u8>> {
        if from.checked_add(count).is_none_or(|end| end > self.length) {
            return Err(Failure::file(self.path, "it is cut short: its tags lie behind its end"));
        }
        let mut bytes = vec![0; count as usize];
        let read = self.file.seek(SeekFrom::Start(from)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|error| Failure::unreadable(self.path, &error))?;
        Ok(bytes)
    }

    fn directories(&mut self, first: u64) -> Result<Vec<Directory>> {
        let [count_bytes, entry_bytes, place_bytes] =
            if self.has_long_places { [8, 20, 8] } else { [2, 12, 4] };
        let mut seen = HashSet::new();
        let (mut directories, mut at, mut read_bytes) = (Vec::new(), first, 0_u64);
        while at != 0 {
            if !seen.insert(at) {
                return Err(Failure::file(self.path, "its directories form a ring"));
            }
            let count = self.read_at(at, count_bytes)?;
            let count = self.unsigned(&count);
            let bytes = count.saturating_mul(entry_bytes).saturating_add(place_bytes);
            read_bytes = read_bytes.saturating_add(bytes);
            if bytes > self.length || read_bytes > self.length + MORE_DIRECTORY_BYTES {
                return Err(Failure::file(self.path, "it is cut short, or its directories overlap"));
            }
            let bytes = self.read_at(at + count_bytes, bytes)?;
            let (entries, next) = bytes.split_at((count * entry_bytes) as usize);
            let entries = entries.chunks_exact(entry_bytes as usize);
            directories.push(Directory { entries: entries.map(|entry| self.entry(entry)).collect() });
            at = self.unsigned(next);
        }
        match directories.is_empty() {
            true => Err(Failure::file(self.path, "it is a TIFF without a picture")),
            false => Ok(directories),
        }
    }

    fn entry(&self, bytes: &[u8]) -> Entry {
        let places = if self.has_long_places { 4..12 } else { 4..8 };
        let mut inline = [0; 8];
        let rest = &bytes[places.end..];
        inline[..rest.len()].copy_from_slice(rest);
        Entry {
            tag: self.unsigned(&bytes[..2]) as u16,
            kind: self.unsigned(&bytes[2..4]) as u16,
            count: self.unsigned(&bytes[places]),
            inline,
        }
    }

    /// The bytes of a tag's values, and the bytes of each.
    fn values(&mut self, entry: Entry, most_bytes: u64) -> Result<(Vec<u8>, usize)> {
        let wrong = |what: &str| Failure::file(self.path, format!("its tag {} {what}", entry.tag));
        let each = entry.bytes_each().ok_or_else(|| wrong("has a type that TIFF does not know"))?;
        let bytes = entry.count.saturating_mul(each);
        if bytes > self.length || bytes > most_bytes {
            return Err(wrong("has more values than are read"));
        }
        let inline_bytes = if self.has_long_places { 8 } else { 4 };
        if bytes <= inline_bytes {
            return Ok((entry.inline[..bytes as usize].to_vec(), each as usize));
        }
        let from = self.unsigned(&entry.inline[..inline_bytes as usize]);
        Ok((self.read_at(from, bytes)?, each as usize))
    }

    /// The whole numbers of a tag; `None` where there is no such tag.
    ///
    /// # Errors
    /// Numbers of another kind, and places behind the end of the file.
    pub(super) fn numbers(&mut self, directory: &Directory, tag: Tag) -> Result<Option<Vec<u64>>> {
        let Some(&entry) = directory.entry(tag) else { return Ok(None) };
        if !matches!(entry.kind, 1 | 3 | 4 | 13 | 16 | 18) {
            return Err(Failure::file(self.path, format!("its tag {} has no whole numbers", entry.tag)));
        }
        let (bytes, each) = self.values(entry, MAX_NUMBER_BYTES)?;
        Ok(Some(bytes.chunks_exact(each).map(|number| self.unsigned(number)).collect()))
    }

    /// The number of a tag for one of several samples; where there is one number it is all of theirs.
    pub(super) fn number(
        &mut self,
        directory: &Directory,
        tag: Tag,
        sample: usize,
        default: u64,
    ) -> Result<u64> {
        let numbers = self.numbers(directory, tag)?.unwrap_or_default();
        Ok(numbers.get(sample).or(numbers.first()).copied().unwrap_or(default))
    }

    /// The floats of a tag.
    ///
    /// # Errors
    /// As for [`Self::numbers`].
    pub(super) fn doubles(&mut self, directory: &Directory, tag: Tag) -> Result<Option<Vec<f64>>> {
        let Some(&entry) = directory.entry(tag) else { return Ok(None) };
        if entry.kind != 12 && entry.kind != 11 {
            return Err(Failure::file(self.path, format!("its tag {} has no floats", entry.tag)));
        }
        let (bytes, each) = self.values(entry, MAX_NUMBER_BYTES)?;
        let float = |number: &[u8]| match each {
            4 => f64::from(f32::from_bits(self.unsigned(number) as u32)),
            _ => f64::from_bits(self.unsigned(number)),
        };
        Ok(Some(bytes.chunks_exact(each).map(float).collect()))
    }

    /// The text of a tag, without what follows its first zero byte.
    ///
    /// # Errors
    /// As for [`Self::numbers`].
    pub(super) fn text(&mut self, directory: &Directory, tag: Tag) -> Result<Option<String>> {
        let Some(&entry) = directory.entry(tag) else { return Ok(None) };
        let (bytes, _) = self.values(entry, MAX_TEXT_BYTES)?;
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        Ok(Some(String::from_utf8_lossy(&bytes[..end]).into_owned()))
    }
}

/// What a file is that is no TIFF, by its first bytes.
fn no_tiff(head: &[u8]) -> String {
    let other = match head {
        [] => return "it is no TIFF: the file is empty".to_owned(),
        _ if head.starts_with(b"\x89HDF") || head.starts_with(b"CDF") => {
            Some("HDF5 or netCDF (gdal_translate -of GTiff)")
        }
        _ => foreign_kind(head),
    };
    other.map_or("it is no TIFF, or cut short".to_owned(), |other| format!("it is no TIFF, but {other}"))
}
