//! Work on all cores, where there are threads: the only module that knows rayon.
//!
//! One rule for pools: a call from within a caller's pool works in that pool, any other call works in ours. Rayon's global pool
//! counts as a caller's pool: it is used only by a call from within it. All of its threads may be waiting for an answer of ours,
//! or a thread in the middle of our work may pick up a job that waits for that work. The test
//! `waiting_inside_a_pool_does_not_hang` in `pending.rs` tries both.

use crate::error::{Error, Location, Result};

/// The smallest share of the work that one thread takes.
const ONE: usize = 1;

/// The most threads that may be asked for.
const MAX_THREADS: usize = 4096;

/// How many threads share the work of a call on the CPU: those of the caller's rayon pool, or of the library's own where the caller is in none.
/// 1 without the feature `threads`.
///
/// ```
/// hullfield::set_thread_count(2)?;
/// assert_eq!(hullfield::thread_count(), 2);
/// hullfield::set_thread_count(0)?; // as at the start
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn thread_count() -> usize {
    #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
    if let Some(pool) = free_pool() {
        return pool.current_num_threads();
    }
    #[cfg(feature = "threads")]
    {
        rayon::current_num_threads()
    }
    #[cfg(not(feature = "threads"))]
    {
        1
    }
}

/// Sets how many threads share the work of the CPU in this process, for calls from now on; work that runs goes on with the threads it has. 0, as
/// at the start, is as many as rayon's global pool has: one for each core unless `RAYON_NUM_THREADS` says otherwise.
///
/// A call from within a rayon pool of the caller's works in that pool, whatever is set here. The threads of each count are made once and kept.
/// In a child process that was made by `fork` they are made anew, as a child has none of its parent's threads.
///
/// # Errors
/// [`Error::Value`] for more than 4,096 threads, or for more than one without the feature `threads`.
pub fn set_thread_count(count: usize) -> Result<()> {
    let most = if cfg!(all(feature = "threads", not(target_arch = "wasm32"))) { MAX_THREADS } else { ONE };
    if count > most {
        let allowed = if most == ONE {
            "without the feature threads there is one thread".to_owned()
        } else {
            format!("it must be at most {MAX_THREADS}")
        };
        return Err(Error::value(Location::Argument, "count", count, allowed));
    }
    #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
    pools::WANTED.store(count, std::sync::atomic::Ordering::Relaxed);
    Ok(())
}

/// What several threads may use at once.
#[cfg(feature = "threads")]
pub(crate) trait Shared: Sync + Send {}
#[cfg(feature = "threads")]
impl<T: Sync + Send> Shared for T {}
/// Anything, where there is one thread: in a browser an arena holds objects of the device, which stay on their thread.
#[cfg(not(feature = "threads"))]
pub(crate) trait Shared {}
#[cfg(not(feature = "threads"))]
impl<T> Shared for T {}

/// Maps in order.
pub(crate) fn map<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Shared) -> Vec<U> {
    map_shares(items, ONE, work)
}

/// Maps in order, each item on a thread of its own, for work that waits for a device. No thread of our pool may: the thread on which all answers of a
/// device arrive makes those of other queries in that pool. So it would wait for threads that wait for it. In a browser, where nothing waits, one after the other.
pub(crate) fn map_waiting<T: Sync, U: Send>(items: &[T], work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    #[cfg(not(target_arch = "wasm32"))]
    if items.len() > ONE {
        let work = &work;
        return std::thread::scope(|scope| {
            let start = |(number, item)| {
                let named = std::thread::Builder::new().name(format!("hullfield waiting {number}"));
                named.spawn_scoped(scope, move || work(item)).map_err(|_| item)
            };
            let threads: Vec<_> = items.iter().enumerate().map(start).collect();
            let finish = |thread: Result<std::thread::ScopedJoinHandle<'_, U>, &T>| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                // The system has no more threads.
                Err(item) => work(item),
            };
            threads.into_iter().map(finish).collect()
        });
    }
    items.iter().map(work).collect()
}

