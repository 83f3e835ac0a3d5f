//! Submits frames and passes their results on.

use std::sync::Arc;

use web_time::Instant;

use crate::error::{Error, Result};
use crate::gpu::context::Context;
use crate::gpu::device::Faults;
use crate::gpu::frame::{EncodedFrame, Frame};
use crate::gpu::pool::PooledBuffer;
use crate::gpu::readback::Results;
use crate::gpu::submission_queue::{InFlightSlot, OnRejection, QueuedFrame, Rejected};
use crate::gpu::timing::{FrameTimes, Timer, milliseconds};
use crate::observe::Scope;
use crate::pending::{Pending, Promise, WasmNotSend, guard};

/// What comes after a frame: the answer, or one more frame.
pub(crate) enum Next<T> {
    /// The answer.
    Answer(T),
    /// One more frame, and what to do with its results.
    Frame(Box<Frame>, Box<dyn Then<T>>),
    /// The results of a frame that was [submitted ahead](Frame::submit_ahead), and what to do with them.
    Ahead(Box<Pending<Results>>, Box<dyn Then<T>>),
}

/// What is done with the results of a frame.
pub(crate) trait Then<T>: WasmNotSend {
    fn run(self: Box<Self>, results: Results) -> Result<Next<T>>;
}

impl<T, F: FnOnce(Results) -> Result<Next<T>> + WasmNotSend> Then<T> for F {
    fn run(self: Box<Self>, results: Results) -> Result<Next<T>> {
        self(results)
    }
}

impl<T> Next<T> {
    /// One more frame first; `then` gets its results.
    pub(crate) fn frame(
        frame: Frame,
        then: impl FnOnce(Results) -> Result<Self> + WasmNotSend + 'static,
    ) -> Self {
        Self::Frame(Box::new(frame), Box::new(then))
    }

    /// First the results of a frame that was submitted ahead, which `then` gets.
    pub(crate) fn ahead(
        results: Pending<Results>,
        then: impl FnOnce(Results) -> Result<Self> + WasmNotSend + 'static,
    ) -> Self {
        Self::Ahead(Box::new(results), Box::new(then))
    }
}

impl<T: WasmNotSend + 'static> Next<T> {
    /// Starts it.
    ///
    /// # Errors
    /// What went wrong before the device took the work.
    pub(crate) fn start(self) -> Result<Pending<T>> {
        match self {
            Self::Answer(answer) => Ok(Pending::ready(answer)),
            Self::Frame(frame, then) => frame.submit(|results| then.run(results)),
            Self::Ahead(results, then) => {
                let (promise, pending) = Pending::channel();
                Awaited { then, promise, scope: Scope::here() }.run_with(*results);
                Ok(pending)
            }
        }
    }
}

impl Frame {
    /// Submits the frame and its readbacks, or queues it in the [submission queue](crate::gpu::submission_queue).
    ///
    /// `then` runs once the results are on the host: on the engine's thread, or in a browser in the callback. It makes the
    /// answer or asks for one more frame. A queued frame whose [`Pending`] was dropped is not submitted, and `then` does not
    /// run.
    ///
    /// # Errors
    /// What went wrong before the device took the work; everything later comes out of the [`Pending`].
    pub(crate) fn submit<T: WasmNotSend + 'static>(
        self,
        then: impl FnOnce(Results) -> Result<Next<T>> + WasmNotSend + 'static,
    ) -> Result<Pending<T>> {
        let (promise, pending) = Pending::channel();
        self.submit_then(Box::new(Awaited { then: Box::new(then), promise, scope: Scope::here() }))?;
        Ok(pending)
    }

    /// Submits or queues a frame whose results somebody asks for later, by [`Next::ahead`]. Meanwhile the device need not wait for
    /// what the host does with the results of other frames. Dropping the pending drops the frame.
    ///
    /// # Errors
    /// What went wrong before the device took the work.
    pub(crate) fn submit_ahead(self) -> Result<Pending<Results>> {
        self.submit(|results| Ok(Next::Answer(results)))
    }

    /// Submits or queues a frame that leaves its results on the device. It always runs, and before every frame that is
    /// submitted later, so nobody need wait for it. Errors come out of a later call.
    ///
    /// # Errors
    /// What went wrong before the device took the work.
    pub(crate) fn send(self) -> Result<()> {
        let faults = Arc::clone(self.context().faults());
        self.submit_then(Box::new(Detached { faults }))
    }

    fn submit_then(self, continuation: Box<dyn Continuation>) -> Result<()> {
        let encoded = self.encode()?;
        let queue = Arc::clone(encoded.context.submission_queue());
        queue.submit(Box::new(ReadyFrame { encoded, continuation }))
    }
}

