//! The thread that waits for the device, one for each context. It sleeps while no frame is in flight, and holds no handle
//! of its own: the device lives as long as an engine, an arena or a frame in flight.
//!
//! A driver must not be taken down by this thread while the main thread runs the exit handlers of the process, which may
//! belong to libraries that are just being unloaded. So whoever drops the last engine waits for what is in flight.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Condvar, Mutex, PoisonError, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use crate::error::{Error, Result};
use crate::gpu::device::Device;
use crate::lock::lock;

/// A submitted frame whose results are not on the host yet.
pub(crate) trait InFlight: Send + fmt::Debug {
    /// Where the frame runs.
    fn device(&self) -> &Device;

    /// Passes the results on. `is_mapped`: whether the readback buffer could be mapped.
    fn complete(self: Box<Self>, is_mapped: bool);
}

/// A submitted frame, and the channel that says when its results are mapped.
#[derive(Debug)]
pub(crate) struct SubmittedFrame {
    pub(crate) index: wgpu::SubmissionIndex,
    pub(crate) mapped: mpsc::Receiver<bool>,
    pub(crate) frame: Box<dyn InFlight>,
}

/// Handle of the thread. Dropped when no frame is in flight any more, as each holds its context.
pub(crate) struct Waiter {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Notified when a frame is added, or none will come any more.
    wake: Condvar,
    /// Notified when no frame is in flight and no other thread uses the device.
    idle: Condvar,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<SubmittedFrame>,
    /// Whether the thread is waiting for a frame that it took from `frames`.
    is_busy: bool,
    /// Other threads that use the device in the background.
    user_count: usize,
    /// Whether no engine is left that could ask for more.
    #[cfg(test)]
    is_closing: bool,
    is_over: bool,
}

/// Held by another thread that uses the device in the background: whoever drops the last engine waits for it.
#[derive(Debug)]
pub(crate) struct DeviceUser(Arc<Shared>);

impl Drop for DeviceUser {
    fn drop(&mut self) {
        lock(&self.0.state).user_count -= 1;
        self.0.idle.notify_all();
    }
}

/// Runs when the thread ends, even by a panic, so that nobody waits for a thread that is gone.
struct ThreadEnd(Arc<Shared>);

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        (state.is_over, state.is_busy) = (true, false);
        let frames = std::mem::take(&mut state.frames);
        drop(state);
        self.0.idle.notify_all();
        // Outside of the lock: a frame may hold the last handle.
        drop(frames);
    }
}

impl Waiter {
    pub(crate) fn new() -> Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread_shared = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hullfield".to_owned())
            .spawn(move || {
                let end = ThreadEnd(thread_shared);
                while let Some(frame) = end.0.next() {
                    wait_for(frame);
                }
            })
            .map_err(|error| Error::NoGpu {
                message: format!("the system gives no thread to wait for the device: {error}"),
            })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    pub(crate) fn push(&self, frame: SubmittedFrame) {
        let mut state = lock(&self.shared.state);
        if !state.is_over {
            state.frames.push_back(frame);
            self.shared.wake.notify_one();
        }
    }

    /// Keeps the device while a thread works in the background.
    pub(crate) fn add_user(&self) -> DeviceUser {
        lock(&self.shared.state).user_count += 1;
        DeviceUser(Arc::clone(&self.shared))
    }

    /// Blocks until nothing is in flight any more, follow-ups that somebody still waits for included. On the thread itself,
    /// which cannot wait for its own end, it returns at once.
    pub(crate) fn drain(&self) {
        let mut state = lock(&self.shared.state);
        #[cfg(test)]
        {
            state.is_closing = true;
        }
        if self.is_this_thread() {
            return;
        }
        let is_in_flight = |state: &State| state.is_busy || !state.frames.is_empty();
        while state.user_count > 0 || !state.is_over && is_in_flight(&state) {
            state = self.shared.idle.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether [`drain`](Self::drain) has been called.
    #[cfg(test)]
    pub(crate) fn is_closing(&self) -> bool {
        lock(&self.shared.state).is_closing
    }

    fn is_this_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.thread().id() == std::thread::current().id())
    }
}

impl Shared {
    /// The next frame, once there is one; none when it is over.
    fn next(&self) -> Option<SubmittedFrame> {
        let mut state = lock(&self.state);
        state.is_busy = false;
        loop {
            if let Some(frame) = state.frames.pop_front() {
                state.is_busy = true;
                return Some(frame);
            }
            self.idle.notify_all();
            if state.is_over {
                return None;
            }
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn wait_for(frame: SubmittedFrame) {
    let SubmittedFrame { index, mapped, frame } = frame;
    let mut poll = wgpu::PollType::Wait { submission_index: Some(index), timeout: None };
    let is_mapped = loop {
        // On a device that the driver has lost, wgpu's poll panics instead of returning the error.
        let polled =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| frame.device().device().poll(poll)));
        if polled.is_err() {
            frame.device().set_lost("waiting for it failed".to_owned());
            break false;
        }
        // Another thread's poll may have taken the callback and be about to call it.
        match mapped.recv_timeout(Duration::from_millis(20)) {
            Ok(mapped) => break mapped,
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if matches!(frame.device().probe(), Err(Error::DeviceLost { .. })) {
            break false;
        }
        poll = wgpu::PollType::Poll;
    };
    frame.complete(is_mapped);
}

impl Drop for Waiter {
    fn drop(&mut self) {
        lock(&self.shared.state).is_over = true;
        self.shared.wake.notify_one();
        // The last handle may go on the thread itself, which cannot wait for its own end and ends by itself.
        if !self.is_this_thread() {
            drop(self.thread.take().map(JoinHandle::join));
        }
    }
}
