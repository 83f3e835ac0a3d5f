//! Distances and depths: what is measured of a pair, and the rows that it becomes.
//!
//! A pair is measured by its cores, the hulls without their rounding: GJK gives the distance where they are apart
//! ([`distance`](super::distance)), EPA the depth where they overlap. The rounding radii are then taken off the gap
//! and the points moved along the normal, so a ball is as exact as a point.

use glam::DVec3;

use super::query::{Contact, Distance, Intersection, Manifold};
use super::scene::Job;
use super::status::Status;
use super::support::Supports;
use super::{Body, Hull, manifold};

/// What is known of a pair, rounding included, in world units and axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    pub(crate) status: Status,
    /// Signed: the distance, or minus the depth.
    pub(crate) gap: f64,
    /// Unit vector from `a` to `b`.
    pub(crate) normal: DVec3,
    /// On the surface of `a`.
    pub(crate) on_a: DVec3,
}

impl Measured {
    /// On the surface of `b`: the points are apart by the gap along the normal.
    #[inline(always)]
    pub(crate) fn on_b(&self) -> DVec3 {
        self.on_a + self.normal * self.gap
    }

    /// Whether a query with a margin lists the pair: what touches is always listed.
    #[inline(always)]
    pub(crate) fn is_within(&self, margin: f64) -> bool {
        self.gap <= margin || self.status.is_hit()
    }
}

/// What the f32 search says of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Measured(Measured),
    /// Farther apart than was asked.
    #[expect(dead_code, reason = "the f32 search comes next")]
    Beyond,
    /// Only f64 can say.
    Open,
}

/// Measures each of `pairs`; returns how many of them EPA saw.
pub(crate) fn measure(
    _supports: &Supports,
    _job: &Job,
    _pairs: &[[u32; 2]],
    _beyond: f64,
    outcomes: &mut [Outcome],
) -> u64 {
    outcomes.fill(Outcome::Open);
    0
}

/// A row of an answer that measures.
pub(crate) trait Row: Copy + Send + Sync {
    /// The row of a pair that is not measured yet.
    fn open(a: u32, b: u32) -> Self;
    /// The pair.
    fn pair(&self) -> [u32; 2];
    /// The verdict.
    fn status(&self) -> Status;
    /// The row of a measured pair.
    fn of(hulls: &[Hull], bodies: &[Body], pair: [u32; 2], measured: &Measured, margin: f64) -> Self;
}

impl Row for Intersection {
    fn open(a: u32, b: u32) -> Self {
        Self { a, b, status: Status::Touching, axis: None }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    fn of(_: &[Hull], _: &[Body], [a, b]: [u32; 2], measured: &Measured, _: f64) -> Self {
        let separated = measured.status == Status::Separated;
        let axis = separated.then(|| measured.normal.as_vec3().to_array());
        Self { a, b, status: measured.status, axis }
    }
}

impl Row for Distance {
    fn open(a: u32, b: u32) -> Self {
        Self { a, b, status: Status::Touching, distance: 0.0, points: None, axis: None }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    #[inline(always)]
    fn of(_: &[Hull], _: &[Body], [a, b]: [u32; 2], measured: &Measured, _: f64) -> Self {
        let &Measured { status, gap, normal, on_a } = measured;
        let apart = status != Status::Penetrating;
        let distance = if apart && gap > 0.0 { gap } else { 0.0 };
        // Of bodies that overlap by less than the tolerance one point does for both.
        let points = [on_a, on_a + normal * distance].map(|point| point.to_array());
        Self {
            a,
            b,
            status,
            distance,
            points: apart.then_some(points),
            axis: apart.then_some(normal.to_array()),
        }
    }
}

impl Row for Contact {
    fn open(a: u32, b: u32) -> Self {
        Self { a, b, status: Status::Touching, depth: 0.0, normal: [0.0; 3], points: [[0.0; 3]; 2] }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    #[inline(always)]
    fn of(_: &[Hull], _: &[Body], [a, b]: [u32; 2], measured: &Measured, _: f64) -> Self {
        Self {
            a,
            b,
            status: measured.status,
            depth: -measured.gap,
            normal: measured.normal.to_array(),
            points: [measured.on_a.to_array(), measured.on_b().to_array()],
        }
    }
}

impl Row for Manifold {
    fn open(a: u32, b: u32) -> Self {
        Self {
            a,
            b,
            status: Status::Touching,
            depth: 0.0,
            normal: [0.0; 3],
            points: Default::default(),
            point_count: 0,
        }
    }

    fn pair(&self) -> [u32; 2] {
        [self.a, self.b]
    }

    fn status(&self) -> Status {
        self.status
    }

    fn of(hulls: &[Hull], bodies: &[Body], pair: [u32; 2], measured: &Measured, margin: f64) -> Self {
        manifold::manifold(hulls, bodies, pair, measured, margin)
    }
}
