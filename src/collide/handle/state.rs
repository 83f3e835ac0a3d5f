//! A scene as it can be stored.

use crate::collide::handle::body::Body;
use crate::collide::handle::id::BodyId;
use crate::collide::handle::options::SceneOptions;

/// The bodies of a scene with their ids, exclusions and touching pairs: what [`Scene::state`](crate::collide::next::Scene::state) gives and
/// [`Scene::restore`](crate::collide::next::Scene::restore) takes. With the feature `serde` it can be stored.
///
/// Shapes are not part of it: store them as [`Shape`](crate::collide::next::Shape)s.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct SceneState {
    pub(crate) options: SceneOptions,
    pub(crate) rows: Vec<StoredRow>,
    pub(crate) excluded_bodies: Vec<[BodyId; 2]>,
    pub(crate) excluded_owners: Vec<[u32; 2]>,
    pub(crate) touching: Vec<[BodyId; 2]>,
}

/// A row of a scene.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub(crate) struct StoredRow {
    /// Of the body that it holds, or held last.
    pub(crate) id: BodyId,
    pub(crate) body: Option<Body>,
}
