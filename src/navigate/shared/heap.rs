//! The open list of a search: a 4-ary heap that keeps its memory from search to search.

/// A 4-ary min-heap of keys with an index each. Of equal keys the lowest index comes first, so that the order is the same from run to
/// run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heap {
    entries: Vec<Entry>,
}

/// A key and an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    /// The sort key; never NaN.
    pub(crate) key: f64,
    /// The caller's index.
    pub(crate) index: u32,
}

impl Entry {
    #[inline]
    fn precedes(&self, other: &Self) -> bool {
        self.key < other.key || (self.key == other.key && self.index < other.index)
    }
}

impl Heap {
    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// The least entry.
    #[inline]
    pub(crate) fn least(&self) -> Option<Entry> {
        self.entries.first().copied()
    }

    /// Adds an entry.
    #[inline]
    pub(crate) fn push(&mut self, key: f64, index: u32) {
        let entry = Entry { key, index };
        let mut at = self.entries.len();
        self.entries.push(entry);
        while at > 0 {
            let parent = (at - 1) / 4;
            if !entry.precedes(&self.entries[parent]) {
                break;
            }
            self.entries[at] = self.entries[parent];
            at = parent;
        }
        self.entries[at] = entry;
    }

    /// Removes and returns the least entry.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let last = self.entries.pop()?;
        let Some(&least) = self.entries.first() else { return Some(last) };
        let count = self.entries.len();
        let mut at = 0;
        loop {
            let child = 4 * at + 1;
            if child >= count {
                break;
            }
            let mut best = child;
            for other in child + 1..(child + 4).min(count) {
                if self.entries[other].precedes(&self.entries[best]) {
                    best = other;
                }
            }
            if !self.entries[best].precedes(&last) {
                break;
            }
            self.entries[at] = self.entries[best];
            at = best;
        }
        self.entries[at] = last;
        Some(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_out_sorted() {
        let mut heap = Heap::default();
        let mut state = 1_u64;
        for index in 0..1000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            heap.push((state >> 56) as f64, index);
        }
        let mut last = Entry { key: -1.0, index: 0 };
        let mut count = 0;
        while let Some(entry) = heap.pop() {
            assert!(last.precedes(&entry), "{last:?} {entry:?}");
            last = entry;
            count += 1;
        }
        assert_eq!(count, 1000);
    }
}
