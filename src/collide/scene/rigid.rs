//! A body as conservative advancement reads it: its vertices about the point that it turns about, in f64.

use glam::DVec3;

use crate::collide::hull::{Dimension, Hull};
use crate::collide::scene::body::Body;
use crate::collide::scene::placed::rotation;

/// A body about a pivot, the point that it turns about. All along the pivot's axes, in world units.
#[derive(Debug, Clone)]
pub(crate) struct Rigid {
    /// Vertices about the pivot.
    pub(crate) points: Vec<DVec3>,
    /// From the pivot to the mean of the vertices.
    pub(crate) arm: DVec3,
    /// Largest distance of a vertex from the pivot, rounding included.
    pub(crate) reach: f64,
    /// Bounding radius about the mean, rounding included.
    pub(crate) radius: f64,
    pub(crate) rounding: f64,
    /// Outward normal of a half-space.
    pub(crate) plane: Option<DVec3>,
}

impl Rigid {
    /// A checked body of this hull about its own position, along the world's axes.
    pub(crate) fn new(hull: &Hull, body: &Body) -> Self {
        Self::about(hull, body, DVec3::ZERO)
    }

    /// A checked body about another point. `position` is that of its hull's origin from there, and its rotation is that to the pivot's axes.
    pub(crate) fn about(hull: &Hull, body: &Body, position: DVec3) -> Self {
        let turn = rotation(body.rotation);
        let scale = DVec3::from(body.scale.map(f64::from));
        let place = |v: &[f32; 3]| turn * (scale * DVec3::from(v.map(f64::from))) + position;
        let points: Vec<DVec3> = hull.vertices().iter().map(place).collect();
        let arm = turn * (scale * DVec3::from(hull.mean())) + position;
        let rounding = f64::from(hull.rounding()) * scale.min_element() + f64::from(body.padding);
        let most = |origin: DVec3| points.iter().map(|&p| (p - origin).length()).fold(0.0, f64::max);
        let (reach, radius) = (most(DVec3::ZERO) + rounding, most(arm) + rounding);
        let plane = (hull.dimension() == Dimension::HalfSpace).then(|| turn * DVec3::Y);
        Self { points, arm, reach, radius, rounding, plane }
    }
}
