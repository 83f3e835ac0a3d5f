//! Sharing a device with an application that runs wgpu itself, and the list of adapters.

use std::sync::Arc;

use crate::account::Account;
use crate::engine::{BackendChoice, Engine, EngineOptions, Shared};
use crate::error::{Error, Location, Result};
#[cfg(all(any(feature = "inspect", test), not(target_arch = "wasm32")))]
use crate::gpu::adapter::open_named;
use crate::gpu::adapter::{AdapterReport, Opened, reports, share};

impl Engine {
    /// An engine on the device of an application that runs wgpu already.
    ///
    /// The application's error and device-lost callbacks stay as they are: hullfield catches its own errors in error scopes.
    ///
    /// ```
    /// use hullfield::{Engine, EngineOptions, wgpu};
    ///
    /// fn join(device: &wgpu::Device, queue: &wgpu::Queue) -> hullfield::Result<Engine> {
    ///     Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default())
    /// }
    /// ```
    ///
    /// The call waits for the [self-test](crate#determinism) of the device, and so for what its queue holds. In a browser, where nothing may
    /// wait, the test is the first work that the engine submits. Where it fails there, each call after it and each answer that is not
    /// out yet is the error.
    ///
    /// # Errors
    /// [`Error::Value`] where a limit of the device is below WebGPU's default, which the kernels need, and where the options choose
    /// [`BackendChoice::Cpu`]; [`Error::NoGpu`] where the device fails the self-test; [`Error::DeviceLost`].
    pub fn from_device(device: wgpu::Device, queue: wgpu::Queue, options: &EngineOptions) -> Result<Self> {
        if options.backend == BackendChoice::Cpu {
            let allowed = "it must be Auto or Gpu for an engine on a device";
            return Err(Error::value(Location::Argument, "backend", "Cpu", allowed));
        }
        let account = Arc::new(Account::new(options.memory_limit, options.answer_limit));
        let Opened { context, reason } = share(device, queue, &account)?;
        Ok(Self { shared: Arc::new(Shared { context: Some(context), reason, options: *options, account }) })
    }

    /// An engine on the adapter of this name: see `inspect::engine_on`.
    #[cfg(all(any(feature = "inspect", test), not(target_arch = "wasm32")))]
    pub(crate) fn on_adapter(name: &str) -> Result<Self> {
        let options = EngineOptions { backend: BackendChoice::Gpu, ..EngineOptions::default() };
        let account = Arc::new(Account::new(None, None));
        let Opened { context, reason } = pollster::block_on(open_named(name, &account))?;
        Ok(Self { shared: Arc::new(Shared { context: Some(context), reason, options, account }) })
    }

    /// The adapter of the device; none on the CPU engine.
    pub fn adapter_info(&self) -> Option<&wgpu::AdapterInfo> {
        self.context().map(|context| context.info())
    }

    /// The device and its queue, for an application that shares them; none on the CPU engine.
    pub fn device(&self) -> Option<(&wgpu::Device, &wgpu::Queue)> {
        let context = self.context()?;
        context.share();
        Some((context.device(), context.queue()))
    }
}

/// All adapters of this machine, best first. `WGPU_BACKEND` chooses among the back ends that were compiled.
#[cfg(not(target_arch = "wasm32"))]
pub fn adapters() -> Vec<AdapterReport> {
    pollster::block_on(adapters_async())
}

/// [`adapters`] for callers that may not block.
pub async fn adapters_async() -> Vec<AdapterReport> {
    reports().await
}
