//! What GPU tests share; the library's own tests include this file too.

// A test helper fails its test by a panic.
#![allow(clippy::panic)]

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use hullfield::{Engine, Error};

/// GPU tests skipped by this test program.
static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// Any adapter, a software one too; none where there is no adapter, and then the test has nothing to do.
///
/// With `HULLFIELD_REQUIRE_GPU=1` a missing adapter fails the test instead.
#[allow(clippy::panic)] // It fails the test that asks.
pub(crate) fn gpu() -> Option<Engine> {
    match Engine::gpu() {
        Ok(engine) => Some(engine),
        Err(Error::NoAdapter { reason }) => {
            let required = std::env::var("HULLFIELD_REQUIRE_GPU").is_ok_and(|value| value == "1");
            assert!(!required, "HULLFIELD_REQUIRE_GPU=1, but there is no GPU adapter: {reason}");
            // Past the test harness, which would swallow it: a skipped test must be seen.
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
            let _ = writeln!(
                std::io::stderr(),
                "skipped {test}: no GPU adapter ({reason}); {count} skipped so far here"
            );
            None
        }
        Err(error) => panic!("the adapter does not work: {error}"),
    }
}
