//! The thread that waits for the device, one for each context. It sleeps while nothing is in flight, and holds no
//! handle of its own: the device lives as long as an engine, an arena or a frame in flight does.
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

/// What waits for the results of a submitted frame.
pub(crate) trait Landing: Send + fmt::Debug {
    /// Where the frame runs.
    fn device(&self) -> &Device;

    /// Takes the results (`arrived`: they are mapped) and goes on with them.
    fn land(self: Box<Self>, arrived: bool);
}

/// A submitted frame, and the channel that says when its results are mapped.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) index: wgpu::SubmissionIndex,
    pub(crate) arrival: mpsc::Receiver<bool>,
    pub(crate) landing: Box<dyn Landing>,
}

/// Handle of the thread. Dropped when no frame is in flight any more, as each holds its context.
pub(crate) struct Waiter {
    work: Arc<Work>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Work {
    waiting: Mutex<Waiting>,
    /// Rings when there is work, or none will come.
    bell: Condvar,
    /// Rings when nothing is in flight.
    quiet: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Whether the thread has one in hand.
    is_busy: bool,
    /// Other threads that use the device in the background.
    guest_count: usize,
    /// Whether no engine is left that could ask for more.
    #[cfg(test)]
    is_closing: bool,
    is_over: bool,
}

/// Held by a thread that uses the device in the background: whoever drops the last engine waits for it.
#[derive(Debug)]
pub(crate) struct Guest(Arc<Work>);

impl Drop for Guest {
    fn drop(&mut self) {
        lock(&self.0.waiting).guest_count -= 1;
        self.0.quiet.notify_all();
    }
}

/// Set when the thread ends, whatever ended it: nobody waits for one that is gone.
struct End(Arc<Work>);

impl Drop for End {
    fn drop(&mut self) {
        let mut waiting = lock(&self.0.waiting);
        (waiting.is_over, waiting.is_busy) = (true, false);
        let jobs = std::mem::take(&mut waiting.jobs);
        drop(waiting);
        self.0.quiet.notify_all();
        // Outside of the lock: they may hold the last handle.
        drop(jobs);
    }
}

impl Waiter {
    pub(crate) fn new() -> Result<Self> {
        let work = Arc::new(Work::default());
        let seen = Arc::clone(&work);
        let thread = std::thread::Builder::new()
            .name("hullfield".to_owned())
            .spawn(move || {
                let end = End(seen);
                while let Some(job) = end.0.next() {
                    finish(job);
                }
            })
            .map_err(|error| Error::NoGpu {
                message: format!("the system gives no thread to wait for the device: {error}"),
            })?;
        Ok(Self { work, thread: Some(thread) })
    }

    pub(crate) fn push(&self, job: Job) {
        let mut waiting = lock(&self.work.waiting);
        if !waiting.is_over {
            waiting.jobs.push_back(job);
            self.work.bell.notify_one();
        }
    }

    /// Keeps the device while a thread works in the background.
    pub(crate) fn enter(&self) -> Guest {
        lock(&self.work.waiting).guest_count += 1;
        Guest(Arc::clone(&self.work))
    }

    /// Blocks until nothing is in flight any more, follow-ups that somebody still waits for included. On the thread itself,
    /// which cannot wait for its own end, it returns at once.
    pub(crate) fn drain(&self) {
        let mut waiting = lock(&self.work.waiting);
        #[cfg(test)]
        {
            waiting.is_closing = true;
        }
        if self.is_this_thread() {
            return;
        }
        let is_flying = |waiting: &Waiting| waiting.is_busy || !waiting.jobs.is_empty();
        while waiting.guest_count > 0 || !waiting.is_over && is_flying(&waiting) {
            waiting = self.work.quiet.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether [`drain`](Self::drain) has been called.
    #[cfg(test)]
    pub(crate) fn is_closing(&self) -> bool {
        lock(&self.work.waiting).is_closing
    }

    fn is_this_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.thread().id() == std::thread::current().id())
    }
}

impl Work {
    /// The next job, once there is one; none when it is over.
    fn next(&self) -> Option<Job> {
        let mut waiting = lock(&self.waiting);
        waiting.is_busy = false;
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                waiting.is_busy = true;
                return Some(job);
            }
            self.quiet.notify_all();
            if waiting.is_over {
                return None;
            }
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn finish(job: Job) {
    let Job { index, arrival, landing } = job;
    let mut poll = wgpu::PollType::Wait { submission_index: Some(index), timeout: None };
    let arrived = loop {
        // On a device that the driver has lost, wgpu's poll panics instead of returning the error.
        let polled =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| landing.device().device().poll(poll)));
        if polled.is_err() {
            landing.device().set_lost("waiting for it failed".to_owned());
            break false;
        }
        // Another thread's poll may have taken the callback and be about to call it.
        match arrival.recv_timeout(Duration::from_millis(20)) {
            Ok(mapped) => break mapped,
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if matches!(landing.device().probe(), Err(Error::DeviceLost { .. })) {
            break false;
        }
        poll = wgpu::PollType::Poll;
    };
    landing.land(arrived);
}

impl Drop for Waiter {
    fn drop(&mut self) {
        lock(&self.work.waiting).is_over = true;
        self.work.bell.notify_one();
        // The last handle may go on the thread itself, which cannot wait for its own end and ends by itself.
        if !self.is_this_thread() {
            drop(self.thread.take().map(JoinHandle::join));
        }
    }
}
