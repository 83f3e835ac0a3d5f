//! Mutexes of plain data.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex; a panic under it elsewhere leaves plain data behind, which stays usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
