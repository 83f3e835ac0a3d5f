//! Progress functions of callers.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use hullfield::{Error, Result};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;

use crate::wait::{Finish, finish};

/// A caller's progress function, which ends the work by returning False or raising, and the flag of a caller who waits no more.
pub(crate) struct Progress<'a> {
    call: Option<Py<PyAny>>,
    cancel: &'a AtomicBool,
    raised: Option<PyErr>,
}

impl<'a> Progress<'a> {
    /// Of a function that may be missing.
    pub(crate) fn new(call: Option<Py<PyAny>>, cancel: &'a AtomicBool) -> Self {
        Self { call, cancel, raised: None }
    }

    /// Tells how far the work is. Breaks where it should end.
    pub(crate) fn report(&mut self, arguments: impl for<'py> PyCallArgs<'py>) -> ControlFlow<()> {
        if self.cancel.load(Ordering::Relaxed) || self.raised.is_some() {
            return ControlFlow::Break(());
        }
        let Some(call) = &self.call else { return ControlFlow::Continue(()) };
        let answer = Python::try_attach(|py| {
            let answer = call.bind(py).call1(arguments)?;
            Ok(answer.is(pyo3::types::PyBool::new(py, false)))
        });
        match answer {
            Some(Ok(false)) => ControlFlow::Continue(()),
            // None: the interpreter is ending.
            Some(Ok(true)) | None => ControlFlow::Break(()),
            Some(Err(raised)) => {
                self.raised = Some(raised);
                ControlFlow::Break(())
            }
        }
    }

    /// The answer of the work; where the function raised, what it raised.
    pub(crate) fn finished<T>(
        self,
        answer: Result<T>,
        make: impl FnOnce(Python<'_>, T) -> PyResult<Py<PyAny>> + Send + 'static,
    ) -> Result<Finish>
    where
        T: Send + 'static,
    {
        match (answer, self.raised) {
            (Err(Error::Cancelled), Some(raised)) => Ok(finish(move |_| Err(raised))),
            (answer, _) => answer.map(|value| finish(move |py| make(py, value))),
        }
    }
}
