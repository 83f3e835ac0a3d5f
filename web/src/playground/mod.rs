//! The playground's page: what its worker runs.
//!
//! `page/worker.js` describes the messages. Engines and scenes live in the worker; the page's main thread has the controls only.

pub mod draw;
