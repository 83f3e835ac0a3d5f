//! The memory of searches, kept for the next ones.

use std::sync::Mutex;

use crate::collide::broad_phase::cpu::BroadPhase;
use crate::lock::lock;

/// Searches that are kept for their memory, at most.
const LIMIT: usize = 4;

/// Searches that are over.
#[derive(Debug, Default)]
pub(crate) struct SearchPool(Mutex<Vec<BroadPhase>>);

impl SearchPool {
    /// One of them, or a new one.
    pub(crate) fn take(&self) -> BroadPhase {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Keeps one.
    pub(crate) fn give_back(&self, search: BroadPhase) {
        let mut spare = lock(&self.0);
        if spare.len() < LIMIT {
            spare.push(search);
        }
    }
}
