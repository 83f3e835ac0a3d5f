//! The playground's page: what its workers run.
//!
//! `page/worker.js` describes the messages. Engines and scenes live in the first worker; the page's main thread has the controls
//! only. A second worker has a CPU engine of its own, for work that must not stop frames.
//!
//! A tab is a [`scene::Kind`] in [`app::SCENES`], a page module `page/<tab>.js`, and a test `tests/<tab>.test.mjs`. The page loads two modules of
//! WebAssembly, so that the first picture waits for one of them only: one of the feature `playground-crowds` (collide, flow), one of
//! `playground-paths` (rooms, surface). Each worker has a program of each module, with an engine of its own; the canvases are the same.

pub mod app;
#[cfg(feature = "playground-crowds")]
mod collide;
#[cfg(target_arch = "wasm32")]
mod device;
pub mod draw;
pub mod fields;
#[cfg(feature = "playground-crowds")]
mod flow;
pub mod host;
pub mod message;
pub mod orbit;
#[cfg(feature = "playground-paths")]
mod rooms;
pub mod scene;
pub mod seed;
pub mod stage;
#[cfg(feature = "playground-paths")]
mod surface;
#[cfg(test)]
mod test_page;
