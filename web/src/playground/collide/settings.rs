//! The values of the tab's controls, which are those of its links.

use serde_json::Value;

use crate::playground::collide::shapes::KINDS;
use crate::playground::fields::{Fields, LinkFields};
use crate::playground::message::Message;

/// The most bodies.
const MOST_BODIES: u32 = 50_000;
/// All kinds of hulls.
const ALL: u8 = (1 << KINDS.len()) - 1;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    /// How many bodies there are.
    pub(super) count: u32,
    /// How fast they move; 1 is up to one unit a second.
    pub(super) speed: f32,
    /// The kinds of hulls, a bit each in the order of [`KINDS`].
    pub(super) kinds: u8,
    pub(super) seed: u32,
    pub(super) is_paused: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { count: 2000, speed: 1.0, kinds: ALL, seed: 1, is_paused: false }
    }
}

impl Settings {
    /// Whether a kind of hulls is chosen.
    pub(super) fn has(&self, kind: usize) -> bool {
        self.kinds >> kind & 1 == 1
    }

    /// Whether both have the same bodies at the beginning.
    pub(super) fn has_bodies_of(&self, other: &Self) -> bool {
        (self.count, self.kinds, self.seed) == (other.count, other.kinds, other.seed)
    }

    /// Takes the fields of a message `set`. Those that can't be used stay as they are; the first of them gives a sentence.
    pub(super) fn set(&mut self, message: &Message) -> Result<(), &'static str> {
        const KINDS_ALLOWED: &str = "The kinds of hulls are a list of box, ball, capsule, cone and polytope; at least one must be chosen.";
        let mut fields = Fields::of(message);
        let allowed = "The number of bodies is a whole number from 1 to 50,000.";
        self.count = fields.whole("bodies", 1..=MOST_BODIES, allowed).unwrap_or(self.count);
        let speed = fields.number("speed", 0.0..=4.0, "The speed is a number from 0 to 4.");
        self.speed = speed.map_or(self.speed, |speed| speed as f32);
        self.seed = fields.seed().unwrap_or(self.seed);
        let kinds =
            fields.read("kinds", KINDS_ALLOWED, |message, name| message.text(name).and_then(kinds_of));
        self.kinds = kinds.unwrap_or(self.kinds);
        self.is_paused = fields.flag("paused", "Paused is 0 or 1.").unwrap_or(self.is_paused);
        fields.finish()
    }

    /// What [`set`](Self::set) reads, without what is the default.
    pub(super) fn state(&self) -> Value {
        let usual = Self::default();
        let mut fields = LinkFields::default();
        fields.put("bodies", self.count, usual.count);
        // The shortest text that gives the same f32.
        let speed = |speed: f32| speed.to_string().parse::<f64>().unwrap_or_default();
        fields.put("speed", speed(self.speed), speed(usual.speed));
        fields.put("kinds", self.kind_names(), usual.kind_names());
        fields.put("seed", self.seed, usual.seed);
        fields.put("paused", u8::from(self.is_paused), u8::from(usual.is_paused));
        fields.into()
    }

    /// The chosen kinds, as [`kinds_of`] reads them.
    fn kind_names(&self) -> String {
        let names: Vec<&str> =
            KINDS.iter().enumerate().filter(|(kind, _)| self.has(*kind)).map(|(_, name)| *name).collect();
        names.join(",")
    }
}

/// The bits of a list of kinds.
fn kinds_of(text: &str) -> Option<u8> {
    let mut kinds = 0;
    for name in text.split(',') {
        kinds |= 1 << KINDS.iter().position(|kind| *kind == name.trim())?;
    }
    Some(kinds)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(settings: &mut Settings, data: Value) -> Result<(), &'static str> {
        settings.set(&Message::new(data, Vec::new()))
    }

    #[test]
    fn a_link_gives_back_its_settings() {
        let settings = Settings { count: 300, speed: 0.1, kinds: 0b101, seed: 9, is_paused: true };
        let Value::Object(fields) = settings.state() else { panic!() };
        // A link has texts only.
        let texts = fields.into_iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name, Value::String(text))
        });
        let mut read = Settings::default();
        set(&mut read, Value::Object(texts.collect())).unwrap();
        assert_eq!(read, settings);
        assert_eq!(Settings::default().state(), json!({}));
    }

    #[test]
    fn what_cannot_be_used_is_one_sentence_and_changes_nothing() {
        for (data, word) in [
            (json!({"bodies": 0}), "50,000"),
            (json!({"bodies": 50_001}), "50,000"),
            (json!({"bodies": 2.5}), "whole"),
            (json!({"bodies": "many"}), "bodies"),
            (json!({"speed": -1}), "speed"),
            (json!({"kinds": ""}), "at least one"),
            (json!({"kinds": "box,torus"}), "polytope"),
            (json!({"seed": 4_294_967_296_u64}), "seed"),
            (json!({"paused": "perhaps"}), "Paused"),
        ] {
            let mut settings = Settings::default();
            let sentence = set(&mut settings, data).unwrap_err();
            assert!(sentence.contains(word) && sentence.ends_with('.'), "{sentence}");
            assert_eq!(settings, Settings::default());
        }
    }

    #[test]
    fn the_good_fields_of_a_message_are_taken() {
        let mut settings = Settings::default();
        assert!(set(&mut settings, json!({"bodies": 7, "seed": -1})).is_err());
        assert_eq!((settings.count, settings.seed), (7, 1));
    }
}
