//! The triangles of height fields, which are hulls only while they are measured.

use std::sync::{Arc, Mutex};

use crate::collide::hull::Hull;
use crate::collide::scene::query_input::Scene;
use crate::error::Result;
use crate::lock::lock;

/// Most scenes that are kept for their memory.
const SPARE_LIMIT: usize = 4;

/// Copies of an arena's hulls, to which triangles are added.
#[derive(Debug)]
pub(crate) struct FieldScenes {
    arena: Arc<Scene>,
    spare: Mutex<Vec<Scene>>,
}

impl FieldScenes {
    pub(crate) fn new(arena: &Arc<Scene>) -> Self {
        Self { arena: Arc::clone(arena), spare: Mutex::default() }
    }

    /// How many hulls come before the triangles.
    pub(crate) fn hull_count(&self) -> usize {
        self.arena.hulls.len()
    }

    /// The hulls of the arena, then these.
    ///
    /// # Errors
    /// [`Error::TooMany`](crate::Error::TooMany) where the vertices are too many.
    pub(crate) fn with(&self, triangles: Vec<Hull>) -> Result<Arc<Scene>> {
        let spare = lock(&self.spare).pop();
        let mut scene = spare.unwrap_or_else(|| self.arena.copied());
        scene.replace_after(self.hull_count(), triangles)?;
        Ok(Arc::new(scene))
    }

    /// Keeps the memory of a scene that no query uses any longer.
    pub(crate) fn give_back(&self, scene: Arc<Scene>) {
        let mut spare = lock(&self.spare);
        if spare.len() < SPARE_LIMIT
            && let Some(scene) = Arc::into_inner(scene)
        {
            spare.push(scene);
        }
    }
}
