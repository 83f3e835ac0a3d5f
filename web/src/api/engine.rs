//! The engine.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use hullfield::{BackendChoice, EngineOptions};
use wasm_bindgen::prelude::*;

use crate::api::error::thrown;

/// The most bytes that the rows of one answer may take. The module has 4 GiB in all, and rows are copied to JavaScript.
const ANSWER_LIMIT: u64 = 1 << 30;

/// Where queries run: a GPU or the CPU.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Engine(hullfield::Engine);

impl Engine {
    /// A handle of the library's engine.
    pub(crate) fn of(engine: hullfield::Engine) -> Self {
        Self(engine)
    }

    /// The engine of a choice.
    async fn open(backend: BackendChoice) -> Result<Self, JsValue> {
        let options = EngineOptions { backend, answer_limit: Some(ANSWER_LIMIT), ..EngineOptions::default() };
        let engine = hullfield::Engine::new_async(&options).await;
        engine.map(Self::of).map_err(|error| thrown(&error))
    }

    /// The CPU, on which arenas and flows run where nothing else is said.
    fn on_cpu() -> hullfield::Engine {
        let options = EngineOptions {
            backend: BackendChoice::Cpu,
            answer_limit: Some(ANSWER_LIMIT),
            ..EngineOptions::default()
        };
        // It waits for nothing.
        let opening = pin!(hullfield::Engine::new_async(&options));
        match opening.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(engine)) => engine,
            _ => hullfield::Engine::cpu(),
        }
    }

    /// The library's engine.
    pub(crate) fn get(&self) -> &hullfield::Engine {
        &self.0
    }
}

#[wasm_bindgen]
impl Engine {
    /// The CPU: the thread that calls.
    pub fn cpu() -> Self {
        Self::of(Self::on_cpu())
    }

    /// A real GPU if there is one that passes the self-test, else the CPU. `reason` says what was chosen.
    ///
    /// # Errors
    /// None in this version.
    pub async fn auto() -> Result<Self, JsValue> {
        Self::open(BackendChoice::Auto).await
    }

    /// The best adapter of any kind, a software rasteriser where there is nothing else.
    ///
    /// # Errors
    /// Where the browser has no WebGPU, or no adapter that can do the work.
    pub async fn gpu() -> Result<Self, JsValue> {
        Self::open(BackendChoice::Gpu).await
    }

    /// `"gpu"` or `"cpu"`.
    #[wasm_bindgen(getter)]
    pub fn backend(&self) -> String {
        self.0.backend().to_string()
    }

    /// Which adapter or CPU was chosen, and why, in one clause.
    #[wasm_bindgen(getter)]
    pub fn reason(&self) -> String {
        self.0.reason().to_owned()
    }

    /// Another handle of the same engine.
    pub fn copy(&self) -> Self {
        self.clone()
    }
}
