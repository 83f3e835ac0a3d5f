//! A field on the device, and how it is read.

use std::ops::Range;

use crate::error::Result;
use crate::flow::field::stats::Stopwatch;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::pending::{Pending, WasmNotSend};

/// Values of one read back: staging never grows past 64 MiB.
const READ_LEN: usize = 1 << 24;
/// Label of frames that only read.
pub(crate) const READ: &str = "hullfield.flow.read";

/// A field on the device: distances and codes of one strip after the other.
#[derive(Debug)]
pub(crate) struct DeviceField {
    pub(crate) context: Context,
    pub(crate) strips: Vec<DeviceStrip>,
    /// The obstacles of the grid as it was: see [`DeviceGrid`](crate::flow::DeviceGrid).
    pub(crate) blocked: Buffer<u32>,
}

/// A strip of a field: whole rows, or whole layers, of the grid. Cloning it clones handles.
#[derive(Debug, Clone)]
pub(crate) struct DeviceStrip {
    /// Indices of the strip's cells in the grid.
    pub(crate) cells: Range<usize>,
    /// A distance a cell from the value `first_distance` on. Where there are several strips, a row (or layer) of the
    /// neighbouring ones stands before and behind; obstacles there do not hold what they should.
    pub(crate) distances: Buffer<u32>,
    pub(crate) first_distance: usize,
    /// Four codes a word, the first in the low byte, from the word `first_word` on.
    pub(crate) codes: Buffer<u32>,
    pub(crate) first_word: usize,
}

impl DeviceField {
    /// All distances, row-major.
    pub(crate) fn distances(&self) -> Result<Pending<Vec<u32>>> {
        read_all(self.frame()?, self.distance_parts().collect(), Stopwatch::device(), |words, _| Ok(words))
    }

    /// All codes, row-major.
    pub(crate) fn next_codes(&self) -> Result<Pending<Vec<u8>>> {
        let count = self.cell_count();
        let parts = self.code_parts().collect();
        read_all(self.frame()?, parts, Stopwatch::device(), move |words, _| Ok(codes(&words, count)))
    }

    /// Reads all of it, and goes on with it on the host.
    pub(crate) fn with_cells<T: WasmNotSend + 'static>(
        &self,
        work: impl FnOnce(&[u32], &[u8], Stopwatch) -> Result<T> + WasmNotSend + 'static,
    ) -> Result<Pending<T>> {
        let count = self.cell_count();
        let parts = self.distance_parts().chain(self.code_parts()).collect();
        read_all(self.frame()?, parts, Stopwatch::device(), move |words, watch| {
            let (distances, words) = words.split_at(count.min(words.len()));
            work(distances, &codes(words, count), watch)
        })
    }

    /// A frame that reads.
    fn frame(&self) -> Result<Frame> {
        Frame::new(&self.context, READ)
    }

    fn cell_count(&self) -> usize {
        self.strips.iter().map(|strip| strip.cells.len()).sum()
    }

    fn distance_parts(&self) -> impl Iterator<Item = Part> + '_ {
        self.strips.iter().map(|strip| {
            let first = strip.first_distance;
            (strip.distances.clone(), first..first + strip.cells.len())
        })
    }

    /// All strips but the last have whole words.
    fn code_parts(&self) -> impl Iterator<Item = Part> + '_ {
        self.strips.iter().map(|strip| {
            let first = strip.first_word;
            (strip.codes.clone(), first..first + strip.cells.len().div_ceil(4))
        })
    }
}

/// A range of a buffer.
pub(crate) type Part = (Buffer<u32>, Range<usize>);

/// The bytes of words, of which the last one may have too many.
fn codes(words: &[u32], count: usize) -> Vec<u8> {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    bytes[..count.min(bytes.len())].to_vec()
}

/// Reads parts of buffers at the end of a frame, and of further frames where they are too much for one; then does `then` with all
/// of their words.
pub(crate) fn read_all<T: WasmNotSend + 'static>(
    mut frame: Frame,
    parts: Vec<Part>,
    watch: Stopwatch,
    then: impl FnOnce(Vec<u32>, Stopwatch) -> Result<T> + WasmNotSend + 'static,
) -> Result<Pending<T>> {
    let mut pieces: Vec<Part> = Vec::new();
    for (buffer, range) in parts {
        for start in range.clone().step_by(READ_LEN) {
            pieces.push((buffer.clone(), start..(start + READ_LEN).min(range.end)));
        }
    }
    let mut pieces = pieces.into_iter();
    let read = read_next(&mut frame, &mut pieces)?;
    frame.submit(move |results| go_on(&results, &read, pieces, Vec::new(), watch, then))
}

/// Reads the next piece, where there is one.
fn read_next(frame: &mut Frame, pieces: &mut std::vec::IntoIter<Part>) -> Result<Option<Read<u32>>> {
    pieces.next().map(|(buffer, range)| frame.read(&buffer, range)).transpose()
}

fn go_on<T: WasmNotSend + 'static>(
    results: &Results,
    read: &Option<Read<u32>>,
    mut pieces: std::vec::IntoIter<Part>,
    mut all: Vec<u32>,
    mut watch: Stopwatch,
    then: impl FnOnce(Vec<u32>, Stopwatch) -> Result<T> + WasmNotSend + 'static,
) -> Result<Next<T>> {
    watch.add(results.times().kernels_ms, results.times().compile_ms);
    if let Some(read) = read {
        all.extend_from_slice(&results.get(read)?);
    }
    if pieces.len() == 0 {
        return Ok(Next::Answer(then(all, watch)?));
    }
    let mut frame = Frame::new(results.context(), READ)?;
    let read = read_next(&mut frame, &mut pieces)?;
    Ok(Next::frame(frame, move |results| go_on(&results, &read, pieces, all, watch, then)))
}
