//! What a child process may still use after `fork`.
//!
//! A child has none of its parent's threads, and no right to its GPU device. The library makes the CPU's threads anew; a device cannot
//! be made anew behind a handle, so its handles are refused in the child, and never dropped there: dropping would wait for the device.

use std::sync::Arc;

use hullfield::{Backend, Engine};
use pyo3::prelude::*;

use crate::error::exception;

/// A handle that belongs to the process that made it where it holds a GPU device.
pub(crate) struct Owned<T> {
    value: Arc<T>,
    /// The process, for handles of a GPU.
    process: Option<u32>,
}

impl<T> Owned<T> {
    /// A handle of an engine.
    pub(crate) fn new(value: T, engine: &Engine) -> Self {
        let process = (engine.backend() == Backend::Gpu).then(std::process::id);
        Self { value: Arc::new(value), process }
    }

    /// The handle, for calls that may use the device.
    ///
    /// # Errors
    /// In a child process of the one that made it, for a GPU.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<&Arc<T>> {
        match self.process {
            Some(process) if process != std::process::id() => {
                let message = format!(
                    "this handle holds a GPU device of process {process}, which a forked process can't use: \
                     make the engine after the fork, or start processes by spawn"
                );
                Err(exception(py, "ForkedError", &message))
            }
            _ => Ok(&self.value),
        }
    }

    /// The handle, for what reads no device: numbers that it holds on the host.
    pub(crate) fn host(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        if self.process.is_some_and(|process| process != std::process::id()) {
            // One more owner, who never lets go.
            std::mem::forget(Arc::clone(&self.value));
        }
    }
}
