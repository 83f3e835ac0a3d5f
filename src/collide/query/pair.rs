//! Queries for one pair of hulls, without an arena and an engine: in f64 on the calling thread.
//!
//! This file has no shader.

use crate::collide::gjk::pose::{Placement, gap_between_centres};
use crate::collide::hull::faces::FaceTable;
use crate::collide::hull::{Dimension, Hull};
use crate::collide::narrow_phase::exact::measure_placed;
use crate::collide::narrow_phase::manifold::manifold_of;
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::rows::{Contact, Distance, Intersection, Manifold};
use crate::collide::query::arena::check_margin;
use crate::collide::query::options::{ManifoldOptions, SweepOptions};
use crate::collide::scene::body::Body;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pose::Pose;
use crate::collide::sweep::exact::{ExactPair, Impact};
use crate::collide::sweep::outcome::Swept;
use crate::collide::sweep::query;
use crate::collide::sweep::rows::{Sweep, SweepOutcome};
use crate::error::{Error, Location, Result};

/// Checks the poses of two hulls; errors call them bodies 0 and 1.
fn checked(hulls: [&Hull; 2], poses: [Pose; 2]) -> Result<[Body; 2]> {
    if hulls.iter().all(|hull| hull.dimension() == Dimension::HalfSpace) {
        let message = "both hulls are half-spaces, which have no distance and no depth";
        return Err(Error::invalid(Location::Argument, message));
    }
    let bodies = poses.map(|pose| Body::new(0).posed(pose));
    for (row, (body, hull)) in bodies.iter().zip(hulls).enumerate() {
        body.check(row, hull)?;
    }
    Ok(bodies)
}

fn placements<'a>(hulls: [&'a Hull; 2], bodies: &[Body; 2]) -> [Placement<'a>; 2] {
    [Placement::new(hulls[0], &bodies[0]), Placement::new(hulls[1], &bodies[1])]
}

fn measured(a: &Hull, pose_a: Pose, b: &Hull, pose_b: Pose) -> Result<Measured> {
    let bodies = checked([a, b], [pose_a, pose_b])?;
    Ok(measure_placed(&placements([a, b], &bodies)))
}

/// Whether two hulls touch or overlap.
///
/// The answer is that of [`Arena::intersections`](crate::collide::Arena::intersections) with
/// [`Precision::Exact`](crate::collide::Precision::Exact): hulls within ¾ of the tolerance τ of one another touch.
///
/// # Cost
/// The vertices of both hulls are placed in f64 and scanned some ten times: microseconds for small hulls. It needs no engine and starts
/// no thread. For many pairs an [`Arena`](crate::collide::Arena) is faster.
///
/// # Errors
/// [`Error::Value`] at [`Location::Body`] 0 or 1 where a number of a pose is NaN or out of range, [`Error::Invalid`] where both
/// hulls are half-spaces.
///
/// ```
/// use hullfield::collide::{self, Hull, Pose};
///
/// let cube = Hull::cuboid([0.5; 3])?;
/// let ball = Hull::ball(1.0)?;
/// assert!(collide::intersects(&cube, Pose::IDENTITY, &ball, Pose::at([1.4, 0.0, 0.0]))?);
/// assert!(!collide::intersects(&cube, Pose::IDENTITY, &ball, Pose::at([1.6, 0.0, 0.0]))?);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn intersects(a: &Hull, pose_a: Pose, b: &Hull, pose_b: Pose) -> Result<bool> {
    Ok(measured(a, pose_a, b, pose_b)?.status.is_hit())
}

/// The verdict for two hulls, with a separating axis where they are apart. In the row `a` is 0 and `b` is 1.
///
/// # Cost
/// As [`intersects`].
///
/// # Errors
/// As [`intersects`].
pub fn intersection(a: &Hull, pose_a: Pose, b: &Hull, pose_b: Pose) -> Result<Intersection> {
    Ok(Intersection::new([0, 1], &measured(a, pose_a, b, pose_b)?))
}

/// The distance of two hulls, and their nearest points. In the row `a` is 0 and `b` is 1.
///
/// Within 1e-9 of the sum of the bounding radii, as [`Precision::Exact`](crate::collide::Precision::Exact).
///
/// # Cost
/// As [`intersects`].
///
/// # Errors
/// As [`intersects`].
///
/// ```
/// use hullfield::collide::{self, Hull, Pose};
///
/// let capsule = Hull::capsule([0.0, -1.0, 0.0], [0.0, 1.0, 0.0], 0.25)?;
/// let row = collide::distance(&capsule, Pose::IDENTITY, &Hull::ball(0.5)?, Pose::at([0.0, 3.0, 0.0]))?;
/// assert!((row.separation - 1.25).abs() < 1e-9);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn distance(a: &Hull, pose_a: Pose, b: &Hull, pose_b: Pose) -> Result<Distance> {
    Ok(Distance::new([0, 1], &measured(a, pose_a, b, pose_b)?))
}

