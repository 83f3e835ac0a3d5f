//! A body: a hull placed in the world.

use crate::collide::hull::Hull;
use crate::collide::hull::record::HullRecord;
use crate::collide::hull::support::Supports;
#[cfg(doc)]
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::pose::{MOST, Pose, inside, is_placed, is_scaled, is_turned, squared_length};
use crate::error::{Error, Location, Result};

/// Bounding radii that the engines can square in f32.
const RADII: std::ops::RangeInclusive<f32> = 1e-18..=MOST;

/// A hull placed in the world by scale, then rotation, then translation.
///
/// A vertex `v` of the hull is at `position + rotation · (scale ⊙ v)`. The f32 numbers count exactly as stored, with the quaternion
/// divided by its length: errors of results are measured against them.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "BodyWire"))]
pub struct Body {
    /// Index of the hull in the [`Arena`](crate::collide::Arena).
    pub hull: u32,
    /// World position of the hull's origin, in world units.
    pub position: [f32; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f32; 4],
    /// Scale along the hull's own axes, each > 0.
    pub scale: [f32; 3],
    /// How much larger the body is than its placed hull on all sides, in world units, ≥ 0: the body is all points within this distance
    /// of the placed hull. It adds to the hull's own rounding radius, which is in the hull's units.
    pub padding: f32,
    /// Groups that the body belongs to, one bit each.
    ///
    /// Two bodies are a pair where neither `a.group & b.mask` nor `b.group & a.mask` is 0. [`Pairs::Given`] ignores groups.
    ///
    /// Two sets of bodies are tested only against each other where each meets the group of the other alone. Groups are compared with the
    /// boxes, so pairs within a set are no candidates, and cost no more than bodies whose boxes are apart:
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Hull, Options, Pairs};
    ///
    /// let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0)?], Options::default())?;
    /// let (robot, scene) = ([0.0, 0.5], [1.0, 1.5]);
    /// let robot = robot.map(|x| Body::new(0).at([x, 0.0, 0.0]).grouped(1, 2));
    /// let scene = scene.map(|x| Body::new(0).at([x, 0.0, 0.0]).grouped(2, 1));
    /// let found = arena.intersections(&[robot, scene].concat(), Pairs::BroadPhase)?.wait()?;
    /// let pairs: Vec<_> = found.rows.iter().map(|row| [row.a, row.b]).collect();
    /// assert_eq!(pairs, [[0, 2], [0, 3], [1, 2], [1, 3]]);
    /// assert_eq!(found.stats.candidate_count, 4);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub group: u32,
    /// Groups that the body meets, one bit each.
    pub mask: u32,
}

/// A body as serde reads it, before its numbers are checked: what is left out is as [`Body::new`] has it.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(rename = "Body", deny_unknown_fields)]
struct BodyWire {
    hull: u32,
    #[serde(default = "origin")]
    position: [f32; 3],
    #[serde(default = "unturned")]
    rotation: [f32; 4],
    #[serde(default = "unscaled")]
    scale: [f32; 3],
    #[serde(default)]
    padding: f32,
    #[serde(default = "all_groups")]
    group: u32,
    #[serde(default = "all_groups")]
    mask: u32,
}

#[cfg(feature = "serde")]
fn origin() -> [f32; 3] {
    Pose::IDENTITY.position
}

#[cfg(feature = "serde")]
fn unturned() -> [f32; 4] {
    Pose::IDENTITY.rotation
}

#[cfg(feature = "serde")]
fn unscaled() -> [f32; 3] {
    Pose::IDENTITY.scale
}

#[cfg(feature = "serde")]
fn all_groups() -> u32 {
    u32::MAX
}

#[cfg(feature = "serde")]
impl TryFrom<BodyWire> for Body {
    type Error = Error;

    fn try_from(wire: BodyWire) -> Result<Self> {
        let BodyWire { hull, position, rotation, scale, padding, group, mask } = wire;
        let body = Self { hull, position, rotation, scale, padding, group, mask };
        body.fault(Location::Argument).map_or(Ok(body), Err)
    }
}

impl Body {
    /// The hull `hull` at the origin, unrotated, at scale 1, meeting all other bodies.
    pub fn new(hull: u32) -> Self {
        Self {
            hull,
            position: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: [1.0; 3],
            padding: 0.0,
            group: u32::MAX,
            mask: u32::MAX,
        }
    }

    /// The same body at another position, in world units.
    #[must_use]
    pub fn at(self, position: [f32; 3]) -> Self {
        Self { position, ..self }
    }

    /// The same body turned by the unit quaternion `x, y, z, w`.
    #[must_use]
    pub fn rotated(self, rotation: [f32; 4]) -> Self {
        Self { rotation, ..self }
    }

