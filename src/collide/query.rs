//! What is asked of an arena, and what it answers.

use super::status::Status;

/// Which pairs of bodies a query is about.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Pairs<'a> {
    /// All pairs, found by the broad phase: those whose world boxes overlap are examined.
    Near,
    /// All pairs, every one examined, without a broad phase and without a list of them in memory.
    Every,
    /// The given pairs `[a, b]`, in any order and as often as they are given.
    Given(&'a [[u32; 2]]),
}

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

/// What a query took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stats {
    /// Pairs that the narrow phase examined.
    pub candidate_count: u64,
    /// Pairs that touch or penetrate.
    pub hit_count: u64,
    /// Pairs near the surface that GJK left to EPA.
    pub refined_count: u64,
    /// Pairs that f32 could not decide, settled by the exact path in f64.
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
    /// The kernels: by the device's clock where it has timestamps, else from submission to completion. On the CPU
    /// engine the broad and the narrow phase.
    pub kernels_ms: f64,
    /// Reading the results back and decoding them; 0 on the CPU engine.
    pub readback_ms: f64,
    /// Settling pairs in f64 on the CPU.
    pub settle_ms: f64,
    /// From the call to the finished answer.
    pub total_ms: f64,
}

/// What a query will take, staging apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Device memory of the hulls, shared by all frames, in bytes.
    pub hull_bytes: u64,
    /// Device memory of a frame that grows with the bodies, in bytes.
    pub body_bytes: u64,
    /// Device memory of a frame that grows with the pairs, in bytes; for [`Pairs::Near`] at the capacity that the
    /// engine starts with or has grown to.
    pub candidate_bytes: u64,
    /// Memory through which the host writes bodies and reads results, in bytes.
    pub staging_bytes: u64,
}

impl Estimate {
    /// All device memory but staging, in bytes.
    pub fn device_bytes(&self) -> u64 {
        self.hull_bytes + self.body_bytes + self.candidate_bytes
    }
}