/// A frame that may be submitted, and what comes after it.
struct ReadyFrame {
    encoded: EncodedFrame,
    continuation: Box<dyn Continuation>,
}

impl QueuedFrame for ReadyFrame {
    fn is_awaited(&self) -> bool {
        self.continuation.is_awaited()
    }

    fn submit(self: Box<Self>, slot: InFlightSlot) -> Result<(), Rejected> {
        let Self { encoded, continuation } = *self;
        let EncodedFrame { context, commands, kept, staging, readback, mapped_bytes, timer, times } = encoded;
        // Some drivers do the work inside of the submission.
        let clock = Instant::now();
        let signal = MapSignal::default();
        let submitted = context.scoped(|| {
            let [uploads, work] = commands;
            staging.unmap(&work);
            work.map_buffer_on_submit(readback.raw(), wgpu::MapMode::Read, ..mapped_bytes, signal.callback());
            context.queue().submit([uploads, work])
        });
        let index = match submitted {
            Ok(index) => index,
            Err(error) => {
                // It may be mapped, or about to be.
                readback.discard();
                return Err(Rejected { error, waiting: Box::new(Rejection(continuation)) });
            }
        };
        context.account().submissions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let frame =
            InFlightFrame { slot, context, readback, mapped_bytes, kept, timer, clock, times, continuation };
        signal.complete_later(index, frame);
        Ok(())
    }
}

impl std::fmt::Debug for ReadyFrame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ReadyFrame").field("is_awaited", &self.is_awaited()).finish_non_exhaustive()
    }
}

/// Gives the error of a rejected frame to its continuation.
struct Rejection(Box<dyn Continuation>);

impl OnRejection for Rejection {
    fn reject(self: Box<Self>, error: Error) {
        self.0.run(Err(error));
    }
}

/// A submitted frame: what its results need when they arrive.
struct InFlightFrame {
    slot: InFlightSlot,
    context: Context,
    readback: PooledBuffer,
    mapped_bytes: u64,
    kept: Vec<Arc<PooledBuffer>>,
    timer: Option<(Timer, Option<u64>)>,
    clock: Instant,
    times: FrameTimes,
    continuation: Box<dyn Continuation>,
}

impl std::fmt::Debug for InFlightFrame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("InFlightFrame").field("times", &self.times).finish_non_exhaustive()
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl crate::gpu::waiter::InFlight for InFlightFrame {
    fn device(&self) -> &crate::gpu::device::Device {
        &self.context
    }

    fn complete(self: Box<Self>, is_mapped: bool) {
        Self::complete(*self, is_mapped);
    }
}

impl InFlightFrame {
    /// Passes the results to the continuation. `is_mapped`: whether the readback buffer could be mapped.
    fn complete(self, is_mapped: bool) {
        let Self { slot, context, readback, mapped_bytes, kept, timer, clock, mut times, continuation } =
            self;
        // First the device gets its next frame.
        drop(slot);
        if !continuation.is_awaited() {
            drop((kept, continuation));
            if let Some((timer, _)) = timer {
                context.timers().give(timer);
            }
            return match context.guarded(|| readback.raw().unmap()) {
                Ok(()) if is_mapped => drop(readback),
                _ => readback.discard(),
            };
        }
        let view = if is_mapped { readback.raw().get_mapped_range(..mapped_bytes).ok() } else { None };
        let results = match (context.check(), view) {
            (Err(error), view) => {
                drop((view, kept, timer));
                readback.discard();
                Err(error)
            }
            (Ok(()), None) => {
                drop((kept, timer));
                readback.discard();
                Err(context
                    .diagnose(Error::internal("gpu::submit::complete", "the results could not be mapped")))
            }
            (Ok(()), Some(view)) => {
                times.round_trip_ms = milliseconds(clock);
                if let Some((timer, at)) = timer {
                    times.kernels_ms = at.and_then(|at| {
                        let stamp = |at: u64| {
                            let bytes = view.get(at as usize..at as usize + 8)?;
                            Some(u64::from_le_bytes(bytes.try_into().ok()?))
                        };
                        context.timers().milliseconds(stamp(at)?, stamp(at + 8)?)
                    });
                    context.timers().give(timer);
                }
                Ok(Results::new(context.clone(), readback, view, kept, times))
            }
        };
        // This may be the last handle of the context. Drop it before the answer is out: then an engine that its user drops
        // on receiving the answer is taken down on the user's thread, not on this one.
        drop(context);
        continuation.run(results);
    }
}

