//! The rows of queries, and their statistics.

use crate::collide::narrow_phase::status::Status;

/// The rows of a query, and its statistics. Where the query finds the pairs, rows are sorted by `(a, b)` and `a < b`, by worlds first
/// ([`BodyColumns`](crate::collide::BodyColumns)). For given pairs there is one row for each, in their order.
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
    /// The part of `a`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_a: u32,
    /// The part of `b`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_b: u32,
    /// The verdict.
    pub status: Status,
    /// For a separated pair, a unit vector from `a` to `b`, world frame, along which the projections of the two hulls do
    /// not overlap; `None` for a hit.
    pub axis: Option<[f32; 3]>,
}

/// How exact an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Precision {
    /// f32, and f64 for pairs that f32 cannot decide: within the tolerance τ of the truth.
    #[default]
    Fast,
    /// f64 for every pair, on the CPU. Errors are relative to the sum S of the bounding radii. Distances, depths, and the separations
    /// along axes and normals are within 1e-9. The points of a distance or a contact lie on their bodies within 1e-8: their facet may
    /// be no wider than that, and its normal no more exact. The points of a manifold are within 1e-6, because faces that are coplanar
    /// to within 1e-6 count as one.
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
    /// The part of `a`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_a: u32,
    /// The part of `b`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_b: u32,
    /// The verdict.
    pub status: Status,
    /// The distance of the bodies in world units: the least distance of a point of `a` from a point of `b`. It is never negative, and 0
    /// where they touch or overlap. [`Contact::separation`] has the depth of an overlap.
    pub separation: f64,
    /// The nearest points of `a` and of `b`, world frame; `None` where the bodies penetrate.
    pub points: Option<[[f64; 3]; 2]>,
    /// A unit vector from `a` to `b`, world frame, along which the projections of the bodies are `separation` apart; `None` where they
    /// penetrate.
    pub axis: Option<[f64; 3]>,
}

/// The contact of one pair.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Contact {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The part of `a`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_a: u32,
    /// The part of `b`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_b: u32,
    /// The verdict.
    pub status: Status,
    /// The signed distance of the bodies, in world units: positive where they are apart; where they overlap, minus the
    /// length of the shortest translation that separates them.
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

/// A feature of a hull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum FeatureId {
    /// A vertex: its index in [`Hull::vertices`](crate::collide::Hull::vertices).
    Vertex(u32),
    /// The edge between two vertices, the lower index first.
    Edge([u32; 2]),
    /// A face: its index in [`Hull::faces`](crate::collide::Hull::faces). Of faces that are coplanar up to rounding it is the first, and the
    /// plane of a half-space is 0.
    Face(u32),
}

impl Default for FeatureId {
    /// Vertex 0.
    fn default() -> Self {
        Self::Vertex(0)
    }
}

/// One point of a [`Manifold`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ManifoldPoint {
    /// The point on the surface of `a`, world frame.
    pub on_a: [f64; 3],
    /// The point on the surface of `b`, world frame.
    pub on_b: [f64; 3],
    /// How far the surfaces are apart there along the normal, in world units; negative where they overlap.
    pub separation: f64,
    /// The features of `a` and of `b` that the point comes from: the identity of the point within its pair.
    ///
    /// They are those of clipping (as in Box2D and PhysX): a vertex of one body in a face of the other; the crossing of an edge of each, seen along
    /// the normal; for edges that lie along one another, a vertex of one on the edge of the other. A point that does not come from clipping is
    /// the contact's own, and has the two features that meet there, which may be two faces. A feature
    /// is an identity, not a position: faces that are level with the contact to within one degree take part, and such a point may lie off their planes.
    ///
    /// No two points of a manifold have the same features. While bodies slide or turn a little, a point keeps its features, so a solver can find
    /// its impulse of the last frame by them. They change where another face, edge or corner takes part. Where a corner lies on an edge to within
    /// rounding, as those of aligned boxes of the same size do, it may count as a corner or as a crossing. The edges of a face of more than 32
    /// corners join the corners that are used.
    #[cfg_attr(feature = "serde", serde(default))]
    pub features: [FeatureId; 2],
}

impl ManifoldPoint {
    /// How far the surfaces overlap there along the normal, in world units: minus the separation.
    pub fn depth(&self) -> f64 {
        -self.separation
    }
}

/// The contact manifold of one pair: up to four points.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Manifold {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The part of `a`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_a: u32,
    /// The part of `b`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_b: u32,
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

    /// The points in use.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..(self.point_count as usize).min(4)]
    }
}

