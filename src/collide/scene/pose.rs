//! The pose of a hull.

use glam::{DMat3, DQuat, DVec3};

use crate::error::{Error, Location, Result};

/// Axes of a matrix count as perpendicular up to this cosine of their angle.
const SHEAR: f64 = 1e-5;

/// Largest magnitude of numbers that the engines square in f32: positions, scales and radii.
pub(crate) const MOST: f32 = 1e18;

/// Allowed squared lengths of a rotation: the length is within 1e-3 of 1.
pub(crate) const LENGTHS_SQUARED: std::ops::RangeInclusive<f64> = 0.999 * 0.999..=1.001 * 1.001;

// NaN fails every comparison. `&` avoids branches.

/// Whether the engines can square `x` in f32.
#[inline(always)]
pub(crate) fn inside(x: f32) -> bool {
    x.abs() <= MOST
}

#[inline(always)]
pub(crate) fn is_placed([x, y, z]: [f32; 3]) -> bool {
    inside(x) & inside(y) & inside(z)
}

#[inline(always)]
pub(crate) fn squared_length(rotation: [f32; 4]) -> f64 {
    let [x, y, z, w] = rotation.map(f64::from);
    x * x + y * y + z * z + w * w
}

#[inline(always)]
pub(crate) fn is_turned(rotation: [f32; 4]) -> bool {
    let squared = squared_length(rotation);
    (squared >= *LENGTHS_SQUARED.start()) & (squared <= *LENGTHS_SQUARED.end())
}

#[inline(always)]
pub(crate) fn is_scaled([x, y, z]: [f32; 3]) -> bool {
    (x > 0.0) & (y > 0.0) & (z > 0.0) & inside(x) & inside(y) & inside(z)
}

/// The pose of a hull in the world: scale, then rotation, then translation.
///
/// A vertex `v` of the hull is at `position + rotation · (scale ⊙ v)`.
///
/// ```
/// use hullfield::collide::Pose;
///
/// // Column by column, as graphics APIs store it: twice as large, and moved to (1, 2, 3).
/// let columns = [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [1.0, 2.0, 3.0, 1.0]];
/// let pose = Pose::from_columns(columns)?;
/// assert_eq!((pose.position, pose.scale), ([1.0, 2.0, 3.0], [2.0; 3]));
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "PoseWire"))]
pub struct Pose {
    /// World position of the hull's origin, in world units.
    pub position: [f32; 3],
    /// Unit quaternion `x, y, z, w`; a length within 1e-3 of 1 is accepted and divided out.
    pub rotation: [f32; 4],
    /// Scale along the hull's own axes, each > 0.
    pub scale: [f32; 3],
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

/// A pose as serde reads it, before its numbers are checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(rename = "Pose", default, deny_unknown_fields)]
struct PoseWire {
    position: [f32; 3],
    rotation: [f32; 4],
    scale: [f32; 3],
}

#[cfg(feature = "serde")]
impl Default for PoseWire {
    fn default() -> Self {
        let Pose { position, rotation, scale } = Pose::IDENTITY;
        Self { position, rotation, scale }
    }
}

#[cfg(feature = "serde")]
impl TryFrom<PoseWire> for Pose {
    type Error = Error;

    fn try_from(wire: PoseWire) -> Result<Self> {
        let PoseWire { position, rotation, scale } = wire;
        let pose = Self { position, rotation, scale };
        pose.fault(Location::Argument).map_or(Ok(pose), Err)
    }
}

impl Pose {
    /// At the origin, not rotated, at scale 1.
    pub const IDENTITY: Self = Self { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3] };

    /// The error in the pose's numbers, if any, whatever the hull.
    #[cold]
    pub(crate) fn fault(&self, at: Location) -> Option<Error> {
        let (field, value, allowed): (_, &[f32], _) = if !is_placed(self.position) {
            ("position", &self.position, "each must be finite and at most 1e18 in magnitude")
        } else if !is_turned(self.rotation) {
            ("rotation", &self.rotation, "it must be a unit quaternion to within 1e-3")
        } else if !is_scaled(self.scale) {
            ("scale", &self.scale, "each must be above zero and at most 1e18")
        } else {
            return None;
        };
        Some(Error::value(at, field, format!("{value:?}"), allowed))
    }

    /// At a position in world units, not rotated, at scale 1.
    pub fn at(position: [f32; 3]) -> Self {
        Self { position, ..Self::IDENTITY }
    }

    /// The same pose turned by the unit quaternion `x, y, z, w`.
    #[must_use]
    pub fn rotated(self, rotation: [f32; 4]) -> Self {
        Self { rotation, ..self }
    }

    /// The same pose scaled equally along all axes.
    #[must_use]
    pub fn scaled(self, scale: f32) -> Self {
        Self { scale: [scale; 3], ..self }
    }

