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
    /// The caller's row of each body; empty where they are in order. The bits of what f64 computes of a pair may depend on which row is lower.
    pub(crate) order: &'a [u32],
}

impl<'a> From<&'a [Body]> for Stored<'a> {
    fn from(bodies: &'a [Body]) -> Self {
        Self { bodies, positions: &[], order: &[] }
    }
}

impl<'a> Stored<'a> {
    /// The first bodies.
    pub(crate) fn movers(&self, count: usize) -> Self {
        let positions: &'a [DVec3] = if self.positions.is_empty() { &[] } else { &self.positions[..count] };
        Self { bodies: &self.bodies[..count], positions, order: self.order }
    }

    /// Whether the caller's row of the second of two bodies is the lower one.
    #[inline]
    pub(crate) fn is_reversed(&self, [a, b]: [u32; 2]) -> bool {
        let row = |id: u32| self.order.get(id as usize).copied().unwrap_or(id);
        row(a) > row(b)
    }

    /// Two bodies, that of the lower row first.
    #[inline]
    pub(crate) fn in_order(&self, [a, b]: [u32; 2]) -> [u32; 2] {
        if self.is_reversed([a, b]) { [b, a] } else { [a, b] }
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
    pub(crate) fn base(&self, hulls: &[Hull], pair: [u32; 2]) -> Option<DVec3> {
        if self.positions.is_empty() {
            return None;
        }
        let [low, high] = self.in_order(pair);
        let hull = &hulls[self.bodies[low as usize].hull as usize];
        let id = if hull.dimension() == Dimension::HalfSpace { high } else { low };
        Some(self.positions[id as usize])
    }
}
