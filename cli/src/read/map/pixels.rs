//! Pictures as maps: PNG and PGM. A pixel is a cell, a dark one an obstacle.

use std::io::Cursor;
use std::path::Path;

use hullfield_mesh_files::foreign_kind;

use super::occupancy::{Map, check_size};
use crate::failure::{Failure, Result};

/// The largest number of a channel.
const WHITE: u16 = u16::MAX;
/// The most bytes that a byte of a packed picture can become, and what any picture may take.
const MOST_BYTES: usize = 1100;
const SMALL_BYTES: usize = 1 << 20;

/// A pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pixel {
    /// Red, green and blue together, each up to 65,535.
    sum: u32,
    /// Opacity, up to 65,535.
    alpha: u16,
}

impl Pixel {
    fn grey(value: u16) -> Self {
        Self { sum: 3 * u32::from(value), alpha: WHITE }
    }

    /// The mean of red, green and blue: 0 is black, 1 is white.
    pub(super) fn shade(self) -> f64 {
        f64::from(self.sum) / 3.0 / f64::from(WHITE)
    }

    /// The mean of red, green, blue and opacity.
    pub(super) fn shade_with_alpha(self) -> f64 {
        (f64::from(self.sum) + f64::from(self.alpha)) / 4.0 / f64::from(WHITE)
    }

    pub(super) fn is_opaque(self) -> bool {
        self.alpha == WHITE
    }

    /// The shade over a white background.
    fn shade_on_white(self) -> f64 {
        let alpha = f64::from(self.alpha) / f64::from(WHITE);
        self.shade() * alpha + 1.0 - alpha
    }
}

/// A picture.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<Pixel>,
    /// Whether pixels have an opacity of their own.
    pub(super) has_alpha: bool,
}

/// Reads a map: pixels darker than middle grey are obstacles.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Map> {
    let Picture { width, height, pixels, .. } = read_picture(path, bytes)?;
    Ok(Map::flat(width, height, pixels.iter().map(|pixel| pixel.shade_on_white() < 0.5).collect()))
}

/// Reads a PNG or a PGM.
pub(super) fn read_picture(path: &Path, bytes: &[u8]) -> Result<Picture> {
    let picture = match bytes {
        [b'P', b'2' | b'5', ..] => pgm(bytes),
        [0x89, b'P', b'N', b'G', ..] => png(bytes),
        [b'P', b'1' | b'3' | b'4' | b'6', ..] => {
            Err("it is a PBM or a PPM; PNG and PGM (P2 or P5) are read".to_owned())
        }
        [b'B', b'M', ..] => Err("it is a BMP; PNG and PGM (P2 or P5) are read".to_owned()),
        [0xff, 0xd8, ..] => {
            Err("it is a JPEG, which blurs walls; PNG and PGM (P2 or P5) are read".to_owned())
        }
        _ => Err(match foreign_kind(bytes) {
            Some(kind) => format!("it is {kind}"),
            None => "neither a PNG nor a PGM (P2 or P5)".to_owned(),
        }),
    };
    let picture = picture.map_err(|message| Failure::file(path, message))?;
    check_size(path, [picture.width, picture.height, 1])?;
    Ok(picture)
}

/// Reads a PNG.
fn png(bytes: &[u8]) -> Result<Picture, String> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().ok_or("the picture is too large")?;
    if size > bytes.len().saturating_mul(MOST_BYTES).saturating_add(SMALL_BYTES) {
        return Err("it is cut short: its header claims more pixels than its bytes can hold".to_owned());
    }
    let mut samples = vec![0; size];
    let frame = reader.next_frame(&mut samples).map_err(|error| error.to_string())?;
    let (channel_count, has_alpha) = match frame.color_type {
        png::ColorType::Grayscale => (1, false),
        png::ColorType::GrayscaleAlpha => (2, true),
        png::ColorType::Rgb => (3, false),
        png::ColorType::Rgba => (4, true),
        png::ColorType::Indexed => return Err("a palette could not be expanded".to_owned()),
    };
    let samples = samples.get(..frame.buffer_size()).unwrap_or_default();
    let pixel = |channels: &mut dyn Iterator<Item = u16>| {
        let colour_count = channel_count - usize::from(has_alpha);
        let sum: u32 = channels.take(colour_count).map(u32::from).sum();
        let sum = if colour_count == 1 { 3 * sum } else { sum };
        Pixel { sum, alpha: channels.next().filter(|_| has_alpha).unwrap_or(WHITE) }
    };
    let pixels = match frame.bit_depth {
        png::BitDepth::Sixteen => {
            let pairs = samples.as_chunks().0.chunks_exact(channel_count);
            pairs.map(|pair| pixel(&mut pair.iter().map(|bytes| u16::from_be_bytes(*bytes)))).collect()
        }
        _ => {
            let each = samples.chunks_exact(channel_count);
            each.map(|bytes| pixel(&mut bytes.iter().map(|&byte| 257 * u16::from(byte)))).collect()
        }
    };
    Ok(Picture { width: frame.width as usize, height: frame.height as usize, pixels, has_alpha })
}

/// Reads a portable grey map: `P2` is text, `P5` binary, with one or two bytes per pixel.
fn pgm(bytes: &[u8]) -> Result<Picture, String> {
    let mut at = 2;
    let mut word = |name: &str| -> Result<usize, String> {
        loop {
            match bytes.get(at) {
                Some(b'#') => {
                    while bytes.get(at).is_some_and(|&byte| byte != b'\n' && byte != b'\r') {
                        at += 1;
                    }
                }
                Some(byte) if byte.is_ascii_whitespace() => at += 1,
                _ => break,
            }
        }
        let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(&bytes[at..at + digits]).unwrap_or_default();
        at += digits;
        text.parse().map_err(|_| format!("its {name} is not a whole number"))
    };
    let (width, height, most) = (word("width")?, word("height")?, word("largest value")?);
    if !(1..=65535).contains(&most) {
        return Err(format!("its largest value is {most}, it must be 1 to 65535"));
    }
    let count = width.checked_mul(height).ok_or("the picture is too large")?;
    let grey = |pixel: usize, value: usize| {
        if value > most {
            return Err(format!("its pixel {pixel} is {value}, the largest value is {most}"));
        }
        let white = usize::from(WHITE);
        Ok(Pixel::grey(((value * white + most / 2) / most) as u16))
    };
    let mut pixels = Vec::with_capacity(count.min(bytes.len()));
    if bytes[1] == b'2' {
        for pixel in 0..count {
            let value = word(&format!("pixel {pixel}"))?;
            pixels.push(grey(pixel, value)?);
        }
    } else {
        // One white-space character ends the header.
        let values = bytes.get(at + 1..).unwrap_or_default();
        let size = if most < 256 { 1 } else { 2 };
        let needed = count.checked_mul(size).ok_or("the picture is too large")?;
        let Some(values) = values.get(..needed) else {
            return Err(format!("it has {} bytes of pixels, {needed} expected", values.len()));
        };
        for (pixel, value) in values.chunks_exact(size).enumerate() {
            pixels.push(grey(pixel, value.iter().fold(0, |value, &byte| value << 8 | usize::from(byte)))?);
        }
    }
    Ok(Picture { width, height, pixels, has_alpha: false })
}
