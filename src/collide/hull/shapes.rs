//! The usual shapes: each a hull of few points, most with a rounding radius.

use crate::collide::hull::{Dimension, Hull};
use crate::error::{Error, Result};
use crate::parallel::map;

/// The most sides of a cylinder or a cone.
const MOST_SIDES: u32 = 1 << 16;

/// Height along y and radius of a ring of vertices.
type Ring = (f32, f32);

impl Hull {
    /// The same hull with this rounding radius, in its own units: all that lies within it of the hull.
    ///
    /// A point becomes a ball, a segment a capsule, a box one with rounded edges. A body's least scale scales it.
    ///
    /// # Errors
    /// [`Error::HullField`] where the radius is negative, NaN or infinite.
    pub fn rounded(mut self, radius: f32) -> Result<Self> {
        self.rounding = not_negative("radius", radius)?;
        Ok(self)
    }

    /// The ball of this radius about the origin: a point, rounded.
    ///
    /// # Errors
    /// As [`Hull::rounded`].
    pub fn ball(radius: f32) -> Result<Self> {
        Self::from_points(&[[0.0; 3]])?.rounded(radius)
    }

    /// The capsule along y about the origin: the segment from `−half_height` to `half_height`, rounded.
    ///
    /// # Errors
    /// [`Error::HullField`] where a number is negative, NaN or infinite.
    pub fn capsule(half_height: f32, radius: f32) -> Result<Self> {
        let y = not_negative("half_height", half_height)?;
        Self::from_points(&[[0.0, -y, 0.0], [0.0, y, 0.0]])?.rounded(radius)
    }

    /// The prism of `sides` sides along y about the origin that stands for a cylinder; its vertices lie on it.
    ///
    /// The sides lie inside of the cylinder by `radius (1 − cos(π / sides))` at most: 1.9 % of the radius for 16 of
    /// them, 0.5 % for 32.
    ///
    /// # Errors
    /// [`Error::HullField`] where a length is negative, NaN or infinite, or `sides` is not from 3 to 65,536.
    pub fn cylinder(half_height: f32, radius: f32, sides: u32) -> Result<Self> {
        let (y, radius) = (not_negative("half_height", half_height)?, not_negative("radius", radius)?);
        Self::rings(&[(-y, radius), (y, radius)], sides)
    }

    /// The pyramid of `sides` sides along y that stands for a cone: its base at `−half_height`, its tip at
    /// `half_height`.
    ///
    /// # Errors
    /// As [`Hull::cylinder`].
    pub fn cone(half_height: f32, radius: f32, sides: u32) -> Result<Self> {
        let (y, radius) = (not_negative("half_height", half_height)?, not_negative("radius", radius)?);
        Self::rings(&[(-y, radius), (y, 0.0)], sides)
    }

    /// The triangle with these corners; a segment or a point where they are collinear or equal.
    ///
    /// # Errors
    /// As [`Hull::from_points`].
    pub fn triangle(corners: [[f32; 3]; 3]) -> Result<Self> {
        Self::from_points(&corners)
    }

    /// The triangles of a mesh, a hull each: what a level is made of (see [`Arena::with_statics`](crate::collide::Arena::with_statics)).
    ///
    /// `triangles` are indices into `positions`, three a triangle; the hulls come in their order. A triangle without
    /// area is the segment or the point that it is.
    ///
    /// # Errors
    /// [`Error::PointNotFinite`] with the position's index; [`Error::HullField`] where an index is not below the number
    /// of positions; [`Error::HullSize`] as in [`Hull::from_points`].
    pub fn triangles_of_mesh(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<Vec<Self>> {
        if let Some(index) = positions.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
            return Err(Error::PointNotFinite { index, point: positions[index] });
        }
        let hull = |corners: &[u32; 3]| {
            let mut points = [[0.0; 3]; 3];
            for (point, &corner) in points.iter_mut().zip(corners) {
                *point = *positions.get(corner as usize).ok_or_else(|| Error::HullField {
                    field: "triangles",
                    value: format!("{corners:?}"),
                    expected: "each index must be below the number of positions",
                })?;
            }
            Self::triangle(points)
        };
        // Collected before errors are looked for, so that the one named is that of the first bad triangle.
        let hulls: Vec<Result<Self>> = map(triangles, hull);
        hulls.into_iter().collect()
    }

    /// All points with `y ≤ 0` in the hull's own frame: the ground, up to where its body stands.
    ///
    /// It has the origin as its only vertex and no radius; scale does not matter to it. For a pair of it and a hull,
    /// R and S are the hull's bounding radius. Two half-spaces make no pair.
    pub fn half_space() -> Self {
        Self { dimension: Dimension::HalfSpace, ..Self::point() }
    }

    /// The rounding radius, in the hull's own units; 0 but where [`Hull::rounded`] set it.
    pub fn rounding(&self) -> f32 {
        self.rounding
    }

    fn rings(rings: &[Ring], sides: u32) -> Result<Self> {
        if !(3..=MOST_SIDES).contains(&sides) {
            let expected = "it must be from 3 to 65,536";
            return Err(Error::HullField { field: "sides", value: sides.to_string(), expected });
        }
        let corner = |(y, radius): Ring, side: u32| {
            let angle = std::f64::consts::TAU * f64::from(side) / f64::from(sides);
            let (sin, cos) = angle.sin_cos();
            [(f64::from(radius) * cos) as f32, y, (f64::from(radius) * sin) as f32]
        };
        let points: Vec<[f32; 3]> =
            rings.iter().flat_map(|&ring| (0..sides).map(move |side| corner(ring, side))).collect();
        Self::from_points(&points)
    }
}

fn not_negative(field: &'static str, value: f32) -> Result<f32> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    let expected = "it must be finite and not below zero";
    Err(Error::HullField { field, value: value.to_string(), expected })
}
