//! Messages from the page.

use serde_json::Value;

/// A message from the page, or from the second worker: an object with a `type`, and bytes where it has some.
#[derive(Debug, Clone, Default)]
pub struct Message {
    data: Value,
    bytes: Vec<u8>,
}

/// What a pointer does. A finger, a pen and a mouse are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It goes down.
    Down,
    /// It moves while it is down, or a mouse moves over the canvas.
    Move,
    /// It goes up, or the page lost it.
    Up,
    /// A wheel turns, or two fingers move apart or together: `Pointer::zoom` says by how much.
    Zoom,
}

/// A message of the type `pointer`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pointer {
    /// What it does.
    pub action: Action,
    /// Where it is, from the canvas's left upper corner, in pixels of the page.
    pub at: [f32; 2],
    /// How far it moved since the last message, in pixels of the page.
    pub moved: [f32; 2],
    /// Below 1 nearer, above 1 away; 1 but for `Action::Zoom`.
    pub zoom: f32,
    /// The button of `Down`: 0 the main one, 1 the middle one, 2 the right one; a finger is 0, two fingers are 1.
    pub button: u8,
    /// Whether it is down.
    pub is_down: bool,
    /// Whether the shift key is down.
    pub shift: bool,
}

impl Pointer {
    /// Where it is on a canvas of this many pixels of the page: from the centre, −1 to 1, right and up.
    pub fn on(&self, size: [f32; 2]) -> [f32; 2] {
        [2.0 * self.at[0] / size[0].max(1.0) - 1.0, 1.0 - 2.0 * self.at[1] / size[1].max(1.0)]
    }
}

impl Message {
    /// A message of an object and bytes.
    pub fn new(data: Value, bytes: Vec<u8>) -> Self {
        Self { data, bytes }
    }

    /// Its type; empty where it has none.
    pub fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    /// The object.
    pub fn data(&self) -> &Value {
        &self.data
    }

    /// The bytes; empty where there are none.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A finite number. One from a link is a text, which is read.
    pub fn number(&self, name: &str) -> Option<f64> {
        let number = match self.data.get(name)? {
            Value::String(text) => text.parse().ok()?,
            value => value.as_f64()?,
        };
        Some(number).filter(|number: &f64| number.is_finite())
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.data.get(name)?.as_str()
    }

    /// A choice: true, false, and in a link 1, 0, true, false.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.data.get(name)? {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => match text.as_str() {
                "1" | "true" => Some(true),
                "0" | "false" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it has this field, readable or not.
    pub fn has(&self, name: &str) -> bool {
        self.data.get(name).is_some()
    }

    /// The pointer of a message of the type `pointer`.
    pub fn pointer(&self) -> Option<Pointer> {
        if self.kind() != "pointer" {
            return None;
        }
        let number = |name: &str| self.number(name).unwrap_or_default() as f32;
        let action = match self.text("action")? {
            "down" => Action::Down,
            "move" => Action::Move,
            "up" => Action::Up,
            "zoom" => Action::Zoom,
            _ => return None,
        };
        Some(Pointer {
            action,
            at: [number("x"), number("y")],
            moved: [number("dx"), number("dy")],
            zoom: self.number("zoom").map_or(1.0, |zoom| (zoom as f32).clamp(0.1, 10.0)),
            button: number("button") as u8,
            is_down: self.flag("down").unwrap_or_default(),
            shift: self.flag("shift").unwrap_or_default(),
        })
    }

    /// The name of the key of a message of the type `key`, as `KeyboardEvent.key` has it.
    pub fn key(&self) -> Option<&str> {
        if self.kind() == "key" { self.text("key") } else { None }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_and_choices_are_read_from_a_control_and_from_a_link() {
        let message = Message::new(
            json!({"a": 3, "b": "2.5", "c": "x", "d": "1", "e": false, "f": "1e999"}),
            Vec::new(),
        );
        assert_eq!([message.number("a"), message.number("b")], [Some(3.0), Some(2.5)]);
        assert_eq!([message.number("c"), message.number("f"), message.number("g")], [None; 3]);
        assert_eq!(
            [message.flag("d"), message.flag("e"), message.flag("c")],
            [Some(true), Some(false), None]
        );
        assert!(message.has("c") && !message.has("g"));
    }

    #[test]
    fn a_pointer_has_a_place_on_the_canvas() {
        let data = json!({"type": "pointer", "action": "move", "x": 75, "y": 25, "down": true});
        let pointer = Message::new(data, Vec::new()).pointer().unwrap();
        assert_eq!(pointer.on([100.0, 100.0]), [0.5, 0.5]);
        assert!(pointer.is_down && pointer.zoom == 1.0 && pointer.action == Action::Move);
        assert_eq!(Message::new(json!({"type": "pointer", "action": "fly"}), Vec::new()).pointer(), None);
    }
}
