//! The JSON and the binary part of a glTF file, text or GLB.

use crate::error::{Error, Result};
use crate::text::without_mark;

/// The size of the header of a binary file.
const HEADER_BYTES: u64 = 12;

/// The parts of a file.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) json: &'a [u8],
    /// The binary part, in which buffer 0 may be.
    pub(super) binary: Option<&'a [u8]>,
    /// How many bytes follow the last part.
    pub(super) rest: u64,
}

/// The little-endian number at a place.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

pub(super) fn parts<'a>(name: &str, bytes: &'a [u8]) -> Result<Parts<'a>> {
    if !bytes.starts_with(b"glTF") {
        return Ok(Parts { json: without_mark(bytes), binary: None, rest: 0 });
    }
    let failed = |message: String| Error::file(name, message);
    let has = bytes.len() as u64;
    // Version 1 has another header.
    if let Some(version) = word(bytes, 4).filter(|&version| version != 2) {
        return Err(failed(format!("it is glTF {version}.0, glTF 2.0 is read")));
    }
    let size = word(bytes, 8).map_or(HEADER_BYTES, u64::from);
    if size < HEADER_BYTES {
        return Err(failed("a GLB that by its header is shorter than a header".to_owned()));
    }
    if size > has {
        return Err(failed(format!(
            "a GLB of {size} bytes by its header, this file has {has}: it is cut short"
        )));
    }
    let (mut json, mut binary) = (None, None);
    let mut rest = &bytes[HEADER_BYTES as usize..size as usize];
    while let (Some(length), Some(kind)) = (word(rest, 0), rest.get(4..8)) {
        let content = rest.get(8..).unwrap_or_default();
        let Some((content, after)) = content.split_at_checked(length as usize) else {
            return Err(failed(format!("a part of {length} bytes reaches past the end of the GLB")));
        };
        rest = after;
        match kind {
            b"JSON" if json.is_none() => json = Some(content),
            b"BIN\0" if binary.is_none() => binary = Some(content),
            _ => {}
        }
    }
    let json = json.ok_or_else(|| failed("a GLB without JSON".to_owned()))?;
    // Blanks should fill the part; some programs write zeros.
    let end = json.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    Ok(Parts { json: without_mark(&json[..end]), binary, rest: has - size })
}
