//! The engine: the choice between a GPU and the CPU.

#[cfg(feature = "gpu")]
mod device;

use std::{fmt, sync::Arc};

use crate::account::{Account, Counters};
use crate::error::Result;
use crate::gpu::adapter::{Opened, open_any, open_real};
use crate::gpu::context::Context;

#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use device::adapters;
#[cfg(feature = "gpu")]
pub use device::adapters_async;

/// What an engine runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Backend {
    /// A GPU, or a software driver in place of one.
    Gpu,
    /// The threads of the CPU.
    Cpu,
}

impl fmt::Display for Backend {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gpu => "gpu",
            Self::Cpu => "cpu",
        })
    }
}

/// What a new engine may run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum BackendChoice {
    /// A real GPU if there is one (discrete first, then integrated, then virtual), else the CPU.
    ///
    /// A software rasteriser is never chosen: the CPU engine is faster than it.
    #[default]
    Auto,
    /// The best adapter of any kind, a software rasteriser where there is nothing else.
    Gpu,
    /// The CPU: all cores with the feature `threads`, else the calling thread.
    Cpu,
}

/// The options of a new engine.
///
/// ```
/// use hullfield::{Engine, EngineOptions};
///
/// let options = EngineOptions { memory_limit: Some(512 << 20), ..Default::default() };
/// let engine = Engine::new(&options)?;
/// assert_eq!(engine.options().memory_limit, Some(512 << 20));
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct EngineOptions {
    /// What the engine may run on.
    pub backend: BackendChoice,
    /// The most device memory that the engine may hold, staging buffers included, in bytes. Without a limit the device's own limits
    /// hold. The CPU engine ignores it.
    ///
    /// A query that needs more returns [`Error::MemoryLimit`](crate::Error::MemoryLimit).
    pub memory_limit: Option<u64>,
    /// The most host memory that the rows of one answer may take, in bytes. An answer over given pairs has no limit, as its size is
    /// known before.
    ///
    /// An answer that needs more returns [`Error::MemoryLimit`](crate::Error::MemoryLimit). Without a limit, on Linux, so does an
    /// answer that needs more memory than the host has free: a million bodies at one place have 5e11 rows. Both engines find
    /// from a sample of the pairs, before they examine all, that an answer is far too large.
    pub answer_limit: Option<u64>,
}

/// Where queries run: a GPU or the CPU. A clone is a handle of the same engine.
///
/// No call that returns a [`Pending`](crate::Pending) waits for the device. [There](crate::Pending#when-a-call-blocks) is listed
/// what else a call may wait for.
///
/// Arenas and other handles hold their engine. Whoever drops the last handle waits until the device has finished its work, so
/// that the program may end right after. Queries whose answers were dropped are not begun.
///
/// ```
/// let engine = hullfield::Engine::auto()?;
/// println!("{}: {}", engine.backend(), engine.reason());
/// # Ok::<(), hullfield::Error>(())
/// ```
///
/// A device is tested when it is opened, as answers rest on how it rounds: see [Determinism](crate#determinism). The test takes some
/// milliseconds, a tenth of a second on a software driver that has no shader cache, and counts as nothing that the engine made.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    context: Option<Context>,
    reason: String,
    options: EngineOptions,
    account: Arc<Account>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(context) = &self.context {
            context.close();
        }
    }
}

