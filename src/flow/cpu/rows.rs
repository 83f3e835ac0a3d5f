//! Work on rows of cells, on all cores where there are threads.

/// Items below which it is not worth while to wake other threads.
const WORTH_COUNT: usize = 1 << 15;

/// Calls `work` on each chunk of `items`, with the chunk's number; the answers are in the order of the chunks.
pub(super) fn for_chunks<T: Send, R: Send>(
    items: &mut [T],
    chunk_len: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync + Send,
) -> Vec<R> {
    #[cfg(feature = "threads")]
    if items.len() >= WORTH_COUNT {
        use rayon::prelude::*;
        return crate::pending::in_pool(|| {
            let chunks = items.par_chunks_mut(chunk_len).enumerate();
            chunks.map(|(number, chunk)| work(number, chunk)).collect()
        });
    }
    items.chunks_mut(chunk_len).enumerate().map(|(number, chunk)| work(number, chunk)).collect()
}

/// How many rows of `width` cells to give a thread at a time.
pub(super) fn rows_at_a_time(width: usize) -> usize {
    (WORTH_COUNT / width.max(1)).max(1)
}
