//! Frames that are ready, in the order of the calls, until the device may have them.
//!
//! Some drivers make a submission wait for the one before it (Mesa's llvmpipe does), and what a device has been given can't
//! be taken back. So only a few frames are on the device at once, and the others wait here: no call waits for them, and those
//! that nobody waits for any more are dropped when their turn comes.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Condvar, Mutex, PoisonError},
};

use crate::error::{Error, Result};
use crate::lock::lock;
use crate::pending::MaySend;

/// Frames on the device at once: enough that it never waits for the host, few enough that dropping the others helps.
const DEPTH: usize = 8;
/// The same of software drivers, which work off one after the other, on the cores that the host needs too.
const SOFTWARE_DEPTH: usize = 1;

/// A frame that may be submitted.
pub(crate) trait Launch: MaySend + fmt::Debug {
    /// Whether anybody wants it done.
    fn is_awaited(&self) -> bool;

    /// Submits it. The place is given up when its results arrive.
    fn submit(self: Box<Self>, seat: Seat) -> std::result::Result<(), Refused>;
}

/// A frame that the device did not take.
pub(crate) struct Refused {
    pub(crate) error: Error,
    /// Tells whoever waits for the frame.
    pub(crate) tell: Box<dyn Tell>,
}

/// Hears why a frame was refused.
pub(crate) trait Tell: MaySend {
    fn tell(self: Box<Self>, error: Error);
}

/// The line of one device.
#[derive(Debug)]
pub(crate) struct Line {
    state: Mutex<State>,
    /// Rings when nobody is submitting any more.
    turn: Condvar,
    depth: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Box<dyn Launch>>,
    /// Whether a thread is handing a frame to the driver: one at a time, so that their order stays.
    is_submitting: bool,
    /// Frames on the device whose results have not arrived.
    in_flight: usize,
}

/// The place of a frame on the device: dropping it lets the next one in.
#[derive(Debug)]
pub(crate) struct Seat(Arc<Line>);

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.0.state).in_flight -= 1;
        self.0.advance(self.0.depth);
    }
}

/// Held by the thread that is submitting.
struct Turn<'a>(&'a Line);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_submitting = false;
        self.0.turn.notify_all();
    }
}

impl Line {
    pub(crate) fn new(is_software: bool) -> Arc<Self> {
        let depth = if is_software { SOFTWARE_DEPTH } else { DEPTH };
        Arc::new(Self { state: Mutex::default(), turn: Condvar::new(), depth })
    }

    /// Takes a frame: submitted here and now where the device may have it, else when its turn comes.
    ///
    /// # Errors
    /// Those of submitting, where it was submitted here; later ones go to whoever waits.
    pub(crate) fn send(self: &Arc<Self>, launch: Box<dyn Launch>) -> Result<()> {
        let turn = {
            let mut state = lock(&self.state);
            if !state.waiting.is_empty() || state.is_submitting || state.in_flight >= self.depth {
                state.waiting.push_back(launch);
                return Ok(());
            }
            self.begin(&mut state)
        };
        let sent = launch.submit(Seat(Arc::clone(self))).map_err(|refused| refused.error);
        drop(turn);
        self.advance(self.depth);
        sent
    }

    /// Puts a frame in line. What goes wrong later goes to whoever waits for it.
    pub(crate) fn queue(self: &Arc<Self>, launch: Box<dyn Launch>) {
        lock(&self.state).waiting.push_back(launch);
        self.advance(self.depth);
    }

    /// Submits all that waits, whatever is on the device: what the caller submits next comes after it.
    pub(crate) fn flush(self: &Arc<Self>) {
        loop {
            self.advance(usize::MAX);
            let state = lock(&self.state);
            if state.waiting.is_empty() && !state.is_submitting {
                return;
            }
            if state.is_submitting {
                drop(self.turn.wait(state).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    fn begin(&self, state: &mut State) -> Turn<'_> {
        state.is_submitting = true;
        state.in_flight += 1;
        Turn(self)
    }

    /// Submits what waits, as long as fewer than `depth` frames are on the device. Whoever is submitting already goes on with
    /// what has come meanwhile.
    fn advance(self: &Arc<Self>, depth: usize) {
        loop {
            let (launch, turn) = {
                let mut state = lock(&self.state);
                if state.is_submitting || state.in_flight >= depth {
                    return;
                }
                let Some(launch) = state.waiting.pop_front() else { return };
                (launch, self.begin(&mut state))
            };
            let seat = Seat(Arc::clone(self));
            let refused = if launch.is_awaited() {
                launch.submit(seat).err()
            } else {
                // The last handle of what it holds may go here.
                drop((launch, seat));
                None
            };
            drop(turn);
            // Not during the turn: nobody knows what whoever waits does next.
            if let Some(Refused { error, tell }) = refused {
                tell.tell(error);
            }
        }
    }
}
