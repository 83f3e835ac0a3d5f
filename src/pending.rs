//! Answers of work that runs in the background.

use std::{
    any::Any,
    fmt,
    future::Future,
    marker::PhantomData,
    pin::Pin,
    sync::{Arc, Mutex, Weak},
    task::{Context, Poll, Waker},
};

use crate::error::{Error, Location, Result};
use crate::lock::lock;

/// The answer of work that runs in the background. The work has been started already.
///
/// It is a [`Future`] for any executor. The work goes on whether or not anybody polls: natively the engine's own threads do it,
/// in a browser the browser does. Without an executor, call [`wait`](Self::wait).
///
/// Dropping it is harmless and cancels the work at its next step. Work that waits is not begun. Work that runs ends after its
/// current part: on a GPU what is submitted already (one submission on a software driver, at most eight on others), on the CPU
/// some thousand pairs or one level of a field. Then its memory is freed. What a handle does for itself, such as uploading a
/// scene or moving agents, has no `Pending` and is always done.
///
/// Polled again after it gave its answer, it returns [`Error::Invalid`].
///
/// # When a call blocks
/// A call that returns a `Pending` checks its input, copies it and queues the work. It does not wait for the device or for
/// other work. These take time in the call itself:
///
/// - on a GPU, the first query of a kind builds its pipelines: up to some seconds on software drivers, less elsewhere.
///   [`Arena::prepare`](crate::collide::Arena::prepare) and [`Flow::prepare`](crate::flow::Flow::prepare) build them beforehand,
///   in the background. A call that needs a pipeline which is being built waits for it.
/// - on a GPU, device memory is allocated and mapped when a job is larger than those before it.
/// - [`Engine::from_device`](crate::Engine::from_device) waits for the self-test of the device, but in a browser.
/// - on a device that the caller uses too ([`Engine::from_device`](crate::Engine::from_device),
///   [`Engine::device`](crate::Engine::device)), a call that encodes into the caller's encoder and a call that moves agents
///   first submit all queued work, so that the queue's order is the order of the calls. Some software drivers make every
///   submission wait for the one before it, the caller's own included.
/// - on the CPU engine, a call from within a thread pool of rayon does the work in that pool and returns when it is done. So
///   does every call without the feature `threads`.
#[must_use = "the answer comes from waiting for it"]
pub struct Pending<T> {
    state: State<T>,
}

enum State<T> {
    Ready(Result<T>),
    InProgress(Arc<Slot>, Arc<Listener>),
    Taken,
}

/// What may go to another thread; in a browser, where all work is done on one thread, anything.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) trait WasmNotSend: Send {}
#[cfg(not(target_arch = "wasm32"))]
impl<T: Send> WasmNotSend for T {}
/// What may go to another thread; in a browser, where all work is done on one thread, anything.
#[cfg(target_arch = "wasm32")]
pub(crate) trait WasmNotSend {}
#[cfg(target_arch = "wasm32")]
impl<T> WasmNotSend for T {}

/// An answer of any type. What keeps answers and hands them on knows no more, so it is compiled once, not once for each type.
#[cfg(not(target_arch = "wasm32"))]
type Value = Box<dyn Any + Send>;
/// Runs with the answer.
#[cfg(not(target_arch = "wasm32"))]
type Then = Box<dyn FnOnce(Result<Value>) + Send>;
/// Starts the next stage.
#[cfg(not(target_arch = "wasm32"))]
type Start = Box<dyn FnOnce(Result<Value>) -> Result<Pending<Value>> + Send>;
/// Starts the next round.
#[cfg(not(target_arch = "wasm32"))]
type StartRound = Box<dyn FnMut(Result<Value>) -> Result<Round<Value, Value>> + Send>;
/// Work on the CPU.
#[cfg(not(target_arch = "wasm32"))]
type Work = Box<dyn FnOnce(&Awaited) -> Result<Value> + Send>;
/// In a browser objects of the device stay on their thread.
#[cfg(target_arch = "wasm32")]
type Value = Box<dyn Any>;
#[cfg(target_arch = "wasm32")]
type Then = Box<dyn FnOnce(Result<Value>)>;
#[cfg(target_arch = "wasm32")]
type Start = Box<dyn FnOnce(Result<Value>) -> Result<Pending<Value>>>;
#[cfg(target_arch = "wasm32")]
type StartRound = Box<dyn FnMut(Result<Value>) -> Result<Round<Value, Value>>>;
#[cfg(target_arch = "wasm32")]
type Work = Box<dyn FnOnce(&Awaited) -> Result<Value>>;

