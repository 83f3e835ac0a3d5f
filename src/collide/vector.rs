//! The little arithmetic that GJK and EPA need, once for f32 (fast path) and once for f64 (exact path).

use std::ops::{Add, Mul, Neg, Sub};

use glam::{DVec3, Vec3};

/// f32 or f64.
pub(crate) trait Real:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self>
{
    /// Half a unit in the last place of 1: the relative error of one rounding.
    const ROUNDING: Self;
    /// A constant.
    fn of(x: f64) -> Self;
    /// Quotient.
    fn over(self, other: Self) -> Self;
    /// Square root.
    fn root(self) -> Self;
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
    fn parts(self) -> [Self::Scalar; 3];
    /// Scalar product.
    fn dot(self, other: Self) -> Self::Scalar;
    /// Vector product.
    fn cross(self, other: Self) -> Self;
}

macro_rules! real {
    ($scalar:ty, $vector:ty, $rounding:expr) => {
        impl Real for $scalar {
            const ROUNDING: Self = $rounding;
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $scalar
            }
            #[inline(always)]
            fn over(self, other: Self) -> Self {
                self / other
            }
            #[inline(always)]
            fn root(self) -> Self {
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
            fn parts(self) -> [$scalar; 3] {
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
        }
    };
}

real!(f32, Vec3, 1.0 / 16_777_216.0);
real!(f64, DVec3, 1.0 / 9_007_199_254_740_992.0);
