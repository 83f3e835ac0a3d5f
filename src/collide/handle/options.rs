//! The options of a scene and of its queries of pairs.

use crate::collide::narrow_phase::rows::Precision;

/// The options of a [`Scene`](crate::collide::next::Scene).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SceneOptions {
    /// How exact answers are.
    pub precision: Precision,
}

/// What there is a row for, where bodies have several parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum RowsPer {
    /// Each pair of parts.
    #[default]
    PairOfParts,
    /// Each pair of bodies: the row of the parts that overlap deepest, are nearest, or meet first. Of parts that are as good the least are named.
    PairOfBodies,
}

/// The options of queries that measure pairs: [`distances`](crate::collide::next::Scene::distances),
/// [`contacts`](crate::collide::next::Scene::contacts), [`manifolds`](crate::collide::next::Scene::manifolds) and
/// [`gradients`](crate::collide::next::Scene::gradients).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct PairOptions {
    /// Pairs that are farther apart are not listed, in world units, ≥ 0; 0 by default. Infinity lists every pair. A given pair of two hulls
    /// is always listed.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub margin: f32,
    /// What there is a row for.
    pub rows: RowsPer,
}

impl PairOptions {
    /// Pairs that are at most this far apart.
    pub fn within(margin: f32) -> Self {
        Self { margin, ..Self::default() }
    }
}

/// The options of [`Scene::sweeps`](crate::collide::next::Scene::sweeps).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SweepOptions {
    /// For how many seconds the bodies move, ≥ 0; 1 by default.
    pub duration: f32,
    /// Whether rows have the points that meet and the separation at that time; off by default. Each pair that meets costs one measurement in
    /// f64, some microseconds on one core of the host.
    pub witness: bool,
    /// What there is a row for.
    pub rows: RowsPer,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self { duration: 1.0, witness: false, rows: RowsPer::default() }
    }
}
