//! The program of a worker: it takes messages, keeps the scenes, and draws frames.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use wasm_bindgen::prelude::*;
use web_sys::OffscreenCanvas;

use crate::playground::host::{Choice, Host, Link, run};
use crate::playground::message::Message;
use crate::playground::scene::{Kind, Scene};
use crate::playground::stage::{Frame, Stage};
#[cfg(feature = "playground-crowds")]
use crate::playground::{collide, flow};
#[cfg(feature = "playground-paths")]
use crate::playground::{rooms, surface};

/// The tabs of this module, in their order. `page/modules.js` knows which module has a tab.
pub const SCENES: &[Kind] = &[
    #[cfg(feature = "playground-crowds")]
    collide::kind(),
    #[cfg(feature = "playground-crowds")]
    flow::KIND,
    #[cfg(feature = "playground-paths")]
    rooms::KIND,
    #[cfg(feature = "playground-paths")]
    surface::KIND,
];

#[wasm_bindgen]
extern "C" {
    /// What `worker.js` gives: functions that take a message's text and bytes.
    #[derive(Debug, Clone)]
    pub type Functions;
    #[wasm_bindgen(method)]
    fn post(this: &Functions, message: &str, bytes: &[u8]);
    #[wasm_bindgen(method)]
    fn ask(this: &Functions, message: &str, bytes: &[u8]);
    #[wasm_bindgen(method)]
    fn wake(this: &Functions);
}

impl Link for Functions {
    fn post(&self, message: &Value, bytes: &[u8]) {
        Functions::post(self, &message.to_string(), bytes);
    }

    fn ask(&self, message: &Value, bytes: &[u8]) {
        Functions::ask(self, &message.to_string(), bytes);
    }

    fn wake(&self) {
        Functions::wake(self);
    }
}

/// The first worker's program.
#[wasm_bindgen]
#[derive(Debug)]
pub struct App {
    inside: Rc<RefCell<Inside>>,
}

struct Tab {
    kind: Kind,
    scene: Box<dyn Scene>,
    posted_state: Value,
}

struct Inside {
    host: Host,
    stage: Stage,
    tabs: Vec<Tab>,
    /// The index of the open tab in `tabs`.
    open: Option<usize>,
    last_frame: Option<f64>,
    /// The canvas of WebGPU, until it is used.
    #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "WebGPU is the browser's"))]
    gpu_canvas: Option<OffscreenCanvas>,
}

impl std::fmt::Debug for Inside {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Inside").field("open", &self.open).finish_non_exhaustive()
    }
}

#[wasm_bindgen]
impl App {
    /// A program that draws on two canvases, one for the context `2d` and one for WebGPU.
    ///
    /// # Errors
    /// Where the first canvas has no context `2d`.
    #[wasm_bindgen(constructor)]
    pub fn new(functions: Functions, flat: OffscreenCanvas, gpu: OffscreenCanvas) -> Result<Self, JsError> {
        let stage =
            Stage::new(flat).ok_or_else(|| JsError::new("this browser has no 2d canvas in a worker"))?;
        let inside = Inside::new(Host::new(Box::new(functions)), stage, Some(gpu));
        Ok(Self { inside: Rc::new(RefCell::new(inside)) })
    }

    /// Takes a message: the text of an object, and bytes.
    pub fn message(&self, text: &str, bytes: Vec<u8>) {
        let Ok(data) = serde_json::from_str(text) else { return };
        self.inside.borrow_mut().take(&Message::new(data, bytes));
    }

    /// Draws. Returns whether the next frame shall come by itself.
    pub fn frame(&self, now: f64) -> bool {
        self.inside.borrow_mut().frame(now)
    }

    /// Opens WebGPU in the background. `info` is the text of what the browser says of its adapter; null where it has none, and then `why` says why.
    pub fn open_gpu(&self, info: &str, why: String) {
        let info: Value = serde_json::from_str(info).unwrap_or_default();
        if info.is_null() {
            self.inside.borrow_mut().opened(Err(why));
            return;
        }
        self.open(info);
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn open(&self, _: Value) {
        self.inside.borrow_mut().opened(Err("There is no browser.".to_owned()));
    }

    #[cfg(target_arch = "wasm32")]
    fn open(&self, info: Value) {
        let inside = Rc::clone(&self.inside);
        let Some(canvas) = inside.borrow_mut().gpu_canvas.take() else { return };
        run(async move {
            use crate::playground::device::{Event, open};
            let (canvas, events) = match open(canvas, &info).await {
                Ok((gpu, canvas, events)) => (Ok((gpu, canvas)), Some(events)),
                Err(why) => (Err(why), None),
            };
            {
                let mut inside = inside.borrow_mut();
                let gpu = canvas.map(|(gpu, canvas)| {
                    inside.stage.gpu = Some(canvas);
                    gpu
                });
                inside.opened(gpu);
            }
            let Some(events) = events else { return };
            loop {
                let event = events.next().await;
                let mut inside = inside.borrow_mut();
                match event {
                    Event::Lost(message) => return inside.lose(&message),
                    Event::Fault(error) => inside.host.error(&format!("The GPU reports: {error}")),
                }
            }
        });
    }
}

impl Inside {
    fn new(host: Host, stage: Stage, gpu_canvas: Option<OffscreenCanvas>) -> Self {
        Self { host, stage, tabs: Vec::new(), open: None, last_frame: None, gpu_canvas }
    }

