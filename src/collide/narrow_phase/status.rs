//! The verdict for one pair.

use crate::collide::gjk::tolerance::TOUCHING_SHARE;

/// The verdict for one pair.
///
/// With τ the pair's tolerance (see [`Arena::intersections`](crate::collide::Arena::intersections)) and the gap the signed
/// distance of the inputs as stored, in f64 and negative where the hulls overlap: a pair touches where |gap| ≤ ¾ τ, else it is separated
/// or penetrating. Every engine gives the same status on every machine (see [Determinism](crate#determinism)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Status {
    /// The hulls are apart by more than that.
    Separated,
    /// The surfaces touch, to within ¾ of the tolerance.
    Touching,
    /// The hulls overlap by more than that.
    Penetrating,
}

impl Status {
    /// Touching or penetrating.
    pub fn is_hit(self) -> bool {
        self != Self::Separated
    }

    /// The name in tables: `separated`, `touching` or `penetrating`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Separated => "separated",
            Self::Touching => "touching",
            Self::Penetrating => "penetrating",
        }
    }
}

/// The status of a gap at a pair's tolerance τ: touching within ± ¾ τ, else separated or penetrating.
///
/// With a gap from [`measure`](crate::collide::narrow_phase::exact::measure) this is the status that every engine returns.
pub(crate) fn status_of_gap(gap: f64, tolerance: f64) -> Status {
    let limit = TOUCHING_SHARE * tolerance;
    if gap > limit {
        Status::Separated
    } else if gap < -limit {
        Status::Penetrating
    } else {
        Status::Touching
    }
}