impl Engine {
    /// An engine with these options.
    ///
    /// # Errors
    /// [`Error::NoGpu`](crate::Error::NoGpu) for [`BackendChoice::Gpu`] where no adapter can do the work or passes the self-test, and
    /// without the feature `gpu`. [`BackendChoice::Auto`] and [`BackendChoice::Cpu`] do not fail.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new(options: &EngineOptions) -> Result<Self> {
        pollster::block_on(Self::new_async(options))
    }

    /// [`new`](Self::new) for callers that may not block.
    ///
    /// # Errors
    /// As of the blocking call.
    pub async fn new_async(options: &EngineOptions) -> Result<Self> {
        let account = Arc::new(Account::new(options.memory_limit, options.answer_limit));
        let (context, reason) = match options.backend {
            BackendChoice::Cpu => (None, "the CPU, as asked".to_owned()),
            BackendChoice::Gpu => {
                let Opened { context, reason } = open_any(&account).await?;
                (Some(context), reason)
            }
            BackendChoice::Auto => match open_real(&account).await {
                Ok(Opened { context, reason }) => (Some(context), reason),
                Err(why) => (None, format!("the CPU, as {why}")),
            },
        };
        Ok(Self { shared: Arc::new(Shared { context, reason, options: *options, account }) })
    }

    /// A real GPU if there is one that passes the self-test, else the CPU: [`BackendChoice::Auto`] and no limits.
    /// [`reason`](Self::reason) says what was chosen.
    ///
    /// # Errors
    /// None in this version.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn auto() -> Result<Self> {
        Self::new(&EngineOptions::default())
    }

    /// [`auto`](Self::auto) for callers that may not block.
    ///
    /// # Errors
    /// As of the blocking call.
    pub async fn auto_async() -> Result<Self> {
        Self::new_async(&EngineOptions::default()).await
    }

    /// The best adapter of any kind: [`BackendChoice::Gpu`] and no limits.
    ///
    /// # Errors
    /// [`Error::NoGpu`](crate::Error::NoGpu) where no adapter can do the work or passes the self-test, and without the feature `gpu`.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn gpu() -> Result<Self> {
        pollster::block_on(Self::gpu_async())
    }

    /// [`gpu`](Self::gpu) for callers that may not block.
    ///
    /// # Errors
    /// As of the blocking call.
    pub async fn gpu_async() -> Result<Self> {
        Self::new_async(&EngineOptions { backend: BackendChoice::Gpu, ..Default::default() }).await
    }

    /// The CPU: [`BackendChoice::Cpu`] and no limits.
    pub fn cpu() -> Self {
        let options = EngineOptions { backend: BackendChoice::Cpu, ..Default::default() };
        let reason = "the CPU, as asked".to_owned();
        let account = Arc::new(Account::new(None, None));
        Self { shared: Arc::new(Shared { context: None, reason, options, account }) }
    }

    /// The options that the engine was made with.
    pub fn options(&self) -> &EngineOptions {
        &self.shared.options
    }

    /// The most bytes that the rows of one answer may take; `u64::MAX` without a limit.
    pub(crate) fn answer_limit(&self) -> u64 {
        self.shared.account.answer_limit_bytes
    }

    /// For tests: limits storage bindings to so many bytes from now on, so that small data needs several. It changes nothing on
    /// the CPU engine.
    #[doc(hidden)]
    #[must_use]
    pub fn with_binding_limit(self, bytes: u64) -> Self {
        if let Some(context) = &self.shared.context {
            context.set_binding_limit(bytes);
        }
        self
    }

    /// For tests and benches: from now on one dispatch takes as much work as on a discrete GPU, whatever the adapter. So dispatches
    /// can be counted where there is none. It changes nothing on the CPU engine.
    #[doc(hidden)]
    #[must_use]
    pub fn with_discrete_steps(self) -> Self {
        if let Some(context) = &self.shared.context {
            context.set_discrete_steps();
        }
        self
    }

    /// For tests: whether pipelines built from now on have all run-time checks, also with the feature `trusted-shaders`. Without the feature
    /// `trust-by-call` they have them always. It changes nothing on the CPU engine.
    #[doc(hidden)]
    #[must_use]
    pub fn with_shader_checks(self, are_kept: bool) -> Self {
        if let Some(context) = &self.shared.context {
            context.set_checked(are_kept);
        }
        self
    }

    /// For tests and benches: whether pipelines built from now on use subgroup operations. It changes nothing on the CPU engine and on
    /// a device that has none.
    #[doc(hidden)]
    #[must_use]
    pub fn with_subgroups(self, are_used: bool) -> Self {
        if let Some(context) = &self.shared.context {
            context.set_subgroups(are_used);
        }
        self
    }

    /// What it computes on.
    pub fn backend(&self) -> Backend {
        match self.shared.context {
            Some(_) => Backend::Gpu,
            None => Backend::Cpu,
        }
    }

    /// Which adapter or CPU was chosen, and why, in one clause.
    pub fn reason(&self) -> &str {
        &self.shared.reason
    }

    /// The name of the adapter; none on the CPU engine.
    pub fn adapter_name(&self) -> Option<&str> {
        self.context().map(Context::adapter_name)
    }

    /// What the engine has created so far.
    pub fn counters(&self) -> Counters {
        self.shared.account.counters()
    }

    /// The GPU floor; none on the CPU.
    pub(crate) fn context(&self) -> Option<&Context> {
        self.shared.context.as_ref()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("backend", &self.backend())
            .field("reason", &self.reason())
            .finish_non_exhaustive()
    }
}
