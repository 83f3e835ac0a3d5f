//! The ids of bodies.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The id of a body: the scene that it was inserted into, a row, and how many bodies the row held before.
///
/// The row of a removed body is used again, with another generation. A scene's copy names the bodies that are inserted from then on by a scene
/// number of its own. So an id never names another body than the one that it was given for. Ids are ordered by row first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct BodyId {
    pub(crate) row: u32,
    pub(crate) generation: u32,
    pub(crate) scene: u64,
}

impl BodyId {
    /// The row: what the rows of queries name the body by.
    pub fn row(self) -> u32 {
        self.row
    }

    /// How many bodies the row held before this one.
    pub fn generation(self) -> u32 {
        self.generation
    }

    /// The number of the scene that the body was inserted into.
    pub fn scene(self) -> u64 {
        self.scene
    }
}

impl fmt::Display for BodyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body {} of generation {} of scene {:016x}", self.row, self.generation, self.scene)
    }
}

/// Scenes of this process so far.
static SCENES: AtomicU64 = AtomicU64::new(0);

/// A number that no other scene has: random, so that scenes that other processes stored have others.
pub(crate) fn scene_number() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(SCENES.fetch_add(1, Relaxed));
    hasher.finish()
}
