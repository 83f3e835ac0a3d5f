//! Work that runs while Python does something else.
//!
//! [`Pending`] is what every call gives that may take long. Waiting for it holds no lock of the interpreter, and looks for signals
//! twenty times a second, so that Ctrl-C ends it.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use hullfield::Error;
use pyo3::prelude::*;

use crate::error::{exception, raised};

/// How often a waiting thread looks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Makes the Python object of an answer.
pub(crate) type Finish = Box<dyn FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send>;

/// Boxes a [`Finish`].
pub(crate) fn finish(make: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>> + Send + 'static) -> Finish {
    Box::new(make)
}

type Work = Pin<Box<dyn Future<Output = hullfield::Result<Finish>> + Send>>;

enum State {
    InProgress(Work),
    /// The answer is there; the thread that has it makes its Python object.
    Finishing,
    Done(Py<PyAny>),
    Failed(Error),
    Raised(PyErr),
    Cancelled,
}

/// The answer of work that runs in the background.
#[pyclass(frozen, module = "hullfield._native")]
pub(crate) struct Pending {
    state: Mutex<State>,
    /// The process whose threads do the work.
    process: u32,
}

impl Pending {
    /// The answer of the library's work. `convert` runs without the interpreter's lock.
    pub(crate) fn of<T: Send + 'static>(
        pending: hullfield::Pending<T>,
        convert: impl FnOnce(T) -> Finish + Send + 'static,
    ) -> Self {
        Self::new(async move { pending.await.map(convert) })
    }

    /// Runs work that has no pending of its own on a thread of its own. `work` may look at the flag, and end early where it is set.
    pub(crate) fn run(work: impl FnOnce(&AtomicBool) -> hullfield::Result<Finish> + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let cancel = Arc::new(AtomicBool::new(false));
        let job = Job { shared: Arc::clone(&shared), cancel: Arc::clone(&cancel) };
        let run = move || {
            let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&cancel)));
            shared.fill(worked.unwrap_or_else(|_| {
                let message = "the work panicked".to_owned();
                Err(Error::Internal { place: "python::wait::run", message })
            }));
        };
        let builder = std::thread::Builder::new().name("hullfield call".to_owned());
        match builder.spawn(run) {
            Ok(_) => Self::new(job),
            Err(error) => {
                let (what, message) = ("a thread for the call".to_owned(), error.to_string());
                Self::new(std::future::ready(Err(Error::Io { what, message })))
            }
        }
    }

    /// The answer of the library's work where the call itself takes long: all of it on a thread of its own.
    pub(crate) fn begin<T: Send + 'static>(
        call: impl FnOnce() -> hullfield::Result<hullfield::Pending<T>> + Send + 'static,
        convert: impl FnOnce(T) -> Finish + Send + 'static,
    ) -> Self {
        Self::run(move |cancel| {
            let mut pending = std::pin::pin!(call()?);
            loop {
                let signal = Arc::new(Signal::default());
                let waker = Waker::from(Arc::clone(&signal));
                match pending.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(answer) => return answer.map(convert),
                    Poll::Pending if cancel.load(Ordering::Relaxed) => return Err(Error::Cancelled),
                    Poll::Pending => signal.wait(SIGNAL_INTERVAL),
                }
            }
        })
    }

    fn new(work: impl Future<Output = hullfield::Result<Finish>> + Send + 'static) -> Self {
        Self { state: Mutex::new(State::InProgress(Box::pin(work))), process: std::process::id() }
    }

    /// Polls once, and waits for at most `pause` for the answer. Whether the answer is there.
    fn advance(&self, py: Python<'_>, pause: Duration) -> PyResult<Option<Py<PyAny>>> {
        let is_open = |state: &State| matches!(state, State::InProgress(_) | State::Finishing);
        let is_there = || self.state.try_lock().is_ok_and(|state| !is_open(&state));
        if self.process != std::process::id() && !is_there() {
            let process = self.process;
            let message =
                format!("the work runs in process {process}, a forked process has no part of it: ask anew");
            return Err(exception(py, "ForkedError", &message));
        }
        let answer = py.detach(|| {
            let mut state = match self.state.try_lock() {
                Ok(state) => state,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    // Another thread waits for the same answer.
                    std::thread::sleep(pause.min(Duration::from_millis(2)));
                    return None;
                }
            };
            let State::InProgress(work) = &mut *state else {
                if matches!(*state, State::Finishing) {
                    drop(state);
                    std::thread::sleep(pause.min(Duration::from_millis(2)));
                }
                return None;
            };
            let signal = Arc::new(Signal::default());
            let waker = Waker::from(Arc::clone(&signal));
            let mut context = Context::from_waker(&waker);
            if let Poll::Ready(answer) = work.as_mut().poll(&mut context) {
                *state = State::Finishing;
                return Some(answer);
            }
            signal.wait(pause);
            match work.as_mut().poll(&mut context) {
                Poll::Ready(answer) => {
                    *state = State::Finishing;
                    Some(answer)
                }
                Poll::Pending => None,
            }
        });
        if let Some(answer) = answer {
            let done = match answer {
                Ok(finish) => match finish(py) {
                    Ok(object) => State::Done(object),
                    Err(error) => State::Raised(error),
                },
                Err(error) => State::Failed(error),
            };
            *self.lock() = done;
        }
        // The lock is held by a thread that waits without the interpreter's lock, so it must not be waited for here.
        let Ok(state) = self.state.try_lock() else { return Ok(None) };
        match &*state {
            State::InProgress(_) | State::Finishing => Ok(None),
            State::Done(object) => Ok(Some(object.clone_ref(py))),
            State::Failed(error) => Err(raised(py, error)),
            State::Raised(error) => Err(error.clone_ref(py)),
            State::Cancelled => Err(raised(py, &Error::Cancelled)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // A thread that the child has not may hold a lock of it for ever.
            let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
            std::mem::forget(std::mem::replace(state, State::Cancelled));
        }
    }
}

