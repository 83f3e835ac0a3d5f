//! How much memory a job holds: the system's allocator, which counts bytes while it is asked to.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// The system's allocator.
struct Counting;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
/// Bytes that were asked for and not given back since counting began.
static HELD: AtomicI64 = AtomicI64::new(0);
static MOST: AtomicI64 = AtomicI64::new(0);

fn add(bytes: i64) {
    // Where nothing is counted, a look at a flag is all that it costs.
    if IS_COUNTING.load(Ordering::Relaxed) {
        let held = HELD.fetch_add(bytes, Ordering::Relaxed) + bytes;
        MOST.fetch_max(held, Ordering::Relaxed);
    }
}

// SAFETY: everything is handed on to the system's allocator as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        add(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as i64 - layout.size() as i64);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts until it is dropped, all threads together; one at a time.
#[derive(Debug)]
pub(crate) struct Counted(());

impl Counted {
    /// From nothing.
    pub(crate) fn begin() -> Self {
        HELD.store(0, Ordering::SeqCst);
        MOST.store(0, Ordering::SeqCst);
        IS_COUNTING.store(true, Ordering::SeqCst);
        Self(())
    }

    /// Bytes that are held now and were not when it began.
    pub(crate) fn held_bytes(&self) -> u64 {
        HELD.load(Ordering::SeqCst).max(0) as u64
    }

    /// The most that were.
    pub(crate) fn most_bytes(&self) -> u64 {
        MOST.load(Ordering::SeqCst).max(0) as u64
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        IS_COUNTING.store(false, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_and_what_was() {
        let counted = Counted::begin();
        let kept = vec![1_u8; 1 << 24];
        drop(vec![2_u8; 1 << 26]);
        let (held, most) = (counted.held_bytes(), counted.most_bytes());
        // Other tests run beside this one.
        assert!((1 << 24..1 << 25).contains(&held), "{held}");
        assert!(most >= (1 << 24) + (1 << 26), "{most}");
        drop(kept);
    }
}
