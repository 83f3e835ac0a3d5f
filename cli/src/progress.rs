//! Progress on stderr: only on a terminal, only for work of more than a second.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes longer shows its progress.
const DELAY: Duration = Duration::from_secs(1);

/// A bar over a known number of steps.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    started: Instant,
    is_shown: bool,
}

impl Bar {
    /// A bar named `what` over `count` steps; not drawn yet.
    pub(crate) fn new(what: &'static str, count: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar:.cyan} {pos}/{len} {eta}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        Self { bar, started: Instant::now(), is_shown: false }
    }

    /// Adds `count` finished steps.
    pub(crate) fn step(&mut self, count: u64) {
        self.bar.inc(count);
        if !self.is_shown && self.started.elapsed() > DELAY {
            self.is_shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for work in stages, each with its own number of steps.
#[derive(Debug)]
pub(crate) struct StageBar {
    bar: ProgressBar,
    started: Instant,
    is_shown: bool,
}

impl StageBar {
    /// A bar that is not drawn yet.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar:.cyan} {pos}/{len}") {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), is_shown: false }
    }

    /// Sets the stage and its finished steps.
    pub(crate) fn at(&mut self, stage: &'static str, done: u64, total: u64) {
        self.bar.set_message(stage);
        self.bar.set_length(total);
        self.bar.set_position(done);
        if !self.is_shown && self.started.elapsed() > DELAY {
            self.is_shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }
}

impl Drop for StageBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A spinner for work of unknown length; it appears after a second.
#[derive(Debug)]
pub(crate) struct Spinner {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Spinner {
    /// A spinner named `what`; not drawn yet.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        use std::io::IsTerminal;
        if !std::io::stderr().is_terminal() {
            return Self { done: None, thread: None };
        }
        let what = what.into();
        let (done, finished) = channel::<()>();
        let thread = std::thread::spawn(move || {
            if finished.recv_timeout(DELAY) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner();
            bar.set_message(what);
            bar.enable_steady_tick(Duration::from_millis(100));
            let _ = finished.recv();
            bar.finish_and_clear();
        });
        Self { done: Some(done), thread: Some(thread) }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.done = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
