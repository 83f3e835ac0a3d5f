//! Common shapes: hulls of few points, most with a rounding radius.

use glam::DVec3;

use crate::collide::hull::polygons::Polygons;
use crate::collide::hull::{Dimension, Hull, not_finite};
use crate::error::{Error, Location, Result};
use crate::parallel::map;

/// The most sides of a cylinder or a cone.
const MOST_SIDES: u32 = 1 << 16;

impl Hull {
    /// The same hull with this rounding radius, in its own units: all points within that distance of the hull.
    ///
    /// A point becomes a ball, a segment a capsule, and a box gets rounded edges. The radius is scaled by a body's least scale.
    ///
    /// # Errors
    /// [`Error::Value`] where the radius is negative, NaN or infinite.
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

    /// The capsule about the segment from `a` to `b`, in the hull's own frame and units; a ball where they coincide.
    ///
    /// ```
    /// use hullfield::collide::Hull;
    ///
    /// let arm = Hull::capsule([0.0; 3], [0.3, 0.0, 0.4], 0.05)?;
    /// assert_eq!((arm.vertices().len(), arm.rounding()), (2, 0.05));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] where a coordinate is not finite, or the radius negative, NaN or infinite.
    pub fn capsule(a: [f32; 3], b: [f32; 3], radius: f32) -> Result<Self> {
        Self::from_points(&[a, b])?.rounded(radius)
    }

    /// The prism of `sides` sides that approximates the cylinder about the axis from `a` to `b`. Its vertices lie on the cylinder, up to
    /// rounding to f32.
    ///
    /// The sides lie inside the cylinder by `radius (1 − cos(π / sides))` at most: 1.9 % of the radius for 16 of
    /// them, 0.5 % for 32.
    ///
    /// # Errors
    /// [`Error::Value`] where a coordinate is not finite, the radius is negative, NaN or infinite, or `sides` is not from 3 to
    /// 65,536; [`Error::Invalid`] where `a` and `b` coincide, so that the axis has no direction.
    pub fn cylinder(a: [f32; 3], b: [f32; 3], radius: f32, sides: u32) -> Result<Self> {
        let radius = not_negative("radius", radius)?;
        Self::rings([a, b], [radius, radius], sides)
    }

    /// The pyramid of `sides` sides that approximates a cone with the centre of its base at `base` and its tip at `tip`.
    ///
    /// # Errors
    /// As [`Hull::cylinder`].
    pub fn cone(base: [f32; 3], tip: [f32; 3], radius: f32, sides: u32) -> Result<Self> {
        let radius = not_negative("radius", radius)?;
        Self::rings([base, tip], [radius, 0.0], sides)
    }

    /// The triangle with these corners; a segment or a point where they are collinear or equal.
    ///
    /// # Errors
    /// As [`Hull::from_points`].
    pub fn triangle(corners: [[f32; 3]; 3]) -> Result<Self> {
        Self::from_points(&corners)
    }

    /// The same triangle for corners that are known not to be collinear, without a search.
    ///
    /// # Errors
    /// [`Error::Value`] where the radius is out of range.
    pub(crate) fn proper_triangle(corners: [[f32; 3]; 3]) -> Result<Self> {
        let triples = |corners: &[u32]| Polygons {
            corners: corners.to_vec(),
            ends: (1..=corners.len() as u32 / 3).map(|end| 3 * end).collect(),
        };
        let pairs = Polygons { corners: vec![1, 2, 0, 2, 0, 1], ends: vec![2, 4, 6] };
        // + 0.0 makes a negative zero positive.
        let vertices = corners.map(|corner| corner.map(|x| x + 0.0)).to_vec();
        Self::with_mean(vertices, Dimension::Polygon, triples(&[0, 1, 2, 0, 2, 1]), pairs)
    }

