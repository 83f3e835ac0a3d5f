//! What a tab shows.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use crate::playground::host::Host;
use crate::playground::message::Message;
use crate::playground::stage::Frame;

/// The result of a check: an object for the tests, or a sentence that says what is wrong.
pub type Check = Pin<Box<dyn Future<Output = Result<Value, String>>>>;

/// An answer of the second worker: an object and bytes.
pub type Reply = Result<(Value, Vec<u8>), String>;

/// What a tab shows.
pub trait Scene {
    /// Takes a message. The types that every scene gets:
    ///
    /// - `set`: values of controls, or of a link; each field is one, and fields that are missing stay as they are. A value that can't be
    ///   used is an error for the page's bar ([`Host::error`]).
    /// - `engine`: the engine may be another one now ([`Host::engine`]), or the GPU's is lost ([`Host::gpu`]).
    /// - `pointer`, `key`: input on the canvas. `file`: a dropped file, with its `name` and its bytes.
    /// - `second`: an answer of the second worker.
    fn message(&mut self, message: &Message, host: &Host);

    /// Draws. Returns whether another frame shall come by itself; without one, the next comes after a message or [`Host::wake`].
    fn frame(&mut self, frame: &mut Frame<'_>, host: &Host) -> bool;

    /// Checks the scene's answers, on every engine that is there, for the tests of the page. It shall not touch what is shown.
    fn check(&mut self, host: &Host) -> Check;

    /// What goes into the link: an object of numbers, texts and booleans, as `set` reads them. Values that are the default are left out.
    fn state(&self) -> Value;
}

/// A kind of scene.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The tab's name, in links and messages.
    pub name: &'static str,
    /// Makes the scene when its tab is opened for the first time.
    pub create: fn(&Host) -> Box<dyn Scene>,
    /// Answers a question in the second worker, on its CPU engine.
    pub second: fn(&Message) -> Reply,
}