/// Maps in order; a thread takes at least `share` items at a time.
pub(crate) fn map_shares<T: Sync, U: Send>(
    items: &[T],
    share: usize,
    work: impl Fn(&T) -> U + Shared,
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
pub(crate) fn map_singly<U: Send>(count: usize, work: impl Fn(usize) -> U + Shared) -> Vec<U> {
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
    init: impl Fn() -> M + Shared,
    work: impl Fn(&mut M, &T) -> U + Shared,
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
    work: impl Fn(usize, &mut [T]) -> U + Shared,
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
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Shared,
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
pub(crate) fn for_each_mut<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Shared) {
    #[cfg(feature = "threads")]
    if items.len() > ONE {
        use rayon::prelude::*;
        return in_pool(|| items.par_iter_mut().with_max_len(ONE).for_each(work));
    }
    items.iter_mut().for_each(work);
}

/// Runs tasks; the results are in their order.
pub(crate) fn each<T: Send, U: Send>(tasks: Vec<T>, work: impl Fn(T) -> U + Shared) -> Vec<U> {
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
    work: impl Fn(&[T]) -> U + Shared,
) -> Vec<U> {
    #[cfg(feature = "threads")]
    if items.len() > len {
        use rayon::prelude::*;
        return in_pool(|| items.par_chunks(len).map(work).collect());
    }
    items.chunks(len).map(work).collect()
}

/// Maps `0..count`, in order.
pub(crate) fn map_range<U: Send>(count: u32, work: impl Fn(u32) -> U + Shared) -> Vec<U> {
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
    work: impl Fn(usize) -> U + Shared,
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
pub(crate) fn for_each_share<T: Send>(tasks: Vec<T>, share: usize, work: impl Fn(T) + Shared) {
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
    work: impl Fn((usize, &mut [T])) + Shared,
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
    if rayon::current_thread_index().is_some() { None } else { pools::pool() }
}

/// Our threads: a pool for each count that was ever set, as pools are never taken down.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
mod pools {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    use rayon::ThreadPool;

    /// How many threads the caller wants; 0: as many as rayon's global pool has.
    pub(super) static WANTED: AtomicUsize = AtomicUsize::new(0);

    /// A pool of this process. A process made by `fork` has its parent's list, but none of its threads.
    #[derive(Clone, Copy)]
    struct Own {
        process: u32,
        wanted: usize,
        pool: &'static ThreadPool,
    }

    static ALL: Mutex<Vec<Own>> = Mutex::new(Vec::new());

    thread_local! {
        /// The pool that this thread used last, so that the list is rarely locked.
        static LAST: Cell<Option<Own>> = const { Cell::new(None) };
    }

    pub(super) fn pool() -> Option<&'static ThreadPool> {
        let (process, wanted) = (std::process::id(), WANTED.load(Ordering::Relaxed));
        let fits = |own: &Own| own.process == process && own.wanted == wanted;
        if let Some(own) = LAST.get().filter(fits) {
            return Some(own.pool);
        }
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let own = match all.iter().copied().find(fits) {
            Some(own) => own,
            None => {
                let thread_count = if wanted == 0 { rayon::current_num_threads() } else { wanted };
                let named = rayon::ThreadPoolBuilder::new().thread_name(|index| format!("hullfield {index}"));
                let pool = named.num_threads(thread_count).build().ok()?;
                let own = Own { process, wanted, pool: Box::leak(Box::new(pool)) };
                all.push(own);
                own
            }
        };
        LAST.set(Some(own));
        Some(own.pool)
    }
}

#[cfg(all(test, feature = "threads", not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    /// What waits for a thread that needs the pool must not be in the pool: with `map` in place of `map_waiting` nobody is answered.
    #[test]
    fn waiting_leaves_the_pool_free() {
        use std::sync::{Mutex, mpsc};
        let count = thread_count();
        let (ask, asked) = mpsc::channel::<mpsc::Sender<usize>>();
        let answering = std::thread::spawn(move || {
            // As many wait as the pool has threads.
            let askers: Vec<_> = asked.iter().take(count).collect();
            let answer = in_pool(rayon::current_num_threads);
            askers.into_iter().for_each(|asker| _ = asker.send(answer));
        });
        let ask = Mutex::new(ask);
        let work = |&item: &usize| {
            let (sender, receiver) = mpsc::channel();
            ask.lock().unwrap().send(sender).unwrap();
            receiver.recv_timeout(std::time::Duration::from_secs(100)).map(|count| (item, count > 0))
        };
        let items: Vec<usize> = (0..count).collect();
        let expected: Vec<_> = items.iter().map(|&item| Ok((item, true))).collect();
        assert_eq!(map_waiting(&items, work), expected);
        assert_eq!(map_waiting(&[3], |item| item + 1), [4]);
        answering.join().unwrap();
    }

    #[test]
    fn a_panic_of_waiting_work_comes_out() {
        let panicked = std::panic::catch_unwind(|| map_waiting(&[1, 2, 3], |&item| assert!(item != 2)));
        assert!(panicked.is_err());
    }

    #[test]
    fn a_count_is_refused_or_used() {
        assert!(matches!(set_thread_count(MAX_THREADS + 1), Err(Error::Value { field: "count", .. })));
        // Other tests run beside this one: they only get slower or faster meanwhile.
        let before = thread_count();
        for count in [3, 1, 3] {
            set_thread_count(count).unwrap();
            assert_eq!((thread_count(), in_pool(rayon::current_num_threads)), (count, count));
        }
        set_thread_count(0).unwrap();
        assert_eq!(thread_count(), before);
        let callers = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        assert_eq!(callers.install(thread_count), 5);
    }
}
