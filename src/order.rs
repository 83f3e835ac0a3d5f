//! Sorts that many places share, compiled once: a sort of the standard library is some 3 kB of code for each type and each comparison.

use std::cmp::Ordering;

/// Sorts ids by what they name; equal ones keep their order.
pub(crate) fn sort_ids(ids: &mut [u32], compare: &dyn Fn(u32, u32) -> Ordering) {
    ids.sort_by(|&a, &b| compare(a, b));
}

/// Sorts pairs of ids.
pub(crate) fn sort_pairs(pairs: &mut [[u32; 2]]) {
    // One comparison of integers for two.
    pairs.sort_unstable_by_key(|&[a, b]| u64::from(a) << 32 | u64::from(b));
}
