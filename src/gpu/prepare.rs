//! Builds pipelines before they are needed.

use web_time::Instant;

use crate::account::Prepared;
use crate::error::Result;
use crate::gpu::context::Context;
use crate::gpu::kernel::Kernel;
use crate::pending::{Awaited, Pending, guard};

/// Builds the pipelines of these kernels; natively in the background, several at a time. Where the answer is dropped, no further
/// pipeline is begun.
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
        // This may be the last handle: drop it before the answer is out.
        drop(context);
        #[cfg(not(target_arch = "wasm32"))]
        drop(user);
        promise.resolve(built);
    };
    spawn(build)?;
    Ok(pending)
}

/// On a thread of its own: the pool's threads may be waiting for the pipelines.
#[cfg(not(target_arch = "wasm32"))]
fn spawn(build: impl FnOnce() + Send + 'static) -> Result<()> {
    let named = std::thread::Builder::new().name("hullfield build".to_owned());
    named.spawn(build).map(drop).map_err(|error| crate::error::Error::NoGpu {
        message: format!("the system gives no thread to build pipelines on: {error}"),
    })
}

/// In a browser creating a pipeline returns at once, and the browser builds it elsewhere.
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
    // In a browser objects of the device stay on their thread.
    #[cfg(target_arch = "wasm32")]
    let built: Vec<Result<()>> = kernels.iter().map(build).collect();
    built.into_iter().collect()
}
