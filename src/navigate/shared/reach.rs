//! Whether a goal was reached: the status of a path, for rooms and surfaces.

/// One of the two ends of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum PathEnd {
    /// The start.
    Start,
    /// The goal.
    Goal,
}

/// Whether a goal was reached. `P` is a point: `[f64; 2]` in a room, [`surface::Point`](crate::navigate::surface::Point) on a
/// surface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Reach<P> {
    /// There is a path.
    #[default]
    Reached,
    /// No path leads from the start to the goal.
    Unreachable {
        /// Of all points that the start can reach, the one nearest to the goal in a straight line.
        nearest: P,
    },
    /// The start or the goal is not in the room, or is further from the surface than its `max_snap`.
    Off {
        /// Which of the two; the start if both are off.
        end: PathEnd,
        /// The nearest point at which a path could begin or end; `None` where there is none, for example where no triangle is walkable.
        nearest: Option<P>,
        /// How far that point is from the given one; infinite where there is none.
        #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
        distance: f64,
    },
}

impl<P> Reach<P> {
    /// A short name for tables: `reached`, `unreachable`, `start off` or `goal off`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Unreachable { .. } => "unreachable",
            Self::Off { end: PathEnd::Start, .. } => "start off",
            Self::Off { end: PathEnd::Goal, .. } => "goal off",
        }
    }

    /// True where there is a path.
    pub fn is_reached(&self) -> bool {
        matches!(self, Self::Reached)
    }
}
