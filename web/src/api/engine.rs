//! The engine.

use hullfield::{EngineOptions, Error};
use js_sys::Reflect;
use wasm_bindgen::prelude::*;

use crate::api::error::thrown;

/// Where queries run: a GPU or the CPU.
#[wasm_bindgen]
#[derive(Debug, Clone)]
pub struct Engine {
    engine: hullfield::Engine,
    /// Why there is no WebGPU, where the library was not asked.
    reason: Option<&'static str>,
}

const NO_WEBGPU: &str =
    "there is no WebGPU here: it takes a browser that has it, and an address with https or localhost";

/// Whether there is WebGPU at all. wgpu ends the module where it is asked and there is none.
fn has_webgpu() -> bool {
    let global = js_sys::global();
    let get = |object: &JsValue, name: &str| {
        Reflect::get(object, &name.into()).ok().filter(|value| !value.is_undefined() && !value.is_null())
    };
    let is_known = get(&global, "Window").is_some() || get(&global, "WorkerGlobalScope").is_some();
    is_known && get(&global, "navigator").is_some_and(|navigator| get(&navigator, "gpu").is_some())
}

impl Engine {
    /// A handle of the library's engine.
    pub(crate) fn of(engine: hullfield::Engine) -> Self {
        Self { engine, reason: None }
    }

    /// The library's engine.
    pub(crate) fn get(&self) -> &hullfield::Engine {
        &self.engine
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
        if !has_webgpu() {
            return Ok(Self { reason: Some(NO_WEBGPU), ..Self::cpu() });
        }
        let engine = hullfield::Engine::new_async(&EngineOptions::default()).await;
        engine.map(Self::of).map_err(|error| thrown(&error))
    }

    /// The best adapter of any kind, a software rasteriser where there is nothing else.
    ///
    /// # Errors
    /// Where the browser has no WebGPU, or no adapter that can do the work.
    pub async fn gpu() -> Result<Self, JsValue> {
        if !has_webgpu() {
            return Err(thrown(&Error::NoGpu { message: NO_WEBGPU.to_owned() }));
        }
        let engine = hullfield::Engine::gpu_async().await;
        engine.map(Self::of).map_err(|error| thrown(&error))
    }

    /// `"gpu"` or `"cpu"`.
    #[wasm_bindgen(getter)]
    pub fn backend(&self) -> String {
        self.engine.backend().to_string()
    }

    /// Which adapter or CPU was chosen, and why, in one clause.
    #[wasm_bindgen(getter)]
    pub fn reason(&self) -> String {
        self.reason.unwrap_or_else(|| self.engine.reason()).to_owned()
    }

    /// Another handle of the same engine.
    pub fn copy(&self) -> Self {
        self.clone()
    }
}
