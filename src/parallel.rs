//! Work on all cores, where there are threads: the only module that knows rayon.
//!
//! One rule for pools: a call from within a caller's pool works in that pool, any other call works in ours. Rayon's global pool
//! counts as a caller's pool: it is used only by a call from within it. All of its threads may be waiting for an answer of ours,
//! or a thread in the middle of our work may pick up a job that waits for that work. The test
//! `waiting_inside_a_pool_does_not_hang` in `pending.rs` tries both.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Location, Result};
use crate::lock::lock;

/// The smallest share of the work that one thread takes.
const ONE: usize = 1;

/// The most threads that may be asked for.
const MAX_THREADS: usize = 4096;

/// The most threads that `RAYON_NUM_THREADS` gives.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
const MAX_DEFAULT: usize = 256;

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
/// at the start, is as many as rayon's global pool has: one for each core unless `RAYON_NUM_THREADS` says otherwise. That
/// variable gives at most 256 threads; 0 and what is no whole number count as unset.
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

/// Work on a range of items, as one task. A call through this pointer is made once a task, never once an item: rayon's plumbing is so
/// compiled once in the library, not once for each loop.
#[cfg(feature = "threads")]
type Task<'a> = &'a (dyn Fn(Range<usize>) + Sync + 'a);
#[cfg(not(feature = "threads"))]
type Task<'a> = &'a (dyn Fn(Range<usize>) + 'a);

/// As [`Task`], with a result for each item.
#[cfg(feature = "threads")]
type Piece<'a, U> = &'a (dyn Fn(Range<usize>) -> Vec<U> + Sync + 'a);
#[cfg(not(feature = "threads"))]
type Piece<'a, U> = &'a (dyn Fn(Range<usize>) -> Vec<U> + 'a);

/// How many items a task has: at least `least`, and at most `most`.
#[derive(Clone, Copy)]
struct Share {
    least: usize,
    most: usize,
}

impl Share {
    /// At least `least` items.
    fn of(least: usize) -> Self {
        Self { least: least.max(ONE), most: usize::MAX }
    }

    /// One item.
    const SINGLE: Self = Self { least: ONE, most: ONE };
}

/// Runs `task` for ranges that together are `0..count`. An idle thread takes half of what another one has left.
fn run(count: usize, share: Share, task: Task) {
    #[cfg(feature = "threads")]
    if count > share.least {
        return in_pool(|| ranges::run(count, share, task));
    }
    let _ = share.most;
    if count > 0 {
        task(0..count);
    }
}

/// The results of all items, in order.
fn collect<U: Send>(count: usize, share: Share, piece: Piece<U>) -> Vec<U> {
    if !cfg!(feature = "threads") || count <= share.least {
        return piece(0..count);
    }
    let done = Mutex::new((Vec::new(), Vec::new()));
    run(count, share, &|range: Range<usize>| {
        let first = range.start;
        let results = piece(range);
        let mut done = lock(&done);
        let number = done.1.len();
        done.0.push((first, number));
        done.1.push(results);
    });
    let (mut order, mut parts) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    order.sort_unstable();
    let mut all = Vec::new();
    for (_, number) in order {
        let mut part = std::mem::take(&mut parts[number]);
        if all.is_empty() {
            part.reserve_exact(count - part.len());
            all = part;
        } else {
            all.append(&mut part);
        }
    }
    all
}

/// Runs `work(number, task)` for tasks that are given away, each once.
fn consume<T: Send>(tasks: Vec<Mutex<Option<T>>>, share: Share, work: impl Fn(usize, T) + Shared) {
    run(tasks.len(), share, &|range| {
        for number in range {
            let task = lock(&tasks[number]).take();
            if let Some(task) = task {
                work(number, task);
            }
        }
    });
}

/// As [`consume`], with the results in order.
fn consume_map<T: Send, U: Send>(
    tasks: Vec<Mutex<Option<T>>>,
    work: impl Fn(usize, T) -> U + Shared,
) -> Vec<U> {
    let result = |number: usize| lock(&tasks[number]).take().map(|task| work(number, task));
    collect(tasks.len(), Share::of(ONE), &|range| range.filter_map(result).collect())
}

/// Tasks to give away.
fn slots<T>(tasks: impl Iterator<Item = T>) -> Vec<Mutex<Option<T>>> {
    tasks.map(|task| Mutex::new(Some(task))).collect()
}

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
    collect(items.len(), Share::of(share), &|range| items[range].iter().map(&work).collect())
}

/// Maps `0..count`, in order, one at a time: for items of which some take a thousand times as long as others.
pub(crate) fn map_singly<U: Send>(count: usize, work: impl Fn(usize) -> U + Shared) -> Vec<U> {
    collect(count, Share::SINGLE, &|range| range.map(&work).collect())
}

/// Maps in order; each task makes scratch memory once, for all items that it has.
pub(crate) fn map_init<T: Sync, M, U: Send>(
    items: &[T],
    init: impl Fn() -> M + Shared,
    work: impl Fn(&mut M, &T) -> U + Shared,
) -> Vec<U> {
    collect(items.len(), Share::of(ONE), &|range| {
        let mut memory = init();
        items[range].iter().map(|item| work(&mut memory, item)).collect()
    })
}

/// Maps chunks of `len` items, which may be changed, with their numbers; in order.
pub(crate) fn map_chunks_mut<T: Send, U: Send>(
    items: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) -> U + Shared,
) -> Vec<U> {
    consume_map(slots(items.chunks_mut(len)), work)
}

/// Runs `work(number, chunk)` for all chunks of `len` items; where some fail, the error of the first of them.
pub(crate) fn try_chunks_mut<T: Send, E: Send>(
    items: &mut [T],
    len: usize,
    work: impl Fn(usize, &mut [T]) -> Result<(), E> + Shared,
) -> Result<(), E> {
    let first = Mutex::new(None);
    consume(slots(items.chunks_mut(len)), Share::of(ONE), |number, chunk| {
        if let Err(error) = work(number, chunk) {
            let mut first = lock(&first);
            if first.as_ref().is_none_or(|(other, _)| number < *other) {
                *first = Some((number, error));
            }
        }
    });
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(()), |(_, error)| Err(error))
}

/// Runs `work` for each item, one at a time.
pub(crate) fn for_each_mut<T: Send>(items: &mut [T], work: impl Fn(&mut T) + Shared) {
    consume(slots(items.iter_mut()), Share::SINGLE, |_, item| work(item));
}

/// Runs tasks; the results are in their order.
pub(crate) fn each<T: Send, U: Send>(tasks: Vec<T>, work: impl Fn(T) -> U + Shared) -> Vec<U> {
    consume_map(slots(tasks.into_iter()), |_, task| work(task))
}

/// Maps chunks of `len` items, in order.
pub(crate) fn map_chunks<T: Sync, U: Send>(
    items: &[T],
    len: usize,
    work: impl Fn(&[T]) -> U + Shared,
) -> Vec<U> {
    let chunk = |number: usize| work(&items[number * len..items.len().min((number + 1) * len)]);
    collect(items.len().div_ceil(len), Share::of(ONE), &|range| range.map(chunk).collect())
}

/// Maps `0..count`, in order.
pub(crate) fn map_range<U: Send>(count: u32, work: impl Fn(u32) -> U + Shared) -> Vec<U> {
    collect(count as usize, Share::of(ONE), &|range| range.map(|number| work(number as u32)).collect())
}

/// Writes the results of `0..count` to `all`, in order; a thread takes at least `share` of them at a time. The one loop that rayon is
/// compiled for anew: its threads write to memory that nobody has touched, which takes longer than the work.
pub(crate) fn fill<U: Send>(
    all: &mut Vec<U>,
    count: usize,
    share: usize,
    work: impl Fn(usize) -> U + Shared,
) {
    #[cfg(feature = "threads")]
    if count > share {
        use rayon::prelude::*;
        return in_pool(|| (0..count).into_par_iter().with_min_len(share).map(&work).collect_into_vec(all));
    }
    let _ = share;
    all.clear();
    all.extend((0..count).map(work));
}

/// Runs tasks that have no results; a thread takes at least `share` of them at a time.
pub(crate) fn for_each_share<T: Send>(tasks: Vec<T>, share: usize, work: impl Fn(T) + Shared) {
    consume(slots(tasks.into_iter()), Share::of(share), |_, task| work(task));
}

/// Runs `work((index, chunk))` for all chunks of `items`, each of `len` of them but for the last one.
pub(crate) fn for_each_chunk<T: Send>(
    items: &mut [T],
    len: usize,
    work: impl Fn((usize, &mut [T])) + Shared,
) {
    consume(slots(items.chunks_mut(len)), Share::of(ONE), |number, chunk| work((number, chunk)));
}

/// Runs `work` in the pool of the caller, or in ours where the caller has none: what it does in parallel happens there.
pub(crate) fn in_pool<R: Send>(mut work: impl FnMut() -> R + Send) -> R {
    #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
    if let Some(pool) = free_pool() {
        let mut result = None;
        install(pool, &mut || result = Some(work()));
        // There is a result: `install` returns when the work is done, or panics as the work did.
        return result.unwrap_or_else(work);
    }
    work()
}

/// Not generic: what it takes to enter a pool is compiled once.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
fn install(pool: &rayon::ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// Starts `work` on a thread of a pool.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
pub(crate) fn spawn(pool: &rayon::ThreadPool, work: Box<dyn FnOnce() + Send>) {
    pool.spawn(work);
}

/// Our pool, where the caller has none.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
pub(crate) fn free_pool() -> Option<&'static rayon::ThreadPool> {
    if rayon::current_thread_index().is_some() { None } else { pools::pool() }
}

/// Ranges of numbers as a parallel iterator of rayon's, whose items are whole ranges. Nothing here is generic.
#[cfg(feature = "threads")]
mod ranges {
    use std::iter::{Once, once};
    use std::ops::Range;

    use rayon::iter::ParallelIterator;
    use rayon::iter::plumbing::{Folder, Producer, UnindexedConsumer, bridge_producer_consumer};

    use super::{Share, Task};

    struct Ranges {
        range: Range<usize>,
        share: Share,
    }

    pub(super) fn run(count: usize, share: Share, task: Task) {
        Ranges { range: 0..count, share }.for_each(task);
    }

    impl ParallelIterator for Ranges {
        type Item = Range<usize>;

        fn drive_unindexed<C: UnindexedConsumer<Self::Item>>(self, consumer: C) -> C::Result {
            bridge_producer_consumer(self.range.len(), self, consumer)
        }
    }

    impl Producer for Ranges {
        type Item = Range<usize>;
        type IntoIter = Once<Range<usize>>;

        fn into_iter(self) -> Self::IntoIter {
            once(self.range)
        }

        fn min_len(&self) -> usize {
            self.share.least
        }

        fn max_len(&self) -> usize {
            self.share.most
        }

        fn split_at(self, index: usize) -> (Self, Self) {
            let middle = self.range.start + index;
            let part = |range| Self { range, share: self.share };
            (part(self.range.start..middle), part(middle..self.range.end))
        }

        fn fold_with<F: Folder<Self::Item>>(self, folder: F) -> F {
            folder.consume(self.range)
        }
    }
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

    /// As many as rayon's global pool has. Where `RAYON_NUM_THREADS` asks for more than [`MAX_DEFAULT`](super::MAX_DEFAULT), that pool is not
    /// made: rayon makes up to 65,535 threads, for minutes.
    fn default_count() -> usize {
        let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|count| count.parse().ok());
        bounded(asked).unwrap_or_else(rayon::current_num_threads)
    }

    /// The count to use in place of one that is too large.
    pub(super) fn bounded(asked: Option<usize>) -> Option<usize> {
        asked.filter(|&count| count > super::MAX_DEFAULT).map(|_| super::MAX_DEFAULT)
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
                let thread_count = if wanted == 0 { default_count() } else { wanted };
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
    fn a_count_of_the_environment_is_bounded() {
        let counts = [None, Some(0), Some(1), Some(MAX_DEFAULT), Some(MAX_DEFAULT + 1), Some(usize::MAX)];
        let expected = [None, None, None, None, Some(MAX_DEFAULT), Some(MAX_DEFAULT)];
        assert_eq!(counts.map(pools::bounded), expected);
    }

    /// Ranges cover all items once, whatever the shares, and results are in order.
    #[test]
    fn all_items_are_worked_on_once_and_in_order() {
        for count in [0, 1, 2, 3, 7, 64, 1000] {
            let items: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = items.iter().map(|item| 2 * item).collect();
            for share in [0, 1, 2, 5, 999, 1000, usize::MAX] {
                assert_eq!(map_shares(&items, share, |item| 2 * item), doubled);
                let mut filled = vec![7; 3];
                fill(&mut filled, count, share, |item| 2 * item);
                assert_eq!(filled, doubled);
            }
            assert_eq!(map_singly(count, |item| 2 * item), doubled);
            assert_eq!(map_init(&items, || 2, |factor, item| *factor * item), doubled);
            assert_eq!(each(items.clone(), |item| 2 * item), doubled);
            for len in [1, 2, 63, 2000] {
                let sums: Vec<usize> = items.chunks(len).map(|chunk| chunk.iter().sum()).collect();
                assert_eq!(map_chunks(&items, len, |chunk| chunk.iter().sum::<usize>()), sums);
                let mut changed = items.clone();
                let numbers = map_chunks_mut(&mut changed, len, |number, chunk| {
                    chunk.iter_mut().for_each(|item| *item *= 2);
                    number
                });
                assert_eq!((changed, numbers), (doubled.clone(), (0..sums.len()).collect()));
                let mut changed = items.clone();
                for_each_chunk(&mut changed, len, |(number, chunk)| {
                    assert_eq!(chunk[0], number * len);
                    chunk.iter_mut().for_each(|item| *item *= 2);
                });
                assert_eq!(changed, doubled);
                let mut changed = items.clone();
                for_each_share(changed.chunks_mut(len).collect(), 2, |chunk: &mut [usize]| chunk.fill(1));
                for_each_mut(&mut changed, |item| *item += 1);
                assert_eq!(changed, vec![2; count]);
                let failing =
                    try_chunks_mut(
                        &mut changed,
                        len,
                        |number, _| {
                            if number % 2 == 1 { Err(number) } else { Ok(()) }
                        },
                    );
                assert_eq!(failing, if sums.len() > 1 { Err(1) } else { Ok(()) });
            }
        }
    }

    #[test]
    fn a_panic_of_a_task_comes_out() {
        let panicked = std::panic::catch_unwind(|| map(&[1, 2, 3, 4], |&item| assert!(item != 3)));
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
