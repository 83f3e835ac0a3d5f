//! Pictures as maps: PNG and PGM. A pixel is a cell, a dark one an obstacle.

use std::io::Cursor;
use std::path::Path;

use super::occupancy::{Map, check_size};
use crate::failure::{Failure, Result};

/// A grey picture: 0 is black, 1 is white.
#[derive(Debug)]
pub(super) struct GreyImage {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) shades: Vec<f32>,
}

/// Reads a map: pixels darker than middle grey are obstacles.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Map> {
    let GreyImage { width, height, shades } = read_grey(path, bytes)?;
    Ok(Map::flat(width, height, shades.iter().map(|&shade| shade < 0.5).collect()))
}

/// Reads a PNG or a PGM.
pub(super) fn read_grey(path: &Path, bytes: &[u8]) -> Result<GreyImage> {
    let grey = match bytes {
        [b'P', b'2' | b'5', ..] => pgm(bytes),
        [0x89, b'P', b'N', b'G', ..] => png(bytes),
        _ => Err("neither a PNG nor a PGM (P2 or P5)".to_owned()),
    };
    let grey = grey.map_err(|message| Failure::file(path, message))?;
    check_size(path, [grey.width, grey.height, 1])?;
    Ok(grey)
}

/// Reads a PNG. A shade is the mean of red, green and blue, over a white background.
fn png(bytes: &[u8]) -> Result<GreyImage, String> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let size = reader.output_buffer_size().ok_or("the picture is too large")?;
    let mut pixels = vec![0; size];
    let frame = reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    let (channel_count, has_alpha) = match frame.color_type {
        png::ColorType::Grayscale => (1, false),
        png::ColorType::GrayscaleAlpha => (2, true),
        png::ColorType::Rgb => (3, false),
        png::ColorType::Rgba => (4, true),
        png::ColorType::Indexed => return Err("a palette could not be expanded".to_owned()),
    };
    let shade = |pixel: &[u8]| {
        let (colour, alpha) = match pixel.split_last() {
            Some((&alpha, colour)) if has_alpha => (colour, f32::from(alpha) / 255.0),
            _ => (pixel, 1.0),
        };
        let mean = colour.iter().map(|&part| f32::from(part)).sum::<f32>() / (255.0 * colour.len() as f32);
        mean * alpha + 1.0 - alpha
    };
    let pixels = pixels.get(..frame.buffer_size()).unwrap_or_default();
    let shades = pixels.chunks_exact(channel_count).map(shade).collect();
    Ok(GreyImage { width: frame.width as usize, height: frame.height as usize, shades })
}

/// Reads a portable grey map: `P2` is text, `P5` binary, with one or two bytes per pixel.
fn pgm(bytes: &[u8]) -> Result<GreyImage, String> {
    let mut at = 2;
    let mut word = |name: &str| -> Result<usize, String> {
        loop {
            match bytes.get(at) {
                Some(b'#') => {
                    while bytes.get(at).is_some_and(|&byte| byte != b'\n') {
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
    let shade = |value: usize| value as f32 / most as f32;
    let mut shades = Vec::with_capacity(count.min(bytes.len()));
    if bytes[1] == b'2' {
        for pixel in 0..count {
            let value = word(&format!("pixel {pixel}"))?;
            if value > most {
                return Err(format!("its pixel {pixel} is {value}, the largest value is {most}"));
            }
            shades.push(shade(value));
        }
    } else {
        // One white-space character ends the header.
        let pixels = bytes.get(at + 1..).unwrap_or_default();
        let size = if most < 256 { 1 } else { 2 };
        let needed = count.checked_mul(size).ok_or("the picture is too large")?;
        let Some(pixels) = pixels.get(..needed) else {
            return Err(format!("it has {} bytes of pixels, {needed} expected", pixels.len()));
        };
        for pixel in pixels.chunks_exact(size) {
            shades.push(shade(pixel.iter().fold(0, |value, &byte| value << 8 | usize::from(byte))));
        }
    }
    Ok(GreyImage { width, height, shades })
}