#[pymethods]
impl Pending {
    /// Waits for the answer, for at most so many seconds.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Py<PyAny>> {
        let begin = Instant::now();
        loop {
            let mut pause = SIGNAL_INTERVAL;
            if let Some(timeout) = timeout {
                let left = timeout - begin.elapsed().as_secs_f64();
                pause = pause.min(Duration::try_from_secs_f64(left.max(0.0)).unwrap_or(SIGNAL_INTERVAL));
            }
            if let Some(answer) = self.advance(py, pause)? {
                return Ok(answer);
            }
            if let Err(signal) = py.check_signals() {
                self.cancel(py);
                return Err(signal);
            }
            if timeout.is_some_and(|timeout| begin.elapsed().as_secs_f64() >= timeout) {
                let seconds = timeout.unwrap_or(0.0);
                let message = format!("no answer within {seconds} s; the work goes on, wait again");
                return Err(exception(py, "WaitTimeoutError", &message));
            }
        }
    }

    /// Whether the answer is there, or why there is none.
    fn done(&self, py: Python<'_>) -> bool {
        !matches!(self.advance(py, Duration::ZERO), Ok(None))
    }

    /// Ends the work at its next step. An answer that is there stays.
    fn cancel(&self, py: Python<'_>) {
        if self.process != std::process::id() {
            return;
        }
        py.detach(|| {
            let mut state = self.lock();
            if matches!(*state, State::InProgress(_)) {
                *state = State::Cancelled;
            }
        });
    }
}

/// Wakes a waiting thread.
#[derive(Default)]
struct Signal {
    is_woken: Mutex<bool>,
    changed: Condvar,
}

impl Signal {
    fn wait(&self, pause: Duration) {
        let is_woken = self.is_woken.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_timeout_while(is_woken, pause, |is_woken| !*is_woken));
    }
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *self.is_woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }
}

/// What a thread of [`Pending::run`] and its future share.
#[derive(Default)]
struct Shared {
    slot: Mutex<(Option<hullfield::Result<Finish>>, Option<Waker>)>,
}

impl Shared {
    fn fill(&self, answer: hullfield::Result<Finish>) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        slot.0 = Some(answer);
        let waker = slot.1.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// The future of a thread's work. Dropped, it asks the thread to end.
struct Job {
    shared: Arc<Shared>,
    cancel: Arc<AtomicBool>,
}

impl Future for Job {
    type Output = hullfield::Result<Finish>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = self.shared.slot.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.0.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                slot.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
