//! Surfaces as serde writes and reads them: the bytes of `file.rs`, which are checked as they are read.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::navigate::surface::mesh::build::LoadOptions;
use crate::navigate::surface::query::surface::Surface;

impl Serialize for Surface {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.to_bytes())
    }
}

impl<'de> Deserialize<'de> for Surface {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(Bytes)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Surface;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the bytes of a surface")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Surface, E> {
        Surface::from_bytes(bytes, LoadOptions::default()).map_err(E::custom)
    }

    /// Formats without bytes, such as JSON, have them as numbers.
    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Surface, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = numbers.next_element()? {
            bytes.push(byte);
        }
        self.visit_bytes(&bytes)
    }
}
