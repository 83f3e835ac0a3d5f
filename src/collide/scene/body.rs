//! A body: a hull placed in the world.

use crate::collide::hull::Hull;
use crate::collide::hull::record::HullRecord;
use crate::collide::hull::support::Supports;
#[cfg(doc)]
use crate::collide::scene::pairs::Pairs;
use crate::collide::scene::pose::Pose;
use crate::error::{Error, Location, Result};

/// Least and largest magnitude of what the engines square in f32: positions, bounding radii.
const MAGNITUDE: std::ops::RangeInclusive<f32> = 1e-18..=1e18;

/// Squared lengths that a rotation may have: within 1e-3 of 1, unsquared.
const LENGTHS_SQUARED: std::ops::RangeInclusive<f64> = 0.999 * 0.999..=1.001 * 1.001;

/// A hull placed in the world by scale, then rotation, then translation.
///
/// A vertex `v` of the hull stands at `position + rotation · (scale ⊙ v)`. These f32 numbers, exactly as stored
/// (with the quaternion divided by its length), are the truth that every answer is about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Index of the hull in the [`Arena`](crate::collide::Arena).
    pub hull: u32,
    /// World position of the hull's origin, in world units.
    pub position: [f32; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f32; 4],
    /// Scale along the hull's own axes, each > 0.
    pub scale: [f32; 3],
    /// How much larger the body is than its placed hull on all sides, in world units, ≥ 0: it is all that lies within this
    /// distance of the placed hull. It adds to the hull's own rounding radius, which is in the hull's units.
    pub padding: f32,
    /// Groups that the body belongs to, a bit each.
    ///
    /// Two bodies meet where `a.group & b.mask` and `b.group & a.mask` are both not 0; [`Pairs::Given`] does not ask.
    pub group: u32,
    /// Groups that the body meets, a bit each.
    pub mask: u32,
}

impl Body {
    /// The hull `hull` at the origin, unrotated, at scale 1, meeting all others.
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

    /// Where the body stands.
    pub fn pose(&self) -> Pose {
        let Self { position, rotation, scale, .. } = *self;
        Pose { position, rotation, scale }
    }

    /// The same body in these groups, meeting those of `mask`.
    #[must_use]
    pub fn grouped(self, group: u32, mask: u32) -> Self {
        Self { group, mask, ..self }
    }

    /// The whole rounding radius in world units: the hull's at the least scale, and the body's own.
    #[inline(always)]
    pub(crate) fn rounding(&self, record: &HullRecord) -> f64 {
        let [x, y, z] = self.scale;
        f64::from(record.rounding) * f64::from(x.min(y).min(z)) + f64::from(self.padding)
    }

    /// Checks every number of the body and gives its bounding radius in world units about the mean of the hull's
    /// vertices.
    ///
    /// `row` is the body's row, for the message.
    #[inline(always)]
    pub(crate) fn radius(&self, row: usize, supports: &Supports) -> Result<f32> {
        match supports.records.get(self.hull as usize) {
            Some(record) => {
                let [x, y, z] = self.scale;
                let radius =
                    if x == y && y == z { x * record.radius } else { supports.radius(self.hull, self.scale) };
                let radius = radius + self.rounding(record) as f32;
                let good = self.is_placed()
                    & self.is_turned()
                    & self.is_scaled()
                    & self.is_padded()
                    & self.fits(record, radius);
                if good { Ok(radius) } else { Err(self.error(row, record)) }
            }
            None => Err(self.unknown_hull(row, supports.records.len())),
        }
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
        let good = self.is_placed()
            & self.is_turned()
            & self.is_scaled()
            & self.is_padded()
            & self.fits(&record, radius as f32);
        if good { Ok(()) } else { Err(self.error(row, &record)) }
    }

    // NaN fails every comparison; `&` keeps the common case free of branches.

    #[inline(always)]
    fn is_placed(&self) -> bool {
        let [x, y, z] = self.position;
        inside(x) & inside(y) & inside(z)
    }

    #[inline(always)]
    pub(crate) fn squared_length(&self) -> f64 {
        let [x, y, z, w] = self.rotation.map(f64::from);
        x * x + y * y + z * z + w * w
    }

    #[inline(always)]
    fn is_turned(&self) -> bool {
        LENGTHS_SQUARED.contains(&self.squared_length())
    }

    #[inline(always)]
    fn is_scaled(&self) -> bool {
        let [x, y, z] = self.scale;
        (x > 0.0) & (y > 0.0) & (z > 0.0) & inside(x) & inside(y) & inside(z)
    }

    #[inline(always)]
    fn is_padded(&self) -> bool {
        (self.padding >= 0.0) & inside(self.padding)
    }

    /// Whether the scaled hull can be squared in f32. Its offset from its own origin is turned and scaled too.
    #[inline(always)]
    fn fits(&self, record: &HullRecord, radius: f32) -> bool {
        let ([x, y, z], [mx, my, mz]) = (self.scale, record.mean);
        (MAGNITUDE.contains(&radius) || (radius == 0.0 && record.radius == 0.0 && record.rounding == 0.0))
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

    /// What is wrong with a body of a hull that exists.
    #[cold]
    fn error(&self, row: usize, record: &HullRecord) -> Error {
        if record.is_removed() {
            let message = format!("hull {} was removed from the arena", self.hull);
            return Error::invalid(Location::Body(row), message);
        }
        let (field, value, allowed): (_, &[f32], _) = if !self.is_placed() {
            ("position", &self.position, "each must be finite and at most 1e18 in magnitude")
        } else if !self.is_turned() {
            ("rotation", &self.rotation, "it must be a unit quaternion to within 1e-3")
        } else if !self.is_scaled() {
            ("scale", &self.scale, "each must be above zero and at most 1e18")
        } else if !self.is_padded() {
            ("padding", std::slice::from_ref(&self.padding), "it must be from 0 to 1e18")
        } else {
            (
                "scale",
                &self.scale,
                "it must leave the hull a radius from 1e-18 to 1e18, and the mean of its vertices within 1e18 of its origin",
            )
        };
        let shown = match value {
            [one] => format!("{one:?}"),
            many => format!("{many:?}"),
        };
        Error::value(Location::Body(row), field, shown, allowed)
    }
}

#[inline(always)]
fn inside(x: f32) -> bool {
    x.abs() <= *MAGNITUDE.end()
}