/// Runs when the results of a frame are on the host.
trait Continuation: WasmNotSend {
    /// Whether anybody still waits for it.
    fn is_awaited(&self) -> bool;
    fn run(self: Box<Self>, results: Result<Results>);
}

/// Passes the results to `then`, and what `then` makes of them to the [`Pending`].
struct Awaited<T: 'static> {
    then: Box<dyn Then<T>>,
    promise: Promise<T>,
    scope: Scope,
}

impl<T: WasmNotSend + 'static> Continuation for Awaited<T> {
    fn is_awaited(&self) -> bool {
        self.promise.is_awaited()
    }

    fn run(self: Box<Self>, results: Result<Results>) {
        let Self { then, promise, scope } = *self;
        match guard(|| scope.run(|| then.run(results?))) {
            Ok(Next::Answer(answer)) => promise.resolve(Ok(answer)),
            Ok(Next::Frame(frame, then)) => match frame.encode() {
                Ok(encoded) => {
                    let queue = Arc::clone(encoded.context.submission_queue());
                    queue.enqueue(Box::new(ReadyFrame {
                        encoded,
                        continuation: Box::new(Self { then, promise, scope }),
                    }));
                }
                Err(error) => promise.resolve(Err(error)),
            },
            Ok(Next::Ahead(results, then)) => Self { then, promise, scope }.run_with(*results),
            Err(error) => promise.resolve(Err(error)),
        }
    }
}

impl<T: WasmNotSend + 'static> Awaited<T> {
    /// Runs with the results of a frame that was submitted ahead, as soon as they are there.
    fn run_with(self, results: Pending<Results>) {
        if self.promise.needs(&results) {
            results.then(move |results| {
                if self.is_awaited() {
                    Box::new(self).run(results);
                }
            });
        }
    }
}

/// For a frame that runs though nobody waits for it: an error is kept for a later call.
struct Detached {
    faults: Arc<Faults>,
}

impl Continuation for Detached {
    fn is_awaited(&self) -> bool {
        true
    }

    fn run(self: Box<Self>, results: Result<Results>) {
        if let Err(error) = results {
            self.faults.note(error);
        }
    }
}

/// Signals that the readback buffer of a frame is mapped. Natively a channel, which the engine's thread reads.
#[cfg(not(target_arch = "wasm32"))]
struct MapSignal {
    sender: std::sync::mpsc::Sender<bool>,
    receiver: std::sync::mpsc::Receiver<bool>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Default for MapSignal {
    fn default() -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        Self { sender, receiver }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl MapSignal {
    fn callback(&self) -> impl FnOnce(Result<(), wgpu::BufferAsyncError>) + WasmNotSend + use<> {
        let sender = self.sender.clone();
        move |mapped| {
            // The receiver is gone where nobody waits any more.
            let _ = sender.send(mapped.is_ok());
        }
    }

    fn complete_later(self, index: wgpu::SubmissionIndex, frame: InFlightFrame) {
        // The callback now holds the only sender: where it is dropped uncalled, the wait ends.
        drop(self.sender);
        let context = frame.context.clone();
        context.waiter().push(crate::gpu::waiter::SubmittedFrame {
            index,
            mapped: self.receiver,
            frame: Box::new(frame),
        });
    }
}

/// Signals that the readback buffer of a frame is mapped. In a browser whichever comes last, the callback or the frame,
/// passes the results on.
#[cfg(target_arch = "wasm32")]
#[derive(Default)]
struct MapSignal {
    state: std::rc::Rc<std::cell::RefCell<MapState>>,
}

#[cfg(target_arch = "wasm32")]
#[derive(Default)]
struct MapState {
    mapped: Option<bool>,
    frame: Option<InFlightFrame>,
}

#[cfg(target_arch = "wasm32")]
impl MapSignal {
    fn callback(&self) -> impl FnOnce(Result<(), wgpu::BufferAsyncError>) + WasmNotSend + use<> {
        let state = std::rc::Rc::clone(&self.state);
        move |mapped| {
            let mut guard = state.borrow_mut();
            guard.mapped = Some(mapped.is_ok());
            let frame = guard.frame.take();
            drop(guard);
            if let Some(frame) = frame {
                frame.complete(mapped.is_ok());
            }
        }
    }

    fn complete_later(self, _: wgpu::SubmissionIndex, frame: InFlightFrame) {
        let mapped = self.state.borrow().mapped;
        match mapped {
            Some(mapped) => frame.complete(mapped),
            None => self.state.borrow_mut().frame = Some(frame),
        }
    }
}
