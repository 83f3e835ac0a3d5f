//! What distances and the weights of moves are counted in: whole numbers or floating-point numbers.

use std::fmt::Debug;
use std::ops::Add;

/// A distance, or the weight of a move. Neither is negative.
pub(crate) trait Distance:
    Copy + PartialOrd + Default + Debug + Send + Sync + Add<Output = Self> + 'static
{
    /// The distance of cells that are not reached, and at least the weight of moves that are not allowed.
    const FAR: Self;

    /// The number of a bucket of this width, which is a power of two.
    fn bucket(self, width: Self) -> u32;

    /// The least distance in a bucket.
    fn bucket_start(bucket: u32, width: Self) -> Self;

    /// A width of buckets: a power of two, about 16 times this weight.
    fn bucket_width(self) -> Self;

    #[inline(always)]
    fn least(self, other: Self) -> Self {
        if self < other { self } else { other }
    }

    #[inline(always)]
    fn most(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

/// The width of a bucket, in steps of a typical weight: about one tile.
const BUCKET_STEPS: i64 = 16;

/// Whole numbers. Sums of them are exact, so all orders of the work and all ways to add up give the same distance.
impl Distance for i64 {
    /// Four of them fit in 63 bits: the distance of a cell, its share of a weight, that of its neighbour, and a wall between them.
    const FAR: Self = 1 << 60;

    fn bucket(self, width: Self) -> u32 {
        u32::try_from(self >> width.ilog2()).unwrap_or(u32::MAX).min(u32::MAX - 1)
    }

    fn bucket_start(bucket: u32, width: Self) -> Self {
        Self::from(bucket) << width.ilog2()
    }

    fn bucket_width(self) -> Self {
        1 << (self.clamp(1, Self::FAR / BUCKET_STEPS) * BUCKET_STEPS).ilog2()
    }
}

/// Floating-point numbers. A distance is the least of the sums along all paths, where each sum is rounded step by step from the source outward. Rounding keeps
/// the order of two numbers, so no order of the work changes this least sum.
impl Distance for f64 {
    const FAR: Self = Self::INFINITY;

    fn bucket(self, width: Self) -> u32 {
        // The cast holds what is too large within the range.
        ((self / width) as u32).min(u32::MAX - 1)
    }

    fn bucket_start(bucket: u32, width: Self) -> Self {
        Self::from(bucket) * width
    }

    fn bucket_width(self) -> Self {
        power_of_two(exponent(self * BUCKET_STEPS as Self))
    }
}

/// The exponent of a positive number.
pub(crate) fn exponent(number: f64) -> i32 {
    (number.to_bits() >> 52) as i32 - 1023
}

/// Two to a power, which is held within what f64 can.
pub(crate) fn power_of_two(power: i32) -> f64 {
    f64::from_bits(((power.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// What it costs to enter or leave a cell, for each unit of length. The default is an obstacle.
pub(crate) trait Cost<D>: Copy + Default + PartialEq + Send + Sync + 'static {
    /// The cost times a length.
    fn times(self, length: D) -> D;
}

/// Less than 2²⁴ times 2³².
impl Cost<i64> for u32 {
    #[inline(always)]
    fn times(self, length: i64) -> i64 {
        (u64::from(self) * length as u64) as i64
    }
}

impl Cost<f64> for f32 {
    #[inline(always)]
    fn times(self, length: f64) -> f64 {
        f64::from(self) * length
    }
}

impl Cost<f64> for f64 {
    #[inline(always)]
    fn times(self, length: f64) -> f64 {
        self * length
    }
}
