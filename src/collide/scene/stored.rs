//! The bodies of a query as stored, with their positions where these are in f64.

use glam::DVec3;

use crate::collide::hull::{Dimension, Hull};
use crate::collide::scene::body::Body;

/// Bodies as stored: what f64 is computed from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) bodies: &'a [Body],
    /// World position of each hull's origin in place of the body's own; empty where these count.
    pub(crate) positions: &'a [DVec3],
}

impl<'a> From<&'a [Body]> for Stored<'a> {
    fn from(bodies: &'a [Body]) -> Self {
        Self { bodies, positions: &[] }
    }
}

impl<'a> Stored<'a> {
    /// The first bodies.
    pub(crate) fn movers(&self, count: usize) -> Self {
        let positions: &'a [DVec3] = if self.positions.is_empty() { &[] } else { &self.positions[..count] };
        Self { bodies: &self.bodies[..count], positions }
    }

    /// World position of a body's hull's origin.
    pub(crate) fn position(&self, id: u32) -> DVec3 {
        match self.positions.get(id as usize) {
            Some(&position) => position,
            None => DVec3::from(self.bodies[id as usize].position.map(f64::from)),
        }
    }

    /// The point that a pair is placed about: the position of the lower body, or of the other where this is a half-space. `None` where
    /// positions are f32: these are placed in the world.
    ///
    /// Near bodies are placed exactly relative to it, and points relative to it keep their digits, however far away both are.
    #[inline]
    pub(crate) fn base(&self, hulls: &[Hull], [a, b]: [u32; 2]) -> Option<DVec3> {
        if self.positions.is_empty() {
            return None;
        }
        let (low, high) = (a.min(b), a.max(b));
        let hull = &hulls[self.bodies[low as usize].hull as usize];
        let id = if hull.dimension() == Dimension::HalfSpace { high } else { low };
        Some(self.positions[id as usize])
    }
}
