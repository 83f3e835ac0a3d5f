//! The rows of queries with rays and points.

#[cfg(doc)]
use crate::collide::hull::Hull;

/// Where a ray hits a body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RayHit {
    /// Row of the ray.
    pub ray: u32,
    /// Row of the body that is hit. Statics count on after the bodies.
    pub body: u32,
    /// The part of the body: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part: u32,
    /// How far along the ray, in world units; 0 where the ray starts in the body.
    pub distance: f64,
    /// The point of the ray at that distance, world frame.
    pub point: [f64; 3],
    /// The outward unit normal of the body there, world frame; `None` where the ray starts in the body.
    pub normal: Option<[f64; 3]>,
    /// The face of the hull that is hit, an index of [`Hull::faces`]; `None` where the ray starts in the body, and where it hits an edge
    /// of a polygon from the side, a rounded edge or corner, a ball, a capsule, or a half-space. A face of a rounded hull is its
    /// flat part.
    pub face: Option<u32>,
}

/// What one ray hits first.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Raycast {
    /// Row of the ray.
    pub ray: u32,
    /// The first hit, `None` where the ray hits nothing.
    pub hit: Option<RayHit>,
}

/// Whether one ray hits anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Occlusion {
    /// Row of the ray.
    pub ray: u32,
    /// Whether it hits a body.
    pub occluded: bool,
}

/// The point of a body's surface that is nearest to a point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PointHit {
    /// Row of the point.
    pub point: u32,
    /// Row of the body. Statics count on after the bodies.
    pub body: u32,
    /// The part of the body: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part: u32,
    /// The signed distance in world units: negative inside of the body, where it is minus the depth, the length of the shortest way out.
    pub distance: f64,
    /// The nearest point of the body's surface, world frame.
    pub nearest: [f64; 3],
    /// The outward unit normal of the body there, world frame: from the nearest point to the point, where this is outside.
    pub normal: [f64; 3],
}

/// The body that is nearest to one point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct NearestPoint {
    /// Row of the point.
    pub point: u32,
    /// The nearest body, `None` where none is within the greatest distance.
    pub hit: Option<PointHit>,
}

/// A body that contains a point.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Containment {
    /// Row of the point.
    pub point: u32,
    /// Row of the body. Statics count on after the bodies.
    pub body: u32,
    /// The part of the body: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part: u32,
    /// The signed distance in world units, as [`PointHit::distance`]: minus the depth, or up to the tolerance above 0.
    pub distance: f64,
}
