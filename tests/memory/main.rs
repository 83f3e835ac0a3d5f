//! Tests of memory. They are a program of their own because it counts every allocation and runs one test at a time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

#[allow(dead_code, reason = "the tests of surfaces use the rest")]
#[path = "../surface/models/mod.rs"]
mod models;
mod room;
mod surface;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, with counts.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The allocations of all threads.
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// The allocations of this thread.
    static THREAD_ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// The bytes that this thread has allocated and not freed.
    static CURRENT_BYTES: Cell<i64> = const { Cell::new(0) };
    /// The largest value of `CURRENT_BYTES`.
    static PEAK_BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count_allocation(bytes: i64) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    let _ = THREAD_ALLOCATIONS.try_with(|own| own.set(own.get() + 1));
    count_bytes(bytes);
}

fn count_bytes(bytes: i64) {
    let _ = CURRENT_BYTES.try_with(|current| {
        current.set(current.get() + bytes);
        let _ = PEAK_BYTES.try_with(|peak| peak.set(peak.get().max(current.get())));
    });
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count_allocation(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_bytes(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation(size as i64 - layout.size() as i64);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// A lock that lets one test run at a time: the counts are of the whole program.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