/// A lower bound of the distance of two hulls, ≥ 0 and quick to compute: for skipping pairs that are far apart.
///
/// It is the distance of the bounding balls or, where that is more, the gap between the hulls along the line through their centres. It is
/// 0 where neither shows a gap. For a half-space it is the distance itself.
///
/// # Cost
/// One pass over the vertices of both hulls, and no search.
///
/// # Errors
/// As [`intersects`].
pub fn distance_lower_bound(a: &Hull, pose_a: Pose, b: &Hull, pose_b: Pose) -> Result<f64> {
    let bodies = checked([a, b], [pose_a, pose_b])?;
    let placements = placements([a, b], &bodies);
    let gap = if placements.iter().any(|placement| placement.hull.dimension() == Dimension::HalfSpace) {
        measure_placed(&placements).gap
    } else {
        gap_between_centres(&placements)
    };
    Ok(gap.max(0.0))
}

/// The contact of two hulls: the depth or the distance, the normal, and the points. In the row `a` is 0 and `b` is 1.
///
/// Within 1e-9 of the sum of the bounding radii, as [`Precision::Exact`](crate::collide::Precision::Exact).
///
/// # Cost
/// As [`intersects`]. Where the hulls overlap, their vertices are scanned up to some hundred times.
///
/// # Errors
/// As [`intersects`].
pub fn contact(a: &Hull, pose_a: Pose, b: &Hull, pose_b: Pose) -> Result<Contact> {
    Ok(Contact::new([0, 1], &measured(a, pose_a, b, pose_b)?))
}

/// As [`contact`], with up to four points that hold a body at rest.
///
/// # Cost
/// As [`contact`], and one pass over the faces of both hulls.
///
/// # Errors
/// As [`intersects`]; [`Error::Value`] where the margin is negative or NaN.
pub fn manifold(
    a: &Hull,
    pose_a: Pose,
    b: &Hull,
    pose_b: Pose,
    options: &ManifoldOptions,
) -> Result<Manifold> {
    check_margin(options.margin)?;
    let bodies = checked([a, b], [pose_a, pose_b])?;
    let placements = placements([a, b], &bodies);
    let tables = [a, b].map(FaceTable::new);
    let measured = measure_placed(&placements);
    Ok(manifold_of(placements, [&tables[0], &tables[1]], [0, 1], &measured, f64::from(options.margin)))
}

/// The first time of impact of two moving hulls, with normal and points. In the row `a` is 0 and `b` is 1.
///
/// Within 1e-9 of the sum of the bounding radii, as [`Precision::Exact`](crate::collide::Precision::Exact); see
/// [`Arena::sweeps`](crate::collide::Arena::sweeps). Rows of hulls that meet always have points.
///
/// # Cost
/// Up to some dozen times that of [`distance`].
///
/// # Errors
/// As [`intersects`]; [`Error::Value`] where the duration or a motion is NaN or out of range.
///
/// ```
/// use hullfield::collide::{self, Hull, Motion, Pose, SweepOptions};
///
/// let ball = Hull::ball(1.0)?;
/// let motion = Motion { velocity: [2.0, 0.0, 0.0], ..Motion::default() };
/// let start = Pose::at([-5.0, 0.0, 0.0]);
/// let options = SweepOptions { duration: 3.0, ..SweepOptions::default() };
/// let row = collide::sweep(&ball, start, motion, &ball, Pose::IDENTITY, Motion::default(), &options)?;
/// assert!((row.time - 1.5).abs() < 1e-8);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn sweep(
    a: &Hull,
    pose_a: Pose,
    motion_a: Motion,
    b: &Hull,
    pose_b: Pose,
    motion_b: Motion,
    options: &SweepOptions,
) -> Result<Sweep> {
    let motions = [motion_a, motion_b];
    query::check(2, &motions, options.duration)?;
    let bodies = checked([a, b], [pose_a, pose_b])?;
    let duration = f64::from(options.duration);
    let start = placements([a, b], &bodies);
    let pair = ExactPair::new([a, b], [&bodies[0], &bodies[1]], [&motions[0], &motions[1]]);
    let swept = match pair.sweep(duration, true, None) {
        Impact::Hit { time, normal } => Swept::hit(time, normal),
        Impact::Miss => Swept::MISS,
        Impact::Start => {
            let measured = measure_placed(&start);
            let touching = Swept::touching(measured.normal);
            if measured.status.is_hit() {
                touching
            } else {
                match pair.sweep(duration, true, Some(-measured.normal)) {
                    Impact::Hit { time, normal } => Swept::hit(time, normal),
                    Impact::Miss => Swept::MISS,
                    // They are apart by less than the tolerance, and no direction shows it.
                    Impact::Start => touching,
                }
            }
        }
    };
    let mut row = swept.row(0, 1, duration);
    if row.outcome != SweepOutcome::Miss {
        let met = [0, 1].map(|k| start[k].moved(&motions[k], row.time));
        row.set_witness(Some(&measure_placed(&met)));
    }
    Ok(row)
}