fn value<T: WasmNotSend + 'static>(answer: T) -> Value {
    Box::new(answer)
}

/// The answer as what it was.
fn typed<T: 'static>(answer: Result<Value>) -> Result<T> {
    match answer?.downcast() {
        Ok(answer) => Ok(*answer),
        Err(_) => Err(Error::internal("pending::typed", "an answer of another type")),
    }
}

/// Holds the answer once it is there.
struct Slot {
    state: Mutex<SlotState>,
}

enum SlotState {
    /// No answer yet, and whom to wake.
    Empty(Option<Waker>),
    /// No answer yet, and what runs with it.
    Then(Then),
    /// The answer.
    Full(Result<Value>),
    /// It was taken.
    Taken,
}

impl Slot {
    /// Stores the answer, then wakes or runs what waits for it, outside of the lock.
    fn fill(&self, answer: Result<Value>) {
        let mut answer = Some(answer);
        let before = {
            let mut state = lock(&self.state);
            let after = match &*state {
                SlotState::Empty(_) => answer.take().map_or(SlotState::Taken, SlotState::Full),
                _ => SlotState::Taken,
            };
            std::mem::replace(&mut *state, after)
        };
        match (before, answer) {
            (SlotState::Empty(Some(waker)), _) => waker.wake(),
            (SlotState::Then(then), Some(answer)) => then(answer),
            _ => {}
        }
    }

    /// Calls `then` with the answer as soon as it is there.
    fn then(&self, then: Then) {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, SlotState::Taken) {
            SlotState::Full(answer) => {
                // Run outside of the lock.
                drop(state);
                then(answer);
            }
            _ => *state = SlotState::Then(then),
        }
    }

    /// The answer, or whom to wake when it is there.
    fn poll(&self, context: &Context<'_>) -> Option<Result<Value>> {
        let mut state = lock(&self.state);
        match std::mem::replace(&mut *state, SlotState::Taken) {
            SlotState::Full(answer) => Some(answer),
            _ => {
                *state = SlotState::Empty(Some(context.waker().clone()));
                None
            }
        }
    }
}

/// Held by whoever waits for an answer: somebody waits as long as it is alive.
#[derive(Default)]
pub(crate) struct Listener {
    /// The listeners of the stages before this answer: they are waited for as long as it is.
    stages: Mutex<Vec<Arc<Listener>>>,
}

impl Listener {
    fn add_stage(&self, stage: Arc<Listener>) {
        lock(&self.stages).push(stage);
    }
}

/// Tells a job whether anybody still waits for its answer. The job asks from time to time.
#[derive(Clone, Default)]
pub(crate) struct Awaited {
    /// None where the waiting thread does the work itself.
    listener: Option<Weak<Listener>>,
}

impl Awaited {
    /// Whether somebody waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.listener.as_ref().is_none_or(|listener| listener.strong_count() > 0)
    }

    /// Fails where nobody waits any more, to end the job.
    ///
    /// # Errors
    /// [`Error::Cancelled`], which nobody sees.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_awaited() {
            return Ok(());
        }
        Err(Error::Cancelled)
    }
}

impl fmt::Debug for Awaited {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Awaited").field(&self.is_awaited()).finish()
    }
}

/// What a round of a job leads to.
pub(crate) enum Round<S, T> {
    /// The state for the next round.
    Next(Pending<S>),
    /// The answer.
    Done(T),
}

/// Where the answer of a round meets the loop over rounds.
enum Meeting {
    /// The loop has not gone to sleep yet.
    Running,
    /// The answer was first.
    Answered(Result<Value>),
    /// The loop was first: whoever has the answer goes on with it.
    Parked(PromiseEnd, StartRound),
}

