//! The ids of bodies in a set.

use std::fmt;

/// The id of a body in a [`Bodies`](crate::collide::Bodies): a slot, and how many bodies the slot held before.
///
/// The slot of a removed body is used again, with another generation. So an id never names a body that was inserted later. Ids are
/// ordered by index, then by generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct BodyId {
    index: u32,
    generation: u32,
}

impl BodyId {
    pub(crate) fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// The slot, from 0: the body's row in [`Bodies::rows`](crate::collide::Bodies::rows). Errors name bodies by it.
    pub fn index(self) -> u32 {
        self.index
    }

    /// How many bodies the slot held before this one.
    pub fn generation(self) -> u32 {
        self.generation
    }
}

impl fmt::Display for BodyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body {} of generation {}", self.index, self.generation)
    }
}

/// One side of a pair: a body of a set, or a static of its arena. Bodies come before statics in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum BodyRef {
    /// A body of the set.
    Body(BodyId),
    /// Index of a static in [`Options::statics`](crate::collide::Options::statics).
    Static(u32),
}

impl BodyRef {
    /// The id, unless it is a static.
    pub fn body(self) -> Option<BodyId> {
        match self {
            Self::Body(id) => Some(id),
            Self::Static(_) => None,
        }
    }
}
