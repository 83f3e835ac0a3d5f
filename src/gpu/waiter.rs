//! The thread that waits for the device, one for each context. It sleeps while nothing is in flight, and holds no
//! handle of its own: the device lives as long as an engine, an arena or a frame in flight does.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, PoisonError, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use super::{context::lock, frame::Landing};
use crate::{Error, Result};

/// A submitted frame, and the channel that says when its results are mapped.
pub(crate) struct Job {
    pub(crate) index: wgpu::SubmissionIndex,
    pub(crate) arrival: mpsc::Receiver<bool>,
    pub(crate) landing: Landing,
}

/// Handle of the thread. Dropped when no frame is in flight any more, as each holds its context.
pub(crate) struct Waiter {
    line: Arc<Line>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Line {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    is_over: bool,
}

impl Waiter {
    pub(crate) fn new() -> Result<Self> {
        let line = Arc::new(Line::default());
        let seen = Arc::clone(&line);
        let thread = std::thread::Builder::new()
            .name("hullfield".to_owned())
            .spawn(move || {
                while let Some(job) = seen.next() {
                    finish(job);
                }
            })
            .map_err(|error| Error::NoDevice {
                adapter: "of the engine".to_owned(),
                message: format!("no thread to wait for it: {error}"),
            })?;
        Ok(Self { line, thread: Some(thread) })
    }

    pub(crate) fn push(&self, job: Job) {
        lock(&self.line.waiting).jobs.push_back(job);
        self.line.bell.notify_one();
    }
}

impl Line {
    /// The next job, once there is one; none when it is over.
    fn next(&self) -> Option<Job> {
        let mut waiting = lock(&self.waiting);
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                return Some(job);
            }
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
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| landing.context().device().poll(poll)));
        if polled.is_err() {
            landing.context().set_lost("waiting for it failed".to_owned());
            break false;
        }
        // Another thread's poll may have taken the callback and be about to call it.
        match arrival.recv_timeout(Duration::from_millis(20)) {
            Ok(mapped) => break mapped,
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
        if matches!(landing.context().probe(), Err(Error::DeviceLost { .. })) {
            break false;
        }
        poll = wgpu::PollType::Poll;
    };
    landing.land(arrived);
}

impl Drop for Waiter {
    fn drop(&mut self) {
        lock(&self.line.waiting).is_over = true;
        self.line.bell.notify_one();
        if let Some(thread) = self.thread.take() {
            // The last handle may go on the thread itself, which cannot wait for its own end and ends by itself.
            if thread.thread().id() != std::thread::current().id() {
                drop(thread.join());
            }
        }
    }
}
