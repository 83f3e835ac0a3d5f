//! The rows of the queries that look at bodies where they are, and what a query took.

use crate::collide::narrow_phase::status::Status;

/// The rows of a query and what it took. Where pairs are found by the query, rows are sorted by `(a, b)` and `a < b`; where
/// pairs are given there is one row for each, in their order.
pub type Batch<R> = crate::batch::Batch<R, Stats>;

/// Whether one pair intersects.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Intersection {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The verdict.
    pub status: Status,
    /// For a separated pair, a unit vector from `a` to `b`, world frame, along which the projections of the two hulls do
    /// not overlap; `None` for a hit.
    pub axis: Option<[f32; 3]>,
}

/// How far an answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Precision {
    /// f32, and f64 for the pairs that f32 cannot promise: within the tolerance τ of the truth.
    #[default]
    Fast,
    /// f64 for every pair, on the CPU. Of the sum S of the bounding radii: distances, depths, and what axes and normals
    /// show, within 1e-9; the points of a distance or a contact on their bodies within 1e-8, for the facet that they lie
    /// on may be no wider than that, and its normal known no better. The points of a manifold are those of faces, of
    /// which those that are one but for 1e-6 of the size count as one: within 1e-6.
    Exact,
}

/// The distance of one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Distance {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The verdict.
    pub status: Status,
    /// How far the bodies are apart, in world units: the least distance of a point of `a` from a point of `b`. It is never
    /// negative: 0 where they touch or overlap. How deep they overlap is what [`Contact::separation`] tells.
    pub separation: f64,
    /// The nearest points of `a` and of `b`, world frame; `None` where the bodies penetrate, which have none.
    pub points: Option<[[f64; 3]; 2]>,
    /// A unit vector from `a` to `b`, world frame, along which the bodies are that far apart; `None` where they
    /// penetrate.
    pub axis: Option<[f64; 3]>,
}

/// How one pair touches.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Contact {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The verdict.
    pub status: Status,
    /// The signed distance of the bodies, in world units: positive where they are apart; where they overlap, minus the
    /// length of the shortest translation that parts them.
    pub separation: f64,
    /// A unit vector from `a` to `b`, world frame: `b` moved by minus `separation` along it just touches `a`.
    pub normal: [f64; 3],
    /// The points of `a` and of `b` that would touch then, world frame: the second minus the first is `separation` times
    /// `normal`.
    pub points: [[f64; 3]; 2],
}

impl Contact {
    /// How deep the bodies overlap, in world units: minus the separation.
    pub fn depth(&self) -> f64 {
        -self.separation
    }
}

/// One point of a [`Manifold`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ManifoldPoint {
    /// On the surface of `a`, world frame.
    pub on_a: [f64; 3],
    /// On the surface of `b`, world frame.
    pub on_b: [f64; 3],
    /// How far the surfaces are apart there along the normal, in world units; negative where they overlap.
    pub separation: f64,
}

impl ManifoldPoint {
    /// How far the surfaces overlap there along the normal, in world units: minus the separation.
    pub fn depth(&self) -> f64 {
        -self.separation
    }
}

/// Where one pair touches: up to four points.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Manifold {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The verdict.
    pub status: Status,
    /// As [`Contact::separation`]: that of the deepest point.
    pub separation: f64,
    /// As [`Contact::normal`].
    pub normal: [f64; 3],
    /// The points; those past [`Self::point_count`] are 0.
    pub points: [ManifoldPoint; 4],
    /// How many points there are, 1 to 4.
    pub point_count: u32,
}

impl Manifold {
    /// How deep the bodies overlap, in world units: minus the separation.
    pub fn depth(&self) -> f64 {
        -self.separation
    }

    /// The points that there are.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..(self.point_count as usize).min(4)]
    }
}

/// What a query took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Stats {
    /// Pairs that were candidates: examined by the narrow phase, or skipped.
    pub candidate_count: u64,
    /// Candidates that were not examined, because what an earlier frame found still held: see
    /// [`Options::warm_start`](crate::collide::Options::warm_start); 0 without.
    pub skipped_count: u64,
    /// Pairs that touch or penetrate.
    pub hit_count: u64,
    /// Pairs near the surface that GJK left to EPA.
    pub refined_count: u64,
    /// Pairs that f32 could not decide, settled by the exact path in f64; of sweeps those too whose bodies turn and come
    /// near.
    pub settled_count: u64,
    /// Times the GPU's pass was run again with larger buffers, because more was found than they held.
    pub rerun_count: u32,
    /// Where the time went.
    pub times: Times,
}

/// Where the time of a query went, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Times {
    /// Checking the bodies, laying them out and handing them to the device.
    pub upload_ms: f64,
    /// Building the pipelines that the query is the first to need, or waiting for those that are being built: see
    /// [`Arena::prepare`](crate::collide::Arena::prepare). 0 on the CPU engine.
    pub compile_ms: f64,
    /// The kernels: by the device's clock where it has timestamps, else from submission to completion. On the CPU
    /// engine the broad and the narrow phase.
    pub kernels_ms: f64,
    /// Reading the results back and decoding them; 0 on the CPU engine.
    pub readback_ms: f64,
    /// Settling pairs in f64 on the CPU.
    pub settle_ms: f64,
    /// From the call to the finished answer; waiting for work that was asked for before included.
    pub total_ms: f64,
}
