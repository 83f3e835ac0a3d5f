//! A room that many queries read and edits change.
//!
//! A room can't be copied cheaply, so an edit waits until the queries that were called before it have ended.

use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use hullfield::navigate::room::Room;
use pyo3::prelude::*;

use crate::error::OrRaise;

/// How often an edit that waits for queries looks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// A room, and how many queries read it.
#[derive(Debug)]
pub(crate) struct SharedRoom {
    room: RwLock<Room>,
    reader_count: Mutex<usize>,
    changed: Condvar,
}

/// A query's hold on a room, from its call to its end.
#[derive(Debug)]
pub(crate) struct Reading(Arc<SharedRoom>);

impl SharedRoom {
    pub(crate) fn new(room: Room) -> Arc<Self> {
        Arc::new(Self { room: RwLock::new(room), reader_count: Mutex::new(0), changed: Condvar::new() })
    }

    /// Holds the room as it is now. Waits for an edit that is under way; edits need no lock of the interpreter.
    pub(crate) fn read(self: &Arc<Self>) -> Reading {
        *self.readers() += 1;
        Reading(Arc::clone(self))
    }

    /// Changes the room once no query holds it.
    pub(crate) fn change<T: Send>(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut Room) -> hullfield::Result<T> + Send,
    ) -> PyResult<T> {
        let mut change = Some(change);
        loop {
            let changed = py.detach(|| {
                let readers = self.readers();
                let waited = self.changed.wait_timeout_while(readers, SIGNAL_INTERVAL, |count| *count > 0);
                let (readers, _) = waited.unwrap_or_else(PoisonError::into_inner);
                if *readers > 0 {
                    return None;
                }
                let change = change.take()?;
                Some(change(&mut self.room.write().unwrap_or_else(PoisonError::into_inner)))
            });
            match changed {
                Some(changed) => return changed.or_raise(py),
                None => py.check_signals()?,
            }
        }
    }

    fn readers(&self) -> MutexGuard<'_, usize> {
        self.reader_count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    /// The room.
    pub(crate) fn get(&self) -> impl Deref<Target = Room> + '_ {
        let guard: RwLockReadGuard<'_, Room> = self.0.room.read().unwrap_or_else(PoisonError::into_inner);
        guard
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        *self.0.readers() -= 1;
        self.0.changed.notify_all();
    }
}