/// The other end of a [`Pending`]. Dropped without an answer, it makes the pending fail with
/// [`Error::Internal`] rather than hang.
pub(crate) struct Promise<T> {
    end: PromiseEnd,
    of: PhantomData<fn(T)>,
}

struct PromiseEnd {
    slot: Option<Arc<Slot>>,
    listener: Weak<Listener>,
}

impl PromiseEnd {
    fn resolve(&mut self, answer: Result<Value>) {
        if let Some(slot) = self.slot.take() {
            slot.fill(answer);
        }
    }

    /// From now on another answer, if it is in progress, is waited for as long as this one. Returns whether anybody waits.
    fn needs(&self, other: Option<&Arc<Listener>>) -> bool {
        let Some(listener) = self.listener.upgrade() else { return false };
        if let Some(stage) = other {
            listener.add_stage(Arc::clone(stage));
        }
        true
    }
}

impl Drop for PromiseEnd {
    fn drop(&mut self) {
        self.resolve(Err(Error::internal("pending::Promise", "the work ended without an answer")));
    }
}

impl<T> Promise<T> {
    /// Delivers the answer, whether or not anybody still waits for it.
    ///
    /// What was chained to it runs on this thread before the call returns.
    pub(crate) fn resolve(mut self, answer: Result<T>)
    where
        T: WasmNotSend + 'static,
    {
        self.end.resolve(answer.map(value));
    }

    /// Whether anybody still waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.end.listener.strong_count() > 0
    }

    /// The same question, for the work to ask.
    pub(crate) fn awaited(&self) -> Awaited {
        Awaited { listener: Some(Weak::clone(&self.end.listener)) }
    }

    /// From now on another answer is waited for as long as this one. Returns whether anybody waits.
    pub(crate) fn needs<R>(&self, other: &Pending<R>) -> bool {
        self.end.needs(other.listener())
    }
}

impl<T> Pending<T> {
    /// A pending and the promise that resolves it.
    pub(crate) fn channel() -> (Promise<T>, Self) {
        let (end, slot, listener) = channel();
        (Promise { end, of: PhantomData }, Self { state: State::InProgress(slot, listener) })
    }

    /// A pending whose answer is there already.
    pub(crate) fn ready(answer: T) -> Self {
        Self { state: State::Ready(Ok(answer)) }
    }

    /// Who waits for an answer that is in progress.
    fn listener(&self) -> Option<&Arc<Listener>> {
        match &self.state {
            State::InProgress(_, listener) => Some(listener),
            _ => None,
        }
    }
}

#[cfg_attr(target_arch = "wasm32", expect(clippy::arc_with_non_send_sync, reason = "one thread there"))]
fn channel() -> (PromiseEnd, Arc<Slot>, Arc<Listener>) {
    let slot = Arc::new(Slot { state: Mutex::new(SlotState::Empty(None)) });
    let listener = Arc::<Listener>::default();
    (PromiseEnd { slot: Some(Arc::clone(&slot)), listener: Arc::downgrade(&listener) }, slot, listener)
}

