//! Rasters of friction: what they hold, and the costs of their cells.

use crate::error::{Error, Location, Result};
use crate::flow::weighted::distance::{exponent, power_of_two};
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

        /// The number times a power of two that [`factor`](super::factor) found; f32 needs none.
        fn scaled(self, factor: f64) -> Self;

        fn slice(values: &[Self]) -> FrictionSlice<'_>;
    }

    impl Sealed for f32 {
        const NAN: Self = Self::NAN;

        fn scaled(self, _: f64) -> Self {
            self
        }

        fn slice(values: &[Self]) -> FrictionSlice<'_> {
            FrictionSlice::Single(values)
        }
    }

    impl Sealed for f64 {
        const NAN: Self = Self::NAN;

        fn scaled(self, factor: f64) -> Self {
            self * factor
        }

        fn slice(values: &[Self]) -> FrictionSlice<'_> {
            FrictionSlice::Double(values)
        }
    }
}

/// Values for one thread at a time.
const CHUNK: usize = 1 << 16;

/// What a raster of friction holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrictionCounts {
    /// The least and the largest friction of cells that are no barriers; infinite where there are none.
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The number of these cells, and the sum of their friction's logarithms to base 2, each rounded down.
    free: u64,
    log_sum: i64,
    /// Cells whose friction is not a number, or infinite.
    pub(crate) not_finite: u64,
    /// Cells whose friction is 0 or negative.
    pub(crate) not_positive: u64,
}

impl FrictionCounts {
    /// Friction as the wave meets it: it goes around what is costly, however much that costs. About the geometric mean.
    pub(crate) fn typical(&self) -> f64 {
        power_of_two((self.log_sum / (self.free as i64).max(1)) as i32)
    }

    pub(crate) fn new<F: FrictionValue>(friction: &[F]) -> Self {
        let parts = parallel::map_chunks(friction, CHUNK, counts_of);
        let none = Self { min: f64::INFINITY, max: 0.0, free: 0, log_sum: 0, not_finite: 0, not_positive: 0 };
        parts.into_iter().fold(none, |all, part| Self {
            min: all.min.min(part.min),
            max: all.max.max(part.max),
            free: all.free + part.free,
            log_sum: all.log_sum + part.log_sum,
            not_finite: all.not_finite + part.not_finite,
            not_positive: all.not_positive + part.not_positive,
        })
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn counts_of<F: FrictionValue>(friction: &[F]) -> FrictionCounts {
    const LANES: usize = 8;
    let (mut min, mut max) = ([f64::INFINITY; LANES], [0.0; LANES]);
    let (mut free, mut log_sum) = ([0_u64; LANES], [0_i64; LANES]);
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
            free[lane] += u64::from(is_free);
            log_sum[lane] += if is_free { i64::from(exponent(value)) } else { 0 };
            not_finite[lane] += u64::from(!is_finite);
            not_positive[lane] += u64::from(is_finite & !is_free);
        }
    }
    FrictionCounts {
        min: min.into_iter().fold(f64::INFINITY, f64::min),
        max: max.into_iter().fold(0.0, f64::max),
        free: free.into_iter().sum(),
        log_sum: log_sum.into_iter().sum(),
        not_finite: not_finite.into_iter().sum::<u64>() - padding as u64,
        not_positive: not_positive.into_iter().sum(),
    }
}

/// A power of two that friction is multiplied by. The products keep all bits, and no sum of them overflows.
///
/// # Errors
/// [`Error::Value`] where the largest friction is more than 2¹⁸⁶⁰ times the least. No factor fits both into f64.
pub(crate) fn factor(range: [f64; 2]) -> Result<f64> {
    let [least, most] = range.map(exponent_of_any);
    let power = if most > EXPONENTS[1] { EXPONENTS[1] - most } else { (EXPONENTS[0] - least).max(0) };
    if !(EXPONENTS[0]..=EXPONENTS[1]).contains(&(least + power)) || most + power > EXPONENTS[1] {
        let [given, largest] = range.map(|friction| format!("{friction:e}"));
        let allowed =
            format!("the largest friction is {largest}, and one may be up to 1e559 times the other");
        return Err(Error::value(Location::Argument, "the least friction", given, allowed));
    }
    Ok(power_of_two(power))
}

/// The exponents of friction that is multiplied by lengths and added up. A step is up to 1,415 long, and a path has fewer than 2³² of them.
const EXPONENTS: [i32; 2] = [-960, 900];

/// The exponent of a positive number, of one that is not normal too.
fn exponent_of_any(number: f64) -> i32 {
    const UP: i32 = 60;
    if number < f64::MIN_POSITIVE { exponent(number * power_of_two(UP)) - UP } else { exponent(number) }
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

/// Writes a row of friction as costs: 0 for barriers.
#[multiversion::multiversion(targets("x86_64+avx2"))]
pub(crate) fn cost_row<F: FrictionValue + Default>(friction: &[F], factor: f64, costs: &mut [F]) {
    for (cost, &value) in costs.iter_mut().zip(friction) {
        *cost = if is_free(value.into()) { value.scaled(factor) } else { F::default() };
    }
}
