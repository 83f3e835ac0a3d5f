//! Memory of a job: the system's allocator, with a count of bytes that can be switched on.
//!
//! The count is of all threads, so its test is a program of its own: `tests/memory.rs`.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

/// The system's allocator, with a count.
struct CountingAllocator;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
/// Bytes allocated and not freed since counting started.
static CURRENT: AtomicI64 = AtomicI64::new(0);
/// The largest value of [`CURRENT`].
static PEAK: AtomicI64 = AtomicI64::new(0);

fn add(bytes: i64) {
    // While nothing is counted, the only cost is reading a flag.
    if IS_COUNTING.load(Ordering::Relaxed) {
        let current = CURRENT.fetch_add(bytes, Ordering::Relaxed) + bytes;
        PEAK.fetch_max(current, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
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
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Counts the bytes of all threads until it is dropped. Only one may exist at a time.
#[derive(Debug)]
pub(crate) struct AllocationCounter(());

impl AllocationCounter {
    /// Starts counting from zero.
    pub(crate) fn start() -> Self {
        CURRENT.store(0, Ordering::SeqCst);
        PEAK.store(0, Ordering::SeqCst);
        IS_COUNTING.store(true, Ordering::SeqCst);
        Self(())
    }

    /// Bytes allocated and not freed since the start.
    pub(crate) fn current_bytes(&self) -> u64 {
        CURRENT.load(Ordering::SeqCst).max(0) as u64
    }

    /// The peak since the start.
    pub(crate) fn peak_bytes(&self) -> u64 {
        PEAK.load(Ordering::SeqCst).max(0) as u64
    }
}

impl Drop for AllocationCounter {
    fn drop(&mut self) {
        IS_COUNTING.store(false, Ordering::SeqCst);
    }
}
