//! Many small jobs on all cores, or one after another where the feature `threads` is off.

/// Does it for all, in order; a thread takes at least `share` at a time.
pub(super) fn map<T: Sync, R: Send>(
    items: &[T],
    share: usize,
    work: impl Fn(&T) -> R + Sync + Send,
) -> Vec<R> {
    #[cfg(feature = "threads")]
    if items.len() > share {
        use rayon::prelude::*;
        return crate::parallel::in_pool(|| items.par_iter().with_min_len(share).map(work).collect());
    }
    let _ = share;
    items.iter().map(work).collect()
}

/// Does it for each; a thread takes at least `share` at a time.
pub(super) fn each<T: Send>(items: Vec<T>, share: usize, work: impl Fn(T) + Sync + Send) {
    #[cfg(feature = "threads")]
    if items.len() > share {
        use rayon::prelude::*;
        crate::parallel::in_pool(|| items.into_par_iter().with_min_len(share).for_each(work));
        return;
    }
    let _ = share;
    items.into_iter().for_each(work);
}
