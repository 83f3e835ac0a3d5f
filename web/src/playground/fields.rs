//! Reads the fields of a message `set`, which a control or a link sends, and writes those of a link.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::playground::message::Message;

/// Reads the fields of a message `set`. A field that is missing gives `None`; one that can't be used does too, and leaves its sentence.
#[derive(Debug)]
pub struct Fields<'a> {
    message: &'a Message,
    wrong: Option<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of a message.
    pub fn of(message: &'a Message) -> Self {
        Self { message, wrong: None }
    }

    /// A field as `read` reads it; `allowed` is the sentence that says what it may be.
    pub fn read<T>(
        &mut self,
        name: &str,
        allowed: &'static str,
        read: impl FnOnce(&Message, &str) -> Option<T>,
    ) -> Option<T> {
        if !self.message.has(name) {
            return None;
        }
        let value = read(self.message, name);
        if value.is_none() {
            self.wrong.get_or_insert(allowed);
        }
        value
    }

    /// A number in a range.
    pub fn number(&mut self, name: &str, range: RangeInclusive<f64>, allowed: &'static str) -> Option<f64> {
        self.read(name, allowed, |message, name| message.number(name).filter(|number| range.contains(number)))
    }

    /// A whole number in a range.
    pub fn whole(&mut self, name: &str, range: RangeInclusive<u32>, allowed: &'static str) -> Option<u32> {
        let range = f64::from(*range.start())..=f64::from(*range.end());
        let number = self.read(name, allowed, |message, name| {
            message.number(name).filter(|number| number.fract() == 0.0 && range.contains(number))
        });
        number.map(|number| number as u32)
    }

    /// The seed of a scene, in the field `seed`.
    pub fn seed(&mut self) -> Option<u32> {
        self.whole("seed", 0..=u32::MAX, "The seed is a whole number from 0 to 4,294,967,295.")
    }

    /// One of some names.
    pub fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)], allowed: &'static str) -> Option<T> {
        self.read(name, allowed, |message, name| {
            let text = message.text(name)?;
            choices.iter().find(|(choice, _)| *choice == text).map(|(_, value)| *value)
        })
    }

    /// A box that is ticked or not.
    pub fn flag(&mut self, name: &str, allowed: &'static str) -> Option<bool> {
        self.read(name, allowed, Message::flag)
    }

    /// The sentence of the first field that could not be used.
    ///
    /// # Errors
    /// That sentence.
    pub fn finish(self) -> Result<(), &'static str> {
        self.wrong.map_or(Ok(()), Err)
    }
}

/// The name of a value among choices; empty where it is none of them.
pub fn name_of<T: PartialEq>(choices: &[(&'static str, T)], value: &T) -> &'static str {
    choices.iter().find(|(_, choice)| choice == value).map_or("", |(name, _)| name)
}

/// The fields of a link, as [`Fields`] reads them. Values that are the default are left out.
#[derive(Debug, Default)]
pub struct LinkFields(Map<String, Value>);

impl LinkFields {
    /// Adds a field where its value is not the default.
    pub fn put<T: PartialEq + Into<Value>>(&mut self, name: &str, value: T, default: T) {
        if value != default {
            self.0.insert(name.to_owned(), value.into());
        }
    }
}

impl From<LinkFields> for Value {
    fn from(fields: LinkFields) -> Self {
        Self::Object(fields.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn missing_fields_are_no_error_and_the_first_wrong_one_is() {
        let message = Message::new(
            json!({"a": "2.5", "b": 2.5, "c": "two", "d": "1", "e": 7, "f": "perhaps"}),
            Vec::new(),
        );
        let choices = [("one", 1), ("two", 2)];
        let mut fields = Fields::of(&message);
        assert_eq!(fields.number("a", 0.0..=3.0, "a"), Some(2.5));
        assert_eq!(fields.choice("c", &choices, "c"), Some(2));
        assert_eq!((fields.flag("d", "d"), fields.whole("e", 0..=7, "e")), (Some(true), Some(7)));
        assert_eq!((fields.number("z", 0.0..=1.0, "z"), fields.seed()), (None, None));
        assert_eq!(fields.finish(), Ok(()));
        let mut fields = Fields::of(&message);
        assert_eq!((fields.whole("b", 0..=9, "b"), fields.number("e", 0.0..=1.0, "e")), (None, None));
        assert_eq!((fields.choice("a", &choices, "a"), fields.flag("f", "f")), (None, None));
        assert_eq!(fields.finish(), Err("b"));
        assert_eq!((name_of(&choices, &2), name_of(&choices, &3)), ("two", ""));
    }

    #[test]
    fn a_link_has_what_is_not_the_default() {
        let mut fields = LinkFields::default();
        fields.put("a", 1, 1);
        fields.put("b", 2, 1);
        fields.put("c", "two", "one");
        assert_eq!(Value::from(fields), json!({"b": 2, "c": "two"}));
    }
}
