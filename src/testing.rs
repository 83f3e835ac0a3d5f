//! The GPU engine that tests run on. The unit tests of the library and the programs in `tests` both include this file.

// A test helper fails its test by a panic.
#![allow(clippy::panic)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hullfield::{BackendChoice, Engine, EngineOptions, Error};

/// GPU tests skipped by this test program.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// The engine that the tests of a program share, because each engine compiles its kernels anew, which takes a software driver seconds.
/// It takes any adapter, a software one too. `None` where there is no adapter; the test then has nothing to do.
///
/// A test opens an [engine of its own](own_gpu) if it reads what the engine counts, if it sets how the engine works, if it loses the
/// device, if it needs buffers that no test has used before, or if it takes so much memory that its buffers must be freed.
///
/// With `HULLFIELD_REQUIRE_GPU=1` a missing adapter fails the test instead. So does, where `HULLFIELD_EXPECT_ADAPTER` is set,
/// an adapter of which neither name nor driver contains its value.
#[allow(dead_code)] // Not every test program shares an engine.
pub(crate) fn gpu() -> Option<Engine> {
    shared(None)
}

/// An engine with storage bindings of at most this many bytes. Tests of one program that give the same number share an engine.
#[allow(dead_code)] // Not every test program sets a limit.
pub(crate) fn gpu_of_bindings(bytes: u64) -> Option<Engine> {
    shared(Some(bytes))
}

/// An engine that no other test uses.
#[allow(dead_code)] // Not every test program needs one.
pub(crate) fn own_gpu() -> Option<Engine> {
    gpu_with(EngineOptions::default())
}

/// The shared engine of this binding limit. The first test that asks for it opens it, and it stays open.
fn shared(binding_limit: Option<u64>) -> Option<Engine> {
    static ENGINES: Mutex<BTreeMap<Option<u64>, Engine>> = Mutex::new(BTreeMap::new());
    let mut engines = ENGINES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(engine) = engines.get(&binding_limit) {
        return Some(engine.clone());
    }
    let engine = gpu_with(EngineOptions::default())?;
    let engine = match binding_limit {
        Some(bytes) => engine.with_binding_limit(bytes),
        None => engine,
    };
    engines.insert(binding_limit, engine.clone());
    Some(engine)
}

/// An engine that no other test uses, with limits.
pub(crate) fn gpu_with(limits: EngineOptions) -> Option<Engine> {
    // Without a back end there is nothing to test here, whatever the machine has.
    if cfg!(not(any(feature = "vulkan", feature = "metal", feature = "dx12", feature = "webgpu"))) {
        return None;
    }
    match Engine::new(&EngineOptions { backend: BackendChoice::Gpu, ..limits }) {
        Ok(engine) => {
            expect_adapter(&engine);
            Some(engine)
        }
        Err(Error::NoGpu { message }) => {
            let required = std::env::var("HULLFIELD_REQUIRE_GPU").is_ok_and(|value| value == "1");
            assert!(!required, "HULLFIELD_REQUIRE_GPU=1, but there is no GPU: {message}");
            // Past the test harness, which would swallow it: a skipped test must be seen.
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
            let _ = writeln!(
                std::io::stderr(),
                "skipped {test}: no GPU ({message}); {count} skipped so far here"
            );
            None
        }
        Err(error) => panic!("the adapter does not work: {error}"),
    }
}

#[cfg(not(feature = "gpu"))]
fn expect_adapter(_: &Engine) {}

/// Fails the test where the adapter is not the one that the tests were to run on.
#[cfg(feature = "gpu")]
fn expect_adapter(engine: &Engine) {
    let Ok(expected) = std::env::var("HULLFIELD_EXPECT_ADAPTER") else { return };
    let Some(info) = engine.adapter_info() else { panic!("the engine has no adapter") };
    let found = format!("{} ({} {})", info.name, info.driver, info.driver_info);
    assert!(
        found.to_lowercase().contains(&expected.to_lowercase()),
        "HULLFIELD_EXPECT_ADAPTER={expected}, but the adapter is {found}"
    );
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| {
        let _ = writeln!(std::io::stderr(), "GPU adapter: {found}");
    });
}