    fn set_gpu(&mut self, gpu: Result<crate::playground::host::Gpu, String>) {
        if gpu.is_err() {
            self.stage.gpu = None;
        }
        self.host.set_gpu(gpu);
        self.engine_changed();
    }

    /// WebGPU is open, or can't be.
    fn opened(&mut self, gpu: Result<crate::playground::host::Gpu, String>) {
        self.set_gpu(gpu);
        self.refuse_gpu();
    }

    /// Says why the GPU that was chosen is not used.
    fn refuse_gpu(&self) {
        if self.host.choice() == Choice::Gpu
            && let Some(why) = self.host.why_no_gpu()
        {
            self.host.error(&format!("{why} The CPU engine is used."));
        }
    }

    /// The device is lost: the CPU engine goes on.
    #[cfg_attr(not(target_arch = "wasm32"), allow(dead_code, reason = "WebGPU is the browser's"))]
    fn lose(&mut self, message: &str) {
        let message = message.trim_end_matches('.');
        let reason = if message.is_empty() { String::new() } else { format!(" ({message})") };
        let text = format!(
            "The GPU's device was lost{reason}. The CPU engine goes on; reload the page to try the GPU again."
        );
        self.set_gpu(Err(text.clone()));
        self.host.post(json!({"type": "lost", "text": text}));
        self.post_state();
    }

    fn engine_changed(&mut self) {
        self.host.clear_times();
        let message = Message::new(json!({"type": "engine"}), Vec::new());
        for tab in &mut self.tabs {
            tab.scene.message(&message, &self.host);
        }
        self.host.wake();
    }

    fn take(&mut self, message: &Message) {
        match message.kind() {
            "open" => self.open(message),
            "size" => {
                let number = |name: &str| message.number(name).unwrap_or(1.0) as f32;
                self.stage.size = ["width", "height"].map(|name| number(name).clamp(1.0, 8192.0));
                self.stage.density = number("density").clamp(0.5, 4.0);
            }
            "theme" => self.stage.is_dark = message.flag("dark").unwrap_or_default(),
            "choose" => {
                let choice = match message.text("engine") {
                    Some("auto") => Choice::Auto,
                    Some("gpu") => Choice::Gpu,
                    Some("cpu") => Choice::Cpu,
                    _ => return self.host.error("The engine is auto, gpu or cpu."),
                };
                if choice != self.host.choice() {
                    self.host.choose(choice);
                    self.engine_changed();
                    self.refuse_gpu();
                }
            }
            "lose" => {
                if let Some(gpu) = self.host.gpu()
                    && let Some((device, _)) = gpu.engine.device()
                {
                    device.destroy();
                }
            }
            "check" => self.check(message),
            _ => {
                let named = message.text("tab").and_then(|name| self.tab(name));
                if let Some(index) = named.or(self.open) {
                    let tab = &mut self.tabs[index];
                    tab.scene.message(message, &self.host);
                }
            }
        }
        self.post_state();
        self.host.wake();
    }

    fn tab(&self, name: &str) -> Option<usize> {
        self.tabs.iter().position(|tab| tab.kind.name == name)
    }

    /// The index of a tab's scene, which is made where it is missing.
    fn ensure(&mut self, name: &str) -> Option<usize> {
        let kind = SCENES.iter().find(|kind| kind.name == name)?;
        Some(self.tab(name).unwrap_or_else(|| {
            let scene = (kind.create)(&self.host);
            self.tabs.push(Tab { kind: *kind, scene, posted_state: Value::Null });
            self.tabs.len() - 1
        }))
    }

    fn open(&mut self, message: &Message) {
        let name = message.text("tab").unwrap_or_default();
        let Some(index) = self.ensure(name) else {
            return self.host.error(&format!("There is no tab “{name}”."));
        };
        if self.open != Some(index) {
            self.host.clear_times();
        }
        // A tab of the other module may have been open until now.
        self.stage.reopen();
        self.host.post_engine();
        self.open = Some(index);
        let tab = &mut self.tabs[index];
        tab.posted_state = Value::Null;
        if let Some(Value::Object(fields)) = message.data().get("fields")
            && !fields.is_empty()
        {
            let mut fields = fields.clone();
            fields.insert("type".to_owned(), json!("set"));
            tab.scene.message(&Message::new(Value::Object(fields), Vec::new()), &self.host);
        }
    }

    fn check(&mut self, message: &Message) {
        let name = message.text("tab").unwrap_or_default().to_owned();
        let id = message.number("id");
        let Some(index) = self.ensure(&name) else { return };
        let check = self.tabs[index].scene.check(&self.host);
        let host = self.host.clone();
        run(async move {
            let (ok, result) = match check.await {
                Ok(result) => (true, result),
                Err(sentence) => (false, json!(sentence)),
            };
            host.post(json!({"type": "checked", "tab": name, "id": id, "ok": ok, "result": result}));
        });
    }

