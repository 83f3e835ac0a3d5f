//! The rows of queries with shapes.

#[cfg(doc)]
use crate::collide::narrow_phase::rows::Contact;
use crate::collide::narrow_phase::status::Status;

/// Where a shape that moves meets a body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ShapeCastHit {
    /// Row of the cast.
    pub cast: u32,
    /// Row of the body that is hit. Statics count on after the bodies.
    pub body: u32,
    /// The part of the body: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part: u32,
    /// How far the shape moves until it meets the body, in world units; 0 where it touches or overlaps it at the start.
    pub distance: f64,
    /// The outward unit normal of the body there, world frame: from the body to the shape.
    pub normal: [f64; 3],
    /// Whether the shape touches or overlaps the body at the start.
    pub initial_overlap: bool,
    /// The points of the shape and of the body that meet, with the shape at that distance, world frame. `None` without
    /// [`ShapeCastOptions::witness`](crate::collide::ShapeCastOptions::witness).
    pub points: Option<[[f64; 3]; 2]>,
    /// The signed distance of the two there, in world units, as [`Contact::separation`]: within the tolerance of 0, and minus the depth
    /// where they overlap at the start. `None` where `points` is.
    pub separation: Option<f64>,
}

/// What one shape that moves meets first.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ShapeCastFirst {
    /// Row of the cast.
    pub cast: u32,
    /// The first hit, `None` where the shape meets nothing.
    pub hit: Option<ShapeCastHit>,
}

/// Whether one shape that moves meets anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ShapeCastAny {
    /// Row of the cast.
    pub cast: u32,
    /// Whether it meets a body.
    pub is_hit: bool,
}

/// A body near a shape, or near another body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct NearestBody {
    /// Row of the body or of the shape that is asked about.
    pub query: u32,
    /// The part of the body that is asked about: 0 where its shape is a hull, and for a shape that is no body of the query.
    #[cfg_attr(feature = "serde", serde(default))]
    pub query_part: u32,
    /// Row of the body that is near it. Statics count on after the bodies.
    pub body: u32,
    /// The part of the body: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part: u32,
    /// The verdict for the two.
    pub status: Status,
    /// Their signed distance in world units, as [`Contact::separation`]: minus the depth where they overlap.
    pub separation: f64,
    /// A unit vector from the first to the second, world frame, as [`Contact::normal`].
    pub normal: [f64; 3],
    /// The nearest points of the first and of the second, world frame, as [`Contact::points`].
    pub points: [[f64; 3]; 2],
}
