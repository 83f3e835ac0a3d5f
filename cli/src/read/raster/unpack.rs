//! Unpacks the strips and tiles of a TIFF. The crate tiff does too, but fails at LZW tiles that reach over the edge of the raster (image-tiff, issue 395).
//!
//! Sources: TIFF 6.0, sections 9 (PackBits), 13 (LZW) and 14 (differences); Adobe's technical notes on Deflate and on the differences of floats.

use std::io::{self, Read};

use flate2::read::ZlibDecoder;
use weezl::decode::Configuration;
use weezl::{BitOrder, LzwStatus};

use super::flat::swap;
use super::kind::Kind;

/// How chunks are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Lzw,
    Deflate,
    PackBits,
}

/// What numbers are told apart from before they are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Differences {
    None,
    /// From the number before.
    Numbers,
    /// From the byte before, after the bytes of a row are grouped: first the high byte of every number, then the next one (TIFF predictor 3).
    FloatBytes,
}

/// How chunks become numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unpacking {
    pub(super) method: Method,
    pub(super) differences: Differences,
    pub(super) kind: Kind,
    pub(super) is_swapped: bool,
}

impl Unpacking {
    /// Fills `cells` with the numbers of a chunk in this machine's order, `width` a row.
    ///
    /// # Errors
    /// A chunk that is damaged, or has fewer numbers.
    pub(super) fn unpack(&self, packed: &[u8], width: usize, cells: &mut [u8]) -> io::Result<()> {
        match self.method {
            Method::Lzw => lzw(packed, cells),
            Method::Deflate => ZlibDecoder::new(packed).read_exact(cells),
            Method::PackBits => pack_bits(packed, cells),
        }?;
        let bytes = self.kind.bytes;
        if self.differences == Differences::FloatBytes {
            let mut row_bytes = vec![0; width * bytes];
            for row in cells.chunks_mut(width * bytes) {
                (1..row.len()).for_each(|at| row[at] = row[at].wrapping_add(row[at - 1]));
                for (number, cell) in row_bytes.chunks_mut(bytes).enumerate() {
                    for (weight, byte) in cell.iter_mut().enumerate() {
                        *byte = row[weight * width + number];
                    }
                    if cfg!(target_endian = "little") {
                        cell.reverse();
                    }
                }
                row.copy_from_slice(&row_bytes);
            }
            return Ok(());
        }
        if self.is_swapped {
            swap(cells, bytes);
        }
        if self.differences == Differences::Numbers {
            for row in cells.chunks_mut(width * bytes) {
                match bytes {
                    1 => (1..row.len()).for_each(|at| row[at] = row[at].wrapping_add(row[at - 1])),
                    2 => sums(row.as_chunks_mut().0, u16::from_ne_bytes, u16::to_ne_bytes, u16::wrapping_add),
                    4 => sums(row.as_chunks_mut().0, u32::from_ne_bytes, u32::to_ne_bytes, u32::wrapping_add),
                    _ => sums(row.as_chunks_mut().0, u64::from_ne_bytes, u64::to_ne_bytes, u64::wrapping_add),
                }
            }
        }
        Ok(())
    }
}

/// Turns differences into numbers.
fn sums<const N: usize, T: Copy + Default>(
    numbers: &mut [[u8; N]],
    read: fn([u8; N]) -> T,
    write: fn(T) -> [u8; N],
    add: fn(T, T) -> T,
) {
    let mut sum = T::default();
    for number in numbers {
        sum = add(sum, read(*number));
        *number = write(sum);
    }
}

fn cut_short() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it has fewer cells than its size")
}

