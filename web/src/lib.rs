//! hullfield in a browser: the classes of the npm package (feature `api`), and the playground's page (feature `playground`).
//!
//! `cargo xtask web` builds both for `wasm32-unknown-unknown`. The crate also compiles for the host, where its tests run; there
//! nothing that calls JavaScript works.

#[cfg(feature = "api")]
pub mod api;
#[cfg(any(feature = "playground-crowds", feature = "playground-paths"))]
#[cfg_attr(not(feature = "playground"), allow(dead_code, reason = "what the tabs of the other module use"))]
pub mod playground;
