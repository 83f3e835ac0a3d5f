//! The bodies of a query in trees, and a walk through them from near to far.

use crate::collide::bvh::near_first::{BodyVisit, Probe};
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::bvh::tree::Tree;
use crate::collide::scene::query_input::{QueryInput, Scene};

/// The bodies of a query.
pub(crate) struct Crowd<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) input: &'a QueryInput,
    /// Over the boxes of the movers.
    pub(crate) tree: &'a Tree,
    pub(crate) static_boxes: &'a StaticBoxes,
}

impl Crowd<'_> {
    /// Visits half-spaces, movers and statics, those whose boxes are within the visitor's limit. Their ids count the statics on after the movers.
    #[inline(always)]
    pub(crate) fn walk(&self, probe: &impl Probe, visitor: &mut impl BodyVisit) {
        for &plane in &self.input.planes {
            if visitor.limit() >= 0.0 {
                visitor.body(plane);
            }
        }
        self.tree.near_first(probe, visitor);
        if self.input.bodies.len() > self.input.mover_count {
            let mut visitor = Statics { visitor, first: self.input.mover_count as u32 };
            self.static_boxes.tree.near_first(probe, &mut visitor);
        }
    }
}

/// A visitor of statics, which their tree counts from 0.
struct Statics<'v, V> {
    visitor: &'v mut V,
    /// Row of the first static.
    first: u32,
}

impl<V: BodyVisit> BodyVisit for Statics<'_, V> {
    #[inline(always)]
    fn limit(&self) -> f32 {
        self.visitor.limit()
    }

    #[inline(always)]
    fn body(&mut self, body: u32) {
        self.visitor.body(self.first + body);
    }
}

/// An f32 not below a distance, and not below 0.
pub(crate) fn at_least(distance: f64) -> f32 {
    if distance >= f64::from(f32::MAX) { f32::INFINITY } else { (distance as f32).next_up().max(0.0) }
}
