//! Unpacks the strips and tiles of a TIFF. The crate tiff does too, but fails at LZW tiles that reach over the edge of the raster (image-tiff, issue 395).
//!
//! Sources: TIFF 6.0, sections 9 (PackBits), 13 (LZW) and 14 (differences); Adobe's technical notes on Deflate and on the differences of floats;
//! RFC 8878 (Zstandard).

use std::io::{self, Read};

use flate2::read::ZlibDecoder;
use ruzstd::decoding::StreamingDecoder;
use weezl::decode::Configuration;
use weezl::{BitOrder, LzwStatus};

use super::flat::swap;
use super::kind::Kind;

/// How chunks are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// Not at all.
    Stored,
    Lzw,
    Deflate,
    PackBits,
    Zstandard,
}

impl Method {
    /// The most bytes that one packed byte can become. A chunk that claims more is damaged, or made to exhaust memory.
    fn most_bytes(self) -> u64 {
        match self {
            Self::Stored => 1,
            Self::PackBits => 128,
            // Of Deflate 258 bytes by two bits; of LZW 4,096 by nine at the very most.
            Self::Lzw | Self::Deflate => 1 << 12,
            // A block of four bytes or little more can stand for 128 KiB.
            Self::Zstandard => 1 << 15,
        }
    }
}

/// What numbers are told apart from before they are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Differences {
    None,
    /// From the number before, of the same sample.
    Numbers,
    /// From the byte before, after the bytes of a row are grouped: first the high byte of every number, then the next one (TIFF predictor 3).
    FloatBytes,
}

/// How chunks become the numbers of one sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unpacking {
    pub(super) method: Method,
    pub(super) differences: Differences,
    pub(super) kind: Kind,
    /// The bits of a number in the file: those of its kind, or fewer of whole numbers.
    pub(super) bits: usize,
    /// The samples of a cell that lie side by side, and the one that is read.
    pub(super) samples: usize,
    pub(super) sample: usize,
    pub(super) is_swapped: bool,
}

impl Unpacking {
    /// The bytes of a row of a chunk.
    pub(super) fn row_bytes(&self, width: usize) -> Option<usize> {
        Some(width.checked_mul(self.samples)?.checked_mul(self.bits)?.div_ceil(8))
    }

