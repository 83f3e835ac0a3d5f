//! Pipelines built before they are needed.

use web_time::Instant;

use crate::account::Prepared;
use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::kernel::Kernel;
use crate::pending::{Awaited, Pending, guard};

/// Builds the pipelines of these kernels, natively in the background and several at a time. Once nobody waits for it any more
/// no further one is begun.
pub(crate) fn prepare(context: &Context, mut kernels: Vec<&'static Kernel>) -> Result<Pending<Prepared>> {
    context.check()?;
    kernels.sort_unstable_by_key(|kernel| kernel.label);
    kernels.dedup_by_key(|kernel| kernel.label);
    let (promise, pending) = Pending::channel();
    let (context, begin) = (context.clone(), Instant::now());
    #[cfg(not(target_arch = "wasm32"))]
    let user = context.waiter().add_user();
    let build = move || {
        let awaited = promise.awaited();
        let built = guard(|| {
            build_all(&context, &kernels, &awaited)?;
            Ok(Prepared { pipeline_count: kernels.len(), compile_ms: begin.elapsed().as_secs_f64() * 1e3 })
        });
        // The last handle may be this one: it goes before anybody hears of the answer.
        drop(context);
        #[cfg(not(target_arch = "wasm32"))]
        drop(user);
        promise.resolve(built);
    };
    spawn(build)?;
    Ok(pending)
}

/// On a thread of its own: those of the pool may be waiting for what needs the pipelines.
#[cfg(not(target_arch = "wasm32"))]
fn spawn(build: impl FnOnce() + Send + 'static) -> Result<()> {
    let named = std::thread::Builder::new().name("hullfield build".to_owned());
    named.spawn(build).map(drop).map_err(|error| crate::error::Error::NoGpu {
        message: format!("the system gives no thread to build pipelines on: {error}"),
    })
}

/// In a browser the call only asks for a pipeline, which is built elsewhere.
#[cfg(target_arch = "wasm32")]
fn spawn(build: impl FnOnce()) -> Result<()> {
    build();
    Ok(())
}

fn build_all(context: &Context, kernels: &[&'static Kernel], awaited: &Awaited) -> Result<()> {
    let build = |kernel: &&'static Kernel| {
        awaited.check()?;
        context.pipeline(kernel).map(drop)
    };
    #[cfg(not(target_arch = "wasm32"))]
    let built: Vec<Result<()>> = crate::parallel::map(kernels, build);
    // In a browser what may be on the device stays on its thread.
    #[cfg(target_arch = "wasm32")]
    let built: Vec<Result<()>> = kernels.iter().map(build).collect();
    built.into_iter().collect()
}
