//! A body as rays and points read it: the way from the world to the hull's frame, in f64.

use glam::{DMat3, DVec3};

use crate::collide::hull::{Dimension, Hull};
use crate::collide::scene::body::Body;
use crate::collide::scene::placed::rotation;
use crate::collide::scene::stored::Stored;
use crate::parallel::map_shares;

/// Bodies that a thread takes at least.
const SHARE: usize = 256;

/// What a hull is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Core {
    Point,
    Segment,
    /// A polygon or a solid: it has planes.
    Planes,
    HalfSpace,
}

/// A body, about the mean of its hull's vertices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame {
    /// World position of the hull's origin.
    pub(crate) position: DVec3,
    /// From there to the mean of the vertices, world axes.
    pub(crate) offset: DVec3,
    /// From the world's axes to the hull's.
    pub(crate) back: DMat3,
    pub(crate) scale: DVec3,
    /// One over the scale.
    pub(crate) inverse: DVec3,
    /// Rounding radius, in world units.
    pub(crate) rounding: f64,
    /// Bounding radius about the mean, rounding included, in world units; 0 for a half-space.
    pub(crate) radius: f64,
    pub(crate) hull: u32,
    pub(crate) group: u32,
    pub(crate) mask: u32,
    pub(crate) core: Core,
}

impl Frame {
    /// The frame of a checked body of this hull.
    pub(crate) fn new(hull: &Hull, body: &Body) -> Self {
        Self::at(hull, body, DVec3::from(body.position.map(f64::from)))
    }

    /// The same at another position.
    pub(crate) fn at(hull: &Hull, body: &Body, position: DVec3) -> Self {
        let turn = rotation(body.rotation);
        let scale = DVec3::from(body.scale.map(f64::from));
        let mean = DVec3::from(hull.mean());
        let rounding = f64::from(hull.rounding()) * scale.min_element() + f64::from(body.padding);
        let core = match hull.dimension() {
            Dimension::Point => Core::Point,
            Dimension::Segment => Core::Segment,
            Dimension::Polygon | Dimension::Solid => Core::Planes,
            Dimension::HalfSpace => Core::HalfSpace,
        };
        let core_radius = if scale.x == scale.y && scale.y == scale.z {
            scale.x * hull.radius()
        } else {
            let length = |v: &[f32; 3]| (scale * (DVec3::from(v.map(f64::from)) - mean)).length();
            hull.vertices().iter().map(length).fold(0.0, f64::max)
        };
        Self {
            position,
            offset: turn * (scale * mean),
            back: turn.transpose(),
            scale,
            inverse: DVec3::ONE / scale,
            rounding,
            radius: if core == Core::HalfSpace { 0.0 } else { core_radius + rounding },
            hull: body.hull,
            group: body.group,
            mask: body.mask,
            core,
        }
    }

    /// The frames of checked bodies.
    pub(crate) fn all(hulls: &[Hull], stored: Stored<'_>) -> Vec<Self> {
        let Stored { bodies, positions, .. } = stored;
        if positions.is_empty() {
            return map_shares(bodies, SHARE, |body| Self::new(&hulls[body.hull as usize], body));
        }
        let both: Vec<(&Body, DVec3)> = bodies.iter().zip(positions.iter().copied()).collect();
        map_shares(&both, SHARE, |&(body, position)| Self::at(&hulls[body.hull as usize], body, position))
    }

    /// A vector of the hull's axes along the world's.
    pub(crate) fn world_vector(&self, vector: DVec3) -> DVec3 {
        self.back.transpose() * vector
    }

    /// From the mean of the vertices to a point at `point` + `more`, world axes. What is lost is a rounding of the result and of
    /// the offset, wherever in the world the two are.
    #[inline(always)]
    pub(crate) fn about_mean(&self, point: DVec3, more: DVec3) -> DVec3 {
        let (high, low) = difference(point, self.position);
        ((high + more) + low) - self.offset
    }

    /// From the position to a point, world axes.
    #[inline(always)]
    pub(crate) fn about_position(&self, point: DVec3) -> DVec3 {
        point - self.position
    }
}

/// A difference and its rounding error (Knuth 1969, 4.2.2).
#[inline(always)]
pub(crate) fn difference(a: DVec3, b: DVec3) -> (DVec3, DVec3) {
    let high = a - b;
    let b_part = high - a;
    let low = (a - (high - b_part)) - (b + b_part);
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_keeps_its_rounding_error() {
        let (a, b) = (DVec3::new(1e6, 1.0, -3e17), DVec3::new(1.0e-11, 1e-20, 0.1));
        let (high, low) = difference(a, b);
        assert_eq!(high, a - b);
        assert_eq!((low.y, low.z), (-1e-20, -0.1));
        assert!((low.x + 1.0e-11).abs() < 1.2e-10 && low.x != 0.0);
    }
}
