//! Queries for one pair of hulls, and for a ray or a point and a hull, without an arena and an engine: in f64 on the calling thread.
//!
//! This file has no shader.

use glam::DVec3;

use crate::collide::gjk::pose::{Placement, gap_between_centres};
use crate::collide::hull::faces::FaceTable;
use crate::collide::hull::plane_table::PlaneTable;
use crate::collide::hull::{Dimension, Hull};
use crate::collide::narrow_phase::exact::{measure_placed, settle_placed};
use crate::collide::narrow_phase::gradient::gradient as gradient_of;
use crate::collide::narrow_phase::manifold::manifold_of;
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::rows::{Contact, Distance, Gradient, Intersection, Manifold};
use crate::collide::narrow_phase::status::Status;
use crate::collide::query::arena::check_margin;
use crate::collide::query::options::{ManifoldOptions, SweepOptions};
use crate::collide::ray::cast::cast;
use crate::collide::ray::measure::measure;
use crate::collide::ray::rows::{PointHit, RayHit};
use crate::collide::ray::search::point_hit;
use crate::collide::scene::body::Body;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::pose::Pose;
use crate::collide::scene::ray::{Line, Ray};
use crate::collide::scene::ray_columns::check_point;
use crate::collide::sweep::exact::ExactPair;
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
    let bodies = checked([a, b], [pose_a, pose_b])?;
    Ok(settle_placed(&placements([a, b], &bodies)).status.is_hit())
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
    let bodies = checked([a, b], [pose_a, pose_b])?;
    let placements = placements([a, b], &bodies);
    // A pair that overlaps has no distance. The search for its status takes a fraction of what its depth takes, but where hulls are rounded or
    // half-spaces it is the measurement itself.
    let is_plain = |hull: &&Hull| hull.rounding() == 0.0 && hull.dimension() != Dimension::HalfSpace;
    if [a, b].iter().all(is_plain) && settle_placed(&placements).status == Status::Penetrating {
        let status = Status::Penetrating;
        return Ok(Distance {
            a: 0,
            b: 1,
            part_a: 0,
            part_b: 0,
            status,
            separation: 0.0,
            points: None,
            axis: None,
        });
    }
    Ok(Distance::new([0, 1], &measure_placed(&placements)))
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

/// How the separation of two hulls changes with their poses. In the row `a` is 0 and `b` is 1.
///
/// See [`Gradient`] for what the rates mean, and [`Gradient::degeneracy`] for where they are not unique.
///
/// # Cost
/// As [`contact`]; twice that where the hulls overlap.
///
/// # Errors
/// As [`intersects`].
///
/// ```
/// use hullfield::collide::{self, Hull, Pose};
///
/// // A ball one above the top of a cube: it comes nearer at the rate at which it sinks, and turning it changes nothing.
/// let (cube, ball) = (Hull::cuboid([0.5; 3])?, Hull::ball(1.0)?);
/// let row = collide::gradient(&cube, Pose::IDENTITY, &ball, Pose::at([0.25, 0.0, 2.5]))?;
/// assert!((row.separation - 1.0).abs() < 1e-9 && row.degeneracy.is_none());
/// assert!((row.position_b[2] - 1.0).abs() < 1e-9 && row.rotation_b[1].abs() < 1e-9);
/// // Turned about y, the cube's top sinks a quarter of a unit a radian under the ball.
/// assert!((row.rotation_a[1] - 0.25).abs() < 1e-9);
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn gradient(a: &Hull, pose_a: Pose, b: &Hull, pose_b: Pose) -> Result<Gradient> {
    let bodies = checked([a, b], [pose_a, pose_b])?;
    Ok(gradient_of([0, 1], &placements([a, b], &bodies)))
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
    let offset = start[0].position - start[1].position;
    let pair = ExactPair::new([a, b], [&bodies[0], &bodies[1]], offset, [&motions[0], &motions[1]]);
    let mut row = pair.swept(&start, duration, true).row(0, 1, duration);
    if row.outcome != SweepOutcome::Miss {
        let met = [0, 1].map(|k| start[k].moved(&motions[k], row.time));
        row.set_witness(Some(&measure_placed(&met)));
    }
    Ok(row)
}

/// Where a ray hits a hull. In the row `ray` and `body` are 0.
///
/// The answer is that of [`Arena::raycasts`](crate::collide::Arena::raycasts), which says what a hit is. The direction has any length
/// but 0; the greatest distance is in world units, and may be infinite.
///
/// # Cost
/// The planes of the hull are computed, which takes some microseconds. For many rays an [`Arena`](crate::collide::Arena) is faster.
///
/// # Errors
/// [`Error::Value`] where an origin, a direction or a greatest distance is as [`Arena::raycasts`](crate::collide::Arena::raycasts) does not
/// allow it, and at [`Location::Body`] 0 where a number of the pose is NaN or out of range.
///
/// ```
/// use hullfield::collide::{self, Hull, Pose};
///
/// let ball = Hull::ball(1.0)?;
/// let hit = collide::raycast(&ball, Pose::at([5.0, 0.0, 0.0]), [0.0; 3], [1.0, 0.0, 0.0], f32::INFINITY)?;
/// assert_eq!(hit.map(|hit| (hit.distance, hit.normal)), Some((4.0, Some([-1.0, 0.0, 0.0]))));
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn raycast(
    hull: &Hull,
    pose: Pose,
    origin: [f32; 3],
    direction: [f32; 3],
    max_distance: f32,
) -> Result<Option<RayHit>> {
    let ray = Ray::new(origin, direction).up_to(max_distance);
    ray.check(Location::Argument)?;
    let body = Body::new(0).posed(pose);
    body.check(0, hull)?;
    let (table, frame, line) = (PlaneTable::new(hull), Frame::new(hull, &body), Line::new(&ray));
    Ok(cast(&table, &frame, &line).map(|found| found.row(&table, &frame, &line, [0, 0])))
}

/// The point of a hull's surface that is nearest to a point, and the signed distance. In the row `point` and `body` are 0.
///
/// The answer is that of [`Arena::nearest_points`](crate::collide::Arena::nearest_points).
///
/// # Cost
/// As [`raycast`].
///
/// # Errors
/// [`Error::Value`] where a coordinate is not finite or above 1e18, and at [`Location::Body`] 0 where a number of the pose is NaN or out of
/// range.
///
/// ```
/// use hullfield::collide::{self, Hull, Pose};
///
/// let row = collide::nearest_point(&Hull::cuboid([1.0; 3])?, Pose::IDENTITY, [0.0, 0.75, 0.0])?;
/// assert_eq!((row.distance, row.nearest), (-0.25, [0.0, 1.0, 0.0]));
/// # Ok::<(), hullfield::Error>(())
/// ```
pub fn nearest_point(hull: &Hull, pose: Pose, point: [f32; 3]) -> Result<PointHit> {
    check_point(Location::Argument, point)?;
    let body = Body::new(0).posed(pose);
    body.check(0, hull)?;
    let (table, frame, at) =
        (PlaneTable::new(hull), Frame::new(hull, &body), DVec3::from(point.map(f64::from)));
    match measure(&table, &frame, at, f64::INFINITY) {
        Some(found) => Ok(point_hit(0, 0, &found)),
        None => Err(Error::internal("collide::nearest_point", "a body without a nearest point")),
    }
}
