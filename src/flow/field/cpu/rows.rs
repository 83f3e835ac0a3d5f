//! Work on rows of cells, on all cores where there are threads.

use crate::parallel::map_chunks_mut;

/// Items below which it is not worth while to wake other threads.
const WORTH_COUNT: usize = 1 << 15;

/// An array of that length whose items are all to be written: what it holds already may stay.
pub(crate) fn sized<T: Copy + Default>(reused: Vec<T>, count: usize) -> Vec<T> {
    if reused.capacity() < count {
        // Pages that are zero already are not written to.
        return vec![T::default(); count];
    }
    let mut items = reused;
    items.resize(count, T::default());
    items
}

/// Calls `work` on each chunk of `items`, with the chunk's number, on all cores where it is worth while; the answers are in
/// the order of the chunks.
pub(crate) fn for_chunks<T: Send, R: Send>(
    items: &mut [T],
    chunk_len: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync + Send,
) -> Vec<R> {
    if items.len() >= WORTH_COUNT {
        return map_chunks_mut(items, chunk_len, work);
    }
    items.chunks_mut(chunk_len).enumerate().map(|(number, chunk)| work(number, chunk)).collect()
}

/// How many rows of `width` cells to give a thread at a time.
pub(crate) fn rows_at_a_time(width: usize) -> usize {
    (WORTH_COUNT / width.max(1)).max(1)
}
