//! Shape casts: plain data, and their check.

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::body_aabb;
use crate::collide::scene::motion::Motion;
use crate::collide::scene::placed::{Placed, center_at};
use crate::collide::scene::ray_columns::{check_column, check_f64};
use crate::error::{Error, Location, Result};

/// A shape that moves along a straight line without turning.
///
/// The f32 numbers count exactly as stored.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "ShapeCastWire")
)]
pub struct ShapeCast {
    /// The shape, where it starts: any hull of the arena but a half-space. It meets a body where neither `cast.body.group & body.mask` nor
    /// `body.group & cast.body.mask` is 0, as [`Body::group`] says.
    pub body: Body,
    /// Where it goes: any finite vector but 0. Its length does not matter.
    pub direction: [f32; 3],
    /// How far it goes, in world units, ≥ 0. Infinity is allowed, and is the default.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub max_distance: f32,
}

/// A shape cast as serde reads it, before its numbers are checked: what is left out is as [`ShapeCast::new`] has it.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(rename = "ShapeCast", deny_unknown_fields)]
struct ShapeCastWire {
    body: Body,
    direction: [f32; 3],
    #[serde(default = "everywhere", with = "crate::wire::number")]
    max_distance: f32,
}

#[cfg(feature = "serde")]
fn everywhere() -> f32 {
    f32::INFINITY
}

#[cfg(feature = "serde")]
impl TryFrom<ShapeCastWire> for ShapeCast {
    type Error = Error;

    fn try_from(wire: ShapeCastWire) -> Result<Self> {
        let ShapeCastWire { body, direction, max_distance } = wire;
        let cast = Self { body, direction, max_distance };
        cast.check_way(Location::Argument).map(|()| cast)
    }
}

impl ShapeCast {
    /// The cast of a shape from where it is along `direction`, without an end.
    pub fn new(body: Body, direction: [f32; 3]) -> Self {
        Self { body, direction, max_distance: f32::INFINITY }
    }

    /// The same cast, this long, in world units.
    #[must_use]
    pub fn up_to(self, max_distance: f32) -> Self {
        Self { max_distance, ..self }
    }

    /// Checks the cast and lays it out; `position` and `origin` as for [`PlacedShape::new`].
    pub(crate) fn lay_out(
        &self,
        row: usize,
        position: Option<[f64; 3]>,
        origin: Option<DVec3>,
        supports: &Supports,
    ) -> Result<PlacedCast> {
        let at = Location::Cast(row);
        self.check_way(at)?;
        let shape = PlacedShape::new(&self.body, position, origin, at, supports)?;
        if shape.placed.is_half_space() {
            return Err(Error::invalid(at, "a half-space can't be cast, as it has no size"));
        }
        let length = self.direction.map(f64::from).iter().map(|x| x * x).sum::<f64>().sqrt();
        Ok(PlacedCast {
            shape,
            motion: Motion { velocity: self.direction, angular_velocity: [0.0; 3] },
            length,
            end: f64::from(self.max_distance) / length,
            max_distance: f64::from(self.max_distance),
        })
    }

    /// Checks direction and distance.
    fn check_way(&self, at: Location) -> Result<()> {
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

/// The shape casts of a query, and further columns with one value for each.
///
/// Queries take it or anything that has casts: a slice, an array, a vector.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShapeCastColumns<'a> {
    /// The casts.
    pub casts: &'a [ShapeCast],
    /// Where the hull's origin of each shape starts, in world units, in place of the position of [`ShapeCast::body`], which is then not read:
    /// empty, or one for each cast; each coordinate finite and at most 1e18 in magnitude.
    pub positions: &'a [[f64; 3]],
    /// The world of each cast, where the bodies have [worlds](crate::collide::BodyColumns::worlds): a shape meets the bodies of its world, and
    /// statics. Else empty.
    pub worlds: &'a [u32],
}

impl<'a> ShapeCastColumns<'a> {
    /// Casts of shapes that start where they say.
    pub fn new(casts: &'a [ShapeCast]) -> Self {
        Self { casts, ..Self::default() }
    }

    /// Checks the positions.
    ///
    /// # Errors
    /// [`Error::Count`] of the positions; [`Error::Value`] at the [`Location::Cast`] of the first bad one.
    pub(crate) fn check(&self) -> Result<()> {
        check_column("positions", self.positions.len(), self.casts.len(), "shape casts")?;
        let check = |(row, position)| check_f64(Location::Cast(row), "position", position);
        self.positions.iter().enumerate().try_for_each(check)
    }
}

impl<'a, T: AsRef<[ShapeCast]> + ?Sized> From<&'a T> for ShapeCastColumns<'a> {
    fn from(casts: &'a T) -> Self {
        Self::new(casts.as_ref())
    }
}

/// A checked body that is not one of the scene: a shape that is asked about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedShape {
    pub(crate) body: Body,
    /// World position of its hull's origin.
    pub(crate) position: DVec3,
    /// Whether f32 may not hold that.
    pub(crate) is_f64: bool,
    /// Relative to the query's origin, as the box is.
    pub(crate) placed: Placed,
    pub(crate) aabb: Aabb,
}

impl PlacedShape {
    /// Checks a body and lays it out. A checked `position` is in place of the body's own; `origin` is that of a query with positions in f64.
    ///
    /// # Errors
    /// Those of a body, at `at`.
    pub(crate) fn new(
        body: &Body,
        position: Option<[f64; 3]>,
        origin: Option<DVec3>,
        at: Location,
        supports: &Supports,
    ) -> Result<Self> {
        let own = if position.is_some() { [0.0; 3] } else { body.position };
        let (body, is_f64) = (Body { position: own, ..*body }, position.is_some());
        let radius = body.radius(0, supports).map_err(|error| error.moved_to(at))?;
        let record = &supports.records[body.hull as usize];
        let position = DVec3::from(position.unwrap_or(own.map(f64::from)));
        let is_plain = !is_f64 && origin.is_none();
        let center = center_at(&body, position - origin.unwrap_or_default(), is_plain, record);
        let packed = body.packed(radius, &center, supports);
        Ok(Self {
            body,
            position,
            is_f64,
            placed: Placed::centered(&body, radius, record, center),
            aabb: body_aabb(&packed, record, 0.0),
        })
    }
}

/// A checked cast. The shape moves for `end` seconds, with the direction as its velocity.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedCast {
    pub(crate) shape: PlacedShape,
    pub(crate) motion: Motion,
    /// Length of the direction.
    pub(crate) length: f64,
    pub(crate) end: f64,
    pub(crate) max_distance: f64,
}
