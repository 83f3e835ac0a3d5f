//! The verdict for one pair.

/// The verdict for one pair.
///
/// With τ the pair's tolerance (see [`Arena::intersections`](crate::collide::Arena::intersections)) and the gap the signed
/// distance, negative where the hulls overlap: no verdict is wrong where |gap| > τ; a pair with |gap| ≤ τ / 10 is
/// always `Touching`, one with |gap| > τ never is; in between either verdict may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Status {
    /// The hulls have no point in common.
    Separated,
    /// The surfaces touch, to within the tolerance.
    Touching,
    /// The hulls overlap.
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
