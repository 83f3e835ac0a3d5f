//! Arrays of cells worked on in chunks of rows, on all cores.

use crate::parallel::map_chunks_mut;

/// The fewest items for which waking other threads pays off.
const PARALLEL_MIN_ITEMS: usize = 1 << 15;

/// An array of this length, all of whose items the caller will write; old items may remain. It uses `spare` if that is
/// large enough.
pub(crate) fn resized<T: Copy + Default>(spare: Vec<T>, count: usize) -> Vec<T> {
    if spare.capacity() < count {
        // The system hands out zeroed pages, so this does not touch the memory.
        return vec![T::default(); count];
    }
    let mut items = spare;
    items.resize(count, T::default());
    items
}

/// Frees the memory that a border has left over. It is little, except in very narrow grids.
pub(crate) fn shrink_narrow<T>(items: &mut Vec<T>) {
    if items.capacity() / 8 > items.len() / 7 {
        items.shrink_to_fit();
    }
}

/// Calls `work` on each chunk of `items` with the number of the chunk, on all cores if there are items enough. The
/// results are in the order of the chunks.
pub(crate) fn map_chunks<T: Send, R: Send>(
    items: &mut [T],
    chunk_len: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync + Send,
) -> Vec<R> {
    if items.len() >= PARALLEL_MIN_ITEMS {
        return map_chunks_mut(items, chunk_len, work);
    }
    items.chunks_mut(chunk_len).enumerate().map(|(number, chunk)| work(number, chunk)).collect()
}

/// The number of rows of `width` cells in a chunk for one thread.
pub(crate) fn rows_per_chunk(width: usize) -> usize {
    (PARALLEL_MIN_ITEMS / width.max(1)).max(1)
}
