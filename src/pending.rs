//! Answers that are on their way.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll},
};

#[cfg(not(target_arch = "wasm32"))]
use futures_intrusive::channel::shared::{OneshotSender, oneshot_channel};
#[cfg(target_arch = "wasm32")]
use local::{OneshotSender, oneshot_channel};

use crate::{Error, Result};

/// An answer that is on its way: the work behind it has been started already.
///
/// It is a [`Future`] for any executor and needs nobody to poll it: natively the engine's own thread sees to the
/// work, in a browser the browser does. Without an executor, call [`wait`](Self::wait). Dropping it is harmless:
/// the work is finished, its answer thrown away and its memory given back.
///
/// Polled again after it gave its answer, it gives [`Error::Abandoned`].
#[must_use = "the answer comes from waiting for it"]
pub struct Pending<T> {
    state: State<T>,
}

/// An answer that somebody else gives.
#[cfg(not(target_arch = "wasm32"))]
type Answer<T> = Pin<Box<dyn Future<Output = Option<Result<T>>> + Send>>;
/// In a browser what is on the device stays on its thread.
#[cfg(target_arch = "wasm32")]
type Answer<T> = Pin<Box<dyn Future<Output = Option<Result<T>>>>>;

enum State<T> {
    Ready(Result<T>),
    OnItsWay(Answer<T>, Arc<()>),
    Taken,
}

/// The other end of a [`Pending`]. Dropped without an answer, it makes the pending fail with
/// [`Error::Abandoned`] rather than hang.
pub(crate) struct Promise<T: 'static> {
    sender: OneshotSender<Result<T>>,
    awaited: Weak<()>,
}

impl<T: 'static> Promise<T> {
    /// Delivers the answer. Nobody may be listening any more, which is fine.
    pub(crate) fn keep(self, answer: Result<T>) {
        drop(self.sender.send(answer));
    }

    /// Whether the other end is still there.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.strong_count() > 0
    }
}

impl<T: wgpu::WasmNotSend + 'static> Pending<T> {
    /// A pending and the promise that fulfils it.
    pub(crate) fn channel() -> (Promise<T>, Self) {
        let (sender, receiver) = oneshot_channel();
        // The receiver lives inside the future: dropping it would close the channel.
        let answer = Box::pin(async move { receiver.receive().await });
        let here = Arc::new(());
        let awaited = Arc::downgrade(&here);
        (Promise { sender, awaited }, Self { state: State::OnItsWay(answer, here) })
    }

    /// An answer that is there already.
    pub(crate) fn ready(answer: T) -> Self {
        Self { state: State::Ready(Ok(answer)) }
    }

    /// Starts something with the answer when it is there: on the thread that waits for it.
    pub(crate) fn chain<R: wgpu::WasmNotSend + 'static>(
        self,
        start: impl FnOnce(T) -> Result<Pending<R>> + wgpu::WasmNotSend + 'static,
    ) -> Pending<R> {
        let both = async move { Some(async move { start(self.await?)?.await }.await) };
        Pending { state: State::OnItsWay(Box::pin(both), Arc::new(())) }
    }

    /// Starts `work` on the CPU: on threads of our own where the feature `threads` is on, else here and now.
    ///
    /// A panic in `work` comes out as [`Error::Abandoned`].
    pub(crate) fn spawn(work: impl FnOnce() -> Result<T> + wgpu::WasmNotSend + 'static) -> Self {
        #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
        if rayon::current_thread_index().is_none() {
            if let Some(pool) = pool() {
                let (promise, pending) = Self::channel();
                pool.spawn(move || promise.keep(guard(work)));
                return pending;
            }
        }
        // The caller's pool is where the caller wants it, as with `ThreadPool::install`.
        Self { state: State::Ready(guard(work)) }
    }
}

/// Channels within one thread, for browsers: the shared ones take only what may go to another.
#[cfg(target_arch = "wasm32")]
mod local {
    use std::rc::Rc;

    use futures_intrusive::channel::{ChannelSendError, LocalOneshotChannel};

    pub(super) struct OneshotSender<T>(Rc<LocalOneshotChannel<T>>);

    pub(super) struct OneshotReceiver<T>(Rc<LocalOneshotChannel<T>>);

    pub(super) fn oneshot_channel<T>() -> (OneshotSender<T>, OneshotReceiver<T>) {
        let channel = Rc::new(LocalOneshotChannel::new());
        (OneshotSender(Rc::clone(&channel)), OneshotReceiver(channel))
    }

    impl<T> OneshotSender<T> {
        pub(super) fn send(&self, value: T) -> Result<(), ChannelSendError<T>> {
            self.0.send(value)
        }
    }

    impl<T> Drop for OneshotSender<T> {
        /// What nobody will send any more is not waited for.
        fn drop(&mut self) {
            self.0.close();
        }
    }

