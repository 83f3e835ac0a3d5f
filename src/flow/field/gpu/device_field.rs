//! A field on the device, and how it is read back.

use std::ops::Range;

use crate::error::Result;
use crate::flow::field::stats::CallTimer;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::readback::{Read, Results};
use crate::gpu::submit::Next;
use crate::pending::{Pending, WasmNotSend};

/// The most values that one frame reads back, so that staging never grows past 64 MiB.
const MAX_READ_LEN: usize = 1 << 24;
/// Label of frames that only read back.
pub(crate) const READ_LABEL: &str = "hullfield.flow.read";

/// A field on the device: the distances and codes of each strip.
#[derive(Debug)]
pub(crate) struct DeviceField {
    pub(crate) context: Context,
    pub(crate) strips: Vec<DeviceStrip>,
    /// The obstacles of the grid that the field was solved for: see [`DeviceGrid`](crate::flow::DeviceGrid).
    pub(crate) blocked: Buffer<u32>,
}

/// A strip of a field: whole rows, or whole layers, of the grid. Cloning it clones handles.
#[derive(Debug, Clone)]
pub(crate) struct DeviceStrip {
    /// The indices of the cells of the strip in the grid.
    pub(crate) cells: Range<usize>,
    /// One distance per cell, starting at the value `first_distance`. If there are several strips, halos lie before and
    /// after; the obstacles in them may hold wrong distances.
    pub(crate) distances: Buffer<u32>,
    pub(crate) first_distance: usize,
    /// Four codes per word, the first in the low byte, starting at the word `first_word`.
    pub(crate) codes: Buffer<u32>,
    pub(crate) first_word: usize,
}

impl DeviceField {
    /// All distances, row-major.
    pub(crate) fn distances(&self) -> Result<Pending<Vec<u32>>> {
        read_all(self.frame()?, self.distance_parts().collect(), CallTimer::device(), |words, _| Ok(words))
    }

    /// All codes, row-major.
    pub(crate) fn next_codes(&self) -> Result<Pending<Vec<u8>>> {
        let count = self.cell_count();
        let parts = self.code_parts().collect();
        read_all(self.frame()?, parts, CallTimer::device(), move |words, _| Ok(codes(&words, count)))
    }

    /// Reads back distances and codes, and runs `work` on them on the host.
    pub(crate) fn with_cells<T: WasmNotSend + 'static>(
        &self,
        work: impl FnOnce(&[u32], &[u8], CallTimer) -> Result<T> + WasmNotSend + 'static,
    ) -> Result<Pending<T>> {
        let count = self.cell_count();
        let parts = self.distance_parts().chain(self.code_parts()).collect();
        read_all(self.frame()?, parts, CallTimer::device(), move |words, timer| {
            let (distances, words) = words.split_at(count.min(words.len()));
            work(distances, &codes(words, count), timer)
        })
    }

    /// A new frame that only reads back.
    fn frame(&self) -> Result<Frame> {
        Frame::new(&self.context, READ_LABEL)
    }

    fn cell_count(&self) -> usize {
        self.strips.iter().map(|strip| strip.cells.len()).sum()
    }

    fn distance_parts(&self) -> impl Iterator<Item = BufferRange> + '_ {
        self.strips.iter().map(|strip| {
            let first = strip.first_distance;
            (strip.distances.clone(), first..first + strip.cells.len())
        })
    }

    /// Only the last strip may end within a word.
    fn code_parts(&self) -> impl Iterator<Item = BufferRange> + '_ {
        self.strips.iter().map(|strip| {
            let first = strip.first_word;
            (strip.codes.clone(), first..first + strip.cells.len().div_ceil(4))
        })
    }
}

/// A range of a buffer.
pub(crate) type BufferRange = (Buffer<u32>, Range<usize>);

/// The first `count` bytes of these words.
fn codes(words: &[u32], count: usize) -> Vec<u8> {
    let bytes: &[u8] = bytemuck::cast_slice(words);
    bytes[..count.min(bytes.len())].to_vec()
}

/// Reads back ranges of buffers at the end of a frame, and in further frames if they are too much for one. Then calls
/// `then` with all their words.
pub(crate) fn read_all<T: WasmNotSend + 'static>(
    mut frame: Frame,
    parts: Vec<BufferRange>,
    timer: CallTimer,
    then: impl FnOnce(Vec<u32>, CallTimer) -> Result<T> + WasmNotSend + 'static,
) -> Result<Pending<T>> {
    let mut pieces: Vec<BufferRange> = Vec::new();
    for (buffer, range) in parts {
        for start in range.clone().step_by(MAX_READ_LEN) {
            pieces.push((buffer.clone(), start..(start + MAX_READ_LEN).min(range.end)));
        }
    }
    let mut pieces = pieces.into_iter();
    let read = read_next(&mut frame, &mut pieces)?;
    frame.submit(move |results| take_piece(&results, &read, pieces, Vec::new(), timer, then))
}

/// Reads back the next piece, if there is one.
fn read_next(frame: &mut Frame, pieces: &mut std::vec::IntoIter<BufferRange>) -> Result<Option<Read<u32>>> {
    pieces.next().map(|(buffer, range)| frame.read(&buffer, range)).transpose()
}

/// Takes a piece that was read back, and reads the next one or answers.
fn take_piece<T: WasmNotSend + 'static>(
    results: &Results,
    read: &Option<Read<u32>>,
    mut pieces: std::vec::IntoIter<BufferRange>,
    mut all: Vec<u32>,
    mut timer: CallTimer,
    then: impl FnOnce(Vec<u32>, CallTimer) -> Result<T> + WasmNotSend + 'static,
) -> Result<Next<T>> {
    timer.add_frame(results.times().kernels_ms, results.times().compile_ms);
    if let Some(read) = read {
        all.extend_from_slice(&results.get(read)?);
    }
    if pieces.len() == 0 {
        return Ok(Next::Answer(then(all, timer)?));
    }
    let mut frame = Frame::new(results.context(), READ_LABEL)?;
    let read = read_next(&mut frame, &mut pieces)?;
    Ok(Next::frame(frame, move |results| take_piece(&results, &read, pieces, all, timer, then)))
}