impl<T: 'static> Pending<T> {
    /// Calls `start` with the answer as soon as it is there, whether or not anybody polls: on the thread that gives the answer,
    /// or on this one where it is there already. `start` should only start work.
    ///
    /// Dropping the returned pending cancels the running stage and those after it.
    pub(crate) fn chain<R: WasmNotSend + 'static>(
        self,
        start: impl FnOnce(T) -> Result<Pending<R>> + WasmNotSend + 'static,
    ) -> Pending<R>
    where
        T: WasmNotSend,
    {
        let start: Start = Box::new(move |answer| start(typed(answer)?).map(Pending::into_value));
        self.into_value().chain_value(start).into_typed()
    }

    /// Changes the answer: at once where it is there already, else on the thread that gives it.
    pub(crate) fn map<R: WasmNotSend + 'static>(
        self,
        change: impl FnOnce(T) -> R + WasmNotSend + 'static,
    ) -> Pending<R>
    where
        T: WasmNotSend,
    {
        match self.state {
            State::Ready(answer) => Pending { state: State::Ready(answer.map(change)) },
            state => Self { state }.chain(|answer| Ok(Pending::ready(change(answer)))),
        }
    }

    /// Runs rounds one after the other until one has the answer. Neither the stack nor the memory grows with their number, as it would with a
    /// stage chained to another for each. A round should only start work.
    ///
    /// # Errors
    /// Those of the first round, which this call starts.
    pub(crate) fn rounds<S: WasmNotSend + 'static>(
        state: S,
        mut round: impl FnMut(S) -> Result<Round<S, T>> + WasmNotSend + 'static,
    ) -> Result<Self>
    where
        T: WasmNotSend,
    {
        match round(state)? {
            Round::Done(answer) => Ok(Self::ready(answer)),
            Round::Next(next) => {
                let (promise, pending) = Self::channel();
                let round: StartRound = Box::new(move |state| {
                    Ok(match round(typed(state)?)? {
                        Round::Next(next) => Round::Next(next.into_value()),
                        Round::Done(answer) => Round::Done(value(answer)),
                    })
                });
                promise.end.go_on(next.into_value(), round);
                Ok(pending)
            }
        }
    }

    /// Calls `then` with the answer as soon as it is there: on the thread that gives it, or on this one where it is there already.
    pub(crate) fn then(self, then: impl FnOnce(Result<T>) + WasmNotSend + 'static) {
        match self.state {
            State::Ready(answer) => then(answer),
            State::Taken => then(Err(taken())),
            State::InProgress(slot, _) => slot.then(Box::new(move |answer| then(typed(answer)))),
        }
    }

    /// Starts `work` on the CPU: on threads of our own where the feature `threads` is on, else on this thread.
    ///
    /// Work that nobody waits for any more is not begun. Running work asks the [`Awaited`] that it is given.
    ///
    /// A panic in `work` comes out as [`Error::Internal`].
    pub(crate) fn spawn(work: impl FnOnce(&Awaited) -> Result<T> + WasmNotSend + 'static) -> Self
    where
        T: WasmNotSend,
    {
        spawn_value(Box::new(move |awaited| work(awaited).map(value))).into_typed()
    }

    fn into_value(self) -> Pending<Value>
    where
        T: WasmNotSend,
    {
        let state = match self.state {
            State::Ready(answer) => State::Ready(answer.map(value)),
            State::InProgress(slot, listener) => State::InProgress(slot, listener),
            State::Taken => State::Taken,
        };
        Pending { state }
    }
}

fn spawn_value(work: Work) -> Pending<Value> {
    #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
    if let Some(pool) = crate::parallel::free_pool() {
        let (mut end, slot, listener) = channel();
        let awaited = Awaited { listener: Some(Arc::downgrade(&listener)) };
        let scope = crate::observe::Scope::here();
        crate::parallel::spawn(
            pool,
            Box::new(move || {
                if awaited.is_awaited() {
                    end.resolve(guard(|| scope.run(|| work(&awaited))));
                }
            }),
        );
        return Pending { state: State::InProgress(slot, listener) };
    }
    // Inside a caller's pool the work runs in that pool, as with `ThreadPool::install`.
    Pending { state: State::Ready(guard(|| work(&Awaited::default()))) }
}

impl Pending<Value> {
    fn into_typed<T: 'static>(self) -> Pending<T> {
        let state = match self.state {
            State::Ready(answer) => State::Ready(typed(answer)),
            State::InProgress(slot, listener) => State::InProgress(slot, listener),
            State::Taken => State::Taken,
        };
        Pending { state }
    }

    fn chain_value(self, start: Start) -> Self {
        let (mut end, slot, listener) = channel();
        if let Some(stage) = self.listener() {
            listener.add_stage(Arc::clone(stage));
        }
        self.then_value(Box::new(move |answer| {
            if end.listener.strong_count() == 0 {
                return;
            }
            match guard(move || start(answer)) {
                Ok(next) => end.follow(next),
                Err(error) => end.resolve(Err(error)),
            }
        }));
        Self { state: State::InProgress(slot, listener) }
    }

    fn then_value(self, then: Then) {
        match self.state {
            State::Ready(answer) => then(answer),
            State::Taken => then(Err(taken())),
            State::InProgress(slot, _) => slot.then(then),
        }
    }
}

