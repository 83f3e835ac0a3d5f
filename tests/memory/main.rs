//! Tests of memory. They are a program of their own because it counts every allocation and runs one test at a time.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "the tests of surfaces use the rest")]
#[path = "../surface/models/mod.rs"]
mod models;
mod room;
mod surface;

use std::sync::{Mutex, MutexGuard, PoisonError};

use hullfield_oracle::fuzz::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// A lock that lets one test run at a time: the counts are of the whole program.
fn one_at_a_time() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