    /// The pose in which [`Hull::half_space`](crate::collide::Hull::half_space) is all points with `normal · x ≤ offset`, in
    /// world units.
    ///
    /// The normal is a unit vector; a length within 1e-3 of 1 is accepted and divided out. Position and rotation are
    /// rounded to f32: the plane is off by up to 1e-7 of the offset, and tilted by up to 1e-7. Along an axis of the world
    /// it is exact.
    ///
    /// ```
    /// use hullfield::collide::{self, Hull, Pose};
    ///
    /// let wall = Pose::of_half_space([1.0, 0.0, 0.0], 2.0)?;
    /// let ball = Pose::at([5.0, 0.0, 0.0]);
    /// let row = collide::distance(&Hull::half_space(), wall, &Hull::ball(1.0)?, ball)?;
    /// assert_eq!(row.separation, 2.0);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] where the normal is not a unit vector or the offset is not finite.
    pub fn of_half_space(normal: [f32; 3], offset: f32) -> Result<Self> {
        let given = DVec3::from(normal.map(f64::from));
        let length = given.length();
        if !(0.999..=1.001).contains(&length) {
            let allowed = "it must be a unit vector to within 1e-3";
            return Err(Error::value(Location::Argument, "normal", format!("{normal:?}"), allowed));
        }
        if !offset.is_finite() {
            return Err(Error::value(
                Location::Argument,
                "offset",
                format!("{offset:?}"),
                "it must be finite",
            ));
        }
        let up = given / length;
        let rotation = DQuat::from_rotation_arc(DVec3::Y, up).normalize();
        Ok(Self {
            position: (up * f64::from(offset)).as_vec3().to_array(),
            rotation: rotation.to_array().map(|x| x as f32),
            scale: [1.0; 3],
        })
    }

    /// The pose of an affine matrix, given as four columns: the images of the x, y and z axis, then the position. The last numbers of
    /// the columns are 0, 0, 0, 1.
    ///
    /// The rotation is rounded to f32. Two axes whose angle has a cosine of at most 1e-5 count as perpendicular.
    ///
    /// # Errors
    /// [`Error::Value`] where a number is not finite; [`Error::Invalid`] where the last row is not 0, 0, 0, 1, an axis has no
    /// length, the axes are not perpendicular (a shear), or the matrix mirrors. A body has no such pose: put a shear or
    /// a reflection into the points of the hull.
    pub fn from_columns(columns: [[f32; 4]; 4]) -> Result<Self> {
        let value = |numbers: &[f32]| {
            Error::value(Location::Argument, "matrix", format!("{numbers:?}"), "each number must be finite")
        };
        if let Some(column) = columns.iter().find(|column| !column.iter().all(|x| x.is_finite())) {
            return Err(value(column));
        }
        let last = columns.map(|column| column[3]);
        if last != [0.0, 0.0, 0.0, 1.0] {
            let message = format!(
                "the matrix has the last row {last:?}, it must be 0, 0, 0, 1: a pose is affine (is the matrix transposed?)"
            );
            return Err(Error::invalid(Location::Argument, message));
        }
        let [x, y, z, position] = columns.map(|[x, y, z, _]| [x, y, z]);
        let axes = [x, y, z].map(|axis| DVec3::from(axis.map(f64::from)));
        let lengths = axes.map(DVec3::length);
        for (name, length) in ["x", "y", "z"].into_iter().zip(lengths) {
            if !(length > 0.0) {
                let message = format!("the matrix scales the {name} axis by 0, each scale must be above 0");
                return Err(Error::invalid(Location::Argument, message));
            }
        }
        let units = [0, 1, 2].map(|k| axes[k] / lengths[k]);
        for [i, j] in [[0, 1], [1, 2], [2, 0]] {
            let cosine = units[i].dot(units[j]);
            if !(cosine.abs() <= SHEAR) {
                let message = format!(
                    "the matrix shears: the cosine between its axes {i} and {j} is {cosine:.3e}, it must be within 1e-5 of 0"
                );
                return Err(Error::invalid(Location::Argument, message));
            }
        }
        if units[0].cross(units[1]).dot(units[2]) < 0.0 {
            let message =
                "the matrix mirrors, a pose must keep left and right: mirror the hull's points instead";
            return Err(Error::invalid(Location::Argument, message));
        }
        // The quaternion spreads what is left of a shear over the axes.
        let rotation = DQuat::from_mat3(&DMat3::from_cols(units[0], units[1], units[2])).normalize();
        Ok(Self {
            position,
            rotation: rotation.to_array().map(|x| x as f32),
            scale: lengths.map(|length| length as f32),
        })
    }

    /// The pose of an affine matrix, given as three rows: each has three numbers of the linear part and one of the position.
    ///
    /// # Errors
    /// As [`Pose::from_columns`].
    pub fn from_rows(rows: [[f32; 4]; 3]) -> Result<Self> {
        let column = |k: usize, last: f32| [rows[0][k], rows[1][k], rows[2][k], last];
        Self::from_columns([column(0, 0.0), column(1, 0.0), column(2, 0.0), column(3, 1.0)])
    }
}
