//! Bodies carried by links that move: their gaps at single times, in f64.
//!
//! A time is judged alone; the motion is the caller's. So nothing here bounds a motion, except for [`LinkFrame::between`], which is glam's
//! slerp.

use glam::{DQuat, DVec3};

use crate::body64::Body64;
use crate::gap::gap64;
use crate::{Pose, Shape, tolerance};

/// Where a link is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkFrame {
    /// World position of its origin.
    pub position: DVec3,
    /// From its axes to the world's.
    pub rotation: DQuat,
}

impl LinkFrame {
    /// The world's own frame, for bodies that do not move.
    pub const WORLD: Self = Self { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// From `from` to `to` at a time from 0 to 1: along a straight line, turned the shorter way around.
    pub fn between(from: &Self, to: &Self, time: f64) -> Self {
        Self {
            position: from.position.lerp(to.position, time),
            rotation: from.rotation.slerp(to.rotation, time),
        }
    }
}

/// A body in a link.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a> {
    /// Its hull.
    pub shape: &'a Shape,
    /// Its pose in the link.
    pub pose: Pose,
}

impl Carried<'_> {
    /// The bounding radius, rounding included.
    pub fn radius(&self) -> f64 {
        let rounding =
            self.shape.rounding() * self.pose.scale64().min_element() + f64::from(self.pose.radius);
        self.shape.radius(self.pose.scale) + rounding
    }

    /// World position of the mean of the hull's vertices.
    pub fn centre(&self, link: &LinkFrame) -> DVec3 {
        let mean = self.pose.scale64() * DVec3::from(self.shape.mean());
        link.position + link.rotation * (self.pose.position64() + self.pose.rotation64() * mean)
    }

    fn at(&self, link: &LinkFrame, origin: DVec3) -> Body64 {
        let offset = (link.position - origin) + link.rotation * self.pose.position64();
        let rotation = link.rotation * self.pose.rotation64();
        Body64::new(self.shape, rotation, self.pose.scale64(), f64::from(self.pose.radius), offset)
    }
}

/// The signed gap of two bodies, where their links are.
pub fn gap(bodies: [&Carried<'_>; 2], links: [&LinkFrame; 2]) -> f64 {
    let origin = links[0].position;
    gap64(&bodies[0].at(links[0], origin), &bodies[1].at(links[1], origin)).gap
}

/// The tolerance τ of two bodies that touch.
pub fn tau(bodies: [&Carried<'_>; 2]) -> f64 {
    let [a, b] = bodies.map(|body| if body.shape.is_half_space() { None } else { Some(body.radius()) });
    match (a, b) {
        (Some(a), Some(b)) => tolerance(a.min(b), a + b, 0.0),
        (a, b) => a.or(b).map_or(0.0, |radius| tolerance(radius, radius, 0.0)),
    }
}
