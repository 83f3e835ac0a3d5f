//! Rasters of friction: what they hold, and their costs as whole numbers.

use crate::parallel;

/// A number that friction is given in: `f32` or `f64`.
pub trait FrictionValue: sealed::Sealed + Copy + Into<f64> + Send + Sync + 'static {}

impl FrictionValue for f32 {}
impl FrictionValue for f64 {}

/// A raster of friction, as one of the two types. A match on it calls code that this crate has compiled; a generic call would be compiled
/// again in each crate that makes it.
#[derive(Debug, Clone, Copy)]
pub enum FrictionSlice<'a> {
    Single(&'a [f32]),
    Double(&'a [f64]),
}

pub(crate) mod sealed {
    use super::FrictionSlice;

    pub trait Sealed: Sized {
        const NAN: Self;

        fn slice(values: &[Self]) -> FrictionSlice<'_>;
    }

    impl Sealed for f32 {
        const NAN: Self = Self::NAN;

        fn slice(values: &[Self]) -> FrictionSlice<'_> {
            FrictionSlice::Single(values)
        }
    }

    impl Sealed for f64 {
        const NAN: Self = Self::NAN;

        fn slice(values: &[Self]) -> FrictionSlice<'_> {
            FrictionSlice::Double(values)
        }
    }
}

/// Values for one thread at a time.
const CHUNK: usize = 1 << 16;
/// Added to a number from 0 to 2³², it leaves the nearest whole number in the lowest bits.
const TO_WHOLE: f64 = (1_u64 << 52) as f64;

/// What a raster of friction holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrictionCounts {
    /// The least and the largest friction of cells that are no barriers; infinite where there are none.
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The sum of the friction of these cells, and that of its inverse.
    pub(crate) sum: f64,
    pub(crate) inverse_sum: f64,
    /// Cells whose friction is not a number, or infinite.
    pub(crate) not_finite: u64,
    /// Cells whose friction is 0 or negative.
    pub(crate) not_positive: u64,
}

impl FrictionCounts {
    /// Friction as the wave meets it: it goes around what is costly. The geometric mean of the mean and the harmonic mean.
    pub(crate) fn typical(&self) -> f64 {
        (self.sum / self.inverse_sum).sqrt()
    }

    pub(crate) fn new<F: FrictionValue>(friction: &[F]) -> Self {
        // The sums are added in the order of the cells, so they are the same for any number of threads.
        let parts = parallel::map_chunks(friction, CHUNK, counts_of);
        let none =
            Self { min: f64::INFINITY, max: 0.0, sum: 0.0, inverse_sum: 0.0, not_finite: 0, not_positive: 0 };
        parts.into_iter().fold(none, |all, part| Self {
            min: all.min.min(part.min),
            max: all.max.max(part.max),
            sum: all.sum + part.sum,
            inverse_sum: all.inverse_sum + part.inverse_sum,
            not_finite: all.not_finite + part.not_finite,
            not_positive: all.not_positive + part.not_positive,
        })
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn counts_of<F: FrictionValue>(friction: &[F]) -> FrictionCounts {
    const LANES: usize = 8;
    let (mut min, mut max) = ([f64::INFINITY; LANES], [0.0; LANES]);
    let (mut sum, mut inverse_sum) = ([0.0; LANES], [0.0; LANES]);
    let (mut not_finite, mut not_positive) = ([0_u64; LANES], [0_u64; LANES]);
    let mut padded = [f64::NAN; LANES];
    let mut padding = 0;
    for friction in friction.chunks(LANES) {
        padding = LANES - friction.len();
        for (padded, &value) in padded.iter_mut().zip(friction) {
            *padded = value.into();
        }
        if padding > 0 {
            padded[friction.len()..].fill(f64::NAN);
        }
        for lane in 0..LANES {
            let value = padded[lane];
            let is_finite = value.abs() < f64::INFINITY;
            let is_free = is_finite & (value > 0.0);
            min[lane] = if is_free & (value < min[lane]) { value } else { min[lane] };
            max[lane] = if is_free & (value > max[lane]) { value } else { max[lane] };
            sum[lane] += if is_free { value } else { 0.0 };
            inverse_sum[lane] += if is_free { 1.0 / value } else { 0.0 };
            not_finite[lane] += u64::from(!is_finite);
            not_positive[lane] += u64::from(is_finite & !is_free);
        }
    }
    FrictionCounts {
        min: min.into_iter().fold(f64::INFINITY, f64::min),
        max: max.into_iter().fold(0.0, f64::max),
        sum: sum.into_iter().sum(),
        inverse_sum: inverse_sum.into_iter().sum(),
        not_finite: not_finite.into_iter().sum::<u64>() - padding as u64,
        not_positive: not_positive.into_iter().sum(),
    }
}

/// Writes `factor` times friction, rounded to whole numbers from 1 to 2³² − 1; 0 for barriers. Returns the largest error of rounding.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn scale_row<F: FrictionValue>(friction: &[F], factor: f64, costs: &mut [u32]) -> f64 {
    let mut largest = 0.0;
    for (cost, &value) in costs.iter_mut().zip(friction) {
        let value: f64 = value.into();
        let is_free = (value > 0.0) & (value < f64::INFINITY);
        let scaled = if is_free { value * factor } else { 0.0 };
        let most = if scaled < f64::from(u32::MAX) { scaled } else { f64::from(u32::MAX) };
        let least = if (most < 1.0) & is_free { 1.0 } else { most };
        let shifted = least + TO_WHOLE;
        *cost = shifted.to_bits() as u32;
        let error = (shifted - TO_WHOLE - scaled).abs();
        largest = if error > largest { error } else { largest };
    }
    largest
}

/// Writes the bits of friction times `factor` as `f32`, 0 for barriers. Returns the largest relative error of rounding.
pub(crate) fn narrow_row<F: FrictionValue>(friction: &[F], factor: f64, costs: &mut [u32]) -> f64 {
    let mut largest = 0.0;
    for (cost, &value) in costs.iter_mut().zip(friction) {
        let value: f64 = value.into();
        if !is_free(value) {
            *cost = 0;
            continue;
        }
        let scaled = value * factor;
        let narrow = (scaled as f32).max(f32::MIN_POSITIVE);
        *cost = narrow.to_bits();
        let error = (f64::from(narrow) - scaled).abs() / scaled;
        largest = if error > largest { error } else { largest };
    }
    largest
}

/// Whether a cell of this friction is no barrier.
pub(crate) fn is_free(friction: f64) -> bool {
    friction > 0.0 && friction < f64::INFINITY
}

/// Friction with a barrier where the ground has no height.
pub(crate) fn on_ground<F: FrictionValue>(friction: &[F], elevation: &[f32]) -> Vec<F> {
    let on_ground = |(&friction, height): (&F, &f32)| if height.is_finite() { friction } else { F::NAN };
    friction.iter().zip(elevation).map(on_ground).collect()
}
