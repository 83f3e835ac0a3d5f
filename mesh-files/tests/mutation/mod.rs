//! Files with faults, and an allocator that counts what their readers take: shared with the readers of robots.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use hullfield_oracle::random::Random;

/// The system's allocator, with counts of each thread.
pub(crate) struct CountingAllocator;

thread_local! {
    static CURRENT_BYTES: Cell<i64> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<i64> = const { Cell::new(0) };
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
        count_bytes(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_bytes(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks may exist while the bytes are copied.
        count_bytes(size as i64);
        count_bytes(-(layout.size() as i64));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Calls `read`, and says how much more memory than before was held at once.
pub(crate) fn peak_of<T>(read: impl FnOnce() -> T) -> (i64, T) {
    let before = CURRENT_BYTES.get();
    PEAK_BYTES.set(before);
    let read = read();
    (PEAK_BYTES.get() - before, read)
}

/// Numbers and words that readers may stumble over.
const WORDS: [&str; 40] = [
    "0",
    "-1",
    "1",
    "2",
    "255",
    "65536",
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
    "\n",
    "\r",
    "\\\n",
    "#",
    "\0",
    "\u{feff}",
    "{}",
    "[]",
    "null",
    "\"\"",
    "true",
    "o ",
    "g ",
    "f 1 2 3\n",
    "end loop",
    "list",
    "/",
];

/// The place of a number in a text, if there is one behind `at`.
fn number_at(bytes: &[u8], at: usize) -> Option<std::ops::Range<usize>> {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let begin = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
    let end =
        begin + bytes[begin..].iter().position(|byte| !is_of_number(byte)).unwrap_or(bytes.len() - begin);
    Some(begin..end)
}

/// A line with its end.
fn line_at(bytes: &[u8], at: usize) -> std::ops::Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n' || *byte == b'\r' || *byte == b',';
    let begin = bytes[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = bytes[at..].iter().position(is_end).map_or(bytes.len(), |end| at + end + 1);
    begin..end
}

/// Changes a file in one place. `other` is a file of the same format.
pub(crate) fn mutate(random: &mut Random, bytes: &mut Vec<u8>, other: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match random.below(12) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.bits() as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..(at + 1 + random.below(16)).min(bytes.len()))),
        4 | 5 => {
            let word = WORDS[random.below(WORDS.len())];
            let place = number_at(bytes, at).unwrap_or(at..at);
            bytes.splice(place, word.bytes());
        }
        6 => {
            let word = WORDS[random.below(WORDS.len())];
            bytes.splice(at..at, word.bytes());
        }
        7 => {
            let line = line_at(bytes, at);
            let copies = bytes[line.clone()].repeat(1 + random.below(4));
            bytes.splice(line.start..line.start, copies);
        }
        8 => drop(bytes.drain(line_at(bytes, at))),
        9 => {
            let begin = random.below(other.len());
            let end = (begin + 1 + random.below(64)).min(other.len());
            let to = (at + random.below(64)).min(bytes.len());
            bytes.splice(at..to, other[begin..end].iter().copied());
        }
        10 => {
            // A count or a number of a binary file.
            let wide = [0u32, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0x7fc0_0000, 0x0100_0000, 0xffff]
                [random.below(8)];
            for (byte, new) in bytes[at..].iter_mut().zip(wide.to_le_bytes()) {
                *byte = new;
            }
        }
        _ => {
            let end = (at + 1 + random.below(64)).min(bytes.len());
            let part = bytes[at..end].repeat(1 + random.below(40));
            bytes.splice(at..at, part);
        }
    }
}
