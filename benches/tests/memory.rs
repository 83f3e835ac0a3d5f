//! The count of allocated bytes. It is of the whole process, so this program has one test: another one that runs
//! at the same time would be counted too.

#![allow(clippy::panic, reason = "a test fails by panicking")]

#[path = "../src/memory.rs"]
mod memory;

use memory::AllocationCounter;

/// More than the test's own harness allocates meanwhile.
const OTHERS: u64 = 1 << 20;

#[test]
fn current_and_peak_bytes_are_counted() {
    let counter = AllocationCounter::start();
    let kept = vec![1_u8; 1 << 24];
    drop(vec![2_u8; 1 << 26]);
    let (current, peak) = (counter.current_bytes(), counter.peak_bytes());
    assert!((1 << 24..(1 << 24) + OTHERS).contains(&current), "{current}");
    let largest = (1 << 24) + (1 << 26);
    assert!((largest..largest + OTHERS).contains(&peak), "{peak}");
    drop(kept);
}
