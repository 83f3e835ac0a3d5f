//! Whether a goal was reached, in rooms and on surfaces alike.

/// One of the two ends of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathEnd {
    /// Where it begins.
    Start,
    /// Where it leads.
    Goal,
}

/// Whether a goal was reached. `P` is a point: `[f64; 2]` in a room, [`surface::Point`](crate::navigate::surface::Point) on a
/// surface.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Reach<P> {
    /// There is a path.
    #[default]
    Reached,
    /// No path leads from the start to the goal.
    Unreachable {
        /// The point nearest to the goal, in a straight line, that can be reached from the start.
        nearest: P,
    },
    /// The start or the goal is not in the room, or further from the surface than its `max_snap` allows.
    Off {
        /// Which of the two; the start if both.
        end: PathEnd,
        /// The nearest point that a path could begin or end at; none where there is none, as where no triangle is walkable.
        nearest: Option<P>,
        /// How far that point is from the one that was asked for; infinite where there is none.
        distance: f64,
    },
}

impl<P> Reach<P> {
    /// A few words for tables: `reached`, `unreachable`, `start off` or `goal off`.
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
