//! The bodies of a query in trees, and a walk through them from near to far.

use std::ops::Range;

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::near_first::{BodyVisit, Probe};
use crate::collide::bvh::static_tree::StaticBoxes;
use crate::collide::bvh::tree::Tree;
use crate::collide::gjk::pose::Placement;
use crate::collide::hull::{Dimension, Hull};
use crate::collide::scene::body::Body;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::collide::scene::shape_cast::PlacedShape;
use crate::collide::scene::world_ranges::ids_of_world;

/// The bodies of a query.
pub(crate) struct Crowd<'a> {
    pub(crate) scene: &'a Scene,
    pub(crate) input: &'a QueryInput,
    /// Over the boxes of the movers.
    pub(crate) tree: &'a Tree,
    /// Of the movers.
    pub(crate) boxes: &'a [Aabb],
    pub(crate) static_boxes: &'a StaticBoxes,
}

impl Crowd<'_> {
    /// Visits half-spaces, movers and statics, those whose boxes are within the visitor's limit; of the movers those in `world`, or all. Their ids
    /// count the statics on after the movers.
    #[inline(always)]
    pub(crate) fn walk(&self, probe: &impl Probe, world: Option<&Range<u32>>, visitor: &mut impl BodyVisit) {
        let plane = |plane: u32| {
            if visitor.limit() >= 0.0 {
                visitor.body(plane);
            }
        };
        let (planes, mover_count) = (&self.input.planes, self.input.mover_count);
        match world {
            Some(world) => ids_of_world(planes, world, mover_count).for_each(plane),
            None => planes.iter().copied().for_each(plane),
        }
        let places = world.map(|world| world.start as usize..world.end as usize);
        let mut visitor = CountedFrom { visitor, first: 0 };
        // One call, as the walk is inlined.
        for (first, tree, places) in
            [(0, self.tree, places), (mover_count as u32, &self.static_boxes.tree, None)]
        {
            visitor.first = first;
            tree.near_first(probe, places, &mut visitor);
        }
    }

    /// The movers in the world of a mover; `None` where there is one world.
    #[inline(always)]
    pub(crate) fn world_of(&self, body: u32) -> Option<Range<u32>> {
        let rules = &self.input.rules;
        let end = rules.end_of(body, self.input.mover_count as u32);
        rules.has_worlds().then(|| rules.begin_of(body)..end)
    }

    /// The box of a mover or a static.
    pub(crate) fn box_of(&self, body: u32) -> &Aabb {
        let body = body as usize;
        match self.boxes.get(body) {
            Some(aabb) => aabb,
            None => &self.static_boxes.boxes[body - self.boxes.len()],
        }
    }

    /// The caller's row of a body.
    pub(crate) fn row_of(&self, body: u32) -> u32 {
        self.input.order.get(body as usize).copied().unwrap_or(body)
    }

    /// A shape and a body in f64: see [`placed_pair`].
    pub(crate) fn placements(&self, shape: &PlacedShape, body: u32) -> ([Placement<'_>; 2], DVec3) {
        let (hulls, stored) = (&self.scene.hulls, self.input.stored());
        let other = &self.input.bodies[body as usize];
        let sides = [&hulls[shape.body.hull as usize], &hulls[other.hull as usize]];
        placed_pair(shape, sides, other, stored.position(body), self.input.is_far())
    }
}

/// A shape and a body at a position in f64, and the point that they are placed about: the body's position, or the shape's where the body is a
/// half-space; the world's origin where both positions are of f32. `sides` are their hulls, `is_far` says that the body's is of f64.
pub(crate) fn placed_pair<'a>(
    shape: &PlacedShape,
    sides: [&'a Hull; 2],
    other: &Body,
    position: DVec3,
    is_far: bool,
) -> ([Placement<'a>; 2], DVec3) {
    let base = if !shape.is_f64 && !is_far {
        DVec3::ZERO
    } else if sides[1].dimension() == Dimension::HalfSpace {
        shape.position
    } else {
        position
    };
    let placed = Placement::at(sides[0], &shape.body, shape.position - base);
    ([placed, Placement::at(sides[1], other, position - base)], base)
}

/// A visitor of one tree's bodies, which the tree counts from 0.
struct CountedFrom<'v, V> {
    visitor: &'v mut V,
    /// Row of the first body.
    first: u32,
}

impl<V: BodyVisit> BodyVisit for CountedFrom<'_, V> {
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