impl PromiseEnd {
    /// Resolves with the answer of another pending, which is waited for as long as this one.
    fn follow(mut self, next: Pending<Value>) {
        if self.needs(next.listener()) {
            next.then_value(Box::new(move |answer| self.resolve(answer)));
        }
    }

    /// Goes on with the rounds of [`Pending::rounds`] once the answer of one is there.
    #[cfg_attr(target_arch = "wasm32", expect(clippy::arc_with_non_send_sync, reason = "one thread there"))]
    fn go_on(mut self, mut next: Pending<Value>, mut round: StartRound) {
        loop {
            // Earlier rounds are over.
            self.listener.upgrade().iter().for_each(|listener| lock(&listener.stages).clear());
            if !self.needs(next.listener()) {
                return;
            }
            let meeting = Arc::new(Mutex::new(Meeting::Running));
            let other = Arc::clone(&meeting);
            next.then_value(Box::new(move |answer| {
                let mut held = lock(&other);
                match std::mem::replace(&mut *held, Meeting::Running) {
                    Meeting::Parked(promise, round) => {
                        drop(held);
                        promise.go_on(Pending { state: State::Ready(answer) }, round);
                    }
                    // On the loop's own stack, or while the loop is about to go to sleep.
                    Meeting::Running | Meeting::Answered(_) => *held = Meeting::Answered(answer),
                }
            }));
            let mut held = lock(&meeting);
            let answer = match std::mem::replace(&mut *held, Meeting::Running) {
                Meeting::Answered(answer) => answer,
                Meeting::Running | Meeting::Parked(..) => {
                    *held = Meeting::Parked(self, round);
                    return;
                }
            };
            drop(held);
            match guard(|| round(answer)) {
                Ok(Round::Next(after)) => next = after,
                Ok(Round::Done(answer)) => return self.resolve(Ok(answer)),
                Err(error) => return self.resolve(Err(error)),
            }
        }
    }
}

fn taken() -> Error {
    Error::invalid(Location::Argument, "this Pending has given its answer already: don't poll it again")
}

/// Runs `work` and turns a panic into an error.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut work = Some(work);
    let mut answer = None;
    catch_panic(&mut || answer = work.take().map(|work| work()))?;
    answer.unwrap_or_else(|| Err(Error::internal("pending::guard", "the work was not run")))
}

/// Not generic, so that what catches a panic is compiled once.
fn catch_panic(work: &mut dyn FnMut()) -> Result<()> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).map_err(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Error::internal("pending::guard", format!("the work panicked: {message}"))
    })
}

impl<T: 'static> Pending<T> {
    /// Blocks this thread until the answer is there. Absent in a browser, where nothing may block.
    ///
    /// # Errors
    /// Whatever went wrong with the work: [`Error::DeviceLost`], [`Error::OutOfMemory`] …
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(self) -> Result<T> {
        pollster::block_on(self)
    }
}

impl<T: 'static> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        match std::mem::replace(&mut this.state, State::Taken) {
            State::Ready(answer) => Poll::Ready(answer),
            State::InProgress(slot, listener) => match slot.poll(context) {
                Some(answer) => Poll::Ready(typed(answer)),
                None => {
                    this.state = State::InProgress(slot, listener);
                    Poll::Pending
                }
            },
            State::Taken => Poll::Ready(Err(taken())),
        }
    }
}

