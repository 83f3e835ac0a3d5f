//! The engine.

use wasm_bindgen::prelude::*;

use crate::api::error::thrown;

/// Where queries run: a GPU or the CPU.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Engine(hullfield::Engine);

impl Engine {
    /// A handle of the library's engine.
    pub(crate) fn of(engine: hullfield::Engine) -> Self {
        Self(engine)
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
        Self::of(hullfield::Engine::cpu())
    }

    /// A real GPU if there is one that passes the self-test, else the CPU. `reason` says what was chosen.
    ///
    /// # Errors
    /// None in this version.
    pub async fn auto() -> Result<Self, JsValue> {
        let engine = hullfield::Engine::auto_async().await;
        engine.map(Self::of).map_err(|error| thrown(&error))
    }

    /// The best adapter of any kind, a software rasteriser where there is nothing else.
    ///
    /// # Errors
    /// Where the browser has no WebGPU, or no adapter that can do the work.
    pub async fn gpu() -> Result<Self, JsValue> {
        let engine = hullfield::Engine::gpu_async().await;
        engine.map(Self::of).map_err(|error| thrown(&error))
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
