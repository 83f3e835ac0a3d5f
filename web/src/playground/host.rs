//! What scenes may ask of the page: engines, messages, background work.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::rc::Rc;

use hullfield::{Backend, Engine};
use serde_json::{Value, json};
use web_time::Instant;

/// Which engine the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// A real GPU if there is one, else the CPU.
    #[default]
    Auto,
    /// The GPU, a software rasteriser too.
    Gpu,
    /// The CPU.
    Cpu,
}

/// The engine on the device that also draws.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// The engine.
    pub engine: Engine,
    /// The adapter's name.
    pub name: String,
    /// Whether it is a software rasteriser, which the CPU engine beats.
    pub is_software: bool,
}

/// How messages leave: to the page, to the second worker, and to the loop of frames.
pub trait Link {
    /// Sends a message to the page.
    fn post(&self, message: &Value, bytes: &[u8]);
    /// Sends a message to the second worker.
    fn ask(&self, message: &Value, bytes: &[u8]);
    /// Asks for a frame.
    fn wake(&self);
}

/// What scenes may ask of the page. A clone is a handle of the same.
#[derive(Clone)]
pub struct Host {
    shared: Rc<Shared>,
}

struct Shared {
    link: Box<dyn Link>,
    cpu: Engine,
    gpu: RefCell<Option<Gpu>>,
    /// Why there is no GPU engine, as a sentence; none while WebGPU is being opened.
    why_no_gpu: RefCell<Option<String>>,
    choice: Cell<Choice>,
    times: RefCell<Vec<(&'static str, f64)>>,
    posted_times: Cell<Option<Instant>>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Host").field("choice", &self.shared.choice).finish_non_exhaustive()
    }
}

/// Background work whose result a scene takes in one of its next frames.
#[derive(Debug)]
pub struct Task<T> {
    slot: Rc<RefCell<Option<T>>>,
}

impl<T> Task<T> {
    /// The result, once, when it is there.
    pub fn take(&self) -> Option<T> {
        self.slot.borrow_mut().take()
    }
}

impl Host {
    /// A host that sends its messages through this link.
    pub fn new(link: Box<dyn Link>) -> Self {
        let shared = Shared {
            link,
            cpu: Engine::cpu(),
            gpu: RefCell::default(),
            why_no_gpu: RefCell::default(),
            choice: Cell::default(),
            times: RefCell::default(),
            posted_times: Cell::default(),
        };
        Self { shared: Rc::new(shared) }
    }

    /// The CPU engine.
    pub fn cpu(&self) -> Engine {
        self.shared.cpu.clone()
    }

    /// The GPU engine, where there is one, whatever the user chose.
    pub fn gpu(&self) -> Option<Gpu> {
        self.shared.gpu.borrow().clone()
    }

    /// The engine that the user chose: the GPU's where there is one and it is no software rasteriser, or where it was asked for.
    pub fn engine(&self) -> Engine {
        let gpu = self.shared.gpu.borrow();
        let used = gpu.as_ref().filter(|gpu| match self.shared.choice.get() {
            Choice::Auto => !gpu.is_software,
            Choice::Gpu => true,
            Choice::Cpu => false,
        });
        used.map_or_else(|| self.cpu(), |gpu| gpu.engine.clone())
    }

    /// Whether [`Self::engine`] is the GPU's.
    pub fn uses_gpu(&self) -> bool {
        self.engine().backend() == Backend::Gpu
    }

    /// What the user asked for.
    pub fn choice(&self) -> Choice {
        self.shared.choice.get()
    }

    /// Why there is no GPU engine, as a sentence; none where there is one, and while WebGPU is being opened.
    pub(crate) fn why_no_gpu(&self) -> Option<String> {
        self.shared.why_no_gpu.borrow().clone()
    }

    pub(crate) fn choose(&self, choice: Choice) {
        self.shared.choice.set(choice);
        self.post_engine();
    }

    /// Sets the GPU engine, or why there is none.
    pub(crate) fn set_gpu(&self, gpu: Result<Gpu, String>) {
        match gpu {
            Ok(gpu) => {
                *self.shared.gpu.borrow_mut() = Some(gpu);
                *self.shared.why_no_gpu.borrow_mut() = None;
            }
            Err(why) => {
                *self.shared.gpu.borrow_mut() = None;
                *self.shared.why_no_gpu.borrow_mut() = Some(why);
            }
        }
        self.post_engine();
    }