    /// The numbers of a chunk in this machine's order.
    ///
    /// # Errors
    /// A chunk that is damaged, or has fewer numbers, and too little memory.
    pub(super) fn unpack(&self, packed: &[u8], [width, height]: [usize; 2]) -> io::Result<Vec<u8>> {
        let row_bytes = self.row_bytes(width).ok_or(io::ErrorKind::OutOfMemory)?;
        let length = row_bytes.checked_mul(height).ok_or(io::ErrorKind::OutOfMemory)?;
        if length as u64 > self.method.most_bytes().saturating_mul(packed.len() as u64 + 16) {
            return Err(cut_short());
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
        bytes.resize(length, 0);
        match self.method {
            Method::Stored => bytes.copy_from_slice(packed.get(..length).ok_or_else(cut_short)?),
            Method::Lzw => lzw(packed, &mut bytes)?,
            Method::Deflate => ZlibDecoder::new(packed).read_exact(&mut bytes)?,
            Method::PackBits => pack_bits(packed, &mut bytes)?,
            Method::Zstandard => zstandard(packed, &mut bytes)?,
        }
        Ok(self.numbers(bytes, width))
    }

    /// The numbers of one sample, in this machine's order, from the bytes of whole rows.
    fn numbers(&self, mut bytes: Vec<u8>, width: usize) -> Vec<u8> {
        let (bytes_each, samples) = (self.kind.bytes, self.samples);
        if self.bits != 8 * bytes_each {
            let row_bytes = self.row_bytes(width).unwrap_or(1).max(1);
            return bytes.chunks(row_bytes).flat_map(|row| self.spread(row, width)).collect();
        }
        let row_bytes = width * samples * bytes_each;
        if self.differences == Differences::FloatBytes {
            let mut row_numbers = vec![0; row_bytes];
            for row in bytes.chunks_mut(row_bytes) {
                (samples..row.len()).for_each(|at| row[at] = row[at].wrapping_add(row[at - samples]));
                for (number, cell) in row_numbers.chunks_mut(bytes_each).enumerate() {
                    for (weight, byte) in cell.iter_mut().enumerate() {
                        *byte = row[weight * width * samples + number];
                    }
                    if cfg!(target_endian = "little") {
                        cell.reverse();
                    }
                }
                row.copy_from_slice(&row_numbers);
            }
        } else if self.is_swapped {
            swap(&mut bytes, bytes_each);
        }
        if self.differences == Differences::Numbers {
            for row in bytes.chunks_mut(row_bytes) {
                match bytes_each {
                    1 => {
                        (samples..row.len()).for_each(|at| row[at] = row[at].wrapping_add(row[at - samples]))
                    }
                    2 => sums(row, samples, u16::from_ne_bytes, u16::to_ne_bytes, u16::wrapping_add),
                    4 => sums(row, samples, u32::from_ne_bytes, u32::to_ne_bytes, u32::wrapping_add),
                    _ => sums(row, samples, u64::from_ne_bytes, u64::to_ne_bytes, u64::wrapping_add),
                }
            }
        }
        if samples == 1 {
            return bytes;
        }
        let step = samples * bytes_each;
        let first = self.sample * bytes_each;
        bytes.chunks(step).flat_map(|cell| cell[first..first + bytes_each].iter().copied()).collect()
    }

    /// The numbers of a row that have fewer bits than their kind: the high bits of a byte come first.
    fn spread(&self, row: &[u8], width: usize) -> Vec<u8> {
        let mut cells = Vec::with_capacity(width * self.kind.bytes);
        for cell in 0..width {
            let first = (cell * self.samples + self.sample) * self.bits;
            let bit = |at: usize| u16::from(row[at / 8] >> (7 - at % 8) & 1);
            let number = (first..first + self.bits).fold(0, |number, at| number << 1 | bit(at));
            match self.kind.bytes {
                1 => cells.push(number as u8),
                _ => cells.extend(number.to_ne_bytes()),
            }
        }
        cells
    }
}

/// Turns differences into numbers.
fn sums<const N: usize, T: Copy>(
    row: &mut [u8],
    samples: usize,
    read: fn([u8; N]) -> T,
    write: fn(T) -> [u8; N],
    add: fn(T, T) -> T,
) {
    let numbers = row.as_chunks_mut().0;
    for at in samples..numbers.len() {
        numbers[at] = write(add(read(numbers[at - samples]), read(numbers[at])));
    }
}

fn zstandard(mut packed: &[u8], cells: &mut [u8]) -> io::Result<()> {
    let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, format!("Zstandard: {error}"));
    let mut decoder = StreamingDecoder::new(&mut packed).map_err(damaged)?;
    decoder.read_exact(cells)
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
        let unpack_of = |differences, kind: Kind, is_swapped, width, samples, sample, bytes: &[u8]| {
            let method = Method::PackBits;
            let bits = 8 * kind.bytes;
            let unpacking = Unpacking { method, differences, kind, bits, samples, sample, is_swapped };
            let height = bytes.len() / kind.bytes / width / samples;
            unpacking.unpack(&raw(bytes), [width, height]).unwrap()
        };
        let unpack = |differences, kind, is_swapped, width, bytes: &[u8]| {
            unpack_of(differences, kind, is_swapped, width, 1, 0, bytes)
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
        // Two samples, each with its own differences.
        let both = [5, 100, 1, 2, 255, 3];
        for (sample, wanted) in [(0, [5, 6, 5]), (1, [100, 102, 105])] {
            assert_eq!(unpack_of(Differences::Numbers, byte, false, 3, 2, sample, &both), wanted);
        }
    }

    #[test]
    fn numbers_of_few_bits() {
        let unpack = |bits, bytes, samples, sample, width, packed: &[u8]| {
            let kind = Kind::new(Class::Unsigned, bytes).unwrap();
            let (method, differences) = (Method::Stored, Differences::None);
            let unpacking = Unpacking { method, differences, kind, bits, samples, sample, is_swapped: true };
            unpacking.unpack(packed, [width, 2]).unwrap()
        };
        assert_eq!(unpack(1, 1, 1, 0, 3, &[0b1010_0000, 0b0110_0000]), [1, 0, 1, 0, 1, 1]);
        assert_eq!(unpack(4, 1, 1, 0, 3, &[0x12, 0x30, 0xfe, 0xd0]), [1, 2, 3, 15, 14, 13]);
        assert_eq!(unpack(4, 1, 3, 2, 1, &[0x12, 0x30, 0xfe, 0xd0]), [3, 13]);
        let wanted: Vec<u8> = [0xabc_u16, 0x123, 0xfff, 0].into_iter().flat_map(u16::to_ne_bytes).collect();
        assert_eq!(unpack(12, 2, 1, 0, 2, &[0xab, 0xc1, 0x23, 0xff, 0xf0, 0]), wanted);
    }

    /// What claims more cells than its bytes can hold takes no memory.
    #[test]
    fn chunks_that_claim_too_much_are_refused() {
        let kind = Kind::new(Class::Unsigned, 1).unwrap();
        for method in [Method::Stored, Method::Lzw, Method::Deflate, Method::PackBits, Method::Zstandard] {
            let (differences, bits) = (Differences::None, 8);
            let unpacking =
                Unpacking { method, differences, kind, bits, samples: 1, sample: 0, is_swapped: false };
            for size in [[1 << 20, 1 << 20], [usize::MAX, 2], [usize::MAX / 2, 1]] {
                assert!(unpacking.unpack(&[0; 40], size).is_err(), "{method:?}");
            }
        }
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
