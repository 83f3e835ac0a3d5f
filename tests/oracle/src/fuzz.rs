//! What tests of readers on files with faults share: changes of bytes, an allocator that counts, and how long they run.

#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::random::Random;

/// The system's allocator, with counts. A test program that wants counts declares it:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: hullfield_oracle::fuzz::CountingAllocator = hullfield_oracle::fuzz::CountingAllocator;
/// ```
#[derive(Debug)]
pub struct CountingAllocator;

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

fn count_allocation() {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    let _ = THREAD_ALLOCATIONS.try_with(|own| own.set(own.get() + 1));
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
        count_allocation();
        count_bytes(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count_allocation();
        count_bytes(layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_bytes(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count_allocation();
        // Both blocks may exist while the bytes are copied.
        count_bytes(size as i64);
        count_bytes(-(layout.size() as i64));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Bytes that a thread took for some work, without those that it had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    /// The most at once.
    pub peak: i64,
    /// Those that it still has, in what the work returned.
    pub kept: i64,
}

/// Does some work on this thread, and measures its memory. Without the [`CountingAllocator`] it is 0.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Bytes) {
    let before = CURRENT_BYTES.get();
    PEAK_BYTES.set(before);
    let found = work();
    (found, Bytes { peak: PEAK_BYTES.get() - before, kept: CURRENT_BYTES.get() - before })
}

/// The allocations of this thread during some work.
pub fn thread_allocations(work: impl FnOnce()) -> u64 {
    let before = THREAD_ALLOCATIONS.get();
    work();
    THREAD_ALLOCATIONS.get() - before
}

/// The allocations of all threads during some work.
pub fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    work();
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

/// For how many minutes inputs are made: `HULLFIELD_FUZZ_MINUTES`, none where it is unset.
pub fn minutes() -> Option<f64> {
    std::env::var("HULLFIELD_FUZZ_MINUTES").ok().map(|minutes| match minutes.parse() {
        Ok(minutes) => minutes,
        Err(_) => panic!("HULLFIELD_FUZZ_MINUTES is \"{minutes}\", a number expected"),
    })
}

/// Numbers and signs that readers of any text may stumble over.
pub const WORDS: [&str; 34] = [
    "0",
    "-1",
    "1",
    "2",
    "255",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "99999999999",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e308",
    "1e309",
    "-1e999",
    "1e-320",
    "nan",
    "inf",
    ".5",
    "5.",
    "+3",
    "1.5",
    " ",
    "\n",
    "\r",
    "\0",
    "\"",
    ",",
    "\u{feff}",
    "é",
    "true",
    "null",
];

/// Numbers at the ends of what fields of binary files hold.
const NUMBERS: [u64; 13] = [
    0,
    1,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    0x0100_0000,
    0x7fc0_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// The place of a number in a text, if there is one behind `at`.
fn number_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let begin = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
    let end =
        begin + bytes[begin..].iter().position(|byte| !is_of_number(byte)).unwrap_or(bytes.len() - begin);
    Some(begin..end)
}

/// A line, or a field, with its end.
fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n' || *byte == b'\r' || *byte == b',';
    let begin = bytes[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(is_end).map_or(bytes.len(), |end| at + end + 1);
    begin..end
}

/// Changes a file in one place: bits, bytes, numbers, words, lines, its end. `other` is another file of its kind, or the same; `words` are those of
/// its format, beside [`WORDS`].
pub fn mutate(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    let word = |random: &mut Random| match random.below(WORDS.len() + words.len()).checked_sub(WORDS.len()) {
        Some(own) => words[own],
        None => WORDS[random.below(WORDS.len())],
    };
    match random.below(12) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.bits() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..(at + 1 + random.below(16)).min(bytes.len()))),
        4 | 5 => {
            let place = number_at(bytes, at).unwrap_or(at..at);
            bytes.splice(place, word(random).bytes());
        }
        6 => drop(bytes.splice(at..at, word(random).bytes())),
        7 => {
            let line = line_at(bytes, at);
            let copies = bytes[line.clone()].repeat(1 + random.below(4));
            bytes.splice(line.start..line.start, copies);
        }
        8 => drop(bytes.drain(line_at(bytes, at))),
        9 if !other.is_empty() => {
            let begin = random.below(other.len());
            let end = (begin + 1 + random.below(64)).min(other.len());
            let to = (at + random.below(64)).min(bytes.len());
            bytes.splice(at..to, other[begin..end].iter().copied());
        }
        10 => {
            let number = NUMBERS[random.below(NUMBERS.len())];
            let width = [1, 2, 4, 8][random.below(4)];
            let bytes_of = if random.below(4) == 0 { number.to_be_bytes() } else { number.to_le_bytes() };
            let part = if random.below(4) == 0 { &bytes_of[8 - width..] } else { &bytes_of[..width] };
            for (byte, new) in bytes[at..].iter_mut().zip(part) {
                *byte = *new;
            }
        }
        _ => {
            let end = (at + 1 + random.below(64)).min(bytes.len());
            let part = bytes[at..end].repeat(1 + random.below(40));
            bytes.splice(at..at, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of change happens, and none leaves a file as it was for ever.
    #[test]
    fn files_are_changed_in_many_ways() {
        let mut random = Random::new(5);
        let file = b"a,b\n1.5,2\n3,-4e1\n".to_vec();
        let mut seen = std::collections::BTreeSet::new();
        let (mut longer, mut shorter) = (0, 0);
        for _ in 0..2_000 {
            let mut bytes = file.clone();
            mutate(&mut random, &mut bytes, b"x,y\n", &["of its own"]);
            longer += usize::from(bytes.len() > file.len());
            shorter += usize::from(bytes.len() < file.len());
            seen.insert(bytes);
        }
        assert!(seen.len() > 1_000 && longer > 300 && shorter > 300, "{} {longer} {shorter}", seen.len());
        assert!(seen.iter().any(|bytes| String::from_utf8_lossy(bytes).contains("of its own")));
        mutate(&mut random, &mut Vec::new(), &[], &[]);
    }

    /// Without the allocator nothing is counted.
    #[test]
    fn memory_is_counted_by_the_allocator_alone() {
        let (held, bytes) = measured(|| vec![1_u8; 1000]);
        assert_eq!((held.len(), bytes), (1000, Bytes { peak: 0, kept: 0 }));
    }
}
