//! The playground's page: what its workers run.
//!
//! `page/worker.js` describes the messages. Engines and scenes live in the first worker; the page's main thread has the controls
//! only. A second worker has a CPU engine of its own, for work that must not stop frames.
//!
//! A tab is a [`scene::Kind`] in [`app::SCENES`], a page module `page/<tab>.js`, and a test `tests/<tab>.test.mjs`.

pub mod app;
mod collide;
#[cfg(target_arch = "wasm32")]
mod device;
pub mod draw;
pub mod fields;
mod flow;
pub mod host;
pub mod message;
pub mod orbit;
mod rooms;
pub mod scene;
pub mod seed;
pub mod stage;
mod surface;
#[cfg(test)]
mod test_page;