    /// Tells the page which engine is used, and why.
    pub(crate) fn post_engine(&self) {
        let (used, gpu) = (self.engine().backend().to_string(), self.gpu());
        let reason = match (&gpu, self.choice(), self.uses_gpu()) {
            (None, _, _) => self.why_no_gpu().unwrap_or_else(|| "WebGPU is being opened.".to_owned()),
            (Some(_), Choice::Cpu, _) => "The CPU, as chosen.".to_owned(),
            (Some(gpu), _, false) => {
                format!(
                    "{} is a software rasteriser, and the CPU engine is faster. The GPU can be chosen.",
                    gpu.name
                )
            }
            (Some(_), Choice::Gpu, true) => "The GPU, as chosen.".to_owned(),
            (Some(_), _, true) => "The browser's WebGPU adapter.".to_owned(),
        };
        let choice = match self.choice() {
            Choice::Auto => "auto",
            Choice::Gpu => "gpu",
            Choice::Cpu => "cpu",
        };
        self.post(json!({
            "type": "engine",
            "used": used,
            "choice": choice,
            "adapter": gpu.as_ref().map(|gpu| gpu.name.clone()),
            "software": gpu.as_ref().is_some_and(|gpu| gpu.is_software),
            "reason": reason,
        }));
    }

    /// Sends a message to the page.
    pub fn post(&self, message: Value) {
        self.shared.link.post(&message, &[]);
    }

    /// Sends a message with bytes to the page.
    pub fn post_bytes(&self, message: Value, bytes: &[u8]) {
        self.shared.link.post(&message, bytes);
    }

    /// Sends a question to the second worker, where the function [`second`](crate::playground::scene::Kind::second) of this tab answers it.
    /// The answer is a message to the scene, of the type `second`. It must name its `tab`.
    pub fn ask(&self, message: Value, bytes: &[u8]) {
        self.shared.link.ask(&message, bytes);
    }

    /// Shows a sentence in the page's bar of errors. An empty one takes it away.
    pub fn error(&self, sentence: &str) {
        self.post(json!({"type": "error", "text": sentence}));
    }

    /// Shows the page's progress bar; it goes where `done` is `total`.
    pub fn progress(&self, text: &str, done: u32, total: u32) {
        self.post(json!({"type": "progress", "text": text, "done": done, "total": total}));
    }

    /// Notes the time of a stage, in milliseconds, for the page's table, which shows a sliding mean.
    pub fn time(&self, stage: &'static str, ms: f64) {
        let mut times = self.shared.times.borrow_mut();
        match times.iter_mut().find(|row| row.0 == stage) {
            Some(row) => row.1 += 0.2 * (ms - row.1),
            None => times.push((stage, ms)),
        }
    }

    /// Notes how long this work takes as the time of a stage.
    pub fn timed<R>(&self, stage: &'static str, work: impl FnOnce() -> R) -> R {
        let begin = Instant::now();
        let result = work();
        self.time(stage, begin.elapsed().as_secs_f64() * 1e3);
        result
    }

    /// Forgets the times, as another scene or another engine begins.
    pub fn clear_times(&self) {
        self.shared.times.borrow_mut().clear();
        self.shared.posted_times.set(None);
    }

    /// Sends the table of times: at most four times a second while frames go on, and after the last one.
    pub(crate) fn post_times(&self, goes_on: bool) {
        let times = self.shared.times.borrow();
        let is_due =
            !goes_on || self.shared.posted_times.get().is_none_or(|last| last.elapsed().as_millis() >= 250);
        if times.is_empty() || !is_due {
            return;
        }
        self.shared.posted_times.set(Some(Instant::now()));
        let rows: Vec<Value> = times.iter().map(|(stage, ms)| json!({"stage": stage, "ms": ms})).collect();
        self.post(json!({"type": "times", "rows": rows}));
    }

    /// Asks for a frame, where none comes by itself.
    pub fn wake(&self) {
        self.shared.link.wake();
    }

    /// Starts background work; a frame comes when it is done. In the browser it runs between frames; on the host, in tests, at once.
    pub fn spawn<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> Task<T> {
        let slot = Rc::new(RefCell::new(None));
        let (result, host) = (Rc::clone(&slot), self.clone());
        run(async move {
            let value = work.await;
            *result.borrow_mut() = Some(value);
            host.wake();
        });
        Task { slot }
    }
}

/// The answer of the CPU engine: in the browser it is there when the call returns, on the host, in tests, this waits for it.
///
/// # Errors
/// Those of the answer.
pub fn ready<T: 'static>(pending: hullfield::Pending<T>) -> hullfield::Result<T> {
    #[cfg(not(target_arch = "wasm32"))]
    return pending.wait();
    #[cfg(target_arch = "wasm32")]
    {
        let mut pending = std::pin::pin!(pending);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match pending.as_mut().poll(&mut context) {
            std::task::Poll::Ready(answer) => answer,
            std::task::Poll::Pending => Err(hullfield::Error::Cancelled),
        }
    }
}

/// Runs a future to its end.
pub(crate) fn run(work: impl Future<Output = ()> + 'static) {
    #[cfg(target_arch = "wasm32")]
    wasm_bindgen_futures::spawn_local(work);
    #[cfg(not(target_arch = "wasm32"))]
    pollster::block_on(work);
}