    impl<T> OneshotReceiver<T> {
        pub(super) async fn receive(&self) -> Option<T> {
            self.0.receive().await
        }
    }
}

/// The threads that work for pendings, as many as rayon's global pool has. They are not that pool's: its threads may
/// all be waiting for us, or pick up a job that waits while they are in the middle of the work that it waits for.
#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
fn pool() -> Option<&'static rayon::ThreadPool> {
    static POOL: std::sync::OnceLock<Option<rayon::ThreadPool>> = std::sync::OnceLock::new();
    let build = || {
        let thread_count = rayon::current_num_threads();
        let named = rayon::ThreadPoolBuilder::new().thread_name(|index| format!("hullfield {index}"));
        named.num_threads(thread_count).build().ok()
    };
    POOL.get_or_init(build).as_ref()
}

/// Runs `work` on the threads that work for pendings, where this is a thread of no pool yet.
#[cfg(feature = "threads")]
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    #[cfg(not(target_arch = "wasm32"))]
    if rayon::current_thread_index().is_none() {
        return match pool() {
            Some(pool) => pool.install(work),
            None => work(),
        };
    }
    work()
}

/// Runs `work` and turns a panic into an error.
pub(crate) fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Err(Error::Abandoned { message: format!("it panicked: {message}") })
    })
}

impl<T> Pending<T> {
    /// Blocks this thread until the answer is there. Not in a browser, where nothing may block.
    ///
    /// # Errors
    /// Whatever went wrong with the work: [`Error::DeviceLost`], [`Error::OutOfMemory`], [`Error::Abandoned`] …
    #[cfg(not(target_arch = "wasm32"))]
    pub fn wait(self) -> Result<T> {
        pollster::block_on(self)
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        match std::mem::replace(&mut this.state, State::Taken) {
            State::Ready(answer) => Poll::Ready(answer),
            State::OnItsWay(mut answer, here) => match answer.as_mut().poll(context) {
                Poll::Ready(Some(answer)) => Poll::Ready(answer),
                Poll::Ready(None) => {
                    Poll::Ready(Err(Error::Abandoned { message: "it was cut off".to_owned() }))
                }
                Poll::Pending => {
                    this.state = State::OnItsWay(answer, here);
                    Poll::Pending
                }
            },
            State::Taken => Poll::Ready(Err(Error::Abandoned { message: "it was taken already".to_owned() })),
        }
    }
}

// Nothing in it is pinned in place: the future inside has its own box.
impl<T> Unpin for Pending<T> {}

impl<T> fmt::Debug for Pending<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Ready(_) => "ready",
            State::OnItsWay(..) => "on its way",
            State::Taken => "taken",
        };
        formatter.debug_tuple("Pending").field(&state).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spawned_work_answers() {
        assert_eq!(Pending::spawn(|| Ok(7)).wait(), Ok(7));
        assert_eq!(Pending::<u32>::spawn(|| Err(Error::EmptyHull)).wait(), Err(Error::EmptyHull));
    }

    #[test]
    fn a_panic_is_an_error() {
        let Err(Error::Abandoned { message }) = Pending::<u32>::spawn(|| panic!("on purpose")).wait() else {
            panic!("no error")
        };
        assert!(message.contains("on purpose"), "{message}");
    }

    #[test]
    fn a_broken_promise_is_an_error() {
        let (promise, pending) = Pending::<u32>::channel();
        drop(promise);
        assert!(matches!(pending.wait(), Err(Error::Abandoned { .. })));
    }

    #[test]
    fn nobody_listening_is_fine() {
        let (promise, pending) = Pending::channel();
        drop(pending);
        promise.keep(Ok(1));
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
        let mut pending = Pending::spawn(|| Ok(1));
        assert_eq!(pollster::block_on(&mut pending), Ok(1));
        assert!(matches!(pollster::block_on(&mut pending), Err(Error::Abandoned { .. })));
    }

    #[test]
    fn it_may_go_to_another_thread() {
        let (promise, pending) = Pending::channel();
        let waiting = std::thread::spawn(move || pending.wait());
        promise.keep(Ok(5));
        assert_eq!(waiting.join().unwrap(), Ok(5));
    }

    /// Jobs that wait for jobs, on a pool of one thread.
    #[cfg(feature = "threads")]
    #[test]
    fn waiting_inside_a_pool_does_not_hang() {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| Pending::spawn(|| Pending::spawn(|| Ok(3)).wait()).wait()), Ok(3));
        // Work for a pending made elsewhere is never queued on the pool whose only thread waits for it.
        let pending = Pending::spawn(|| Ok((0..100).into_par_iter().sum::<i32>()));
        assert_eq!(pool.install(|| pending.wait()), Ok(4950));
    }
}
