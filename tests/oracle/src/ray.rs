//! Checks of claimed hits of rays, and of nearest points, by the signed distance of a point from a placed shape.
//!
//! Along a ray that distance is a convex function. So its least value, found by a golden-section search, says whether the ray comes near, and
//! a place where it is 0 and falls is where the ray enters. No line is clipped and no root is solved for.

use glam::DVec3;

use crate::body64::Body64;
use crate::{Pose, Shape};

/// A ray: the points `origin + t · direction / |direction|` for t from 0 to `max_distance`, in world units.
#[derive(Debug, Clone, Copy)]
pub struct Ray {
    /// Where it starts.
    pub origin: [f32; 3],
    /// Of any length but 0.
    pub direction: [f32; 3],
    /// May be infinite.
    pub max_distance: f32,
}

/// A claimed hit.
#[derive(Debug, Clone, Copy)]
pub struct Claim {
    /// In world units.
    pub distance: f64,
    /// The outward unit normal of the body; none where the ray starts in it.
    pub normal: Option<[f64; 3]>,
}

/// What a ray does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// It stays away.
    Miss,
    /// It enters the body.
    Enter,
    /// It comes within the tolerance, no more.
    Graze,
    /// It starts in the body or within the tolerance.
    Start,
}

/// A ray and a placed shape.
struct Shot {
    body: Body64,
    /// Relative to the body's position.
    origin: DVec3,
    unit: DVec3,
    end: f64,
    /// What a point within the tolerance is away at most.
    reach: f64,
    /// What distances may be off.
    slack: f64,
}

impl Shot {
    fn new(shape: &Shape, pose: &Pose, ray: &Ray) -> Self {
        let position = pose.position64();
        let body = Body64::placed(shape, pose, position);
        let origin = DVec3::from(ray.origin.map(f64::from)) - position;
        let size = if shape.is_half_space() { 0.0 } else { shape.radius(pose.scale) + body.rounding };
        let slack = 1e-9 * size + 1e-15 * (origin.length() + body.centre.length()) + 1e-300;
        let direction = DVec3::from(ray.direction.map(f64::from));
        let far = origin.distance(body.centre) + body.radius + body.rounding;
        // Beyond that a ray only leaves. A half-space goes on for ever.
        let far = if shape.is_half_space() { 1e9 * (1.0 + far) } else { 2.0 * far };
        let end = f64::from(ray.max_distance).min(far);
        Self { body, origin, unit: direction / direction.length(), end, reach: 3e-6 * size, slack }
    }

    fn gap(&self, at: f64) -> f64 {
        self.body.outside(self.origin + self.unit * at)
    }

    /// The place of the least gap, and that gap.
    fn least(&self) -> (f64, f64) {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        // Around the place next to the centre, so that a far start does not cost digits.
        let middle = (self.body.centre - self.origin).dot(self.unit);
        let around = 1.01 * (self.body.radius + self.body.rounding) + self.slack;
        let clamp = |at: f64| at.clamp(0.0, self.end);
        let (mut low, mut high) = if self.body.plane.is_some() {
            (0.0, self.end)
        } else {
            (clamp(middle - around), clamp(middle + around))
        };
        let mut best =
            if self.gap(low) <= self.gap(high) { (low, self.gap(low)) } else { (high, self.gap(high)) };
        for _ in 0..80 {
            let (a, b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            let (gap_a, gap_b) = (self.gap(a), self.gap(b));
            for (at, gap) in [(a, gap_a), (b, gap_b)] {
                if gap < best.1 {
                    best = (at, gap);
                }
            }
            if gap_a <= gap_b {
                high = b;
            } else {
                low = a;
            }
        }
        best
    }
}

/// Checks the claim that a ray hits a placed shape, or that it hits nothing, and says what the ray does.
///
/// A hit is where the ray comes within 3e-6 of the bounding radius S. Distances along the normal are checked to within 1e-9 S and a few
/// roundings of the coordinates.
///
/// # Errors
/// What is wrong.
pub fn check(shape: &Shape, pose: &Pose, ray: &Ray, claim: Option<Claim>) -> Result<Course, String> {
    let shot = Shot::new(shape, pose, ray);
    let reach = shot.reach;
    let slack = shot.slack + 1e-15 * claim.map_or(0.0, |claim| claim.distance.abs());
    let (_, least) = shot.least();
    let start = shot.gap(0.0);
    let Some(Claim { distance, normal }) = claim else {
        return if least >= reach - slack {
            Ok(Course::Miss)
        } else {
            Err(format!("a miss, but it comes within {least:e} of {reach:e}"))
        };
    };
    let Some(normal) = normal else {
        return if distance == 0.0 && start <= reach + slack {
            Ok(Course::Start)
        } else {
            Err(format!("a hit at the start at {distance}, where the gap is {start:e}"))
        };
    };
    if !(0.0..=f64::from(ray.max_distance)).contains(&distance) {
        return Err(format!("a distance of {distance}"));
    }
    if start < reach - slack {
        return Err(format!("a hit at {distance}, but it starts at a gap of {start:e}"));
    }
    if least > reach + slack {
        return Err(format!("a hit, but it comes no nearer than {least:e}, more than {reach:e}"));
    }
    let gap = shot.gap(distance);
    let course = if least < -slack {
        if gap.abs() > slack {
            return Err(format!("a hit at a gap of {gap:e}"));
        }
        Course::Enter
    } else if least > slack {
        if (gap - reach).abs() > slack {
            return Err(format!("a grazing hit at a gap of {gap:e}, not {reach:e}"));
        }
        Course::Graze
    } else if gap.abs() <= slack || (gap - reach).abs() <= slack {
        Course::Graze
    } else {
        return Err(format!("a hit at a gap of {gap:e}"));
    };
    let normal = DVec3::from(normal);
    if (normal.length() - 1.0).abs() > 1e-12 {
        return Err(format!("a normal of length {}", normal.length()));
    }
    // Where it only grazes, the gap hardly changes along the ray.
    if normal.dot(shot.unit) > 1e-6 {
        return Err(format!("it leaves at {distance}: {normal} against {}", shot.unit));
    }
    // Moved along a normal, a point is farther away by as much. An edge or a corner has many.
    let size = reach / 3e-6;
    let step = if size > 0.0 { 0.01 * size } else { 1.0 };
    let point = shot.origin + shot.unit * distance;
    let moved = shot.body.outside(point + normal * step);
    if (moved - gap - step).abs() > 1e-6 * step + 4.0 * slack {
        return Err(format!("the normal {normal} leads {step:e} on to {moved:e} from {gap:e}"));
    }
    Ok(course)
}

/// The signed distance of a point from a placed shape, in world units.
pub fn outside(shape: &Shape, pose: &Pose, point: [f64; 3]) -> f64 {
    let position = pose.position64();
    Body64::placed(shape, pose, position).outside(DVec3::from(point) - position)
}
