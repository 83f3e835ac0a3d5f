//! A page for tests of scenes on the host.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::playground::host::{Host, Link};
use crate::playground::message::Message;
use crate::playground::scene::Scene;
use crate::playground::stage::{Frame, Stage};

/// Keeps what is posted to the page.
#[derive(Clone, Default)]
pub(crate) struct Record(Rc<RefCell<Vec<Value>>>);

impl Link for Record {
    fn post(&self, message: &Value, _: &[u8]) {
        self.0.borrow_mut().push(message.clone());
    }

    fn ask(&self, _: &Value, _: &[u8]) {}

    fn wake(&self) {}
}

impl Record {
    /// The messages of a type, in their order.
    pub(crate) fn posted(&self, kind: &str) -> Vec<Value> {
        self.0.borrow().iter().filter(|message| message["type"] == kind).cloned().collect()
    }
}

/// A stage without canvases.
pub(crate) fn stage(size: [f32; 2]) -> Stage {
    let mut stage = Stage::default();
    (stage.size, stage.density) = (size, 1.0);
    stage
}

/// A page that shows one scene.
pub(crate) struct Page {
    pub(crate) scene: Box<dyn Scene>,
    pub(crate) host: Host,
    record: Record,
    stage: Stage,
    now: f64,
}

impl Page {
    /// A page of this size, in pixels.
    pub(crate) fn new(create: fn(&Host) -> Box<dyn Scene>, size: [f32; 2]) -> Self {
        let record = Record::default();
        let host = Host::new(Box::new(record.clone()));
        Self { scene: create(&host), host, record, stage: stage(size), now: 0.0 }
    }

    /// Its size in pixels.
    pub(crate) fn size(&self) -> [f32; 2] {
        self.stage.size
    }

    /// Sends the scene a message.
    pub(crate) fn send(&mut self, data: Value) {
        self.scene.message(&Message::new(data, Vec::new()), &self.host);
    }

    /// Draws a frame, a second after the last one. Returns whether another one shall come by itself.
    pub(crate) fn frame(&mut self) -> bool {
        self.now += 1000.0;
        let mut frame = Frame { now: self.now, step: 0.1, stage: &mut self.stage, host: &self.host };
        self.scene.frame(&mut frame, &self.host)
    }

    /// The messages of a type that the scene has posted, in their order.
    pub(crate) fn posted(&self, kind: &str) -> Vec<Value> {
        self.record.posted(kind)
    }

    /// Drags the pointer from one pixel to another.
    pub(crate) fn drag(&mut self, from: [f32; 2], to: [f32; 2]) {
        for (action, at, is_down) in [("down", from, true), ("move", to, true), ("up", to, false)] {
            self.send(json!({"type": "pointer", "action": action, "x": at[0], "y": at[1], "down": is_down}));
        }
    }
}
