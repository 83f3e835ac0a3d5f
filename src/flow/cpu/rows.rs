//! Work on rows of cells, on all cores where there are threads.

/// Items below which it is not worth while to wake other threads.
const WORTH_COUNT: usize = 1 << 15;

/// An array of that length whose items are all to be written: what it holds already may stay.
pub(super) fn sized<T: Copy + Default>(room: Vec<T>, count: usize) -> Vec<T> {
    if room.capacity() < count {
        // Pages that are zero already are not written to.
        return vec![T::default(); count];
    }
    let mut items = room;
    items.resize(count, T::default());
    items
}

/// Calls `work` on each chunk of `items`, with the chunk's number; the answers are in the order of the chunks.
pub(super) fn for_chunks<T: Send, R: Send>(
    items: &mut [T],
    chunk_len: usize,
    work: impl Fn(usize, &mut [T]) -> R + Sync + Send,
) -> Vec<R> {
    #[cfg(feature = "threads")]
    if items.len() >= WORTH_COUNT {
        use rayon::prelude::*;
        return crate::parallel::in_pool(|| {
            let chunks = items.par_chunks_mut(chunk_len).enumerate();
            chunks.map(|(number, chunk)| work(number, chunk)).collect()
        });
    }
    items.chunks_mut(chunk_len).enumerate().map(|(number, chunk)| work(number, chunk)).collect()
}

/// Maps in order.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync + Send) -> Vec<R> {
    #[cfg(feature = "threads")]
    if items.len() > 1 {
        use rayon::prelude::*;
        return crate::parallel::in_pool(|| items.par_iter().map(work).collect());
    }
    items.iter().map(work).collect()
}

/// Calls `work` on each item, on all cores where it is worth while.
pub(super) fn for_each<T: Send>(items: &mut [T], is_worth: bool, work: impl Fn(&mut T) + Sync + Send) {
    #[cfg(feature = "threads")]
    if is_worth {
        use rayon::prelude::*;
        return crate::parallel::in_pool(|| items.par_iter_mut().with_max_len(1).for_each(work));
    }
    let _ = is_worth;
    items.iter_mut().for_each(work);
}

/// How many rows of `width` cells to give a thread at a time.
pub(super) fn rows_at_a_time(width: usize) -> usize {
    (WORTH_COUNT / width.max(1)).max(1)
}