// Nothing in it is pinned in place.
impl<T> Unpin for Pending<T> {}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Ready(_) => "ready",
            State::InProgress(..) => "in progress",
            State::Taken => "taken",
        };
        formatter.debug_tuple("Pending").field(&state).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn spawned_work_answers() {
        assert_eq!(Pending::spawn(|_| Ok(7)).wait(), Ok(7));
        assert_eq!(Pending::<u32>::spawn(|_| Err(Error::Cancelled)).wait(), Err(Error::Cancelled));
    }

    #[test]
    fn a_panic_is_an_error() {
        let Err(Error::Internal { message, .. }) = Pending::<u32>::spawn(|_| panic!("on purpose")).wait()
        else {
            panic!("no error")
        };
        assert!(message.contains("on purpose"), "{message}");
    }

    #[test]
    fn a_broken_promise_is_an_error() {
        let (promise, pending) = Pending::<u32>::channel();
        drop(promise);
        assert!(matches!(pending.wait(), Err(Error::Internal { .. })));
    }

    #[test]
    fn nobody_listening_is_fine() {
        let (promise, pending) = Pending::channel();
        drop(pending);
        promise.resolve(Ok(1));
    }

    #[test]
    fn a_promise_knows_whether_it_is_awaited() {
        let (promise, mut pending) = Pending::<u32>::channel();
        assert!(promise.is_awaited());
        let mut context = Context::from_waker(std::task::Waker::noop());
        assert!(Pin::new(&mut pending).poll(&mut context).is_pending() && promise.is_awaited());
        drop(pending);
        assert!(!promise.is_awaited());
    }

    #[test]
    fn polled_again_it_says_so() {
        let mut pending = Pending::spawn(|_| Ok(1));
        assert_eq!(pollster::block_on(&mut pending), Ok(1));
        assert!(matches!(pollster::block_on(&mut pending), Err(Error::Invalid { .. })));
    }

    #[test]
    fn it_may_go_to_another_thread() {
        let (promise, pending) = Pending::channel();
        let waiting = std::thread::spawn(move || pending.wait());
        promise.resolve(Ok(5));
        assert_eq!(waiting.join().unwrap(), Ok(5));
    }

    /// Waits until something holds, and fails where it never does.
    fn wait_until(what: &str, holds: impl Fn() -> bool) {
        let begin = web_time::Instant::now();
        while !holds() {
            assert!(begin.elapsed().as_secs() < 100, "{what}");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn later_stages_start_though_nobody_polls() {
        let ran = Arc::new(AtomicU32::new(0));
        let (promise, pending) = Pending::<u32>::channel();
        let (second, third) = (Arc::clone(&ran), Arc::clone(&ran));
        let chained = pending.chain(move |first| {
            Ok(Pending::spawn(move |_| {
                second.fetch_add(1, Ordering::SeqCst);
                Ok(first + 1)
            })
            .chain(move |sum| {
                third.fetch_add(1, Ordering::SeqCst);
                Ok(Pending::ready(sum * 2))
            }))
        });
        assert_eq!(ran.load(Ordering::SeqCst), 0);
        std::thread::spawn(move || promise.resolve(Ok(3))).join().unwrap();
        wait_until("the last stage never ran", || ran.load(Ordering::SeqCst) == 2);
        assert_eq!(chained.wait(), Ok(8));
    }

    #[test]
    fn a_stage_chained_to_an_answer_that_is_there_starts_at_once() {
        let chained = Pending::ready(1).chain(|one| Ok(Pending::ready(one + 1)));
        assert_eq!(chained.chain(|two| Ok(Pending::ready(two + 1))).wait(), Ok(3));
        let kept = || {
            let (promise, pending) = Pending::channel();
            promise.resolve(Ok(5));
            pending
        };
        assert_eq!(kept().chain(|five| Ok(Pending::ready(five + 1))).wait(), Ok(6));
        assert_eq!(kept().chain(move |_| Ok(kept())).wait(), Ok(5));
    }

    #[test]
    fn a_million_rounds_take_no_more_stack_than_one() {
        for is_ready in [true, false] {
            let count = if is_ready { 1_000_000 } else { 100_000 };
            let pending = Pending::rounds(0_u32, move |done| {
                if done == count {
                    return Ok(Round::Done(done));
                }
                let next =
                    if is_ready { Pending::ready(done + 1) } else { Pending::spawn(move |_| Ok(done + 1)) };
                Ok(Round::Next(next))
            });
            assert_eq!(pending.unwrap().wait(), Ok(count));
        }
        let failing = |done: u32| match done {
            3 => Err(Error::Cancelled),
            done => Ok(Round::<u32, u32>::Next(Pending::spawn(move |_| Ok(done + 1)))),
        };
        assert_eq!(Pending::rounds(0, failing).unwrap().wait(), Err(Error::Cancelled));
        assert_eq!(Pending::rounds(3, failing).map(drop).unwrap_err(), Error::Cancelled);
        let spawned = |_: u32| Ok(Round::<u32, u32>::Next(Pending::spawn(|_| Err(Error::Cancelled))));
        assert_eq!(Pending::rounds(0, spawned).unwrap().wait(), Err(Error::Cancelled));
    }

    #[test]
    fn errors_and_panics_of_any_stage_come_out() {
        let failed = || Pending::<u32>::spawn(|_| Err(Error::Cancelled));
        let unreached = |_| -> Result<Pending<u32>> { panic!("a stage after an error") };
        assert_eq!(failed().chain(unreached).wait(), Err(Error::Cancelled));
        assert_eq!(
            Pending::ready(1).chain(|_| Err::<Pending<u32>, _>(Error::Cancelled)).wait(),
            Err(Error::Cancelled)
        );
        assert_eq!(Pending::ready(1).chain(move |_| Ok(failed())).wait(), Err(Error::Cancelled));
        let panicked = Pending::spawn(|_| Ok(1)).chain(|_| -> Result<Pending<u32>> { panic!("a stage") });
        let Err(Error::Internal { message, .. }) = panicked.wait() else { panic!("no error") };
        assert!(message.contains("a stage"), "{message}");
        let (promise, pending) = Pending::<u32>::channel();
        let cut = pending.chain(|_| Ok(Pending::ready(1)));
        drop(promise);
        assert!(matches!(cut.wait(), Err(Error::Internal { .. })));
    }

    #[test]
    fn dropping_the_answer_cancels_every_stage() {
        for stage in 0..2 {
            let ran = Arc::new(AtomicU32::new(0));
            let (first, pending) = Pending::<u32>::channel();
            let (second, inner) = Pending::<u32>::channel();
            let [chained, last] = [Arc::clone(&ran), Arc::clone(&ran)];
            let outer = pending
                .chain(move |_| {
                    chained.fetch_add(1, Ordering::SeqCst);
                    Ok(inner)
                })
                .chain(move |_| {
                    last.fetch_add(1, Ordering::SeqCst);
                    Ok(Pending::ready(0))
                });
            assert!(first.is_awaited() && second.is_awaited());
            if stage == 0 {
                drop(outer);
                assert!(!first.is_awaited());
                first.resolve(Ok(1));
            } else {
                first.resolve(Ok(1));
                assert!(second.is_awaited());
                drop(outer);
                assert!(!second.is_awaited() && !second.awaited().is_awaited());
                second.resolve(Ok(1));
            }
            // The last one's closure is gone, and did not run.
            assert_eq!(Arc::strong_count(&ran), 1);
            assert_eq!(ran.load(Ordering::SeqCst), stage);
        }
    }

    #[cfg(feature = "threads")]
    #[test]
    fn work_that_nobody_waits_for_is_not_begun() {
        let Some(pool) = crate::parallel::free_pool() else { panic!("no pool") };
        let gate = Arc::new(std::sync::RwLock::new(()));
        let shut = gate.write().unwrap();
        let blockers: Vec<_> = (0..pool.current_num_threads())
            .map(|_| Arc::clone(&gate))
            .map(|gate| Pending::spawn(move |_| gate.read().map(drop).map_err(|_| Error::Cancelled)))
            .collect();
        let ran = Arc::new(AtomicU32::new(0));
        let kept = Arc::clone(&ran);
        drop(Pending::spawn(move |_| Ok(kept.fetch_add(1, Ordering::SeqCst))));
        drop(shut);
        for blocker in blockers {
            assert_eq!(blocker.wait(), Ok(()));
        }
        wait_until("the job is still there", || Arc::strong_count(&ran) == 1);
        assert_eq!(ran.load(Ordering::SeqCst), 0);
    }

    /// Jobs that wait for jobs, on a pool of one thread.
    #[cfg(feature = "threads")]
    #[test]
    fn waiting_inside_a_pool_does_not_hang() {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| Pending::spawn(|_| Pending::spawn(|_| Ok(3)).wait()).wait()), Ok(3));
        // Work for a pending made elsewhere is never queued on the pool whose only thread waits for it.
        let pending = Pending::spawn(|_| Ok((0..100).into_par_iter().sum::<i32>()));
        assert_eq!(pool.install(|| pending.wait()), Ok(4950));
    }
}
