//! The open list of windows: a queue of buckets, each for a range of distances. The order within a bucket is not the order of the keys.
//!
//! It is a calendar queue (Brown 1988) without wrapping: keys beyond the last bucket go to an overflow list, from which the buckets are
//! refilled. An exact search that takes windows only roughly in order does more work, but finds the same (Xu, Wang, Liu, Liu, He 2015,
//! "Fast wavefront propagation for computing exact geodesic distances on meshes").
//!
//! In a first-in, first-out queue no entry of a bucket waits for entries that came after it. Otherwise entries that each push one hardly
//! further away would starve the rest.

use crate::navigate::shared::heap::Entry;

/// The number of buckets.
const BUCKET_COUNT: usize = 1024;

/// A priority queue that returns entries roughly in the order of their keys.
#[derive(Debug, Clone)]
pub(crate) struct BucketQueue {
    buckets: Vec<Vec<Entry>>,
    /// The entries of the current bucket that are taken before any that come in meanwhile.
    current_entries: Vec<Entry>,
    /// Entries beyond the last bucket.
    overflow: Vec<Entry>,
    /// The memory of buckets that are behind, for those ahead.
    spare: Vec<Vec<Entry>>,
    /// The index of the current bucket.
    current: usize,
    /// The key at which bucket 0 begins.
    first_key: f64,
    /// The reciprocal of a bucket's width.
    buckets_per_key: f64,
    count: usize,
    is_fifo: bool,
}

impl Default for BucketQueue {
    fn default() -> Self {
        Self {
            buckets: vec![Vec::new(); BUCKET_COUNT],
            current_entries: Vec::new(),
            overflow: Vec::new(),
            spare: Vec::new(),
            current: 0,
            first_key: 0.0,
            buckets_per_key: 1.0,
            count: 0,
            is_fifo: true,
        }
    }
}

impl BucketQueue {
    /// Empties the queue and sets the width of a bucket. Keys are 0 or more. With `is_fifo`, an entry that is pushed into the current
    /// bucket waits for those already there; otherwise it comes out first.
    pub(crate) fn reset(&mut self, width: f64, is_fifo: bool) {
        if self.count > 0 {
            self.buckets.iter_mut().for_each(Vec::clear);
            self.current_entries.clear();
            self.overflow.clear();
        }
        let buckets_per_key = width.recip();
        self.buckets_per_key = if buckets_per_key.is_finite() { buckets_per_key } else { 1.0 };
        (self.current, self.first_key, self.count, self.is_fifo) = (0, 0.0, 0, is_fifo);
    }

    #[inline]
    pub(crate) fn push(&mut self, key: f64, index: u32) {
        self.count += 1;
        self.insert(Entry { key, index });
    }

    #[inline]
    fn insert(&mut self, entry: Entry) {
        // A key before the current bucket goes into the current bucket. The conversion saturates for keys far ahead.
        let bucket = (((entry.key - self.first_key) * self.buckets_per_key) as usize).max(self.current);
        match self.buckets.get_mut(bucket) {
            Some(_) if bucket == self.current && !self.is_fifo => self.current_entries.push(entry),
            Some(bucket) => {
                if bucket.capacity() == 0 {
                    *bucket = self.spare.pop().unwrap_or_default();
                }
                bucket.push(entry);
            }
            None => self.overflow.push(entry),
        }
    }

    /// Takes an entry from the first bucket that has one.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        if self.count == 0 {
            return None;
        }
        loop {
            if let Some(entry) = self.current_entries.pop() {
                self.count -= 1;
                return Some(entry);
            }
            match self.buckets.get_mut(self.current) {
                Some(bucket) if !bucket.is_empty() => std::mem::swap(bucket, &mut self.current_entries),
                emptied => {
                    let emptied = emptied.map(std::mem::take).unwrap_or_default();
                    if emptied.capacity() > 0 {
                        self.spare.push(emptied);
                    }
                    self.current += 1;
                    if self.current >= BUCKET_COUNT {
                        self.refill();
                    }
                }
            }
        }
    }

    /// The distance that has been reached: no entry in the queue has a lesser key, but for those that were pushed with one.
    pub(crate) fn reached(&self) -> f64 {
        self.first_key + self.current as f64 / self.buckets_per_key
    }

    /// Refills the buckets from the overflow, beginning with its least key.
    #[cold]
    fn refill(&mut self) {
        let overflow = std::mem::take(&mut self.overflow);
        self.first_key = overflow.iter().fold(f64::INFINITY, |least, entry| least.min(entry.key));
        self.current = 0;
        overflow.into_iter().for_each(|entry| self.insert(entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_entry_starves() {
        let mut queue = BucketQueue::default();
        queue.reset(1.0, true);
        for index in 0..3 {
            queue.push(0.5, index);
        }
        let mut waited = [0; 3];
        for step in 1..100 {
            let entry = queue.pop().unwrap();
            // Hardly further away, so into the same bucket.
            queue.push(entry.key + 1e-9, entry.index);
            let since = step - std::mem::replace(&mut waited[entry.index as usize], step);
            assert!(since <= 5, "{} waited {since}", entry.index);
        }
        assert!(waited.iter().all(|&last| last > 94), "{waited:?}");
        queue.reset(1.0, true);
        assert!(queue.pop().is_none());
    }

    #[test]
    fn entries_come_out_bucket_by_bucket() {
        for width in [1e-3, 0.5, 1e9, 0.0, f64::INFINITY] {
            let mut queue = BucketQueue::default();
            queue.reset(width, true);
            let mut state = 1_u64;
            let mut left = std::collections::BTreeSet::new();
            let mut push =
                |queue: &mut BucketQueue, left: &mut std::collections::BTreeSet<u32>, at: f64, index| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    queue.push(at + (state >> 40) as f64 / 1e5, index);
                    left.insert(index);
                };
            for index in 0..500 {
                push(&mut queue, &mut left, 0.0, index);
            }
            let mut last = 0.0;
            let mut index = 500;
            while let Some(entry) = queue.pop() {
                assert!(left.remove(&entry.index));
                if width > 0.0 && width < 1e3 {
                    assert!(entry.key >= last - width, "{} after {last}, buckets of {width}", entry.key);
                }
                last = last.max(entry.key);
                if index < 1500 {
                    push(&mut queue, &mut left, entry.key, index);
                    index += 1;
                }
            }
            assert!(left.is_empty());
        }
    }
}
