//! Products and sums that are each rounded once, so that both engines get the same bits.

/// Magnitudes below this become 0 before they meet a sum.
pub(crate) const TINY: f32 = 1e-30;

/// 0 for magnitudes below [`TINY`].
#[inline]
pub(crate) fn flush(x: f32) -> f32 {
    if x.abs() < TINY { 0.0 } else { x }
}

/// A product rounded once.
#[inline]
pub(crate) fn mul(a: f32, b: f32) -> f32 {
    flush(a * b)
}

/// A sum rounded once.
#[inline]
pub(crate) fn add(a: f32, b: f32) -> f32 {
    a + b
}

/// A sum of three, from the left.
#[inline]
pub(crate) fn add3(a: f32, b: f32, c: f32) -> f32 {
    add(add(a, b), c)
}

/// A scalar product in a fixed order.
#[inline]
pub(crate) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    add3(mul(a[0], b[0]), mul(a[1], b[1]), mul(a[2], b[2]))
}

/// The greater of two. Which of two zeros it is does not matter to a comparison, but both engines must return the same one.
#[inline]
pub(crate) fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
