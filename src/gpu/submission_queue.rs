//! Encoded frames that wait to be submitted, in the order of the calls.
//!
//! Some drivers make a submission wait for the one before it (Mesa's llvmpipe does), and a submission can't be taken back. So
//! only a few frames are in flight at once, and the others wait here. No call waits for them. A frame that nobody waits for
//! any more is dropped instead of submitted.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use crate::error::{Error, Result};
use crate::lock::lock;
use crate::pending::WasmNotSend;

/// Frames in flight at once: enough that the device never waits for the host, few enough that dropping the others helps.
const MAX_IN_FLIGHT: usize = 8;
/// The same for software drivers, which run one frame after the other, on the cores that the host needs too.
const SOFTWARE_MAX_IN_FLIGHT: usize = 1;

/// A frame that may be submitted.
pub(crate) trait QueuedFrame: WasmNotSend + fmt::Debug {
    /// Whether anybody still waits for it.
    fn is_awaited(&self) -> bool;

    /// Submits it. The slot is freed when its results are on the host.
    fn submit(self: Box<Self>, slot: InFlightSlot) -> std::result::Result<(), Rejected>;
}

/// A frame that could not be submitted.
pub(crate) struct Rejected {
    pub(crate) error: Error,
    /// Whoever waits for the frame.
    pub(crate) waiting: Box<dyn OnRejection>,
}

/// Receives the error of a frame that could not be submitted.
pub(crate) trait OnRejection: WasmNotSend {
    fn reject(self: Box<Self>, error: Error);
}

/// The queue of one device.
#[derive(Debug)]
pub(crate) struct SubmissionQueue {
    state: Mutex<State>,
    /// Notified when no thread is submitting any more.
    submitted: Condvar,
    max_in_flight: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Box<dyn QueuedFrame>>,
    /// Whether a thread is submitting a frame: one at a time, so that their order stays.
    is_submitting: bool,
    /// Submitted frames whose results are not on the host yet.
    in_flight: usize,
}

/// Counts a frame as in flight: dropping it submits the next one.
#[derive(Debug)]
pub(crate) struct InFlightSlot(Arc<SubmissionQueue>);

impl Drop for InFlightSlot {
    fn drop(&mut self) {
        lock(&self.0.state).in_flight -= 1;
        self.0.submit_waiting(self.0.max_in_flight);
    }
}

/// Held by the thread that is submitting.
struct Submitting<'a>(&'a SubmissionQueue);

impl Drop for Submitting<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_submitting = false;
        self.0.submitted.notify_all();
    }
}

impl SubmissionQueue {
    pub(crate) fn new(is_software: bool) -> Arc<Self> {
        let max_in_flight = if is_software { SOFTWARE_MAX_IN_FLIGHT } else { MAX_IN_FLIGHT };
        Arc::new(Self { state: Mutex::default(), submitted: Condvar::new(), max_in_flight })
    }

    /// Submits a frame now where a slot is free and no other frame waits, else later.
    ///
    /// # Errors
    /// Those of submitting, where it was submitted now; later ones go to whoever waits for the frame.
    pub(crate) fn submit(self: &Arc<Self>, frame: Box<dyn QueuedFrame>) -> Result<()> {
        let guard = {
            let mut state = lock(&self.state);
            if !state.waiting.is_empty() || state.is_submitting || state.in_flight >= self.max_in_flight {
                state.waiting.push_back(frame);
                return Ok(());
            }
            self.begin_submission(&mut state)
        };
        let result = frame.submit(InFlightSlot(Arc::clone(self))).map_err(|rejected| rejected.error);
        drop(guard);
        self.submit_waiting(self.max_in_flight);
        result
    }

    /// Appends a frame. An error of submitting it goes to whoever waits for it.
    pub(crate) fn enqueue(self: &Arc<Self>, frame: Box<dyn QueuedFrame>) {
        lock(&self.state).waiting.push_back(frame);
        self.submit_waiting(self.max_in_flight);
    }

    /// Submits all waiting frames, however many are in flight: what the caller submits next comes after them.
    pub(crate) fn flush(self: &Arc<Self>) {
        loop {
            self.submit_waiting(usize::MAX);
            let state = lock(&self.state);
            if state.waiting.is_empty() && !state.is_submitting {
                return;
            }
            if state.is_submitting {
                drop(self.submitted.wait(state).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    fn begin_submission(&self, state: &mut State) -> Submitting<'_> {
        state.is_submitting = true;
        state.in_flight += 1;
        Submitting(self)
    }

    /// Submits waiting frames while fewer than `max_in_flight` are in flight. Where another thread is submitting already, that one
    /// goes on with them.
    fn submit_waiting(self: &Arc<Self>, max_in_flight: usize) {
        loop {
            let (frame, guard) = {
                let mut state = lock(&self.state);
                if state.is_submitting || state.in_flight >= max_in_flight {
                    return;
                }
                let Some(frame) = state.waiting.pop_front() else { return };
                (frame, self.begin_submission(&mut state))
            };
            let slot = InFlightSlot(Arc::clone(self));
            let rejected = if frame.is_awaited() {
                frame.submit(slot).err()
            } else {
                // This may drop the last handle of the device.
                drop((frame, slot));
                None
            };
            drop(guard);
            // After the guard is dropped: whoever waits may submit more.
            if let Some(Rejected { error, waiting }) = rejected {
                waiting.reject(error);
            }
        }
    }
}