    fn post_state(&mut self) {
        let Some(tab) = self.open.map(|index| &mut self.tabs[index]) else { return };
        let state = tab.scene.state();
        if state != tab.posted_state {
            self.host.post(json!({"type": "state", "tab": tab.kind.name, "state": state}));
            tab.posted_state = state;
        }
    }

    fn frame(&mut self, now: f64) -> bool {
        let Some(index) = self.open else { return false };
        let step = self.last_frame.map_or(0.0, |last| ((now - last) / 1e3).clamp(0.0, 0.1)) as f32;
        if let Some(last) = self.last_frame {
            self.host.time("frame to frame", now - last);
        }
        let mut frame = Frame { now, step, stage: &mut self.stage, host: &self.host };
        let goes_on = self.tabs[index].scene.frame(&mut frame, &self.host);
        self.last_frame = goes_on.then_some(now);
        self.post_state();
        self.host.post_times(goes_on);
        goes_on
    }
}

/// Answers a question in the second worker. Returns the text of an object; its bytes, where it has some, are given to `functions.post`.
#[wasm_bindgen]
pub fn second(functions: &Functions, text: &str, bytes: Vec<u8>) {
    let data: Value = serde_json::from_str(text).unwrap_or_default();
    let message = Message::new(data, bytes);
    let name = message.text("tab").unwrap_or_default();
    let reply = match SCENES.iter().find(|kind| kind.name == name) {
        Some(kind) => (kind.second)(&message),
        None => Err(format!("There is no tab “{name}”.")),
    };
    let (mut data, bytes) = match reply {
        Ok((Value::Object(fields), bytes)) => (fields, bytes),
        Ok((value, bytes)) => (serde_json::Map::from_iter([("result".to_owned(), value)]), bytes),
        Err(sentence) => (serde_json::Map::from_iter([("error".to_owned(), json!(sentence))]), Vec::new()),
    };
    data.insert("type".to_owned(), json!("second"));
    data.insert("tab".to_owned(), json!(name));
    functions.post(&Value::Object(data).to_string(), &bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playground::test_page::{Record, stage};

    fn worker() -> (Inside, Record) {
        let record = Record::default();
        (Inside::new(Host::new(Box::new(record.clone())), stage([120.0, 80.0]), None), record)
    }

    fn send(inside: &mut Inside, data: Value) {
        inside.take(&Message::new(data, Vec::new()));
    }

    #[test]
    fn each_tab_opens_draws_by_the_cpu_engine_and_passes_its_check() {
        let (mut inside, record) = worker();
        for kind in SCENES {
            send(&mut inside, json!({"type": "open", "tab": kind.name, "fields": {}}));
            inside.frame(0.0);
            send(&mut inside, json!({"type": "check", "tab": kind.name, "id": 1}));
            let checked = record.posted("checked").pop().unwrap();
            assert!(checked["tab"] == kind.name && checked["ok"] == true, "{checked}");
        }
        let first = &record.posted("picture")[0];
        assert!(first["engine"] == "cpu" && first["layer"] == "flat", "{first}");
        assert_eq!(record.posted("error"), Vec::<Value>::new());
    }

    #[test]
    fn a_tab_that_is_not_there_is_a_sentence() {
        let (mut inside, record) = worker();
        send(&mut inside, json!({"type": "open", "tab": "nowhere"}));
        assert!(record.posted("error")[0]["text"].as_str().unwrap().contains("nowhere"));
        assert!(!inside.frame(0.0));
    }

    #[test]
    fn the_engine_and_why_it_is_used_are_said() {
        let (mut inside, record) = worker();
        inside.opened(Err("This browser has no WebGPU.".to_owned()));
        let engine = record.posted("engine").pop().unwrap();
        assert!(engine["used"] == "cpu" && engine["reason"] == "This browser has no WebGPU.", "{engine}");
        assert_eq!(record.posted("error"), Vec::<Value>::new());
        send(&mut inside, json!({"type": "choose", "engine": "gpu"}));
        assert_eq!(record.posted("engine").pop().unwrap()["used"], "cpu");
        let why = "This browser has no WebGPU. The CPU engine is used.";
        assert_eq!(record.posted("error"), [json!({"type": "error", "text": why})]);
        send(&mut inside, json!({"type": "choose", "engine": "abacus"}));
        assert_eq!(record.posted("error").len(), 2);
    }

    #[test]
    fn a_gpu_that_a_link_names_is_refused_when_webgpu_cannot_be_opened() {
        let (mut inside, record) = worker();
        send(&mut inside, json!({"type": "choose", "engine": "gpu"}));
        assert_eq!(record.posted("engine").pop().unwrap()["reason"], "WebGPU is being opened.");
        assert_eq!(record.posted("error"), Vec::<Value>::new());
        inside.opened(Err("This browser has no WebGPU.".to_owned()));
        assert_eq!(record.posted("error").len(), 1);
    }
}
