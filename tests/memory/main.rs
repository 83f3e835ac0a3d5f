//! What is asked of the memory: a program of its own, for it counts every allocation and runs one test at a time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

#[allow(dead_code, reason = "the tests of surfaces take the rest")]
#[path = "../surface/models/mod.rs"]
mod models;
mod room;
mod surface;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The system's allocator, counted.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often any thread has asked for memory.
static COUNT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// How often this thread has asked for memory.
    static OWN_COUNT: Cell<u64> = const { Cell::new(0) };
    /// The bytes that this thread has taken and not given back.
    static HELD: Cell<i64> = const { Cell::new(0) };
    /// The largest value of `HELD`.
    static MOST: Cell<i64> = const { Cell::new(0) };
}

fn ask(bytes: i64) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    let _ = OWN_COUNT.try_with(|own| own.set(own.get() + 1));
    hold(bytes);
}

fn hold(bytes: i64) {
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: everything is handed on to the system's allocator as it comes.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ask(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ask(size as i64 - layout.size() as i64);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// One count is of the whole program: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