/// How the separation of one pair changes with the poses of its bodies, in f64.
///
/// With `s` the [`Contact::separation`]: where `a` moves by `v` (world units) and turns by `w` (radians about the world's axes, about the
/// origin of its hull), and `b` does not move, `s` changes by `position_a · v + rotation_a · w` to first order; likewise for `b`. The depth
/// of an overlap changes by minus as much.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Gradient {
    /// Row of the first body.
    pub a: u32,
    /// Row of the second body.
    pub b: u32,
    /// The part of `a`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_a: u32,
    /// The part of `b`: 0 where its shape is a hull.
    #[cfg_attr(feature = "serde", serde(default))]
    pub part_b: u32,
    /// The verdict.
    pub status: Status,
    /// As [`Contact::separation`], within 1e-9 of the sum of the bounding radii.
    pub separation: f64,
    /// By the position of `a`, world axes: minus the unit vector from `a` to `b`.
    pub position_a: [f64; 3],
    /// By the rotation of `a` about the world's axes, in world units per radian.
    pub rotation_a: [f64; 3],
    /// By the position of `b`, world axes: the unit vector from `a` to `b`.
    pub position_b: [f64; 3],
    /// By the rotation of `b` about the world's axes, in world units per radian.
    pub rotation_b: [f64; 3],
    /// Whether the separation has a kink here, so that this is one of several rates; `None` where it is smooth.
    pub degeneracy: Option<Degeneracy>,
}

/// Why the separation of a pair has a kink at its poses. "As good" means to within the tolerance τ of the pair (see
/// [`Arena::intersections`](crate::collide::Arena::intersections)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Degeneracy {
    /// Other points of the bodies are as near, or as deep: an edge or a face rests on a face, or edges are parallel. The rates of the
    /// positions hold; those of the rotations hold for one of these points.
    Points,
    /// Another direction is as good: an overlap that is as deep along another axis, or a vertex that touches a vertex or an edge. None of
    /// the rates may hold.
    Normal,
}

/// The statistics of a query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Stats {
    /// Candidate pairs: those that the narrow phase examined, and those that were skipped.
    pub candidate_count: u64,
    /// Candidates that were not examined, because the result of an earlier frame still held: see
    /// [`Options::warm_start`](crate::collide::Options::warm_start); 0 without. In a [`Scene`](crate::collide::next::Scene): the rows that were
    /// kept, because neither body moved. They are not among the candidates.
    pub skipped_count: u64,
    /// Pairs that touch or penetrate.
    pub hit_count: u64,
    /// Pairs near the surface that GJK left to EPA.
    pub refined_count: u64,
    /// Pairs that f32 could not decide, settled by the exact path in f64; rays that a kernel left to it. In sweeps also pairs whose bodies rotate and come near each
    /// other.
    pub settled_count: u64,
    /// How often the GPU ran again with larger buffers, because it found more than they held.
    pub rerun_count: u32,
    /// Where the time went.
    pub times: Times,
}

impl Stats {
    /// Adds the counts and times of another part of the same query. Hits are those of the whole.
    pub(crate) fn add(&mut self, more: &Self) {
        self.candidate_count += more.candidate_count;
        self.refined_count += more.refined_count;
        self.settled_count += more.settled_count;
        self.rerun_count += more.rerun_count;
        let (times, more) = (&mut self.times, &more.times);
        times.upload_ms += more.upload_ms;
        times.compile_ms += more.compile_ms;
        times.kernels_ms += more.kernels_ms;
        times.readback_ms += more.readback_ms;
        times.settle_ms += more.settle_ms;
    }
}

/// Where the time of a query went, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Times {
    /// Checking the bodies, laying them out and handing them to the device.
    pub upload_ms: f64,
    /// Building the pipelines that the query needs first, or waiting for those being built: see
    /// [`Arena::prepare`](crate::collide::Arena::prepare). 0 on the CPU engine.
    pub compile_ms: f64,
    /// The kernels: by the device's clock where it has timestamps, else from submission to completion. On the CPU
    /// engine the broad and the narrow phase.
    pub kernels_ms: f64,
    /// Reading the results back and decoding them; 0 on the CPU engine.
    pub readback_ms: f64,
    /// Settling pairs in f64 on the CPU.
    pub settle_ms: f64,
    /// From the call to the finished answer, including the wait for earlier work. For compounds also the search for pairs of parts, which
    /// no other time here counts.
    pub total_ms: f64,
}
