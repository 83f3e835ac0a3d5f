//! Scalars and vectors that GJK and EPA are generic over: f32 for the fast path, f64 for the exact path.

use std::ops::{Add, Mul, Neg, Sub};

use glam::{DVec3, Vec3};

/// f32 or f64.
pub(crate) trait Real:
    Copy
    + std::fmt::Debug
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
{
    /// Half a unit in the last place of 1: the relative error of one rounding.
    const ROUNDING: Self;
    /// A constant.
    fn from_f64(x: f64) -> Self;
    /// Quotient.
    fn divided_by(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
}

/// A vector of three reals.
pub(crate) trait Vector:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Self::Scalar, Output = Self> + Neg<Output = Self>
{
    /// Type of a component.
    type Scalar: Real;
    /// From components.
    fn new(x: Self::Scalar, y: Self::Scalar, z: Self::Scalar) -> Self;
    /// Components.
    fn components(self) -> [Self::Scalar; 3];
    /// Scalar product.
    fn dot(self, other: Self) -> Self::Scalar;
    /// Vector product.
    fn cross(self, other: Self) -> Self;
    /// Whether `self` is above the plane through `a b c`, counter-clockwise seen from above. `height` is its computed distance, `slack`
    /// the bound of that distance's rounding error.
    fn is_above(self, plane: [Self; 3], height: Self::Scalar, slack: Self::Scalar) -> bool;
}

macro_rules! real {
    ($scalar:ty, $vector:ty, $rounding:expr, $is_above:expr) => {
        impl Real for $scalar {
            const ROUNDING: Self = $rounding;
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $scalar
            }
            #[inline(always)]
            fn divided_by(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
        }

        impl Vector for $vector {
            type Scalar = $scalar;
            #[inline(always)]
            fn new(x: $scalar, y: $scalar, z: $scalar) -> Self {
                <$vector>::new(x, y, z)
            }
            #[inline(always)]
            fn components(self) -> [$scalar; 3] {
                self.to_array()
            }
            #[inline(always)]
            fn dot(self, other: Self) -> $scalar {
                <$vector>::dot(self, other)
            }
            #[inline(always)]
            fn cross(self, other: Self) -> Self {
                <$vector>::cross(self, other)
            }
            #[inline(always)]
            fn is_above(self, plane: [Self; 3], height: $scalar, slack: $scalar) -> bool {
                $is_above(self, plane, height, slack)
            }
        }
    };
}

real!(f32, Vec3, 1.0 / 16_777_216.0, |_: Vec3, _: [Vec3; 3], height: f32, slack: f32| height > slack);
real!(f64, DVec3, 1.0 / 9_007_199_254_740_992.0, exactly_above);

/// By the exact predicate (Shewchuk 1997), so that the faces of a convex surface that a point sees are always one disk.
fn exactly_above(point: DVec3, [a, b, c]: [DVec3; 3], _height: f64, _slack: f64) -> bool {
    let coordinates = |v: DVec3| robust::Coord3D { x: v.x, y: v.y, z: v.z };
    robust::orient3d(coordinates(a), coordinates(b), coordinates(c), coordinates(point)) < 0.0
}