    /// The same body scaled equally along all axes.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        Self { scale: [scale; 3], ..self }
    }

    /// The same body, larger by `padding` on all sides, in world units.
    #[must_use]
    pub fn padded(self, padding: f32) -> Self {
        Self { padding, ..self }
    }

    /// The same body in another pose.
    #[must_use]
    pub fn posed(self, pose: Pose) -> Self {
        let Pose { position, rotation, scale } = pose;
        Self { position, rotation, scale, ..self }
    }

    /// The pose of the body.
    pub fn pose(&self) -> Pose {
        let Self { position, rotation, scale, .. } = *self;
        Pose { position, rotation, scale }
    }

    /// The same body in these groups, meeting those of `mask`.
    #[must_use]
    pub fn grouped(self, group: u32, mask: u32) -> Self {
        Self { group, mask, ..self }
    }

    /// The whole rounding radius in world units: the hull's times the least scale, plus the padding.
    #[inline(always)]
    pub(crate) fn rounding(&self, record: &HullRecord) -> f64 {
        let [x, y, z] = self.scale;
        f64::from(record.rounding) * f64::from(x.min(y).min(z)) + f64::from(self.padding)
    }

    /// A lower bound, to within rounding, of the radius of a ball about the mean of the hull's vertices inside the body, in world units; at
    /// most 0 where there is none.
    #[inline(always)]
    pub(crate) fn inner_radius(&self, record: &HullRecord) -> f32 {
        let [x, y, z] = self.scale;
        let least = x.min(y).min(z);
        let most = x.max(y).max(z);
        let core = record.inner_radius * if record.inner_radius > 0.0 { least } else { most };
        core + record.rounding * least + self.padding
    }

    /// Checks every number of the body and returns its bounding radius in world units about the mean of the hull's vertices.
    ///
    /// `row` is the body's row, for the error.
    #[inline(always)]
    pub(crate) fn radius(&self, row: usize, supports: &Supports) -> Result<f32> {
        match supports.records.get(self.hull as usize) {
            Some(record) => {
                let radius = self.core_radius(record, supports) + self.rounding(record) as f32;
                if self.is_good(record, radius) { Ok(radius) } else { Err(self.error(row, record)) }
            }
            None => Err(self.unknown_hull(row, supports.records.len())),
        }
    }

    /// Its bounding radius without the rounding, unchecked.
    #[inline(always)]
    pub(crate) fn core_radius(&self, record: &HullRecord, supports: &Supports) -> f32 {
        let [x, y, z] = self.scale;
        if x == y && y == z { x * record.radius } else { supports.radius(self.hull, self.scale) }
    }

    /// Whether every number of a body with this bounding radius is good.
    #[inline(always)]
    pub(crate) fn is_good(&self, record: &HullRecord, radius: f32) -> bool {
        is_placed(self.position)
            & is_turned(self.rotation)
            & is_scaled(self.scale)
            & self.is_padded()
            & self.fits(record, radius)
    }

    /// Checks every number of a body whose hull is not in an arena.
    pub(crate) fn check(&self, row: usize, hull: &Hull) -> Result<()> {
        let record = HullRecord {
            mean: hull.mean().map(|x| x as f32),
            radius: hull.radius() as f32,
            rounding: hull.rounding(),
            ..bytemuck::Zeroable::zeroed()
        };
        let scaled = |v: &[f32; 3]| {
            let along = |k: usize| (f64::from(v[k]) - hull.mean()[k]) * f64::from(self.scale[k]);
            (along(0) * along(0) + along(1) * along(1) + along(2) * along(2)).sqrt()
        };
        let radius = hull.vertices().iter().map(scaled).fold(0.0, f64::max) + self.rounding(&record);
        let good = is_placed(self.position)
            & is_turned(self.rotation)
            & is_scaled(self.scale)
            & self.is_padded()
            & self.fits(&record, radius as f32);
        if good { Ok(()) } else { Err(self.error(row, &record)) }
    }

    #[inline(always)]
    pub(crate) fn squared_length(&self) -> f64 {
        squared_length(self.rotation)
    }

    // NaN fails every comparison. `&` avoids branches.

    #[inline(always)]
    fn is_padded(&self) -> bool {
        (self.padding >= 0.0) & inside(self.padding)
    }

    /// Whether f32 holds the squares of the scaled hull's radius and of its offset from its own origin.
    #[inline(always)]
    fn fits(&self, record: &HullRecord, radius: f32) -> bool {
        let ([x, y, z], [mx, my, mz]) = (self.scale, record.mean);
        ((radius >= *RADII.start()) & (radius <= *RADII.end())
            | (radius == 0.0) & (record.radius == 0.0) & (record.rounding == 0.0))
            & inside(mx * x)
            & inside(my * y)
            & inside(mz * z)
    }

    #[cold]
    fn unknown_hull(&self, row: usize, hull_count: usize) -> Error {
        Error::Missing {
            at: Location::Body(row),
            what: "hull",
            index: self.hull.into(),
            count: hull_count as u64,
        }
    }

    /// The error of a body whose hull exists.
    #[cold]
    fn error(&self, row: usize, record: &HullRecord) -> Error {
        if record.is_removed() {
            let message = format!("hull {} was removed from the arena", self.hull);
            return Error::invalid(Location::Body(row), message);
        }
        let allowed = "it must leave the hull a radius from 1e-18 to 1e18, and the mean of its vertices within 1e18 of its origin";
        let unfit = || Error::value(Location::Body(row), "scale", format!("{:?}", self.scale), allowed);
        self.fault(Location::Body(row)).unwrap_or_else(unfit)
    }

    /// What is wrong with its numbers, be the hull what it may.
    #[cold]
    fn fault(&self, at: Location) -> Option<Error> {
        let of_padding =
            || Error::value(at, "padding", format!("{:?}", self.padding), "it must be from 0 to 1e18");
        self.pose().fault(at).or_else(|| (!self.is_padded()).then(of_padding))
    }
}