    /// The triangles of a mesh, one hull each, for example as the statics of a level (see [`Options::statics`](crate::collide::Options::statics)).
    ///
    /// `triangles` are indices into `positions`, three a triangle; the hulls come in their order. A triangle without
    /// area becomes a segment or a point.
    ///
    /// # Errors
    /// [`Error::Value`] where a position is not finite, at its [`Location::Point`], where an index is not below the number of
    /// positions, and as in [`Hull::from_points`].
    pub fn triangles_of_mesh(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Result<Vec<Self>> {
        if let Some(index) = positions.iter().position(|point| !point.iter().all(|x| x.is_finite())) {
            return Err(not_finite(index, positions[index]));
        }
        let hull = |corners: &[u32; 3]| {
            let mut points = [[0.0; 3]; 3];
            for (point, &corner) in points.iter_mut().zip(corners) {
                *point = *positions.get(corner as usize).ok_or_else(|| {
                    let allowed =
                        format!("each index must be below {}, the number of positions", positions.len());
                    Error::value(Location::Argument, "triangles", format!("{corners:?}"), allowed)
                })?;
            }
            Self::triangle(points)
        };
        // All hulls are built before errors are read, so that the error is that of the first bad triangle.
        let hulls: Vec<Result<Self>> = map(triangles, hull);
        hulls.into_iter().collect()
    }

    /// All points with `y ≤ 0` in the hull's own frame, for example the ground.
    /// [`Pose::of_half_space`](crate::collide::Pose::of_half_space) is the pose of any other half-space.
    ///
    /// Its only vertex is the origin, its radius is 0, and scale does not change it. For a pair of a half-space and a hull, R and S are both
    /// the hull's bounding radius. Two half-spaces are never a pair.
    pub fn half_space() -> Self {
        Self { dimension: Dimension::HalfSpace, ..Self::point() }
    }

    /// The rounding radius, in the hull's own units; 0 unless [`Hull::rounded`] set it.
    pub fn rounding(&self) -> f32 {
        self.rounding
    }

    /// The hull of a ring of vertices about each end of an axis.
    fn rings(ends: [[f32; 3]; 2], radii: [f32; 2], sides: u32) -> Result<Self> {
        if !(3..=MOST_SIDES).contains(&sides) {
            return Err(Error::value(Location::Argument, "sides", sides, "it must be from 3 to 65,536"));
        }
        for (index, end) in ends.into_iter().enumerate() {
            if !end.iter().all(|x| x.is_finite()) {
                return Err(not_finite(index, end));
            }
        }
        let [from, to] = ends.map(|end| DVec3::from(end.map(f64::from)));
        let length = (to - from).length();
        if !(length > 0.0) {
            let message = format!("both ends of the axis are {:?}, they must differ", ends[0]);
            return Err(Error::invalid(Location::Argument, message));
        }
        let [across, along] = perpendicular((to - from) / length);
        let corner = |end: [f32; 3], radius: f32, side: u32| {
            let angle = std::f64::consts::TAU * f64::from(side) / f64::from(sides);
            // Not the platform's: a hull has the same vertices everywhere.
            let (sin, cos) = libm::sincos(angle);
            let from_axis = (across * cos + along * sin) * f64::from(radius);
            (DVec3::from(end.map(f64::from)) + from_axis).as_vec3().to_array()
        };
        let ring = |k: usize| (0..sides).map(move |side| corner(ends[k], radii[k], side));
        let points: Vec<[f32; 3]> = ring(0).chain(ring(1)).collect();
        Self::from_points(&points)
    }
}

/// Two unit vectors that are perpendicular to a unit axis and to one another: x and z for an axis along y.
fn perpendicular(axis: DVec3) -> [DVec3; 2] {
    // Near y, x is perpendicular enough; elsewhere y is.
    let near = if axis.y.abs() >= 0.7 { DVec3::X } else { DVec3::Y };
    let across = (near - axis * axis.dot(near)).normalize();
    [across, across.cross(axis)]
}

fn not_negative(field: &'static str, value: f32) -> Result<f32> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(Error::value(Location::Argument, field, format!("{value:?}"), "it must be finite and zero or more"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proper_triangle_is_the_hull_of_its_corners() {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / 16_777_216.0 - 0.5
        };
        for size in [1.0, 1e-20, 3e9] {
            for _ in 0..200 {
                let mut corners = [[0.0; 3]; 3];
                corners.iter_mut().flatten().for_each(|x| *x = size * next());
                corners[0][1] = -0.0;
                assert_eq!(Hull::proper_triangle(corners).unwrap(), Hull::triangle(corners).unwrap());
            }
        }
        assert!(Hull::proper_triangle([[0.0; 3], [3e38, 0.0, 0.0], [0.0, 0.0, 3e38]]).is_err());
    }
}
