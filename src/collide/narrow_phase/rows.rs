//! The rows of the queries that look at bodies where they are, and what a query took.

use crate::collide::narrow_phase::status::Status;
#[cfg(doc)]
use crate::collide::scene::pairs::Pairs;

/// The answer for one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// The answer for all pairs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Intersections {
    /// For [`Pairs::Near`] and [`Pairs::Every`] the hits alone, `a < b`, sorted by `(a, b)`; for [`Pairs::Given`] one
    /// row for each pair, in their order.
    pub rows: Vec<Intersection>,
    /// What it took.
    pub stats: Stats,
}

/// How far an answer goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
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
pub struct Distance {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The verdict.
    pub status: Status,
    /// Least distance of a point of `a` from a point of `b`, in world units; 0 where they overlap.
    pub distance: f64,
    /// The points of `a` and of `b` that are that near, world frame; `None` where the bodies penetrate.
    pub points: Option<[[f64; 3]; 2]>,
    /// A unit vector from `a` to `b`, world frame, along which the bodies are that far apart; `None` where they
    /// penetrate.
    pub axis: Option<[f64; 3]>,
}

/// The distances of all pairs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distances {
    /// For [`Pairs::Near`] and [`Pairs::Every`] the pairs within the margin alone, `a < b`, sorted by `(a, b)`; for
    /// [`Pairs::Given`] one row for each pair, in their order.
    pub rows: Vec<Distance>,
    /// What it took.
    pub stats: Stats,
}

/// How one pair touches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The verdict.
    pub status: Status,
    /// Length of the shortest translation that parts the bodies, in world units; where they are apart, minus their
    /// distance.
    pub depth: f64,
    /// A unit vector from `a` to `b`, world frame: `b` moved by `depth` along it just touches `a`.
    pub normal: [f64; 3],
    /// The points of `a` and of `b` that would touch then, world frame: the first minus the second is `depth` times
    /// `normal`.
    pub points: [[f64; 3]; 2],
}

/// The contacts of all pairs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contacts {
    /// For [`Pairs::Near`] and [`Pairs::Every`] the pairs within the margin alone, `a < b`, sorted by `(a, b)`; for
    /// [`Pairs::Given`] one row for each pair, in their order.
    pub rows: Vec<Contact>,
    /// What it took.
    pub stats: Stats,
}

/// One point of a [`Manifold`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ManifoldPoint {
    /// On the surface of `a`, world frame.
    pub on_a: [f64; 3],
    /// On the surface of `b`, world frame.
    pub on_b: [f64; 3],
    /// How far the surfaces overlap there along the normal, in world units; negative where they are apart.
    pub depth: f64,
}

/// Where one pair touches: up to four points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Manifold {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The verdict.
    pub status: Status,
    /// As [`Contact::depth`]: that of the deepest point.
    pub depth: f64,
    /// As [`Contact::normal`].
    pub normal: [f64; 3],
    /// The points; those past [`Self::point_count`] are 0.
    pub points: [ManifoldPoint; 4],
    /// How many points there are, 1 to 4.
    pub point_count: u32,
}

impl Manifold {
    /// The points that there are.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..(self.point_count as usize).min(4)]
    }
}

/// The manifolds of all pairs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Manifolds {
    /// For [`Pairs::Near`] and [`Pairs::Every`] the pairs within the margin alone, `a < b`, sorted by `(a, b)`; for
    /// [`Pairs::Given`] one row for each pair, in their order.
    pub rows: Vec<Manifold>,
    /// What it took.
    pub stats: Stats,
}

/// What a query took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Pairs that were candidates: examined by the narrow phase, or skipped.
    pub candidate_count: u64,
    /// Candidates that needed no look, because what an earlier frame found out still held: see
    /// [`Arena::with_warm_start`](crate::collide::Arena::with_warm_start); 0 without.
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
