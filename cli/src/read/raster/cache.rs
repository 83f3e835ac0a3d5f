//! Decoded chunks of a file that were used last.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Chunks by their numbers, up to a number of bytes. Where room is short those go that nobody has used for longest.
#[derive(Debug)]
pub(super) struct ChunkCache {
    limit_bytes: u64,
    chunks: Mutex<Chunks>,
}

#[derive(Debug, Default)]
struct Chunks {
    /// The bytes of a chunk, and when it was used last.
    by_number: HashMap<u32, (Arc<Vec<u8>>, u64)>,
    by_use: BTreeMap<u64, u32>,
    bytes: u64,
    use_count: u64,
}

impl ChunkCache {
    pub(super) fn new(limit_bytes: u64) -> Self {
        Self { limit_bytes, chunks: Mutex::default() }
    }

    fn chunks(&self) -> MutexGuard<'_, Chunks> {
        self.chunks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A chunk that is kept.
    pub(super) fn find(&self, number: u32) -> Option<Arc<Vec<u8>>> {
        self.chunks().find(number)
    }

    /// Keeps a chunk, unless it is larger than all that may be kept.
    pub(super) fn keep(&self, number: u32, chunk: &Arc<Vec<u8>>) {
        self.chunks().keep(number, chunk, self.limit_bytes);
    }
}

impl Chunks {
    fn find(&mut self, number: u32) -> Option<Arc<Vec<u8>>> {
        self.use_count += 1;
        let (chunk, last) = self.by_number.get_mut(&number)?;
        self.by_use.remove(last);
        *last = self.use_count;
        self.by_use.insert(*last, number);
        Some(Arc::clone(chunk))
    }

    fn keep(&mut self, number: u32, chunk: &Arc<Vec<u8>>, limit_bytes: u64) {
        let bytes = chunk.len() as u64;
        if bytes > limit_bytes || self.by_number.contains_key(&number) {
            return;
        }
        while self.bytes + bytes > limit_bytes
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            if let Some((chunk, _)) = self.by_number.remove(&oldest) {
                self.bytes -= chunk.len() as u64;
            }
        }
        self.use_count += 1;
        self.bytes += bytes;
        self.by_number.insert(number, (Arc::clone(chunk), self.use_count));
        self.by_use.insert(self.use_count, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunk_unused_for_longest_goes() {
        let cache = ChunkCache::new(30);
        let mut made = Vec::new();
        for number in [1, 2, 3, 1, 4, 1, 2, 3, 3] {
            if cache.find(number).is_none() {
                made.push(number);
                cache.keep(number, &Arc::new(vec![number as u8; 10]));
            }
            assert_eq!(*cache.find(number).unwrap(), [number as u8; 10]);
        }
        // 4 takes the room of 2, 2 that of 3, 3 that of 4.
        assert_eq!(made, [1, 2, 3, 4, 2, 3]);
        // What is larger than all is not kept.
        cache.keep(8, &Arc::new(vec![0; 31]));
        assert!(cache.find(8).is_none());
        assert_eq!(cache.chunks().bytes, 30);
    }
}
