//! Work on all cores, where there are threads: the only module that knows rayon.
//!
//! One rule for pools: a call from within a caller's pool works in that pool, any other call works in ours. Rayon's global pool
//! counts as a caller's pool: it is used only by a call from within it. All of its threads may be waiting for an answer of ours,
//! or a thread in the middle of our work may pick up a job that waits for that work. The test
//! `waiting_inside_a_pool_does_not_hang` in `pending.rs` tries both.

/// The smallest share of the work that one thread takes.
const ONE: usize = 1;

/// How many threads share the work.
pub(crate) fn thread_count() -> usize {
    #[cfg(feature = "threads")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "threads"))]
    {
        1
    }
}

/// Maps in order.
pub(crate) fn map<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync + Send) -> Vec<U> {
    map_shares(items, ONE, work)
}

/// Maps in order; a thread takes at least `share` items at a time.
pub(crate) fn map_shares<T: Sync, U: Send>(
    items: &[T],
    share: usize,
    work: impl Fn(&T) -> U + Sync + Send,
) -> Vec<U> {
    #[cfg(feature = "threads")]
    if items.len() > share {
        use rayon::prelude::*;
        return in_pool(|| items.par_iter().with_min_len(share).map(work).collect());
    }
    let _ = share;
    items.iter().map(work).collect()
}

/// Maps `0..count`, in order, one at a time: for items of which some take a thousand times as long as others.
pub(crate) fn map_singly<U: Send>(count: usize, work: impl Fn(usize) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "threads")]
    if count > ONE {
        use rayon::prelude::*;
        return in_pool(|| (0..count).into_par_iter().with_max_len(ONE).map(work).collect());
    }
    (0..count).map(work).collect()
}

/// Maps in order; each thread makes scratch memory once, for all items that it takes.
pub(crate) fn map_init<T: Sync, M, U: Send>(
    items: &[T],
    init: impl Fn() -> M + Sync + Send,
    work: impl Fn(&mut M, &T) -> U + Sync + Send,
) -> Vec<U> {
    #[cfg(feature = "threads")]
    if items.len() > ONE {
        use rayon::prelude::*;
        return in_pool(|| items.par_iter().map_init(init, work).collect());
    }
    let mut memory = init();
    items.iter().map(|item| work(&mut memory, item)).collect()
}

/// Maps chunks of `len` items, which may be changed, with their numbers; in order.
pub(crate) fn map_chunks_mut<T: Send, U: Send>(
    items: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) -> U + Sync + Send,
) -> Vec<U> {
    #[cfg(feature = "threads")]
    if items.len() > len {
        use rayon::prelude::*;
        let work = |(number, chunk): (usize, &mut [T])| work(number, chunk);
        return in_pool(|| items.par_chunks_mut(len).enumerate().map(work).collect());
    }
    items.chunks_mut(len).enumerate().map(|(number, chunk)| work(number, chunk)).collect()
}

/// Runs `work(number, chunk)` for all chunks of `len` items; where some fail, the error of the first of them.
pub(crate) fn try_chunks_mut<T: Send, E: Send>(
    items: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync + Send,
) -> Result<(), E> {
    let failed = |(number, chunk): (usize, &mut [T])| work(number, chunk).err().map(|error| (number, error));
    #[cfg(feature = "threads")]
    if items.len() > len {
        use rayon::prelude::*;
        let first = || items.par_chunks_mut(len).enumerate().filter_map(failed).min_by_key(|failed| failed.0);
        return in_pool(first).map_or(Ok(()), |failed| Err(failed.1));
    }
    items.chunks_mut(len).enumerate().find_map(failed).map_or(Ok(()), |failed| Err(failed.1))
}

/// Runs `work` for each item, one at a time.
pub(crate) fn for_each_mut<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Sync + Send) {
    #[cfg(feature = "threads")]
    if items.len() > ONE {
        use rayon::prelude::*;
        return in_pool(|| items.par_iter_mut().with_max_len(ONE).for_each(work));
    }
    items.iter_mut().for_each(work);
}

/// Runs tasks; the results are in their order.
pub(crate) fn each<T: Send, U: Send>(tasks: Vec<T>, work: impl Fn(T) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "threads")]
    if tasks.len() > ONE {
        use rayon::prelude::*;
        return in_pool(|| tasks.into_par_iter().map(work).collect());
    }
    tasks.into_iter().map(work).collect()
}

/// Maps chunks of `len` items, in order.
pub(crate) fn map_chunks<T: Sync, U: Send>(
    items: &[T],
    len: usize,
    work: impl Fn(&[T]) -> U + Sync + Send,
) -> Vec<U> {
    #[cfg(feature = "threads")]
    if items.len() > len {
        use rayon::prelude::*;
        return in_pool(|| items.par_chunks(len).map(work).collect());
    }
    items.chunks(len).map(work).collect()
}

/// Maps `0..count`, in order.
pub(crate) fn map_range<U: Send>(count: u32, work: impl Fn(u32) -> U + Sync + Send) -> Vec<U> {
    #[cfg(feature = "threads")]
    if count > 1 {
        use rayon::prelude::*;
        return in_pool(|| (0..count).into_par_iter().map(work).collect());
    }
    (0..count).map(work).collect()
}

/// Writes the results of `0..count` to `all`, in order; a thread takes at least `share` of them at a time.
pub(crate) fn fill<U: Send>(
    all: &mut Vec<U>,
    count: usize,
    share: usize,
    work: impl Fn(usize) -> U + Sync + Send,
) {
    #[cfg(feature = "threads")]
    if count > share {
        use rayon::prelude::*;
        return in_pool(|| (0..count).into_par_iter().with_min_len(share).map(work).collect_into_vec(all));
    }
    let _ = share;
    all.clear();
    all.extend((0..count).map(work));
}

/// Runs tasks that have no results; a thread takes at least `share` of them at a time.
pub(crate) fn for_each_share<T: Send>(tasks: Vec<T>, share: usize, work: impl Fn(T) + Sync + Send) {
    #[cfg(feature = "threads")]
    if tasks.len() > share {
        use rayon::prelude::*;
        return in_pool(|| tasks.into_par_iter().with_min_len(share).for_each(work));
    }
    let _ = share;
    tasks.into_iter().for_each(work);
}

/// Runs `work((index, chunk))` for all chunks of `items`, each of `len` of them but for the last one.
pub(crate) fn for_each_chunk<T: Send>(
    items: &mut [T],
    len: usize,
    work: impl Fn((usize, &mut [T])) + Sync + Send,
) {
    #[cfg(feature = "threads")]
    if items.len() > len {
        use rayon::prelude::*;
        return in_pool(|| items.par_chunks_mut(len).enumerate().for_each(work));
    }
    items.chunks_mut(len).enumerate().for_each(work);
}

/// Runs `work` in the pool of the caller, or in ours where the caller has none: what it does in parallel happens there.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
    if let Some(pool) = free_pool() {
        return pool.install(work);
    }
    work()
}

/// Our pool, where the caller has none.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
pub(crate) fn free_pool() -> Option<&'static rayon::ThreadPool> {
    if rayon::current_thread_index().is_some() { None } else { pool() }
}

/// Our threads, as many as rayon's global pool has.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
fn pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: std::sync::OnceLock<Option<rayon::ThreadPool>> = std::sync::OnceLock::new();
    let build = || {
        let thread_count = rayon::current_num_threads();
        let named = rayon::ThreadPoolBuilder::new().thread_name(|index| format!("hullfield {index}"));
        named.num_threads(thread_count).build().ok()
    };
    POOL.get_or_init(build).as_ref()
}
