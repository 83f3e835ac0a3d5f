//! The rows of queries with paths and postures of a robot.

/// What is known of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum PathOutcome {
    /// No pair of bodies meets anywhere on the path: that is proved.
    Free,
    /// A pair of bodies meets at [`PathCheck::time`].
    Hit,
    /// A pair of bodies comes so near at [`PathCheck::free_until`] that the deviations, or the limit of steps, leave open whether it meets.
    Undecided,
}

/// The answer for one path.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathCheck {
    /// Row of the path.
    pub path: u32,
    /// Whether the robot may take it.
    pub outcome: PathOutcome,
    /// No pair meets before this time: that is proved. Times count in samples: 3.25 is a quarter of the way from sample 3 to sample 4. It is
    /// the last sample where the path is free, and 0 where nothing is proved.
    pub free_until: f64,
    /// A time at which `pair` meets, the first one unless [`free_until`](Self::free_until) is less; `None` unless the path is hit.
    pub time: Option<f64>,
    /// The rows of the two bodies that meet, or that may meet first where that is undecided, the lesser first; statics count on after the
    /// bodies. `None` where the path is free.
    pub pair: Option<[u32; 2]>,
}

/// The answer for one posture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PostureCheck {
    /// Row of the posture.
    pub posture: u32,
    /// The first pair of bodies, ordered by their rows, that touches or penetrates, the lesser row first; statics count on after the bodies.
    /// `None` where the posture is free.
    pub pair: Option<[u32; 2]>,
}

impl PostureCheck {
    /// Whether no pair touches or penetrates.
    pub fn is_free(&self) -> bool {
        self.pair.is_none()
    }
}
