//! Rays: plain data, and their check.

use glam::DVec3;

#[cfg(doc)]
use crate::collide::scene::body::Body;
use crate::collide::scene::pose::is_placed;
use crate::error::{Error, Location, Result};

/// A ray: a start, a direction and a length.
///
/// The f32 numbers count exactly as stored.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "RayWire"))]
pub struct Ray {
    /// Where the ray starts, in world units, each coordinate at most 1e18 in magnitude.
    pub origin: [f32; 3],
    /// Where it goes: any finite vector but 0. Its length does not matter.
    pub direction: [f32; 3],
    /// How far it goes, in world units, ≥ 0. Infinity is allowed, and is the default.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_distance: f32,
    /// Groups that the ray belongs to, one bit each; all by default. It meets a body where neither `ray.group & body.mask` nor
    /// `body.group & ray.mask` is 0, as [`Body::group`] says.
    pub group: u32,
    /// Groups that the ray meets, one bit each; all by default.
    pub mask: u32,
}

/// A ray as serde reads it, before its numbers are checked: what is left out is as [`Ray::new`] has it.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(rename = "Ray", deny_unknown_fields)]
struct RayWire {
    origin: [f32; 3],
    direction: [f32; 3],
    #[serde(default = "everywhere", with = "crate::wire::number")]
    max_distance: f32,
    #[serde(default = "all_groups")]
    group: u32,
    #[serde(default = "all_groups")]
    mask: u32,
}

#[cfg(feature = "serde")]
fn everywhere() -> f32 {
    f32::INFINITY
}

#[cfg(feature = "serde")]
fn all_groups() -> u32 {
    u32::MAX
}

#[cfg(feature = "serde")]
impl TryFrom<RayWire> for Ray {
    type Error = Error;

    fn try_from(wire: RayWire) -> Result<Self> {
        let RayWire { origin, direction, max_distance, group, mask } = wire;
        let ray = Self { origin, direction, max_distance, group, mask };
        ray.check(Location::Argument).map(|()| ray)
    }
}

impl Ray {
    /// The ray from `origin` along `direction`, without an end, that meets all bodies.
    pub fn new(origin: [f32; 3], direction: [f32; 3]) -> Self {
        Self { origin, direction, max_distance: f32::INFINITY, group: u32::MAX, mask: u32::MAX }
    }

    /// The same ray, this long, in world units.
    #[must_use]
    pub fn up_to(self, max_distance: f32) -> Self {
        Self { max_distance, ..self }
    }

    /// The same ray in these groups, meeting those of `mask`.
    #[must_use]
    pub fn grouped(self, group: u32, mask: u32) -> Self {
        Self { group, mask, ..self }
    }

    /// What is wrong with its numbers.
    pub(crate) fn check(&self, at: Location) -> Result<()> {
        if !is_placed(self.origin) {
            let allowed = "each must be finite and at most 1e18 in magnitude";
            return Err(Error::value(at, "origin", format!("{:?}", self.origin), allowed));
        }
        if !self.direction.iter().all(|x| x.is_finite()) || self.direction == [0.0; 3] {
            let allowed = "it must be finite and not 0";
            return Err(Error::value(at, "direction", format!("{:?}", self.direction), allowed));
        }
        if !(self.max_distance >= 0.0) {
            let allowed = "it must be zero or more";
            return Err(Error::value(at, "max_distance", format!("{:?}", self.max_distance), allowed));
        }
        Ok(())
    }
}

/// A checked ray in f64: the points `origin + s direction` for `s` from 0 to `end`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) origin: DVec3,
    /// As given: of any length.
    pub(crate) direction: DVec3,
    /// Length of the direction.
    pub(crate) length: f64,
    /// One over its square.
    pub(crate) inverse_squared: f64,
    pub(crate) end: f64,
    pub(crate) max_distance: f64,
    pub(crate) group: u32,
    pub(crate) mask: u32,
}

impl Line {
    #[inline(always)]
    pub(crate) fn new(ray: &Ray) -> Self {
        let direction = DVec3::from(ray.direction.map(f64::from));
        let squared = direction.dot(direction);
        let length = squared.sqrt();
        let max_distance = f64::from(ray.max_distance);
        Self {
            origin: DVec3::from(ray.origin.map(f64::from)),
            direction,
            length,
            inverse_squared: 1.0 / squared,
            end: max_distance / length,
            max_distance,
            group: ray.group,
            mask: ray.mask,
        }
    }

    /// The line of a ray that starts at a point in f64 instead.
    #[inline(always)]
    pub(crate) fn from(ray: &Ray, origin: DVec3) -> Self {
        Self { origin, ..Self::new(ray) }
    }

    /// The point at a distance from the start.
    pub(crate) fn at(&self, distance: f64) -> DVec3 {
        self.origin + self.direction * (distance / self.length)
    }
}
