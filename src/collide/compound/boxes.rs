//! Boxes of parts and compounds, in f64 and wide enough for every rounding after them.

use glam::{DMat3, DVec3};

use crate::collide::bvh::aabb::Aabb;

/// How much wider a box is than its content, as a share of its size. The f32 paths round a rotation and a position of a part by less than 1e-6 of
/// the compound's size, and τ is at most 1.2e-5 of it.
pub(crate) const SLACK: f64 = 3e-5;

/// A box, by its middle and half of its extents.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct CenteredBox {
    pub(crate) middle: DVec3,
    pub(crate) half: DVec3,
}

impl CenteredBox {
    /// The box around two corners.
    pub(crate) fn between(min: DVec3, max: DVec3) -> Self {
        Self { middle: 0.5 * (min + max), half: 0.5 * (max - min) }
    }

    /// The box with `grow` more on all sides.
    #[inline(always)]
    pub(crate) fn grown(&self, grow: f64) -> Self {
        Self { half: self.half + grow, ..*self }
    }

    /// The greatest distance of a point of the box from the origin along an axis, and half of the longest edge: what its rounding is a share of.
    pub(crate) fn size(&self) -> f64 {
        (self.middle.abs() + self.half).max_element()
    }

    /// The box in f32, rounded to nearest: for boxes whose slack holds that rounding.
    #[inline(always)]
    pub(crate) fn nearest(&self) -> Aabb {
        let (min, max) = (self.middle - self.half, self.middle + self.half);
        Aabb::new(min.as_vec3().to_array(), max.as_vec3().to_array())
    }

    /// The box in f32, rounded outward.
    pub(crate) fn rounded(&self) -> Aabb {
        let most = f64::from(f32::MAX);
        let down = |x: f64| (x.clamp(-most, most) as f32).next_down().max(-f32::MAX);
        let up = |x: f64| (x.clamp(-most, most) as f32).next_up().min(f32::MAX);
        Aabb::new(
            (self.middle - self.half).to_array().map(down),
            (self.middle + self.half).to_array().map(up),
        )
    }
}

/// How one frame lies in another: turned, scaled and moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transform {
    matrix: DMat3,
    /// The magnitudes of its entries.
    wide: DMat3,
    by: DVec3,
}

impl Transform {
    #[inline(always)]
    pub(crate) fn new(turn: &DMat3, scale: f64, by: DVec3) -> Self {
        let matrix = *turn * scale;
        Self {
            matrix,
            wide: DMat3::from_cols(matrix.x_axis.abs(), matrix.y_axis.abs(), matrix.z_axis.abs()),
            by,
        }
    }

    #[inline(always)]
    pub(crate) fn point(&self, point: DVec3) -> DVec3 {
        self.matrix * point + self.by
    }

    /// The box around a transformed one.
    #[inline(always)]
    pub(crate) fn around(&self, aabb: &CenteredBox) -> CenteredBox {
        CenteredBox { middle: self.point(aabb.middle), half: self.wide * aabb.half }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::scene::placed::rotation;

    #[test]
    fn a_moved_box_holds_its_corners() {
        let aabb = CenteredBox::between(DVec3::new(-1.0, 2.0, 0.5), DVec3::new(3.0, 2.5, 4.0));
        let (turn, by) = (rotation([0.5, -0.1, 0.7, 0.5]), DVec3::new(1e3, -7.0, 0.1));
        let moved = Transform::new(&turn, 3.0, by).around(&aabb);
        let outer = moved.rounded();
        let (mut least, mut most) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for corner in 0..8 {
            let sign = |axis: usize| if corner >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let point = aabb.middle + aabb.half * DVec3::new(sign(0), sign(1), sign(2));
            let placed = turn * (3.0 * point) + by;
            least = least.min(placed);
            most = most.max(placed);
        }
        for axis in 0..3 {
            assert!(f64::from(outer.min[axis]) <= least[axis] && f64::from(outer.max[axis]) >= most[axis]);
            assert!((moved.middle - moved.half)[axis] >= least[axis] - 1e-9);
        }
    }

    #[test]
    fn a_box_beyond_f32_ends_at_its_greatest_number() {
        let wide = CenteredBox::between(DVec3::splat(-1e300), DVec3::splat(1e300)).rounded();
        assert_eq!((wide.min, wide.max), ([-f32::MAX; 3], [f32::MAX; 3]));
    }
}
