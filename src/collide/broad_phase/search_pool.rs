//! Finished searches, kept for their memory.

use std::sync::Mutex;

use crate::collide::broad_phase::cpu::BroadPhase;
use crate::lock::lock;

/// Most searches that are kept.
const LIMIT: usize = 4;

/// Finished searches.
#[derive(Debug, Default)]
pub(crate) struct SearchPool(Mutex<Vec<BroadPhase>>);

impl SearchPool {
    /// Takes one, or makes a new one.
    pub(crate) fn take(&self) -> BroadPhase {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Keeps a finished search.
    pub(crate) fn give_back(&self, mut search: BroadPhase) {
        search.release();
        let mut spare = lock(&self.0);
        if spare.len() < LIMIT {
            spare.push(search);
        }
    }
}
