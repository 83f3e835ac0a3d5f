//! Poses of links and paths of them: plain data, and their checks.

use glam::{DQuat, DVec3};

use crate::error::{Error, Location, Result};

/// Largest magnitude of a coordinate.
const FARTHEST: f64 = 1e18;

/// Allowed squared lengths of a rotation: the length is within 1e-3 of 1.
const LENGTHS_SQUARED: std::ops::RangeInclusive<f64> = 0.999 * 0.999..=1.001 * 1.001;

/// The cosine of half the largest turn of a step, π − 1e-6 radians.
const LEAST_COSINE: f64 = 5e-7;

/// The pose of a link of a robot in the world, in f64.
///
/// A point `p` of the link is at `position + rotation · p`. The numbers count exactly as stored, with the quaternion divided by its length.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct LinkPose {
    /// World position of the link's origin, in world units, each coordinate at most 1e18 in magnitude.
    pub position: [f64; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f64; 4],
}

impl Default for LinkPose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl LinkPose {
    /// At the origin, not rotated.
    pub const IDENTITY: Self = Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0] };

    /// What is wrong with its numbers.
    fn check(&self, at: impl Fn() -> Location) -> Result<()> {
        // NaN fails every comparison.
        if !self.position.iter().all(|x| x.abs() <= FARTHEST) {
            let allowed = "each must be finite and at most 1e18 in magnitude";
            return Err(Error::value(at(), "position", format!("{:?}", self.position), allowed));
        }
        if !LENGTHS_SQUARED.contains(&DQuat::from_array(self.rotation).length_squared()) {
            let allowed = "its length must be within 1e-3 of 1";
            return Err(Error::value(at(), "rotation", format!("{:?}", self.rotation), allowed));
        }
        Ok(())
    }

    pub(crate) fn place(&self) -> DVec3 {
        DVec3::from(self.position)
    }

    pub(crate) fn turn(&self) -> DQuat {
        DQuat::from_array(self.rotation).normalize()
    }
}

/// A path of a robot: the poses of its links at two samples or more, and how far the true motion may be from the one between them.
///
/// # The motion between samples
/// A step leads from a sample to the next. In a step each link moves alone: its origin along a straight line at a constant velocity, and its
/// rotation about a fixed axis at a constant rate, the shorter way around (slerp). So where `s` goes from 0 to 1 the position is
/// `p + s v` and the rotation exp(s ω) · `rotation`, as for [`Motion`](crate::collide::Motion). A step must turn each link by less than π.
///
/// Joints that turn at constant rates move their links along arcs, which is another motion. It is the same at the samples, and its distance
/// from this one falls with the square of the step. [`deviations`](Self::deviations) says how far apart the two may be.
///
/// ```
/// use hullfield::collide::{JointPath, LinkPose};
///
/// // One link at two samples: moved by 1 along x.
/// let poses = [LinkPose::IDENTITY, LinkPose { position: [1.0, 0.0, 0.0], ..LinkPose::IDENTITY }];
/// let path = JointPath::new(2, &poses).within(&[1e-3]);
/// assert_eq!((path.sample_count, path.deviations), (2, &[1e-3][..]));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct JointPath<'a> {
    /// How many samples there are, at least 2.
    pub sample_count: usize,
    /// The poses of all links at the first sample, then those at the next: `[sample, link]`, row by row.
    pub poses: &'a [LinkPose],
    /// How far a point of a link may be from where the motion between samples has it, at most, in world units, ≥ 0: one for each link at the
    /// first step, then those of the next, `[step, link]`. Empty, as by default, where that motion is the true one.
    /// [`joint_deviation`](crate::collide::joint_deviation) computes it for joints that turn or slide at constant rates.
    pub deviations: &'a [f64],
}

impl<'a> JointPath<'a> {
    /// A path whose true motion is that between samples.
    pub fn new(sample_count: usize, poses: &'a [LinkPose]) -> Self {
        Self { sample_count, poses, deviations: &[] }
    }

    /// The same path, with bounds of how far its true motion may be from that between samples, `[step, link]`.
    #[must_use]
    pub fn within(self, deviations: &'a [f64]) -> Self {
        Self { deviations, ..self }
    }

    /// Checks the path with this number, of a robot of so many links.
    ///
    /// # Errors
    /// [`Error::Value`], [`Error::Count`], [`Error::Invalid`], with path, sample and link.
    pub(crate) fn check(&self, path: usize, link_count: usize) -> Result<()> {
        let at = Location::JointPath(path);
        if self.sample_count < 2 {
            return Err(Error::value(at, "sample_count", self.sample_count, "it must be at least 2"));
        }
        let wrong_count = |what, given: usize, each: &str, count: usize| Error::Count {
            at,
            what,
            given: given as u64,
            allowed: format!("there must be one for each of {link_count} links at each of {count} {each}"),
        };
        if Some(self.poses.len()) != self.sample_count.checked_mul(link_count) {
            return Err(wrong_count("poses", self.poses.len(), "samples", self.sample_count));
        }
        let step_count = self.sample_count - 1;
        if !self.deviations.is_empty() && self.deviations.len() != step_count * link_count {
            return Err(wrong_count("deviations", self.deviations.len(), "steps", step_count));
        }
        for (row, pose) in self.poses.iter().enumerate() {
            pose.check(|| Location::PathSample { path, sample: row / link_count, link: row % link_count })?;
        }
        for (row, (from, to)) in self.poses.iter().zip(&self.poses[link_count..]).enumerate() {
            if !turns_clearly(from, to) {
                let at = Location::PathSample { path, sample: row / link_count, link: row % link_count };
                let message = "the link turns by half a turn until the next sample, so the way around is not known: samples between must say it";
                return Err(Error::invalid(at, message));
            }
        }
        for (row, deviation) in self.deviations.iter().enumerate() {
            if !(0.0..=FARTHEST).contains(deviation) {
                let at = Location::PathSample { path, sample: row / link_count, link: row % link_count };
                return Err(Error::value(
                    at,
                    "deviation",
                    format!("{deviation:?}"),
                    "it must be from 0 to 1e18",
                ));
            }
        }
        Ok(())
    }
}

/// Whether two checked rotations are less than half a turn apart, so that one way around is shorter.
fn turns_clearly(from: &LinkPose, to: &LinkPose) -> bool {
    let [from, to] = [from, to].map(|pose| DQuat::from_array(pose.rotation));
    let dot = from.dot(to);
    dot * dot >= LEAST_COSINE * LEAST_COSINE * from.length_squared() * to.length_squared()
}

/// Checks the poses of postures, `[posture, link]`.
///
/// # Errors
/// [`Error::Value`], [`Error::Count`], with posture and link.
pub(crate) fn check_postures(posture_count: usize, poses: &[LinkPose], link_count: usize) -> Result<()> {
    let limit = u64::from(u32::MAX);
    if posture_count as u64 > limit {
        return Err(Error::TooMany { what: "postures", count: posture_count as u64, limit });
    }
    if Some(poses.len()) != posture_count.checked_mul(link_count) {
        return Err(Error::Count {
            at: Location::Argument,
            what: "poses",
            given: poses.len() as u64,
            allowed: format!(
                "there must be one for each of {link_count} links in each of {posture_count} postures"
            ),
        });
    }
    for (row, pose) in poses.iter().enumerate() {
        pose.check(|| Location::Posture { posture: row / link_count, link: row % link_count })?;
    }
    Ok(())
}