fn lzw(mut packed: &[u8], mut cells: &mut [u8]) -> io::Result<()> {
    let configuration =
        Configuration::with_tiff_size_switch(BitOrder::Msb, 8).with_yield_on_full_buffer(true);
    let mut decoder = configuration.build();
    while !cells.is_empty() {
        let step = decoder.decode_bytes(packed, cells);
        packed = &packed[step.consumed_in..];
        cells = &mut cells[step.consumed_out..];
        match step.status {
            Ok(LzwStatus::Ok) if step.consumed_in + step.consumed_out > 0 => {}
            Ok(_) if cells.is_empty() => {}
            Ok(_) => return Err(cut_short()),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
    Ok(())
}

fn pack_bits(mut packed: &[u8], mut cells: &mut [u8]) -> io::Result<()> {
    while !cells.is_empty() {
        let (&head, rest) = packed.split_first().ok_or_else(cut_short)?;
        packed = rest;
        match head as i8 {
            -128 => {}
            repeat @ ..0 => {
                let (&byte, rest) = packed.split_first().ok_or_else(cut_short)?;
                packed = rest;
                let count = (1 - isize::from(repeat)).unsigned_abs().min(cells.len());
                cells[..count].fill(byte);
                cells = &mut cells[count..];
            }
            more => {
                let count = more.unsigned_abs() as usize + 1;
                let bytes = packed.get(..count).ok_or_else(cut_short)?;
                packed = &packed[count..];
                let count = count.min(cells.len());
                cells[..count].copy_from_slice(&bytes[..count]);
                cells = &mut cells[count..];
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::raster::kind::Class;

    #[test]
    fn differences_become_numbers() {
        let kind = |class, bytes| Kind::new(class, bytes).unwrap();
        let raw = |packed: &[u8]| [&[packed.len() as u8 - 1], packed].concat();
        let unpack = |differences, kind, is_swapped, width, bytes: &[u8]| {
            let mut cells = vec![0; bytes.len()];
            let unpacking = Unpacking { method: Method::PackBits, differences, kind, is_swapped };
            unpacking.unpack(&raw(bytes), width, &mut cells).unwrap();
            cells
        };
        let byte = kind(Class::Unsigned, 1);
        assert_eq!(unpack(Differences::Numbers, byte, false, 3, &[5, 1, 255, 9, 0, 1]), [5, 6, 5, 9, 9, 10]);
        let word = kind(Class::Unsigned, 2);
        let other = if cfg!(target_endian = "little") { u16::to_be_bytes } else { u16::to_le_bytes };
        let bytes: Vec<u8> = [300_u16, 1, 65_535].into_iter().flat_map(other).collect();
        let wanted: Vec<u8> = [300_u16, 301, 300].into_iter().flat_map(u16::to_ne_bytes).collect();
        assert_eq!(unpack(Differences::Numbers, word, true, 3, &bytes), wanted);
        // The bytes of 1.0 and 2.5 by their weight, and their differences.
        let [one, more] = [1.0_f32.to_be_bytes(), 2.5_f32.to_be_bytes()];
        let mut sorted: Vec<u8> = one.iter().zip(&more).flat_map(|(a, b)| [*a, *b]).collect();
        (1..8).rev().for_each(|at| sorted[at] = sorted[at].wrapping_sub(sorted[at - 1]));
        let wanted: Vec<u8> = [1.0_f32, 2.5].into_iter().flat_map(f32::to_ne_bytes).collect();
        assert_eq!(unpack(Differences::FloatBytes, kind(Class::Float, 4), false, 2, &sorted), wanted);
    }

    #[test]
    fn runs_of_bytes_are_unpacked() {
        let mut cells = [0; 9];
        pack_bits(&[0x80, 0xfe, 7, 1, 4, 5, 0xfd, 9, 0x80], &mut cells).unwrap();
        assert_eq!(cells, [7, 7, 7, 4, 5, 9, 9, 9, 9]);
        for short in [&[0xfe][..], &[3, 1, 2], &[], &[0xfe, 7]] {
            assert!(pack_bits(short, &mut [0; 9]).is_err());
        }
        assert!(lzw(&[0x80, 0x0b], &mut [0; 9]).is_err());
    }
}
