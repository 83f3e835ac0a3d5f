//! A page for tests of scenes on the host.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::playground::host::{Host, Link};
use crate::playground::message::Message;
use crate::playground::scene::{Kind, Scene};
use crate::playground::stage::{Frame, Stage};

/// A question to the second worker: an object and bytes.
type Question = (Value, Vec<u8>);

/// Keeps what is posted to the page, and what the second worker is asked.
#[derive(Clone, Default)]
pub(crate) struct Record {
    posted: Rc<RefCell<Vec<Value>>>,
    asked: Rc<RefCell<Vec<Question>>>,
}

impl Link for Record {
    fn post(&self, message: &Value, _: &[u8]) {
        self.posted.borrow_mut().push(message.clone());
    }

    fn ask(&self, message: &Value, bytes: &[u8]) {
        self.asked.borrow_mut().push((message.clone(), bytes.to_vec()));
    }

    fn wake(&self) {}
}

impl Record {
    /// The messages of a type, in their order.
    pub(crate) fn posted(&self, kind: &str) -> Vec<Value> {
        self.posted.borrow().iter().filter(|message| message["type"] == kind).cloned().collect()
    }
}

/// A stage without canvases.
pub(crate) fn stage(size: [f32; 2]) -> Stage {
    let mut stage = Stage::default();
    (stage.size, stage.density) = (size, 1.0);
    stage
}

/// A page that shows one scene.
pub(crate) struct Page<S: Scene + ?Sized = dyn Scene> {
    pub(crate) scene: Box<S>,
    pub(crate) host: Host,
    record: Record,
    stage: Stage,
    now: f64,
}

impl<S: Scene + ?Sized> Page<S> {
    /// A page of this size, in pixels.
    pub(crate) fn new(create: impl FnOnce(&Host) -> Box<S>, size: [f32; 2]) -> Self {
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
        self.send_bytes(data, Vec::new());
    }

    /// Sends the scene a message with bytes.
    pub(crate) fn send_bytes(&mut self, data: Value, bytes: Vec<u8>) {
        self.scene.message(&Message::new(data, bytes), &self.host);
    }

    /// How many questions to the second worker are not answered.
    pub(crate) fn asked_count(&self) -> usize {
        self.record.asked.borrow().len()
    }

    /// The objects of the questions to the second worker that are not answered, the oldest first.
    pub(crate) fn asked(&self) -> Vec<Value> {
        self.record.asked.borrow().iter().map(|(data, _)| data.clone()).collect()
    }

    /// Forgets the questions to the second worker, as if it had none. Returns how many there were.
    pub(crate) fn forget_asked(&mut self) -> usize {
        self.record.asked.borrow_mut().drain(..).count()
    }

    /// Gives the scene the second worker's answers to what it has asked. Returns how many there are.
    pub(crate) fn answer(&mut self, kind: &Kind) -> usize {
        let asked = std::mem::take(&mut *self.record.asked.borrow_mut());
        let count = asked.len();
        for (mut data, mut bytes) in asked {
            assert_eq!(data["tab"], kind.name);
            // As `page/worker.js` does.
            if data["ask"] == "read" {
                let (name, most) = (data["name"].as_str().unwrap(), data["most"].as_u64().unwrap() as usize);
                match hullfield_web_readers::read(name, &bytes, most) {
                    Ok(faces) => bytes = faces,
                    Err(error) => (data["error"], bytes) = (json!(error), Vec::new()),
                }
            }
            let (mut data, bytes) = (kind.second)(&Message::new(data, bytes)).unwrap();
            data["type"] = json!("second");
            self.send_bytes(data, bytes);
        }
        count
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
